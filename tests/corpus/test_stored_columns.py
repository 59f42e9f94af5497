"""Documents in columns instead of objects: the same values, and names that are unique as in one piece."""

from __future__ import annotations

import random

import numpy as np
import pytest

from doccluster.base.packed_strings import CodedColumn, PackedStrings
from doccluster.corpus import read_corpus
from doccluster.corpus.assembly import changed_names, joined_columns
from doccluster.corpus.column_names import UniqueNames
from doccluster.corpus.named_files import Files
from doccluster.corpus.parts import FilesInParts


@pytest.mark.parametrize("seed", range(5))
def test_names_become_unique_as_one_by_one(seed):
    drawn = random.Random(seed)
    wanted = [drawn.choice(["a", "b", "a#2", "a#3", "b#2#2", "é", f"own {row}"]) for row in range(60)]
    names = UniqueNames("#")
    expected = [names.take(name) for name in wanted]
    changed = changed_names(CodedColumn.joined([CodedColumn.of(wanted[:25]), CodedColumn.of(wanted[25:])]))
    assert changed == changed_names(wanted)
    assert changed == {row: new for row, (old, new) in enumerate(zip(wanted, expected, strict=True)) if old != new}


def test_a_column_reads_like_the_tuple_it_was_made_of():
    items = ("wire", "", "wire", "d\udc80sk")
    column = CodedColumn.joined([CodedColumn.of(items[:2]), CodedColumn.of(items[2:])])
    assert column == items
    assert (column[-1], column[1:3], column.take(np.array([3, 0]))[0]) == ("d\udc80sk", ["", "wire"], "d\udc80sk")
    assert column != items[:3]
    assert [text.decode("utf-8", "surrogatepass") for text in PackedStrings.of(items).encoded()] == list(items)


def test_a_column_that_a_part_lacks_is_empty_there():
    parts = [(2, {"title": CodedColumn.of(["x", "y"])}), (1, {"place": CodedColumn.of(["z"])})]
    found = joined_columns(parts, "")
    assert {name: list(column) for name, column in found.items()} == {"title": ["x", "y", ""], "place": ["", "", "z"]}


def test_rows_keep_their_place_among_what_was_skipped_and_renamed(tmp_path):
    lines = ["id,text,topic"]
    lines += [
        f"{'twice' if row % 40 == 7 else row},{'' if row % 9 == 2 else f'text {row}'},t{row % 3}" for row in range(200)
    ]
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "texts").mkdir()
    one_by_one = lambda function, items, *shared: (function(item, *shared) for item in items)  # noqa: E731
    source = FilesInParts(Files([tmp_path]), tmp_path / "texts", one_by_one)
    whole, parted = read_corpus([tmp_path / "a.csv", tmp_path / "b.csv"]), read_corpus(source)
    assert isinstance(parted.ids, CodedColumn)
    assert parted.ids == whole.ids
    assert [one.reason for one in parted.skipped] == [one.reason for one in whole.skipped]
    assert {one.detail for one in parted.skipped} == {one.detail for one in whole.skipped}
    assert parted.labels["topic"] == whole.labels["topic"]
    assert list(parted.texts) == list(whole.texts)
    assert parted.to_pandas()["topic"].tolist() == whole.to_pandas()["topic"].tolist()
