"""`browse`: scatter, gather, back, search and list; on documents, a run and a matrix; what it refuses."""

from __future__ import annotations

import io
import json

import pytest

BOATS = [
    "herring boats in the harbour",
    "the harbour pier and the boats",
    "storm nets and herring boats",
    "boats at sea",
]
BREAD = ["rye bread from the oven", "the baker bakes rye bread", "flour and rye bread", "bread and the oven"]
GOALS = ["a goal in the cup final", "the cup final ends without a goal", "goal and cup", "the final of the cup"]


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.jsonl"
    records = [{"id": f"d{place}", "text": text} for place, text in enumerate([*BOATS, *BREAD, *GOALS])]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def browse(doccluster, monkeypatch):
    """A function that runs `browse` on its arguments, with these lines typed."""

    def call(*arguments, typed=()):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
        return doccluster("browse", *arguments)

    return call


def test_each_command_of_the_help_stands_on_a_line_of_its_own(browse, texts):
    lines = browse(texts, typed=["help"]).out.splitlines()
    assert {"gather", "search", "list", "back", "show", "quit"} <= {line.split()[0] for line in lines if line}


def number_of(printed, title):
    """Return the number of the cluster that is shown with a title last."""
    number = None
    for line in printed.split("\n"):
        if line[:5].strip().isdigit():
            number = line[:3].strip()
        if line.strip() == title:
            return number
    raise AssertionError(f"{title} is not shown")


def test_the_collection_is_scattered_and_gathered_clusters_are_scattered_again(browse, texts):
    shown = browse(texts, "--cards", "3")
    assert shown.code == 0
    assert "12 documents: everything" in shown.out
    assert shown.out.count("(4)") == 3
    one, other = number_of(shown.out, BOATS[0]), number_of(shown.out, BREAD[0])
    gathered = browse(texts, "--cards", "3", typed=[f"gather {one} {other}"])
    assert f"8 documents: gather {one} {other}" in gathered.out
    assert "cup" not in gathered.out.split("8 documents")[1]


def test_back_shows_what_was_before_and_quit_ends(browse, texts):
    done = browse(texts, "--cards", "3", typed=["gather 1", "back", "back", "quit", "gather 1"])
    assert done.code == 0
    assert done.out.count("12 documents: everything") == 2
    assert done.out.count("gather 1") == 1
    assert "this is the whole collection" in done.err


def test_a_cluster_that_is_opened_is_scattered(browse, texts):
    done = browse(texts, "--cards", "3", typed=["open 1", "open", "open 9"])
    assert "4 documents: open 1" in done.out
    assert "open takes the number of one cluster" in done.err
    assert "there is no cluster 9" in done.err


def test_a_search_gathers_the_documents_that_have_a_word(browse, texts):
    done = browse(texts, "--cards", "3", typed=["search rye oven", "search nonsense", "search", "show"])
    assert "4 documents: search rye oven" in done.out
    assert "none of the 4 documents has a word of 'nonsense'" in done.err
    assert "the query is empty" in done.err
    assert done.out.count("4 documents: search rye oven") == 2


def test_the_documents_of_a_cluster_are_listed_a_part_at_a_time(browse, texts, monkeypatch):
    monkeypatch.setattr("doccluster.retrieval.search_commands.LISTED", 3)
    first = browse(texts, "--cards", "3", typed=["list 1", "list 1 4", "list 9", "list", "list 1 2 3"])
    assert "and 1 more: list 1 4" in first.out
    listed = [line.split()[1] for line in first.out.split("\n") if " d" in line and line[:7].strip().isdigit()]
    assert len(listed) == len(set(listed)) == 4
    assert "there is no cluster 9; give numbers from 1 to 3" in first.err
    assert first.err.count("list takes the number of one cluster") == 2


def test_a_run_is_browsed_by_its_vectors_and_a_matrix_without_words_has_no_search(browse, doccluster, texts, tmp_path):
    assert doccluster("run", texts, "-k", "3", "-o", tmp_path / "run", "--no-report").code == 0
    shown = browse(tmp_path / "run", "--cards", "3", typed=["search cup"])
    assert "12 documents: everything" in shown.out
    assert "4 documents: search cup" in shown.out
    assert doccluster("vectorize", texts, "-o", tmp_path / "x.npz").code == 0
    matrix = browse(tmp_path / "x.npz", "--cards", "3", typed=["search cup", "gather 1", "list 1"])
    assert "the collection is a matrix without texts; gather clusters instead" in matrix.err
    assert "documents: gather 1" in matrix.out


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("jump", "there is no command 'jump'; type help"),
        ("gather", "no cluster was named; give numbers from 1 to 3"),
        ("gather one", "'one' is not a number"),
        ("gather 0", "there is no cluster 0"),
        ("gather 99999999999999999999", "is not a number"),
        ("gather ²", "is not a number"),
        ("\x1b[2Jboo", "there is no command"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence_and_browsing_goes_on(browse, texts, typed, message):
    done = browse(texts, "--cards", "3", typed=[typed, "help"])
    assert done.code == 0
    assert message in done.err
    assert "\x1b" not in done.err
    assert "take back the last step" in done.out


def test_titles_cannot_steer_the_terminal(browse, tmp_path):
    path = tmp_path / "hostile.jsonl"
    records = [{"title": f"\x1b[2J\u202e{word} title", "text": f"{word} text"} for word in ("boats", "bread")]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    done = browse(path, "--cards", "2", typed=["list 1"])
    assert done.code == 0
    assert "title" in done.out
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_nothing_to_browse_is_said_in_a_sentence(browse, tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("???\n", encoding="utf-8")
    done = browse(path)
    assert done.code == 3
    assert done.err.count("\n") == 1
