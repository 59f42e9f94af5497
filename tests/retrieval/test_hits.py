"""Hits of other engines are read as they come, or refused with the line."""

from __future__ import annotations

import json

import pytest

from doccluster.errors import InputError, NothingUsable
from doccluster.retrieval import SearchHit, read_hits
from doccluster.retrieval.hits import as_hits


def write(tmp_path, text):
    path = tmp_path / "hits.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_hits_are_sorted_by_rank_and_other_fields_are_ignored(tmp_path):
    records = [{"rank": 2, "title": "b", "score": 1}, {"rank": 1, "title": "a", "snippet": ["one", "two"], "id": 7}]
    path = write(tmp_path, "\n".join(map(json.dumps, records)) + "\n\n")
    assert read_hits(path) == (SearchHit("a", "one two", "", "7"), SearchHit("b"))
    assert read_hits(write(tmp_path, json.dumps(records))) == (SearchHit("a", "one two", "", "7"), SearchHit("b"))


def test_without_a_rank_for_each_the_order_of_the_file_stays(tmp_path):
    path = write(tmp_path, '{"title": "b", "rank": 2}\n{"title": "a", "rank": null}\n{"title": "c", "rank": 1}\n')
    assert [hit.title for hit in read_hits(path)] == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"title": "a"}\nnot json\n', "line 2 is not JSON"),
        ('{"title": "a"}\n[1]\n', "line 2 is not an object"),
        ("[" * 100_000, "nested too deep|not JSON"),
        ('{"rank": ' + "9" * 5_000 + "}", "line 1 is not JSON"),
        ("[1, 2]", "hit 1 is not an object"),
    ],
)
def test_what_is_no_list_of_hits_is_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_hits(write(tmp_path, text))


def test_files_that_hold_nothing_or_are_not_there_are_one_sentence(tmp_path):
    with pytest.raises(NothingUsable, match="has no hits"):
        read_hits(write(tmp_path, "\n"))
    with pytest.raises(InputError, match="cannot be read"):
        read_hits(tmp_path / "absent.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"title": "\xe9"}')
    with pytest.raises(InputError, match="not UTF-8"):
        read_hits(tmp_path / "latin.jsonl")


def test_values_of_other_kinds_are_no_text(tmp_path):
    path = write(tmp_path, '{"title": {"a": 1}, "snippet": true, "url": null, "id": 3.5}\n')
    assert read_hits(path) == (SearchHit(id="3.5"),)


def test_highlights_and_entities_of_engines_become_plain_text():
    found = as_hits([{"title": "<b>Jaguar</b> &amp; Co", "snippet": "a &lt;i&gt; <em>cat</em>, list<int>"}])
    assert found == (SearchHit("Jaguar & Co", "a <i> cat, list<int>"),)


def test_one_text_is_no_list_of_hits():
    with pytest.raises(InputError, match="one text is not a list"):
        as_hits("jaguar")
    with pytest.raises(InputError, match="hit 1 is a int"):
        as_hits(["jaguar", 3])
