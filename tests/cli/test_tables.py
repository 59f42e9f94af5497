"""The table of every verb on terminals of several widths, and in a file: words give way, numbers are whole."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import sys

import pytest

from doccluster.base.text_table import Column, table_lines, text_width
from doccluster.cli.output import WIDTH_OF_A_FILE

WIDTHS = (60, 80, 100, WIDTH_OF_A_FILE)
WIDE = 400  # columns that no table here needs

# a number as tables print it; one that is cut is another number, which the wide table does not have
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?%?")


@pytest.fixture
def commands(finished, tiny, newsroom, tmp_path):
    """What to run to see the table of each verb; {} is a copy of a finished run."""
    labels = finished / "assignments.csv"
    choose = ["choose-k", newsroom, "--sample", "40", "--k", "2-5", "--threads", "1"]
    compare = ["compare", newsroom, "--truth", "topic", "-k", "9", "--seeds", "2", "--algorithm", "k-means:n_init=1"]
    compare += ["--algorithm", "spherical-k-means:n_init=1", "-o", tmp_path / "compared", "--threads", "1"]
    truth = ["--column", "cluster", "--truth", labels, "--truth-column", "cluster", "--vectors", finished]
    return {
        "run": ["run", tiny, "-o", tmp_path / "run", "-k", "3", "--no-report"],
        "explain": ["explain", finished],
        "label": ["label", "{}", "1", "What one calls it, which is long enough to be cut on most terminals"],
        "merge": ["merge", "{}", "0", "1"],
        "assign": ["assign", finished, tiny, "-o", tmp_path / "new.csv"],
        "choose-k": choose,
        "evaluate": ["evaluate", labels, *truth],
        "measures": ["measures"],
        "compare": compare,
    }


VERBS = (
    "run",
    "explain",
    "label",
    "merge",
    "assign",
    "choose-k",
    "evaluate",
)


@pytest.mark.parametrize("verb", [*VERBS, "measures", "compare"])
def test_no_table_cuts_a_number_or_is_wider_than_the_terminal(
    verb, doccluster, commands, finished, tmp_path, monkeypatch
):
    tables = []

    def remember(columns, width, **given):
        tables.append(columns)
        assert width in (WIDTH_OF_A_FILE, WIDTH_OF_A_FILE - 2), "pytest's output is a file"
        return table_lines(columns, width, **given)

    monkeypatch.setattr("doccluster.cli.console.table_lines", remember)
    monkeypatch.setattr("doccluster.measures.scores.table_lines", remember)
    done = doccluster(*(copied(finished, tmp_path) if word == "{}" else word for word in commands[verb]))
    assert done.code == 0, done.err
    assert tables
    for columns in tables:
        wide = table_lines(columns, WIDE)
        words = {word for line in wide for word in line.split()}
        assert any(NUMBER.fullmatch(word) for word in words) or verb == "measures"
        for width in WIDTHS:
            for line in table_lines(columns, width):
                assert text_width(line) <= width
                whole = {word for word in line.split() if "…" not in word and "─" not in word}
                whole -= {part for word in words for part in parts_at_hyphens(word)}
                assert whole <= words, f"{verb} at {width}: {line!r} has a word that is cut without a mark"
                assert not re.search(r"(?<=\s)[-+]?[\d,.]+…", line), (
                    f"{verb} at {width}: {line!r} has a number that is cut"
                )


def parts_at_hyphens(word):
    """What stands on one line where a word is wrapped at its hyphens."""
    ends = [0, *(place.end() for place in re.finditer("-", word)), len(word)]
    return {word[start:end] for start, end in itertools.combinations(ends, 2)}


def copied(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "edited")


def test_columns_stand_side_by_side_where_they_just_fit_and_else_below_the_first():
    columns = [Column("", ["ab"], "left"), Column("", ["1234"]), Column("", ["5678"])]
    side, below = ["ab  1234  5678"], ["ab  1234", "", "ab  5678"]
    assert [table_lines(columns, width) for width in (14, 13, 8, 3)] == [side, below, below, below]
    columns[1] = Column("", ["a ferry ran aground"], "left", fit="cut")
    assert [len(table_lines(columns, width)) for width in (18, 17)] == [1, 3], "eight letters of words stay"


def test_columns_leave_in_a_fixed_order_and_the_size_stays(doccluster, newsroom, tmp_path, monkeypatch):
    run = tmp_path / "run"
    assert doccluster("run", newsroom, "-o", run, "-k", "6", "--no-report", "--threads", "1").code == 0
    heads = {}
    for width in (40, 60, 80, 100, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = doccluster("explain", run).out.splitlines()
        heads[width] = lines[0].split()
        sizes = [int(line[7:13]) for line in lines[2:] if line[:7].strip()]
        assert sum(sizes) == 176, f"every size is whole at {width}"
    every = ["cluster", "size", "label,", "headline", "dates", "outlets", "similarity"]
    assert all(found == every[: len(found)] for found in heads.values())
    assert [len(found) for found in heads.values()] == [4, 4, 6, 7, 7]


def test_what_an_editor_did_is_shown_alone(doccluster, finished, tmp_path):
    run = copied(finished, tmp_path)
    before = json.loads(doccluster("explain", run, "--json").out)["clusters"]
    assert rows_of(doccluster("label", run, 1, "Orchards").out) == [1]
    assert rows_of(doccluster("merge", run, 0, 2).out) == [0]
    assert rows_of(doccluster("undo", run).out) == [0, 2]
    told = json.loads(doccluster("undo", run, "--json").out)
    assert [row["cluster"] for row in told["clusters"]] == [1]
    assert told["clusters"][0]["label"] == before[1]["label"]


def rows_of(text):
    return [int(found[1]) for line in text.splitlines() if (found := re.match(r" +(\d+) +\d+  ", line))]


def test_a_table_in_a_terminal_without_unicode_has_stand_ins_of_the_right_width(capsys, monkeypatch):
    from doccluster.cli.console import print_table
    from doccluster.cli.output import prepare_streams

    class Ascii:
        encoding = "ascii"

        def __init__(self):
            self.text = ""

        def write(self, text):
            self.text += text.encode("ascii", "doccluster.stand_ins").decode("ascii")

        def isatty(self):
            return False

    prepare_streams()
    out = Ascii()
    monkeypatch.setattr(sys, "stdout", out)
    print_table([Column("name", ["caf\u00e9", "tea"], "left"), Column("n", ["1", "22"])])
    assert out.text.splitlines() == ["name      n", "-----------", "caf\\xe9   1", "tea      22"]
