"""Test collections are read as SMART and TREC wrote them."""

from __future__ import annotations

import pytest

from doccluster.errors import InputError
from doccluster.retrieval.judged_collections import FILES, read_collection, read_judgements, read_smart


def test_fields_of_records_are_read_and_a_repeated_title_stands_once():
    text = ".I 1\n.T\nlift\n.A\nsomebody\n.W\nlift of wings\nand drag\n.I 2\n.T\ntitle\n.W\nwords .\n"
    first, second = read_smart(text)
    assert (first.id, first.fields["A"], first.text) == ("1", "somebody", "lift of wings\nand drag")
    assert second.text == "title\nwords ."


def test_what_is_no_collection_is_refused():
    with pytest.raises(InputError, match="line 2 is in no field"):
        read_smart("\nsome text\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 184 2 \n1 29 -1\n2 7 1\n", {"1": {"184": 2.0, "29": -1.0}, "2": {"7": 1.0}}),
        ("1 0 FT-1 1\n1 0 FT-2 0\n", {"1": {"FT-1": 1.0, "FT-2": 0.0}}),
        ("     1     28\t0\t0.000000\n", {"1": {"28": 1.0}}),
    ],
)
def test_judgements_of_all_three_forms(tmp_path, text, expected):
    (tmp_path / "judged").write_text(text, encoding="utf-8")
    assert read_judgements(tmp_path / "judged") == expected


@pytest.mark.parametrize(("text", "message"), [("1 2\n", "line 1 has 2 columns"), ("1 2 x\n", "the grade 'x'")])
def test_broken_judgements_are_one_sentence(tmp_path, text, message):
    (tmp_path / "judged").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_judgements(tmp_path / "judged")


@pytest.mark.real
def test_the_two_collections_have_their_published_sizes(real_corpora):
    folder = real_corpora / "retrieval_cranfield_cisi"
    sizes = {}
    for name, patterns in FILES.items():
        found = read_collection([next(folder.glob(pattern)) for pattern in patterns], name)
        sizes[name] = len(found.texts), len(found.queries)
    assert sizes == {"Cranfield": (1400, 225), "CISI": (1460, 76)}
    assert sum(map(len, read_judgements(folder / "cranqrel").values())) == 1837
