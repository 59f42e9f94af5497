"""Clusters judged by people: what is asked, what coders get, and what their answers say."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import json
import math
import re
import shutil

import numpy as np
import pytest

import doccluster as package
from doccluster.errors import InputError, NothingUsable, SchemaError
from doccluster.lab import coders
from tests.report.hostile import HOSTILE, TEXTS
from tests.report.test_report_in_browser import CONTRAST

SAMPLE = package.load_sample()
CHEAP = {"levels": "none", "report": False, "measures": ["ics"]}
N_CLUSTERS = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("validated") / "run"


@pytest.fixture(scope="module")
def run(folder):
    return package.run(SAMPLE, n_clusters=N_CLUSTERS, random_state=7, output=folder, report=False)


@pytest.fixture(scope="module")
def written(run, tmp_path_factory):
    """The questions, and a folder of them that no test changes."""
    place = tmp_path_factory.mktemp("written") / "sheets"
    return run.validation(place, per_cluster=2), place


@pytest.fixture
def sheets(written, tmp_path):
    """The questions, and a folder of them to answer in."""
    return written[0], shutil.copytree(written[1], tmp_path / "sheets")


def read(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def fill(place, key, coder, choose, *, name="sheet.csv", **dialect):
    """Answer the sheet of a coder: `choose` gets a question and returns the place of an option, or None."""
    rows = read(place / f"coder-{coder + 1}" / "sheet.csv")
    for row, (question, *order) in zip(rows[1:], key.coders[coder], strict=True):
        option = choose(key.questions[question])
        row[-1] = "" if option is None else "abcdef"[order.index(option)]
    with (place / f"coder-{coder + 1}" / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, **dialect).writerows(rows)


def right(question):
    return question.right


def wrong(question):
    return (question.right + 1) % len(question.options)


def rows_by_text(run):
    """The rows of documents by how they are shown; near-copies may be shown alike."""
    shown = {}
    for row, (title, text) in enumerate(zip(run.documents.titles, run.documents.excerpts, strict=True)):
        shown.setdefault(f"{title}\n{text}", set()).add(row)
    return shown


# what is asked


def test_five_words_are_of_the_cluster_and_the_sixth_is_rare_there_and_common_elsewhere(run, written):
    dense = run.vectors.matrix.toarray() > 0  # of 176 documents
    asked = [question for question in written[0].questions if question.test == "words"]
    assert len(asked) == 2 * N_CLUSTERS
    for question in asked:
        stranger = question.options[question.right]
        words = [word for word in question.options if word != stranger]
        described = run.clusters[question.cluster]
        assert len(words) == 5
        assert set(words) in (set(described.terms[:5]), set(described.terms[5:10]))
        homes = [cluster for cluster in run.clusters if stranger in cluster.terms[:5]]
        assert homes
        assert described not in homes
        column = next(term.column for term in homes[0].descriptive if term.term == stranger)
        members = np.flatnonzero((run.partition.labels == question.cluster) & (run.shown_labels < run.n_clusters))
        assert dense[members, column].mean() <= 0.01


def test_three_documents_are_of_the_cluster_and_the_fourth_is_of_the_nearest_one(run, written):
    rows_of, centroids = rows_by_text(run), run.centroids.toarray().astype(np.float64)
    asked = [question for question in written[0].questions if question.test == "documents"]
    assert len({question.cluster for question in asked}) == N_CLUSTERS
    for question in asked:
        clusters = [{int(run.shown_labels[row]) for row in rows_of[text]} for text in question.options]
        cosines = centroids @ centroids[question.cluster]
        cosines[question.cluster] = -1
        expected = [{question.cluster}] * 4
        expected[question.right] = {int(np.argmax(cosines))}
        assert clusters == expected
        families = [{int(run.copy_of[row]) for row in rows_of[text]} for text in question.options]
        assert len(set.union(*families)) == 4
    shown = [text for question in asked for text in question.options if text != question.options[question.right]]
    assert len(set(shown)) == len(shown)  # two questions about a cluster show other documents of it


def test_a_document_stands_beside_its_name_and_three_others(run, written):
    rows_of = rows_by_text(run)
    asked = [question for question in written[0].questions if question.test == "names"]
    assert len(asked) == 2 * N_CLUSTERS
    for question in asked:
        assert question.options[question.right] == run.clusters[question.cluster].label
        assert {int(run.shown_labels[row]) for row in rows_of[question.document]} == {question.cluster}
        assert len(set(question.options)) == 4
        assert set(question.options) <= {cluster.label for cluster in run.clusters}


def test_documents_of_other_are_not_shown_and_near_copies_once(run, tmp_path):
    is_other, labels = np.arange(run.n_documents) % 5 == 3, run.partition.labels
    copy_of = np.arange(run.n_documents) // 3 * 3  # families of three, in one cluster and across several
    run = dataclasses.replace(run, is_other=is_other, copy_of=copy_of)
    other = {f"{run.documents.titles[row]}\n{run.documents.excerpts[row]}" for row in np.flatnonzero(is_other).tolist()}
    assert len(other) == run.n_other == 35
    key = run.validation(tmp_path / "all", tests=["documents", "names"], per_cluster=99, n_coders=1)
    shown = {text for question in key.questions for text in (*question.options, question.document)}
    assert shown & other == set()
    names = [question for question in key.questions if question.test == "names"]
    families = {(int(copy_of[row]), int(labels[row])) for row in np.flatnonzero(~is_other)}
    assert len(names) == len(families) < run.n_documents - run.n_other


def test_near_copies_of_a_cluster_elsewhere_are_no_strangers_to_it(run, tmp_path):
    labels = run.partition.labels
    rank = np.array([np.count_nonzero(labels[:row] == labels[row]) for row in range(run.n_documents)])
    first = np.array([np.flatnonzero(rank == each)[0] for each in rank])  # one of each cluster is a family
    copied = dataclasses.replace(run, copy_of=first)
    key = copied.validation(tmp_path / "copied", tests=["documents"], per_cluster=99, n_coders=1)
    rows_of = rows_by_text(run)
    assert len(key.questions) > 10
    for question in key.questions:
        (stranger,) = rows_of[question.options[question.right]]
        assert rank[stranger] >= np.count_nonzero(labels == question.cluster)
    assert any(note.startswith("The test of documents passes over 1 cluster (0)") for note in key.notes)  # the largest


def test_at_most_so_many_clusters_are_drawn_and_all_tests_draw_the_same(run, tmp_path):
    key = run.validation(tmp_path / "few", n_clusters=5, n_coders=1)
    by_test = {test: [q.cluster for q in key.questions if q.test == test] for test in coders.TESTS}
    assert by_test["words"] == by_test["documents"] == by_test["names"]
    assert len(set(by_test["words"])) == 5
    assert key.notes == ()
    others = run.validation(tmp_path / "others", n_clusters=5, n_coders=1, random_state=1)
    assert [question.cluster for question in others.questions] != [question.cluster for question in key.questions]


def test_names_that_a_person_gave_are_asked_about(run, tmp_path):
    named = run.rename(3, "Docks & <ships>")
    key = named.validation(tmp_path / "named", tests=["names"], n_coders=1)
    (asked,) = [question for question in key.questions if question.cluster == 3]
    assert asked.options[asked.right] == "Docks & <ships>"


def test_a_test_that_the_run_cannot_fill_is_left_out_and_said(tmp_path):
    two = package.run(SAMPLE, n_clusters=2, random_state=0, **CHEAP)
    key = two.validation(tmp_path / "two", n_coders=1)
    assert {question.test for question in key.questions} == {"words", "documents"}
    (note,) = key.notes
    assert note.startswith("The test of names is left out: it needs a text, its name, and three other names.")
    with pytest.raises(NothingUsable, match="names is left out"):
        two.validation(tmp_path / "names", tests=["names"])
    one = package.run(TEXTS, n_clusters=1, **CHEAP)
    with pytest.raises(NothingUsable, match=r"test of words is left out.*documents is left out.*names is left out"):
        one.validation(tmp_path / "one")
    assert not (tmp_path / "names").exists()


def test_clusters_of_one_document_are_passed_over_and_others_take_their_place(tmp_path):
    texts = [
        f"{word} {word}s {word}ing {word}ed {word}er harbour" for word in ("ferry", "rye", "comet", "wolf", "tram")
    ]
    more = [f"{text} number{n}" for text in texts[:2] for n in range(3)]
    labels = [0, 1, 2, 3, 4] + [0] * 3 + [1] * 3
    run = package.run(texts + more, labels=labels, language="none", vectorizer={"min_df": 1}, **CHEAP)
    key = run.validation(tmp_path / "small", n_coders=1)
    asked = {test: {q.cluster for q in key.questions if q.test == test} for test in coders.TESTS}
    assert asked == {"words": {0, 1, 2, 3, 4}, "documents": {0, 1}, "names": {0, 1, 2, 3, 4}}
    (note,) = key.notes
    assert note.startswith(
        "The test of documents passes over 3 clusters (2, 3, 4): it needs three different texts, and one of another."
    )
    few = run.validation(tmp_path / "few", n_coders=1, n_clusters=2)
    assert {question.cluster for question in few.questions if question.test == "documents"} == {0, 1}


def test_a_matrix_with_terms_gives_words_alone_and_one_without_nothing(tmp_path):
    rng = np.random.default_rng(0)
    matrix = np.kron(np.eye(4), np.ones((6, 8))) * rng.integers(1, 9, size=(24, 32))
    np.save(tmp_path / "rows.npy", matrix)
    (tmp_path / "terms.txt").write_text("".join(f"term{column}\n" for column in range(32)))
    named = package.run(tmp_path / "rows.npy", n_clusters=4, reader={"terms": tmp_path / "terms.txt"}, **CHEAP)
    key = named.validation(tmp_path / "named", n_coders=1)
    assert {question.test for question in key.questions} == {"words"}
    left_out = [f"The test of {name} is left out" for name in ("documents", "names")]
    assert [note.split(":")[0] for note in key.notes] == left_out
    bare = package.run(tmp_path / "rows.npy", n_clusters=4, **CHEAP)
    with pytest.raises(NothingUsable, match="words is left out"):
        bare.validation(tmp_path / "bare")


# what coders get


def test_coders_get_the_same_questions_in_other_orders_and_nothing_says_what_is_right(run, written):
    key, place = written
    assert sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()) == [
        *("coder-1/page.html", "coder-1/sheet.csv", "coder-2/page.html", "coder-2/sheet.csv"),
        "key/key.json",
    ]
    orders = [[question for question, *_ in lines] for lines in key.coders]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(len(key.questions)))
    elsewhere = dataclasses.replace(
        key, questions=tuple(dataclasses.replace(one, right=0, cluster=0) for one in key.questions)
    )
    assert [elsewhere.rows(coder) for coder in (0, 1)] == [key.rows(coder) for coder in (0, 1)]
    for coder, lines in enumerate(key.coders):
        rows = read(place / f"coder-{coder + 1}" / "sheet.csv")
        assert rows[0] == ["id", "question", "document", "a", "b", "c", "d", "e", "f", "answer"]
        assert [row[0] for row in rows[1:]] == [str(number) for number in range(1, len(lines) + 1)]
        for row, (question, *order) in zip(rows[1:], lines, strict=True):
            assert row[3:-1] == [*(key.questions[question].options[at] for at in order), *[""] * (6 - len(order))]
            assert row[-1] == ""
        page = (place / f"coder-{coder + 1}" / "page.html").read_text(encoding="utf-8")
        assert key.labels_checksum not in page
        assert not [
            name for name in (*run.documents.ids, "dockworkers-strike") if name in page
        ]  # they may say the class


def test_the_right_answer_stands_anywhere(run, tmp_path):
    key = run.validation(tmp_path / "many", n_coders=8, per_cluster=2)
    for test, n_options in (("words", 6), ("documents", 4), ("names", 4)):
        places = [
            order.index(key.questions[question].right)
            for lines in key.coders
            for question, *order in lines
            if key.questions[question].test == test
        ]
        counts = np.bincount(places, minlength=n_options)
        expected = len(places) / n_options
        assert ((counts - expected) ** 2 / expected).sum() < 20.5  # of 5 degrees of freedom, p = .001
        canonical = [question.right for question in key.questions if question.test == test]
        assert len(set(canonical)) == n_options


def test_the_same_seed_gives_the_same_bytes_also_of_a_run_that_was_read(run, folder, written, tmp_path):
    package.load_run(folder).validation(tmp_path / "again", per_cluster=2)
    paths = [path.relative_to(tmp_path / "again") for path in (tmp_path / "again").rglob("*") if path.is_file()]
    assert len(paths) == 5
    for path in paths:
        assert (tmp_path / "again" / path).read_bytes() == (written[1] / path).read_bytes()


def test_answers_are_never_overwritten_and_wrong_settings_are_refused(run, sheets, tmp_path):
    with pytest.raises(InputError, match="already exists; choose another, since answers may be in it"):
        run.validation(sheets[1])
    for settings, message in (
        ({"tests": ["words", "riddles"]}, "tests='riddles' is not known; give one of words, documents, names"),
        ({"n_coders": 0}, "n_coders=0 is not a positive whole number"),
        ({"random_state": -1}, "random_state=-1 is not a seed"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            run.validation(tmp_path / "new", **settings)
    assert not (tmp_path / "new").exists()


# what their answers say

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: four observers, twelve units
FOUR = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def test_alpha_of_the_printed_example_of_four_coders():
    ratings = np.array(
        [[-1 if value == "." else int(value) for value in line.split()] for line in FOUR.split("\n")[1:5]]
    )
    assert round(coders.krippendorff_alpha(ratings), 3) == 0.743


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_one_less_observed_by_expected_disagreement_of_pairs(seed):
    rng = np.random.default_rng(seed)
    ratings = rng.integers(-1, 4, size=(3, 15))
    ratings[1] = np.where(rng.random(15) < 0.6, ratings[0], ratings[1])
    units = [column[column >= 0].tolist() for column in ratings.T]
    units = [unit for unit in units if len(unit) > 1]
    n = sum(map(len, units))
    observed = sum(
        sum(first != second for first, second in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    values = [value for unit in units for value in unit]
    expected = sum(first != second for first, second in itertools.permutations(values, 2)) / (n - 1)
    assert coders.krippendorff_alpha(ratings) == pytest.approx(1 - observed / expected)


def test_alpha_is_undefined_of_one_coder_and_where_all_chose_alike():
    assert np.isnan(coders.krippendorff_alpha(np.array([[0, 1, 2]])))
    assert np.isnan(coders.krippendorff_alpha(np.array([[1, 1], [1, 1]])))
    assert np.isnan(coders.krippendorff_alpha(np.array([[-1, -1]])))
    assert coders.krippendorff_alpha(np.array([[0, 1], [0, 1]])) == 1


@pytest.mark.parametrize(("n_coders", "n_questions", "n_options"), [(1, 20, 4), (2, 20, 6), (2, 20, 4), (4, 30, 6)])
def test_of_a_thousand_guessers_93_to_97_percent_lie_in_the_interval_of_chance(n_coders, n_questions, n_options):
    rng = np.random.default_rng(58)
    truth = rng.integers(n_options, size=n_questions)
    n_inside = 0
    for _ in range(1000):
        row = coders._shares(rng.integers(n_options, size=(n_coders, n_questions)), truth, 1 / n_options)
        n_inside += row["chance_low"] <= row["share"] <= row["chance_high"]
    assert 930 <= n_inside <= 970


@pytest.mark.parametrize(("n_answers", "chance"), [(20, 1 / 4), (20, 1 / 6), (40, 1 / 4), (60, 1 / 6), (199, 1 / 4)])
def test_the_interval_of_chance_holds_93_to_97_percent_of_the_binomial(n_answers, chance):
    low, high = coders.guessing_interval(n_answers, chance)
    inside = [n for n in range(n_answers + 1) if low <= n / n_answers <= high]
    terms = (math.comb(n_answers, n) * chance**n * (1 - chance) ** (n_answers - n) for n in inside)
    assert 0.93 <= sum(terms) <= 0.97


@pytest.mark.parametrize("agree", [True, False])
def test_the_interval_of_the_share_holds_however_much_coders_agree(agree):
    rng, n_inside = np.random.default_rng(0), 0
    for _ in range(400):
        is_right = rng.random((1 if agree else 3, 60)) < 0.8
        row = coders._shares(np.broadcast_to(is_right, (3, 60)).astype(int), np.ones(60, int), 0.25)
        n_inside += row["low"] <= 0.8 <= row["high"]
    assert n_inside >= 372  # 93 %


def test_answers_are_counted_by_cluster_by_coder_and_in_all(run, sheets):
    key, place = sheets
    fill(place, key, 0, right)
    fill(place, key, 1, lambda question: wrong(question) if question.cluster == 5 else question.right)
    scores = package.score_validation(run, place)
    table = scores.table.set_index(["part", "test"])
    n_of_five = sum(question.cluster == 5 and question.test == "names" for question in key.questions)
    n = sum(question.test == "names" for question in key.questions)
    assert n_of_five == 2
    assert table.loc[("coder-1", "names"), ["n_answers", "n_right"]].tolist() == [n, n]
    assert table.loc[("coder-2", "names"), ["n_answers", "n_right"]].tolist() == [n, n - 2]
    everything = table.loc[("all", "names")]
    assert everything[["n_questions", "n_answers", "n_right"]].tolist() == [n, 2 * n, 2 * n - 2]
    assert everything["share"] == (2 * n - 2) / (2 * n)
    assert everything["chance"] == 0.25
    assert table.loc[("all", "words"), "chance"] == 1 / 6
    assert table.loc[("cluster 5", "names"), ["label", "share"]].tolist() == [run.clusters[5].label, 0.5]
    assert table.loc[("cluster 4", "names"), "share"] == 1
    chosen = [[q.right for q in key.questions if q.test == "names"]] * 2
    chosen[1] = [wrong(q) if q.cluster == 5 else q.right for q in key.questions if q.test == "names"]
    assert everything["alpha"] == coders.krippendorff_alpha(np.array(chosen)) < 1
    assert scores.notes == key.notes


def test_guessers_agree_by_chance_and_no_more(run, tmp_path):
    key = run.validation(tmp_path / "guessed", per_cluster=9)
    rng = np.random.default_rng(3)
    for coder in (0, 1):
        fill(tmp_path / "guessed", key, coder, lambda question: int(rng.integers(len(question.options))))
    table = package.score_validation(run, tmp_path / "guessed").table
    for row in table[table["part"] == "all"].to_dict("records"):
        assert abs(row["alpha"]) < 0.25


def test_a_sheet_may_come_from_a_spreadsheet_in_any_order_and_beside_the_empty_one(run, sheets):
    key, place = sheets
    fill(place, key, 0, right, name="from the page.csv", delimiter=";", lineterminator="\r\n")
    fill(place, key, 1, right)
    path = place / "coder-2" / "sheet.csv"
    header, *rows = read(path)
    rows = [[cell.replace("\n", "\r\n") for cell in row[:-1]] + [f" {row[-1].upper()} "] for row in rows[::-1]]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t").writerows([header, *rows])
    table = package.score_validation(run, place).table
    assert table["share"].tolist() == [1.0] * len(table)


def test_what_is_not_answered_is_named_and_left_out(run, sheets):
    key, place = sheets
    with pytest.raises(NothingUsable, match=r"no sheet in .* has an answer; give each coder a page or a sheet first"):
        package.score_validation(run, place)
    blank = {key.coders[0][number - 1][0] for number in (3, 7)}
    fill(place, key, 0, lambda question: None if key.questions.index(question) in blank else question.right)
    scores = package.score_validation(run, place)
    n = len(key.questions)
    assert scores.notes[-2:] == (
        f"coder-1 left 2 of {n} unanswered: 3, 7.",
        f"coder-2 left {n} of {n} unanswered: {', '.join(map(str, range(1, 21)))}, ....",
    )
    everything = scores.table[scores.table["part"] == "all"]
    assert everything["n_answers"].sum() == n - 2
    assert everything["n_right"].sum() == n - 2
    assert everything["alpha"].isna().all()
    assert scores.rows()[-1][-3:] == ["-", "-", "-"]
    shutil.rmtree(place / "coder-2")  # it never came back
    assert package.score_validation(run, place).notes == scores.notes


def test_a_test_without_an_answer_is_undefined_and_shown_as_such(run, sheets):
    key, place = sheets
    fill(place, key, 0, lambda question: question.right if question.test == "names" else None)
    scores = package.score_validation(run, place)
    assert scores.table[scores.table["test"] == "words"]["share"].isna().all()
    lines = {line[0]: line[2:] for line in scores.rows()}
    assert lines["all"][:2] == ["-", "-"]
    assert lines["by chance"][:2] == ["-", "-"]


def damage(place, change):
    path = place / "coder-1" / "sheet.csv"
    rows = read(path)
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[4].__setitem__(4, "another"), r"coder-1.sheet\.csv is not the sheet .*: rows 4 differ"),
        (lambda rows: rows[4].__setitem__(slice(3, 5), rows[4][4:2:-1]), r"rows 4 differ"),
        (lambda rows: rows.__delitem__(slice(5, 7)), r"rows 5, 6 differ"),
        (lambda rows: rows.append(["99", *rows[1][1:]]), r"rows 99 differ"),
        (lambda rows: rows.append(rows[1]), r"has the id '1' more than once"),
        (lambda rows: rows[3].__setitem__(-1, "both"), r"has the answer 'both' in row 3; give a letter from a to f"),
        (lambda rows: rows[-1].__setitem__(-1, "e"), r"has the answer 'e' in row \d+; give a letter from a to d"),
        (lambda rows: rows[0].__setitem__(-1, "reply"), r"has no column 'answer'"),
    ],
)
def test_a_sheet_that_was_changed_is_named_with_its_rows(run, sheets, change, message):
    key, place = sheets
    fill(place, key, 0, right)
    damage(place, change)
    with pytest.raises(InputError, match=message):
        package.score_validation(run, place)


def test_sheets_of_another_coder_or_run_and_two_with_answers_are_named(run, sheets, tmp_path):
    key, place = sheets
    fill(place, key, 0, right)
    shutil.copy(place / "coder-1" / "sheet.csv", place / "coder-2" / "theirs.csv")
    with pytest.raises(
        InputError, match=r"coder-2.theirs\.csv is not the sheet that was written: rows 1, 2, 3, .* differ"
    ):
        package.score_validation(run, place)
    (place / "coder-2" / "theirs.csv").unlink()
    fill(place, key, 0, wrong, name="another.csv")
    with pytest.raises(InputError, match=r"several sheets with answers: another\.csv, sheet\.csv; leave one there"):
        package.score_validation(run, place)
    (place / "coder-1" / "another.csv").unlink()
    with pytest.raises(InputError, match="is about clusters of another run; give that run, as it was before a merge"):
        package.score_validation(run.merge(0, 1), place)
    assert package.score_validation(run.rename(2, "Renamed since"), place).table["share"].max() == 1
    with pytest.raises(InputError, match=r"key\.json is not there; give a folder that `doccluster validate -o` wrote"):
        package.score_validation(run, tmp_path)


def test_a_damaged_key_is_told(run, sheets):
    _, place = sheets
    path = place / "key" / "key.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    for name, value in (("coders", [[[99_999, 0, 1]]]), ("coders", [[[0, 77]]]), ("coders", []), ("questions", [{}])):
        path.write_text(json.dumps({**whole, name: value}), encoding="utf-8")
        with pytest.raises(SchemaError, match=r"key\.json"):
            package.score_validation(run, place)


def test_what_acts_in_a_page_or_a_spreadsheet_does_not_act_and_can_be_scored(tmp_path):
    titles = [*HOSTILE.values(), "=HYPERLINK(1)", "nan", "a | b"]
    table = {
        "title": [f"{title} {n}" if n >= len(titles) else title for n, title in enumerate(titles * 2)],
        "text": [TEXTS[n % 2] if n < len(titles) else TEXTS[2 + n % 2] for n in range(2 * len(titles))],
    }
    labels = [n % 4 for n in range(2 * len(titles))]
    rows = [dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)]
    run = package.run(rows, labels=labels, language="none", vectorizer={"min_df": 1}, **CHEAP)
    run = run.rename(0, "=2+3").rename(1, "</script><b>nan</b>").rename(2, "None").rename(3, "a | b")
    key = run.validation(tmp_path / "hostile", per_cluster=3)
    page = (tmp_path / "hostile" / "coder-1" / "page.html").read_text(encoding="utf-8")
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    assert "default-src 'none'" in page
    cells = [cell for row in read(tmp_path / "hostile" / "coder-1" / "sheet.csv") for cell in row]
    assert "'=2+3" in cells
    assert not [cell for cell in cells if cell.startswith("=")]
    for coder in (0, 1):
        fill(tmp_path / "hostile", key, coder, right)
    scores = package.score_validation(run, tmp_path / "hostile")
    assert scores.table["share"].tolist() == [1.0] * len(scores.table)
    assert "a \\| b" in scores.to_markdown()


# the command


def test_the_command_writes_asks_and_scores_in_four_forms(doccluster, folder, tmp_path):
    asked = doccluster("validate", folder, "-o", tmp_path / "sheets", "--tests", "words,names", "--clusters", 5)
    assert asked.code == 0
    assert "10 questions for each: 5 of words, 5 of names" in asked.out
    assert f"doccluster validate {folder} --score {tmp_path / 'sheets'}" in asked.out
    content = json.loads((tmp_path / "sheets" / "key" / "key.json").read_text(encoding="utf-8"))
    del content["schema"]
    key = coders.read_record(tmp_path / "sheets" / "key" / "key.json", coders.Validation)
    assert len(key.questions) == len(content["questions"]) == 10
    for coder in (0, 1):
        fill(tmp_path / "sheets", key, coder, right)
    arguments = ("validate", folder, "--score", tmp_path / "sheets")
    text, markdown, latex = (doccluster(*arguments, *form).out for form in ((), ("--markdown",), ("--latex",)))
    plain = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    assert ["all", "100 % [57, 100]", "100 % [57, 100]"] in plain
    assert ["coder-2", "5 of 5", "5 of 5"] in plain
    assert markdown.splitlines()[0] == "|  | label | words | names |"
    assert "| all |  | 100 % [57, 100] | 100 % [57, 100] |" in markdown
    assert r"all &  & 100 \% [57, 100] & 100 \% [57, 100] \\" in latex
    found = json.loads(doccluster(*arguments, "--json").out)
    assert [row["share"] for row in found["scores"] if row["part"] == "all"] == [1, 1]
    assert found["notes"] == []
    written = json.loads(doccluster("validate", folder, "-o", tmp_path / "more", "--json").out)
    assert written["questions"] == {"words": 12, "documents": 12, "names": 12}


@pytest.mark.parametrize(
    "arguments", [(), ("-o", "x", "--score", "y"), ("-o", "x", "--latex"), ("--score", "y", "--json", "--markdown")]
)
def test_the_command_says_what_to_give(doccluster, folder, arguments):
    done = doccluster("validate", folder, *arguments)
    assert done.code == 2
    assert "give -o DIR, or --score DIR and at most one of --json, --latex and --markdown" in done.err


def test_the_command_names_its_options(doccluster, folder, tmp_path):
    done = doccluster("validate", folder, "-o", tmp_path / "new", "--tests", "words,riddles")
    assert done.code == 2
    assert done.err == "doccluster: --tests riddles is not known; give one of words, documents, names.\n"


# the page


@pytest.mark.browser
def test_a_coder_answers_by_keyboard_saves_and_is_scored(visit, run, tmp_path):
    place = tmp_path / "sheets"
    key = run.validation(place, n_clusters=3)
    path = place / "coder-1" / "page.html"
    page = visit(path)
    n = len(key.questions)
    assert page.locator("fieldset").count() == n
    assert page.locator(":checked").count() == 0
    letters = ["abcdef"[order.index(key.questions[question].right)] for question, *order in key.coders[0]]
    for letter in letters[:-1]:
        page.keyboard.press(letter.upper())
    assert page.locator("[role=status]").inner_text() == f"{n - 1} of {n} answered"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("z")  # is no letter of an option
    page.keyboard.press("Control+a")
    assert page.locator("fieldset:focus .kicker").inner_text() == f"Question {n - 1} of {n}"
    page.reload()  # nothing is lost
    assert page.locator(":checked").count() == n - 1
    page.keyboard.press(letters[-1])  # the first that is not answered
    assert page.locator("[role=status]").inner_text() == "All answered: save them."
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").press("Enter")
    assert download.value.suggested_filename == "answers-coder-1.csv"
    download.value.save_as(place / "coder-1" / "answers-coder-1.csv")
    assert "Saved as answers-coder-1.csv" in page.locator("[role=status]").inner_text()
    assert page.asked[0] == path.as_uri()
    assert {address.split(":")[0] for address in page.asked} <= {"file", "blob"}
    assert page.complaints == []
    table = package.score_validation(run, place).table
    assert table[table["part"] == "coder-1"]["n_right"].sum() == n
    assert table[table["part"] == "all"]["share"].tolist() == [1.0] * 3


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_can_be_read_in_any_light_on_a_phone_and_without_scripts(visit, written, scheme):
    path = written[1] / "coder-1" / "page.html"
    page = visit(path, width=390, color_scheme=scheme)
    page.keyboard.press("a")
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("label").first.bounding_box()["height"] >= 24
    bare = visit(path, script=False)
    assert bare.get_by_text("Write your answers into sheet.csv").is_visible()
    assert bare.get_by_role("button").count() == 0
