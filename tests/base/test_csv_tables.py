"""A table in csv has its names once, in the first line, and no cell or name of it acts in a spreadsheet."""

from __future__ import annotations

import csv

import pytest

from doccluster.base.text_table import csv_text, write_csv_parts

SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_names_with_line_ends_stand_once_above_the_rows_of_all_parts(tmp_path):
    path = tmp_path / "table.csv"
    write_csv_parts(({"id": [str(part)], "a\nb": ["x"]} for part in range(3)), path)
    assert rows_of(path) == [["id", "a b"], ["0", "x"], ["1", "x"], ["2", "x"]]


@pytest.mark.parametrize("before", ["\r", "\n", "\t", "\r\n", "\x00", "\x0b", ""])
def test_no_name_and_no_cell_begins_as_a_formula_does(before):
    text = csv_text({f"{before}{sign}cmd()": [f"{before}{sign}cmd()", f"a{before}b"] for sign in SIGNS})
    assert "\r" not in text  # where a spreadsheet would begin a row
    names, first, second = csv.reader(text.splitlines(keepends=True))
    assert all(cell.startswith("'") for cell in [*names, *first])
    assert all(cell.startswith("a") for cell in second)
