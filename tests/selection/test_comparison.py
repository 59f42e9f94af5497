"""Comparing algorithms: the statistics by hand and by scipy, and real comparisons."""

from __future__ import annotations

import itertools
import math
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import make_pipeline

import doccluster
from doccluster.base.validation import check_matrix, unit_rows
from doccluster.clustering import VonMisesFisherMixture
from doccluster.errors import InputError
from doccluster.lab import clusterers
from doccluster.lab.comparison_result import (
    asked_measures,
    compared_value,
    headline,
    mean_with_interval,
    measure_of,
    paired_tests,
    rank_biserial,
    wilcoxon_p,
)
from doccluster.measures import list_measures
from doccluster.measures.chance import holm
from doccluster.selection import Comparison, LabelledCorpus, compare
from tests.selection import own_clusterers
from tests.selection.test_tendency import blocks_of_topics


def test_interval_is_that_of_student():
    values = [1.0, 2.0, 4.0, math.nan]
    mean, low, high = mean_with_interval(values)
    expected = stats.t.interval(0.95, 2, loc=np.mean(values[:3]), scale=stats.sem(values[:3]))
    assert (low, high) == pytest.approx(expected)
    assert mean == pytest.approx(7 / 3)
    assert all(math.isnan(each) for each in mean_with_interval([3.0])[1:])


def test_rank_biserial_by_hand():
    assert rank_biserial([2, 2, 2], [1, 1, 1]) == 1.0
    assert rank_biserial([3, 1], [1, 2]) == pytest.approx((2 - 1) / 3)
    assert rank_biserial([1, 1], [1, 1]) == 0.0


def test_wilcoxon_with_ties_tries_every_choice_of_signs():
    difference = np.array([1.0, 1.0, 2.0, -1.0, 3.0, 4.0])
    ranks = stats.rankdata(np.abs(difference))
    sums = np.array([ranks @ signs for signs in itertools.product((0, 1), repeat=6)])
    seen = ranks[difference > 0].sum()
    expected = 2 * min(np.mean(sums >= seen), np.mean(sums <= seen))
    assert wilcoxon_p(difference, np.zeros(6)) == pytest.approx(expected)
    assert wilcoxon_p([*difference, 7.0], [0.0] * 6 + [7.0]) == pytest.approx(expected)  # an equal pair counts nothing


def test_wilcoxon_is_scipy_s_and_equal_pairs_are_no_evidence():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=12), rng.normal(0.5, size=12)
    assert wilcoxon_p(one, two) == pytest.approx(stats.wilcoxon(one, two).pvalue)
    assert wilcoxon_p(one, one) == 1.0
    with pytest.raises(InputError):
        wilcoxon_p(one, two[:3])


def test_holm_never_lowers_a_p_value():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


def test_effect_is_positive_where_the_first_is_better():
    worse, better = [0.1, 0.2, 0.3, 0.25, 0.15], [0.5, 0.6, 0.8, 0.7, 0.65]
    assert paired_tests({"a": better, "b": worse}).loc[0, "effect"] == 1.0
    assert paired_tests({"a": better, "b": worse}, higher_is_better=False).loc[0, "effect"] == -1.0


def test_agreement_is_positive_where_a_measure_follows_the_truth():
    rows = []
    values = [(0.1, 0.2, 0.9), (0.3, 0.21, 0.8), (0.5, 0.3, 0.5), (0.6, 0.31, 0.3), (0.9, 0.6, 0.2)]
    for seed, (ari, silhouette, adherence) in enumerate(values):
        for measure, value in (("adjusted_rand", ari), ("silhouette", silhouette), ("adherence", adherence)):
            rows.append(("c", "x", seed, measure, value))
    found = Comparison(pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure", "value"])).agreement()
    assert found.set_index("measure")["correlation"].to_dict() == pytest.approx({"adherence": 1.0, "silhouette": 1.0})


def test_a_real_comparison_and_its_continuation(tmp_path):
    corpora = [
        LabelledCorpus(f"made-{seed}", blocks_of_topics(60, seed=seed), [i % 3 for i in range(60)], 3)
        for seed in (0, 1)
    ]
    settings = {
        "algorithms": ["spherical-kmeans:n_init=1", "kmeans:n_init=1", "bisecting-kmeans"],
        "seeds": range(2),
        "measures": ["adjusted_rand", "silhouette"],
        "checkpoint": tmp_path,
        "n_threads": 1,
    }
    found = compare(corpora, **settings)
    assert len(found.runs) == 2 * 3 * 2 * 3
    seconds = found.runs[found.runs["measure"] == "seconds"]["value"]
    assert (seconds > 0).all()
    again = compare(corpora, **settings)
    pd.testing.assert_frame_equal(found.runs, again.runs)  # finished runs are read, seconds and all
    assert set(found.tests(["adjusted_rand"])["corpus"]) == {"made-0", "made-1"}
    summary = found.summary().set_index(["corpus", "algorithm", "measure"])
    assert summary.loc[("made-0", "spherical-kmeans:n_init=1", "adjusted_rand"), "mean"] > 0.5


OWN = "tests.selection.own_clusterers"


def made(n=60, name="made", **more):
    return LabelledCorpus(name, blocks_of_topics(n, seed=0), [i % 3 for i in range(n)], 3, **more)


def values_of(found, measure):
    own = found.runs[found.runs["measure"] == measure]
    return {(row["algorithm"], row["seed"]): row["value"] for row in own.to_dict("records")}


def test_a_fit_that_fails_is_a_row_and_the_others_go_on():
    algorithms = [f"{OWN}:Broken", f"{OWN}:Steady"]
    found = compare([made()], algorithms=algorithms, seeds=range(3), measures=["adjusted_rand"], n_threads=1)
    assert set(values_of(found, "adjusted_rand")) == {
        *((f"{OWN}:{name}", seed) for name in ("Broken",) for seed in (0, 2)),
        *((f"{OWN}:Steady", seed) for seed in (0, 1, 2)),
    }
    failures = found.failures.set_index(["algorithm", "seed"])[["kind", "message"]]
    assert failures.loc[(f"{OWN}:Broken", 1)].tolist() == ["RuntimeError", "no luck with odd seeds"]
    assert len(failures) == 1
    tested = found.tests(["adjusted_rand"])
    assert tested[["first", "second", "n"]].to_numpy().tolist() == [
        [f"{OWN}:{first}", f"{OWN}:{second}", 2] for first, second in itertools.combinations(("Broken", "Steady"), 2)
    ]


def test_when_no_fit_comes_to_an_end_the_first_reason_is_told():
    with pytest.raises(InputError, match=r"no fit came to an end.*\(seed 1\).*no luck"):
        compare([made()], algorithms=[f"{OWN}:Broken"], seeds=[1])


def test_any_clusterer_is_compared_as_object_as_factory_and_by_name():
    class Local(KMeans):
        """No module has this one."""

    given = {
        "object": KMeans(9, n_init=1),
        "factory": f"{OWN}:few_starts:n_init=1",
        "name": "kmeans:n_init=1",
        "pipeline": make_pipeline(TruncatedSVD(5), KMeans(9, n_init=1)),
        "here": Local(9, n_init=1),
        "mixture": VonMisesFisherMixture(9, concentration="shared", n_init=1),
        "no number": own_clusterers.NoNumber(),
    }
    found = compare([made()], algorithms=given, seeds=[4], measures=["rss", "adjusted_rand"], n_threads=1)
    assert found.failures.empty
    value = {name: number for (name, _), number in values_of(found, "rss").items()}
    expected = KMeans(3, n_init=1, random_state=4).fit(unit_rows(check_matrix(made().matrix))).labels_
    assert value["object"] == pytest.approx(doccluster.score("rss", expected, vectors=made().matrix).value)
    assert value["object"] == value["factory"] == value["name"] == value["here"]
    assert set(value) == set(given)


def test_a_function_a_class_and_a_factory_are_fitted_in_python_and_by_name():
    corpus = made(labels={"by hand": [(2 * row + 4) % 3 for row in range(60)]})
    algorithms = [
        own_clusterers.by_turns,
        own_clusterers.Steady,
        own_clusterers.few_starts,
        f"{OWN}:by_turns",
        f"{OWN}:by_turns:step=2",
        f"{OWN}:of_depth:depth=3",
        f"{OWN}:Steady",
    ]
    found = compare([corpus], algorithms=algorithms, seeds=[4], measures=["adjusted_rand", "rss"], n_threads=1)
    assert found.failures.empty
    assert found.runs["algorithm"].unique().tolist() == [
        "by hand",
        *("by_turns", "Steady", "few_starts"),
        *algorithms[3:],
    ]
    rss = {name: value for (name, _), value in values_of(found, "rss").items()}
    assert rss["by_turns"] == rss[f"{OWN}:by_turns"] == rss["Steady"] == rss[f"{OWN}:of_depth:depth=3"]
    assert rss[f"{OWN}:by_turns:step=2"] == rss["by hand"]  # the number of clusters, the seed and the setting came


def test_a_factory_of_the_current_folder_is_found_and_the_path_of_imports_stays_as_it_was(tmp_path, monkeypatch):
    (tmp_path / "mine_alone.py").write_text("from sklearn.cluster import KMeans as Mine\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    monkeypatch.delitem(sys.modules, "mine_alone", raising=False)
    before = list(sys.path)
    assert clusterers.as_clusterers(["mine_alone:Mine"])[0].estimator.__class__.__name__ == "KMeans"
    assert sys.path == before


@pytest.mark.parametrize(
    ("algorithm", "told"),
    [
        (f"{OWN}:nothing", "returned 3, which is not a clusterer"),
        (f"{OWN}:missing", "has no 'missing'"),
        ("no_such_module:make", "ModuleNotFoundError"),
        (f"{OWN}:few_starts:depth=3", "TypeError"),
        (f"{OWN}:few_starts:3", "write module:factory:name=value"),
        (f"{OWN}:of_depth", r"gives no clusterer: TypeError: missing a required argument: 'depth'"),
        (own_clusterers.of_depth, r"of_depth gives no clusterer.*'depth'; give a clusterer with scikit-learn's fit"),
        (own_clusterers.nothing, "returned 3, which is not a clusterer"),
        (3, "is not an algorithm"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_any_work(algorithm, told):
    with pytest.raises(InputError, match=told):
        compare([], algorithms=[algorithm])


def test_two_algorithms_of_one_name_are_refused():
    with pytest.raises(InputError, match="give a mapping of your own names"):
        compare([], algorithms=[KMeans(3), KMeans(3)])


def test_labels_made_elsewhere_are_judged_once_and_tested_against_every_seed():
    truth = [i % 3 for i in range(60)]
    corpus = made(labels={"by hand": truth})
    found = compare([corpus], algorithms=["kmeans:n_init=1"], seeds=range(3), measures=["adjusted_rand"], n_threads=1)
    assert values_of(found, "adjusted_rand")["by hand", -1] == 1.0
    assert ("by hand", -1) not in values_of(found, "seconds")
    tested = found.tests(["adjusted_rand"]).iloc[0]
    assert (tested["first"], tested["second"], tested["n"]) == ("by hand", "kmeans:n_init=1", 3)
    with pytest.raises(InputError, match="59 labels"):
        compare([made(labels={"short": truth[1:]})], algorithms=["kmeans"])


def runs_of(values, measure="nmi"):
    rows = [("c", "x", seed, measure, value) for seed, value in enumerate(values)]
    return Comparison(pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure", "value"]))


def test_intervals_stay_in_the_range_of_their_measure():
    row = runs_of([0.9, 1.0, 1.0]).summary().iloc[0]
    assert row["low"] < row["mean"] < row["high"] == 1.0
    assert runs_of([0.1, 3.0], "seconds").summary().iloc[0]["low"] == 0.0
    assert runs_of([0.5]).summary()[["low", "high"]].isna().all(axis=None)


def test_the_frame_is_the_summary_and_the_headline_the_usual_measures_before_seconds():
    found = runs_of([0.9, 1.0, 1.0])
    pd.testing.assert_frame_equal(found.to_pandas(), found.summary())
    measures = ["seconds", "purity", "nmi", "adjusted_rand"]
    assert headline(pd.DataFrame({"measure": measures})) == ["adjusted_rand", "nmi", "seconds"]
    assert headline(pd.DataFrame({"measure": ["seconds", "purity", "rand"]})) == ["purity", "rand", "seconds"]


def test_what_is_asked_for_by_name_is_shown_and_tested_in_that_order():
    corpus = made(labels={"by hand": [i % 4 for i in range(60)]})
    asked = ["rss", "coherence:largest", "ari", "coherence:min", "density:smallest", "purity:mean"]
    found = compare([corpus], algorithms=["k-means:n_init=1"], seeds=range(2), measures=asked, n_threads=1)
    assert found.measures == tuple(asked)
    assert found.shown == [*asked, "seconds"]
    assert set(found.tests()["measure"]) == set(asked)
    labels = corpus.labels["by hand"]
    value = {name: values_of(found, name)["by hand", -1] for name in asked}
    scores = {
        name: doccluster.score(name, labels, vectors=corpus.matrix).per_cluster for name in ("coherence", "density")
    }
    purity = doccluster.score("purity", labels, truth=corpus.truth).per_cluster
    assert value["coherence:largest"] == scores["coherence"][0]  # all have 15: the first counts
    assert value["coherence:min"] == min(scores["coherence"])
    assert value["density:smallest"] == scores["density"][0]
    assert value["purity:mean"] == pytest.approx(np.mean(purity))
    sizes = [0] * 10 + [1] * 30 + [2] * 20
    uneven = compare([made(labels={"uneven": sizes})], algorithms=["k-means"], seeds=[0], measures=asked)
    per_cluster = doccluster.score("coherence", sizes, vectors=corpus.matrix).per_cluster
    assert values_of(uneven, "coherence:largest")["uneven", -1] == per_cluster[1]


def test_all_measures_with_values_of_clusters_have_them_within_their_bounds():
    labels = [i % 3 for i in range(60)]
    names = [one.name for one in list_measures(counted=None) if "per_cluster" in one.parts]
    asked = [f"{name}:{clusters}" for name in names if not name.startswith("gdi") for clusters in ("min", "max")]
    assert len(asked) > 60
    _, shown = asked_measures(asked)
    evaluation = doccluster.evaluate(labels, truth=made().truth, vectors=made().matrix, measures=names)
    for name in shown:
        value = compared_value(evaluation, name, np.bincount(labels))
        low, high = measure_of(name).bounds
        assert value >= (-math.inf if low is None else low), name
        assert value <= (math.inf if high is None else high), name


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        ("coherence:widest", "coherence:widest names no clusters; write one of largest, smallest, min, max, mean"),
        ("adjusted_rand:largest", "adjusted_rand has no value for each cluster; name the measure alone"),
        ("gdi:largest", "gdi has no value for each cluster"),
        ("coherense:largest", "did you mean coherence"),
    ],
)
def test_a_name_of_a_measure_that_means_nothing_is_refused_before_any_work(measure, told):
    with pytest.raises(InputError, match=told):
        compare([], measures=["nmi", measure])


def in_three_worlds():
    """Runs of two algorithms: one is always better by adjusted Rand, they are alike by the silhouette."""
    rows = [
        ("a_b", name, seed, measure, (0.5 if (name, measure) == ("good", "adjusted_rand") else 0.1) + seed / 100)
        for name in ("good", "poor", "truth")
        for measure in ("adjusted_rand", "silhouette")
        for seed in range(8)
    ]
    columns = ["corpus", "algorithm", "seed", "measure", "value"]
    return Comparison(pd.DataFrame(rows, columns=columns), measures=("adjusted_rand", "silhouette"), ceiling="truth")


def test_tables_for_papers_have_the_best_in_bold_and_a_star_where_it_differs_by_the_tests():
    found = in_three_worlds()
    assert found.tests()["p_holm"].tolist() == [pytest.approx(2 / 2**8), 1.0]
    latex = found.to_latex().splitlines()
    assert latex[4] == r"a\_b & good & \textbf{0.535 $\pm$ 0.020} & \textbf{0.135 $\pm$ 0.020} \\"
    assert latex[5] == r"a\_b & poor & 0.135 $\pm$ 0.020$^{*}$ & \textbf{0.135 $\pm$ 0.020} \\"
    assert latex[6] == r"a\_b & truth & 0.135 $\pm$ 0.020 & 0.135 $\pm$ 0.020 \\"  # no contender: not bold, no star
    assert latex[-1].startswith("% mean over seeds, with its 95 % interval; *: differs from the best")
    assert found.to_markdown().splitlines() == [
        "| corpus | algorithm | adjusted rand | silhouette |",
        "| --- | --- | ---: | ---: |",
        r"| a\_b | good | **0.535 ± 0.020** | **0.135 ± 0.020** |",
        r"| a\_b | poor | 0.135 ± 0.020\* | **0.135 ± 0.020** |",
        r"| a\_b | truth | 0.135 ± 0.020 | 0.135 ± 0.020 |",
        "",
        f"{latex[-1][2:]}",
    ]
    assert r"a\_b & adjusted rand & good & poor & 0.400 & 1.000 & 0.008 & 0.008 & 8 \\" in found.to_latex("tests")
    assert r"| a\_b | silhouette | **1.000** | 0.000 | 8 |" not in found.to_markdown("agreement")
    assert found.to_latex("ranks").count(r"\\") == 1  # of one corpus there are none: only the names of columns
    with pytest.raises(InputError, match="table"):
        found.to_latex("tasks")


def test_negative_numbers_and_tiny_p_values_are_written_for_print():
    rows = [("c", name, seed, "rss", (name == "b") + seed / 100) for name in "ab" for seed in range(14)]
    found = Comparison(pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure", "value"]))
    assert r"c & rss & a & b & $-$1.000 & 1.000 & $<$0.001 & $<$0.001 & 14 \\" in found.to_latex("tests")


def test_fewer_than_five_runs_that_differ_give_no_correlation():
    rows = []
    for seed, step in enumerate([0, 1, 2, 3, 3, 3, 3]):  # the last three repeat the fourth
        rows += [("c", "x", seed, "adjusted_rand", step / 10), ("c", "x", seed, "silhouette", step / 20)]
    found = Comparison(pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure", "value"])).agreement()
    assert found["n"].tolist() == [4]
    assert found["correlation"].isna().all()


@pytest.mark.parametrize("name", ["dbscan", "kmeans:depth=3", "kmeans:n_init"])
def test_unknown_algorithms_and_parameters_are_refused_before_any_work(name):
    with pytest.raises(InputError):
        compare([], algorithms=[name])


def test_a_comparison_says_what_it_holds():
    rows = [("news", name, seed, "nmi", 0.5) for name in ("a", "b") for seed in range(3)]
    found = Comparison(pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure", "value"]))
    assert repr(found) == "Comparison(2 algorithms, 1 corpus, 3 seeds, 1 measure; 0 fits failed)"
