"""score() and evaluate(): what may be given, what comes back, and that each evidence object is built once."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import doccluster
from doccluster.errors import DocclusterWarning, InputError, NotComputable
from doccluster.geometry.evidence import ClusterEvidence
from doccluster.geometry.sums import ClusterSums
from doccluster.measures import _distances, evaluate, get_measure, list_measures, score
from doccluster.measures._distances import PairwiseDistances
from doccluster.measures.contingency import ContingencyTable

LABELS = [0, 0, 1, 1, 2, 2]
TRUTH = ["a", "a", "a", "b", "c", "c"]
ROWS = np.array([[1, 0, 0], [0.8, 0.6, 0], [0, 1, 0], [0, 0.6, 0.8], [0, 0, 1], [0.6, 0, 0.8]])


# --- labels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "truth"),
    [
        (np.array(LABELS), np.array(TRUTH)),
        (pd.Series(LABELS, index=list("uvwxyz")), pd.Series(TRUTH, dtype="category")),
        ([("c", x) for x in LABELS], [frozenset({x, "z"}) for x in "aaabcc"]),
        ([True, True, 7, 7, "x", "x"], TRUTH),
        (np.array(LABELS)[:, None], np.array(TRUTH)[:, None]),
        ([-1, -1, 7, 7, 100, 100], TRUTH),
        (np.array(LABELS, dtype=np.uint8), np.array([0.5, 0.5, 0.5, 1.5, 2.5, 2.5])),
        (pd.Series(LABELS), pd.array([1, 1, 1, 2, 3, 3], dtype="Int64")),
    ],
)
def test_any_hashable_labels_give_the_same_score(labels, truth):
    if isinstance(truth[0], frozenset):
        truth = ["".join(sorted(each)) for each in truth]
    assert score("adjusted_rand", labels, truth=truth).value == score("adjusted_rand", LABELS, truth=TRUTH).value


def test_frozen_sets_are_labels():
    labels = [frozenset({x}) for x in LABELS]
    assert score("rand", labels, truth=TRUTH).value == score("rand", LABELS, truth=TRUTH).value


@pytest.mark.parametrize(
    ("labels", "truth", "message"),
    [
        ([], [], "labels is empty"),
        ([0, 1], [0, 1, 1], "labels has 2 values, truth has 3"),
        ([0, None], [0, 1], "labels has missing values"),
        ([0, math.nan], [0, 1], "labels has missing values"),
        ([[0], [1]], [0, 1], "cannot be hashed"),
        ("ab", [0, 1], "labels is a single string"),
        ([0, 1], "ab", "truth is a single string"),
        ([0, 1], 3, "truth is not a sequence"),
        ([0, 1], [None, math.nan], "no document has exactly one label in truth"),
        ([0, 1], [[0, 1], [0, 1]], "no document has exactly one label in truth"),
        (np.zeros((2, 2)), [0, 1], "2 dimensions"),
        ([0, 1], np.zeros((2, 2)), "2 dimensions"),
        ([0, 1], {}, "truth has no column"),
    ],
)
def test_wrong_labels_are_refused_in_one_sentence(labels, truth, message):
    with pytest.raises(InputError, match=message):
        score("purity", labels, truth=truth)


@pytest.mark.parametrize("missing", [None, math.nan, "", "  ", pd.NA, np.nan])
def test_documents_without_truth_are_left_out_and_counted(missing):
    ours = score("purity", [0, 0, 1, 1], truth=["a", missing, "b", "a"])
    assert ours.value == score("purity", [0, 1, 1], truth=["a", "b", "a"]).value
    assert ours.note == "on 3 of 4 documents (1 without a label)"


def test_missing_numbers_and_empty_text_in_arrays_are_missing_truth():
    assert (
        score("rand", [0, 1, 1], truth=np.array([1.0, np.nan, 2.0])).note == "on 2 of 3 documents (1 without a label)"
    )
    assert score("rand", [0, 1, 1], truth=np.array(["x", "", "y"])).note == "on 2 of 3 documents (1 without a label)"


def test_clusters_without_labelled_documents_keep_their_place():
    ours = score("purity", ["p", "q", "r"], truth=["a", None, "a"])
    assert ours.per_cluster[[0, 2]].tolist() == [1.0, 1.0]
    assert math.isnan(ours.per_cluster[1])
    assert ours.per_pair.shape == (3, 1)


def test_documents_with_several_labels_are_left_out_but_count_for_the_gain_of_topics():
    truth = [("a",), ("a", "b"), ("b",), (), ("a",), ["a", "b"]]
    labels = [0, 0, 0, 1, 1, 1]
    purity = score("purity", labels, truth=truth)
    assert purity.value == score("purity", [0, 0, 1], truth=["a", "b", "a"]).value
    assert purity.note == "on 3 of 6 documents (1 without a label, 2 with several labels)"
    gain = score("nccg", labels, truth=truth)
    # topic a: two documents in cluster 0, two in cluster 1; topic b: two and one
    four, three = (2 + 4 + 4 + 4) / 16, (2 + 3 + 3) / 9
    least = [(4 + 1) / 8, (3 + 1) / 6]
    expected = np.mean([(four - least[0]) / (1 - least[0]), (three - least[1]) / (1 - least[1])])
    assert gain.value == pytest.approx(expected)


def test_noise_label_is_dropped_only_when_named():
    labels, truth = [-1, 0, 0, 1], ["a", "a", "a", "b"]
    assert score("rand", labels, truth=truth).value < 1
    dropped = score("rand", labels, truth=truth, noise=-1)
    assert dropped.value == 1.0
    assert "without 1 documents labelled noise" in dropped.note
    with pytest.raises(InputError, match="noise label"):
        score("rand", [7, 7], truth=[0, 1], noise=7)


@pytest.mark.parametrize(
    "labels", [[-1, 0, 0, 1, -1, 1], ["-1", "0", "0", "1", "-1", "1"], np.array([-1.0, 0, 0, 1, -1, 1])]
)
def test_labels_of_noise_are_told_and_go_whether_numbers_or_text(labels):
    truth = list("abbcac")
    with pytest.warns(DocclusterWarning, match="2 documents have the label -1; noise=-1 leaves them out"):
        told = evaluate(labels, truth=truth, measures=["purity"])
    assert told.notes == ("2 documents have the label -1; noise=-1 leaves them out.",)
    assert told.to_dict()["notes"] == list(told.notes)
    assert told.notes[0] in score("purity", labels, truth=truth).notes
    for noise in (-1, "-1"):
        without = evaluate(list(labels), truth=truth, measures=["purity"], noise=noise)
        assert (without.notes, without.provenance["n_documents"]) == ((), 4)


def test_a_noise_label_that_no_document_has_is_a_sentence_unless_it_is_the_usual_one():
    with pytest.raises(InputError, match=r"noise='drop' is the label of no document; the labels are 0, 1\."):
        evaluate([0, 0, 1], truth=["a", "a", "b"], noise="drop")
    assert evaluate([0, 0, 1], truth=["a", "a", "b"], noise=-1, measures=["purity"]).notes == ()
    assert evaluate([-1, -1, -1], truth=["a", "a", "b"], measures=["purity"]).notes == ()  # one cluster, however named


def test_noise_is_dropped_from_vectors_too():
    kept = score("rss", LABELS[:4], vectors=ROWS[:4]).value
    assert score("rss", LABELS, vectors=ROWS, noise=2).value == pytest.approx(kept)


# --- names and parameters --------------------------------------------------------------------------------------------


def test_variants_are_reached_by_name_parameter_or_argument():
    by_name = score("nmi_strehl", LABELS, truth=TRUTH).value
    assert score("nmi", LABELS, truth=TRUTH, variant="strehl").value == by_name
    assert get_measure("nmi", variant="strehl").name == "nmi_strehl"
    by_parameter = score("nmi", LABELS, truth=TRUTH, average="geometric").value
    assert by_parameter == score("nmi", LABELS, truth=TRUTH, variant="geometric").value


@pytest.mark.parametrize("average", ["arithmetic", "geometric", "strehl", "min", "max", "joint"])
def test_every_variant_of_nmi_has_a_name(average):
    assert 0 <= score("nmi", LABELS, truth=TRUTH, variant=average).value <= 1


def test_unknown_names_are_listed_all_at_once_with_the_nearest():
    with pytest.raises(InputError) as refused:
        evaluate(LABELS, truth=TRUTH, measures=["purty", "rand", "sillhouette", "qqqq"])
    message = str(refused.value)
    assert "'purty', did you mean purity" in message
    assert "'sillhouette', did you mean silhouette" in message
    assert "'qqqq', `doccluster measures` lists them all" in message
    assert "'rand'" not in message


def test_unknown_variant_names_the_nearest():
    with pytest.raises(InputError, match="nmi_geometric"):
        get_measure("nmi", variant="geometrc")


def test_what_a_measure_needs_and_was_not_given_is_named():
    with pytest.raises(InputError, match=r"missing for purity: give truth\."):
        score("purity", LABELS)
    with pytest.raises(InputError, match="silhouette: give vectors"):
        score("silhouette", LABELS, truth=TRUTH)
    with pytest.raises(InputError, match="nothing to judge by"):
        evaluate(LABELS)
    with pytest.raises(InputError, match="rss, silhouette: give vectors"):
        evaluate(LABELS, truth=TRUTH, measures=["rand", "rss", "silhouette"])


def test_score_takes_one_truth_column():
    with pytest.raises(InputError, match="2 columns"):
        score("rand", LABELS, truth={"a": TRUTH, "b": TRUTH})
    assert score("rand", LABELS, truth={"only": TRUTH}).truth == "only"


def test_unknown_metric_is_refused():
    with pytest.raises(InputError, match="metric='manhattan'"):
        score("rss", LABELS, vectors=ROWS, metric="manhattan")


# --- vectors ---------------------------------------------------------------------------------------------------------


def test_kinds_of_matrices_give_the_same_score():
    expected = score("silhouette", LABELS, vectors=ROWS).value
    kinds = (sparse.csr_array(ROWS), sparse.csc_matrix(ROWS), sparse.coo_array(ROWS), pd.DataFrame(ROWS), ROWS.tolist())
    for kind in kinds:
        assert score("silhouette", LABELS, vectors=kind).value == pytest.approx(expected, abs=1e-12)
    narrow = score("silhouette", LABELS, vectors=sparse.csr_array(ROWS.astype(np.float32))).value
    assert narrow == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (ROWS[:4], "labels has 6 values, vectors has 4 rows"),
        (np.where(ROWS == 1, np.nan, ROWS), "NaN or infinity"),
        (np.where(ROWS == 1, np.inf, ROWS), "NaN or infinity"),
        (ROWS[:, 0], "1 dimension"),
        ([["a"] * 3] * 6, "not numeric"),
    ],
)
def test_wrong_vectors_are_refused(vectors, message):
    with pytest.raises((InputError, TypeError), match=message):
        score("rss", LABELS, vectors=vectors)


def test_scaled_rows_are_normalised_for_the_cosine_and_the_result_says_so():
    scaled = ROWS * np.arange(1, 7)[:, None]
    ours = score("silhouette", LABELS, vectors=scaled)
    assert ours.value == pytest.approx(score("silhouette", LABELS, vectors=ROWS).value, abs=1e-12)
    assert "not of unit length" in ours.note
    with pytest.warns(DocclusterWarning, match="not of unit length"):
        evaluate(LABELS, vectors=scaled, measures=["silhouette", "rss"])
    assert scaled[1, 0] == 1.6  # the caller's rows are untouched
    assert score("rss", LABELS, vectors=scaled, metric="euclidean").note is None


def test_empty_documents_are_counted_in_the_note():
    with_empty = np.vstack([ROWS, np.zeros(3)])
    ours = score("silhouette", [*LABELS, 0], vectors=with_empty)
    assert "1 document(s) without terms" in ours.note
    with pytest.warns(DocclusterWarning, match="1 document"):
        evaluate([*LABELS, 0], vectors=with_empty, measures=["silhouette"])


# --- undefined values ------------------------------------------------------------------------------------------------


def test_undefined_values_are_nan_with_a_reason_or_raise_when_strict():
    ours = score("nccg", [0, 1], truth=["a", "b"])
    assert math.isnan(ours.value)
    assert ours.note == "no topic has two documents"
    with pytest.raises(NotComputable, match="nccg is undefined: no topic has two documents"):
        score("nccg", [0, 1], truth=["a", "b"], strict=True)
    with pytest.raises(NotComputable):
        evaluate([0, 1], truth=["a", "b"], strict=True)
    assert math.isnan(score("silhouette", [0] * 6, vectors=ROWS).value)


TRIVIAL = {
    "one document": ([0], [0]),
    "both one cluster": ([0, 0, 0], [1, 1, 1]),
    "both singletons": ([0, 1, 2], [2, 1, 0]),
}


@pytest.mark.parametrize("case", TRIVIAL)
def test_identical_trivial_partitions_score_the_maximum_of_agreement(case):
    labels, truth = TRIVIAL[case]
    ones = (
        "nmi nmi_geometric nmi_min nmi_max nmi_joint ami ami_min v_measure adjusted_rand rand jaccard fowlkes_mallows "
        "adjusted_fowlkes_mallows pair_precision pair_recall pair_f hubert_discrete_normalized bcubed_f "
        "pair_sets_index normalized_clustering_accuracy normalized_pivoted_accuracy"
    )
    for name in ones.split():
        assert score(name, labels, truth=truth).value == 1.0, name
    for name in ("variation_of_information", "mirkin", "van_dongen"):
        assert score(name, labels, truth=truth).value == 0.0, name


@pytest.mark.parametrize(("labels", "truth"), [([0, 0, 0, 0], [0, 0, 1, 2]), ([0, 0, 1, 2], [0, 0, 0, 0])])
def test_one_cluster_or_one_class_says_nothing(labels, truth):
    zeros = (
        "nmi nmi_geometric nmi_min nmi_max nmi_joint nmi_strehl ami adjusted_rand hubert_discrete_normalized "
        "adjusted_fowlkes_mallows normalized_clustering_accuracy"
    )
    for name in zeros.split():
        assert score(name, labels, truth=truth).value == 0.0, name


def test_singletons_are_no_better_than_chance_where_chance_is_taken_off():
    labels, truth = [0, 1, 2, 3, 4], [0, 0, 1, 1, 1]
    for name in ("ami", "ami_min", "adjusted_rand", "hubert_discrete_normalized", "adjusted_fowlkes_mallows"):
        assert score(name, labels, truth=truth).value == 0.0, name
    assert score("nmi_min", labels, truth=truth).value == pytest.approx(1.0, abs=1e-12)
    assert score("pair_precision", labels, truth=truth).value == 0.0


# --- evaluate --------------------------------------------------------------------------------------------------------


def test_default_set_has_every_counted_measure_that_the_input_allows():
    names = [s.name for s in evaluate(LABELS, truth=TRUTH)]
    assert names == [record.name for record in list_measures(family="external", counted=True)]
    everything = evaluate(LABELS, truth=TRUTH, vectors=ROWS, measures="all")
    assert [s.name for s in everything] == [record.name for record in list_measures()]


def test_each_evidence_object_is_built_once(monkeypatch):
    built = []
    tables = ContingencyTable.from_partitions.__func__
    geometry = ClusterEvidence.__init__

    def counted_table(cls, *arguments, **more):
        built.append("contingency")
        return tables(cls, *arguments, **more)

    def counted_geometry(self, *arguments, **more):
        built.append("geometry")
        geometry(self, *arguments, **more)

    monkeypatch.setattr(ContingencyTable, "from_partitions", classmethod(counted_table))
    monkeypatch.setattr(ClusterEvidence, "__init__", counted_geometry)
    names = [r.name for r in list_measures() if not r.by_name_only]
    assert len(names) >= 100
    evaluate(LABELS, truth=TRUTH, vectors=ROWS, measures=names)
    assert sorted(built) == ["contingency", "geometry"]


def test_evidence_that_is_known_gives_the_same_scores_and_is_not_made_again(monkeypatch):
    partition = doccluster.Partition.from_labels(LABELS)
    evidence = ClusterEvidence(ROWS, partition)
    expected = evaluate(LABELS, truth=TRUTH, vectors=ROWS)
    monkeypatch.setattr(ClusterEvidence, "__init__", None)  # whoever makes evidence fails
    scores = evaluate(LABELS, truth=TRUTH, evidence=evidence)
    assert [(s.name, s.note) for s in scores] == [(s.name, s.note) for s in expected]
    np.testing.assert_array_equal([s.value for s in scores], [s.value for s in expected])


def test_evidence_without_the_documents_labelled_noise_is_made_anew():
    evidence = ClusterEvidence(ROWS, doccluster.Partition.from_labels(LABELS))
    scores = evaluate(LABELS, evidence=evidence, noise=2, measures=["silhouette"])
    assert (
        scores["silhouette"].value
        == evaluate(LABELS, vectors=ROWS, noise=2, measures=["silhouette"])["silhouette"].value
    )


@pytest.mark.parametrize(
    ("labels", "metric", "message"),
    [
        (LABELS, "euclidean", "evidence is in metric='cosine'"),
        (LABELS[::-1], "cosine", "evidence is of other clusters"),
    ],
)
def test_evidence_of_something_else_is_refused(labels, metric, message):
    evidence = ClusterEvidence(ROWS, doccluster.Partition.from_labels(LABELS))
    with pytest.raises(InputError, match=message):
        evaluate(labels, evidence=evidence, metric=metric)


def test_measures_of_all_pairs_above_the_limit_are_reported_with_their_cost():
    result = evaluate(LABELS, vectors=ROWS, pairwise_seconds=0.0)
    left_out = [s for s in result if s.status == "skipped" and s.note.startswith("needs ~")]
    assert {s.name for s in left_out} == {
        record.name for record in list_measures(counted=True) if record.evidence_for("cosine") == "pairwise"
    }
    assert all(math.isnan(s.value) for s in left_out)
    by_name = evaluate(LABELS, vectors=ROWS, pairwise_seconds=0.0, measures=["dunn"])
    assert by_name["dunn"].is_defined


@pytest.mark.usefixtures("starts_threads")
def test_what_is_left_out_and_its_note_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(_distances, "SECONDS_PER_PAIR", 100.0)

    def told(n_threads):
        scores = evaluate(LABELS, vectors=ROWS, n_threads=n_threads)
        return [(score.name, score.status, score.note) for score in scores]

    assert any(str(note).startswith("needs ~") for _, _, note in told(1))
    assert told(1) == told(2) == told(5)


def test_measures_of_pairs_that_take_long_are_left_out_and_their_cost_told(monkeypatch):
    monkeypatch.setattr(PairwiseDistances, "estimate_seconds", lambda self: 700.0)
    result = evaluate(LABELS, vectors=ROWS)
    for name in ("dunn", "gamma", "g_plus", "tau"):
        assert result[name].note == "needs ~12 min, ask for it by name"
    assert evaluate(LABELS, vectors=ROWS, measures=["gamma"])["gamma"].is_defined
    assert evaluate(LABELS, vectors=ROWS, pairwise_seconds=700.0)["gamma"].is_defined
    monkeypatch.setattr(PairwiseDistances, "estimate_seconds", lambda self: 2.0)
    short = evaluate(LABELS, vectors=ROWS, pairwise_seconds=1.0)
    assert short["dunn"].note == "needs ~2 s, ask for it by name"


def test_a_measure_taken_by_name_only_is_reported_in_the_default_set():
    left_out = evaluate(LABELS, truth=TRUTH)["divergence_from_random_baseline"]
    assert (left_out.status, left_out.notes) == ("skipped", ("ask for it by name",))
    assert math.isnan(left_out.value)


def test_a_score_has_a_status_and_one_note_for_each_thing_that_was_left_out():
    truth = ["a", None, "b", ["a", "b"], "b", "b"]
    purity = score("purity", LABELS, truth=truth, noise=LABELS[4])
    assert purity.status == "computed"
    assert [note.split()[0] for note in purity.notes] == ["on", "without"]
    assert purity.note == "; ".join(purity.notes)
    undefined = score("nccg", [0, 1], truth=["a", "b"])
    assert (undefined.status, undefined.notes) == ("undefined", ("no topic has two documents",))
    plain = score("purity", [0, 1], truth=["a", "b"])
    assert (plain.status, plain.notes, plain.note) == ("computed", (), None)


def test_a_table_says_of_a_skipped_score_that_it_was_not_computed():
    result = evaluate(LABELS, vectors=ROWS, pairwise_seconds=0.0)
    line = next(line for line in str(result).splitlines() if " dunn " in line)
    assert "not computed" in line
    assert "undefined" not in line
    assert result.to_pandas().set_index("measure").loc["dunn", "status"] == "skipped"


def test_several_truth_columns_have_a_score_each_and_a_best_one():
    frame = pd.DataFrame({"topic": TRUTH, "place": ["x", "y", "x", "y", None, "x"]})
    result = evaluate(LABELS, truth=frame, measures=["purity", "variation_of_information", "mcnemar"])
    assert [(s.name, s.truth) for s in result][:2] == [("purity", "topic"), ("purity", "place")]
    assert result.get("purity", truth="place").note == "on 5 of 6 documents (1 without a label)"
    assert result.coverage["place"] == {
        "n_documents": 6,
        "n_used": 5,
        "n_unlabelled": 1,
        "n_several": 0,
        "n_classes": 2,
    }
    assert dict(result.classes) == {"topic": ("a", "b", "c"), "place": ("x", "y")}


def test_a_truth_column_that_cannot_be_used_is_left_out_with_a_warning():
    columns = {"topic": TRUTH, "people": [None] * 6, "places": [("x", "y")] * 5 + [()]}
    with pytest.warns(DocclusterWarning, match="in people, places; that truth is skipped"):
        result = evaluate(LABELS, truth=columns, measures=["purity"])
    assert [s.truth for s in result] == ["topic"]
    with pytest.raises(InputError, match="in people, places"):
        evaluate(LABELS, truth={name: columns[name] for name in ("people", "places")})


def test_large_tables_stay_out_of_json():
    labels = np.arange(150)
    result = evaluate(labels, truth=labels, measures=["purity"])
    assert result["purity"].per_pair.shape == (150, 150)
    assert "per_pair" not in result.to_dict()["scores"][0]


def test_measures_may_be_given_with_parameters():
    result = evaluate(LABELS, truth=TRUTH, measures={"pair_f": {"beta": 5}, "mutual_information": {"base": 2}})
    assert result["pair_f"].value == score("pair_f", LABELS, truth=TRUTH, beta=5).value
    assert result["mutual_information"].parameters == {"base": 2}
    with pytest.raises(InputError, match="no parameter gamma"):
        evaluate(LABELS, truth=TRUTH, measures={"pair_f": {"gamma": 5}})


def test_a_single_name_is_a_list_of_one():
    assert [s.name for s in evaluate(LABELS, truth=TRUTH, measures="rand")] == ["rand"]


# --- results that travel ---------------------------------------------------------------------------------------------


def test_frame_is_tidy():
    frame = evaluate(LABELS, truth=TRUTH, measures=["nmi", "nmi_geometric", "ami"]).to_pandas()
    head = ["measure", "variant", "family", "source", "value", "direction", "range", "note"]
    assert list(frame.columns)[:8] == head
    assert frame["variant"].tolist() == ["", "geometric", ""]
    assert frame["family"].tolist() == ["external"] * 3
    assert frame["value"].dtype == np.float64


def test_json_is_strict_and_keeps_reasons():
    result = evaluate([0, 1], truth=["a", "b"], measures=["nccg", "purity"])
    content = json.loads(result.to_json())
    undefined, purity = content["scores"]
    assert undefined["value"] is None
    assert undefined["note"] == "no topic has two documents"
    assert undefined["notes"] == ["no topic has two documents"]
    assert (undefined["status"], purity["status"]) == ("undefined", "computed")
    assert undefined["per_class"] == [None, None]
    assert purity["per_cluster"] == [1.0, 1.0]
    assert content["provenance"]["n_documents"] == 2
    assert content["clusters"] == [0, 1]


def test_json_has_infinity_as_a_word():
    content = evaluate([0, 0, 1, 1], vectors=np.eye(2)[[0, 0, 1, 1]], measures=["calinski_harabasz"]).to_dict()
    assert content["scores"][0]["value"] == "Infinity"


def test_latex_is_a_table_with_escaped_text():
    text = evaluate(LABELS, truth={"50% & more": TRUTH, "b": TRUTH}, measures=["conditional_entropy"]).to_latex()
    assert r"50\% \& more" in text
    assert r"Conditional entropy H(T|C) & $\downarrow$ &" in text
    assert text.count("{") == text.count("}")
    assert text.startswith(r"\begin{tabular}{llrr}")


def test_printed_table_is_grouped_with_arrows_and_reasons():
    text = str(evaluate([0, 0, 1], truth=["a", "b", None], vectors=ROWS[:3], measures=["purity", "nccg", "rss"]))
    lines = text.splitlines()
    headings = [line.strip() for line in lines if line.startswith(("External", "Internal"))]
    assert headings == ["External: against the truth", "Internal: from the vectors"]
    assert "↑" in next(line for line in lines if "purity" in line)
    assert "undefined" in next(line for line in lines if "nccg" in line)
    assert "↓" in next(line for line in lines if line.strip().startswith("rss"))
    assert "truth: on 2 of 3 documents (1 without a label)" in text


def test_with_several_truths_what_needs_none_stands_in_a_table_of_its_own():
    columns = {"topic": TRUTH, "place": ["x", "y", "x", "y", None, "x"]}
    result = evaluate(LABELS, truth=columns, vectors=ROWS, measures=["purity", "rss", "silhouette", "coherence"])
    external, others = str(result).split("\n\n")
    assert external.splitlines()[0].split()[:3] == ["measure", "topic", "place"]
    assert "purity" in external
    assert "place: on 5 of 6 documents" in external
    assert others.splitlines()[0].split()[:2] == ["measure", "value"]
    for words in ("Internal: from the vectors", "Intrinsic: per cluster", "rss", "silhouette", "coherence"):
        assert words in others
        assert words not in external
    spanned = [line for line in result.to_latex().splitlines() if line.startswith("Silhouette")]
    assert len(spanned) == 1
    assert rf"\multicolumn{{2}}{{r}}{{${result['silhouette'].value:.4f}$}}" in spanned[0]


def test_with_one_truth_all_scores_stand_in_one_table():
    text = str(evaluate(LABELS, truth=TRUTH, vectors=ROWS, measures=["purity", "rss"]))
    assert "\n\n" not in text
    assert text.count("value") == 1


@pytest.mark.parametrize("name", ["zaki_f", "macro_precision_majority", "macro_f_majority"])
def test_a_tied_majority_class_is_told(name):
    note = score(name, LABELS, truth=["a", "b", "a", "a", "c", "b"]).note
    assert note == "2 clusters have several commonest classes: the smallest of them is taken, then the first"
    assert score(name, LABELS, truth=["a", "b", "a", "a", "c", "c"]).note.startswith("1 cluster has several")
    assert score(name, LABELS, truth=["a", "a", "b", "b", "c", "c"]).note is None


def test_scores_are_numbers_and_show_briefly():
    ours = score("purity", LABELS, truth=TRUTH)
    assert float(ours) == ours.value
    assert repr(ours) == "Score(purity=0.833333, truth='truth')"


def test_what_was_not_evaluated_says_how_to_ask_for_it():
    result = evaluate(LABELS, truth=TRUTH, measures=["rand"])
    assert "rand" in result
    assert len(result) == 1
    with pytest.raises(InputError, match=r"measures=\['purity'\]"):
        result["purity"]
    with pytest.raises(InputError, match="against 'x'"):
        result.get("rand", truth="x")


def test_public_names_are_those_of_the_package_root():
    assert doccluster.evaluate is evaluate
    assert doccluster.score is score


def test_masked_vectors_are_refused():
    matrix = np.ma.masked_array(np.eye(3), mask=np.eye(3) == 1)
    with pytest.raises(InputError, match="masked values"):
        score("silhouette", [0, 0, 1], vectors=matrix)
    assert score("rss", [0, 0, 1], vectors=np.ma.masked_array(np.eye(3))).value == pytest.approx(1.0)


def test_an_unknown_family_is_refused():
    known = "external, internal, intrinsic, topic"
    with pytest.raises(InputError, match=rf"family='extern' is not known; give one of {known}"):
        list_measures(family="extern")


@pytest.mark.parametrize("name", ["normalized_cut", "modularity"])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_shares_of_distance_need_a_distance(name, metric):
    for copies in (1, 5):
        alike = score(name, [0] * copies, vectors=np.tile([0.6, 0.8], (copies, 1)), metric=metric)
        assert math.isnan(alike.value)
        assert alike.note
    rows = np.random.default_rng(0).random((9, 4))
    assert score(name, [0] * 9, vectors=rows, metric=metric).value == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["gamma", "g_plus", "tau"])
def test_order_of_pairs_is_counted_in_rows_of_any_length(name, kind, dtype):
    generator = np.random.default_rng(0)
    rows, labels = generator.integers(0, 9, (30, 5)), generator.integers(0, 3, 30)
    expected = score(name, labels, vectors=rows, metric="euclidean").value
    for factor in (2**14, 2**22, 2**40):
        long = kind((rows * float(factor)).astype(dtype))
        assert score(name, labels, vectors=long, metric="euclidean").value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("sign", [1, -1])
def test_values_whose_distances_are_no_numbers_are_refused(kind, sign):
    rows = kind(sign * 1e160 * np.eye(3))
    with pytest.raises(InputError, match="too large for squared distances"):
        evaluate([0, 0, 1], vectors=rows, metric="euclidean")
    assert score("silhouette", [0, 0, 1], vectors=rows).value == 0


def test_tables_of_all_pairs_of_very_many_clusters_are_left_out_unless_asked_for(monkeypatch):
    monkeypatch.setattr("doccluster.measures.judging.MAX_PAIRED_CLUSTERS", 2)
    rows, labels = np.eye(6)[[0, 0, 1, 1, 2, 2]] + 0.1, [0, 0, 1, 1, 2, 2]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    scores = {score.name: score for score in evaluate(labels, vectors=rows, truth=labels)}
    assert not scores["hubert_discrete"].is_skipped
    left_out = {name for name, score in scores.items() if "all pairs of 3 clusters" in " ".join(score.notes)}
    assert {"adherence", "ics", "hubert", "ray_turi", "davies_bouldin", "gdi"} <= left_out
    assert not scores["silhouette"].is_skipped
    assert not any(name.startswith(("silhouette", "rss", "density")) for name in left_out)
    assert evaluate(labels, vectors=rows, measures=["adherence"])["adherence"].value > 0
    for made_of, table in ((ClusterSums, "gram"), (ClusterEvidence, "_tables")):
        monkeypatch.setattr(made_of, table, property(lambda _: pytest.fail("a table of all pairs of clusters")))
    monkeypatch.setattr("doccluster.geometry.evidence.TABLES_UP_TO", 2)
    assert evaluate(labels, vectors=rows)["silhouette"].value > 0


def test_a_list_inside_the_labels_of_a_document_is_refused():
    with pytest.raises(InputError, match=r"\[\[1\], 2\] holds a label that is neither text nor a number"):
        evaluate([0, 1, 0], truth=[[[1], 2], [2], [3]])


def test_truth_may_be_a_column_or_a_table_of_any_library():
    truth, labels = ["a", "a", "a", "b"], [0, 0, 1, 1]
    expected = score("nmi", labels, truth=truth).value
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for column in (polars.Series(truth), pyarrow.array(truth), pyarrow.chunked_array([truth])):
        assert score("nmi", labels, truth=column) == expected
    for table in (polars.DataFrame({"story": truth}), pyarrow.table({"story": truth}), pd.DataFrame({"story": truth})):
        (found,) = evaluate(labels, truth=table, measures=["nmi"])
        assert (found.truth, found.value) == ("story", expected)
