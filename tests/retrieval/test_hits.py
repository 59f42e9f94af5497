"""Hits of other engines are read as they come, or refused with the line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from doccluster.cli.main import commands
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
        ('{"title": "a"}\nnot json\n', "not JSON from line 2, character 1 on"),
        ('{"title": "a"}\n[1]\n', "hit 2 is not an object"),
        ("[" * 100_000, "nested too deep|not JSON"),
        ('{"rank": ' + "9" * 5_000 + "}", "a number of too many digits"),
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


SNIPPETS = ("A large cat of the rain forest", "Sports cars from Coventry")
EXPECTED = tuple(SearchHit(f"Jaguar {n}", text, f"http://x/{n}", str(n)) for n, text in enumerate(SNIPPETS))
HITS = [{"id": str(n), "title": f"Jaguar {n}", "url": f"http://x/{n}"} for n in range(2)]
WITH_SNIPPET = [hit | {"snippet": text} for hit, text in zip(HITS, SNIPPETS, strict=True)]
CONTENT = [hit | {"content": text} for hit, text in zip(HITS, SNIPPETS, strict=True)]
SOLR = [{f"{name}_txt_en" if name == "title" else name: [value] for name, value in hit.items()} for hit in HITS]
ELASTIC = [{"_index": "a", "_id": hit["id"], "_score": 1.5, "_source": hit | {"body": "Long."}} for hit in HITS]
HIGHLIGHTS = [{"body": [text.replace("cat", "<em>cat</em>")], "title": ["Jaguar"]} for text in SNIPPETS]
ANSWERS = {
    "request to Carrot2": {"language": "English", "parameters": {"queryHint": "jaguar"}, "documents": WITH_SNIPPET},
    "answer of Carrot2": {
        "query": "jaguar",
        "documents": WITH_SNIPPET,
        "clusters": [{"labels": ["Cats"], "documents": [0]}, {"labels": ["Cars"], "documents": [1]}, {"labels": []}],
    },
    "Solr": {
        "responseHeader": {"status": 0, "params": {"q": "text:jaguar"}},
        "response": {"numFound": 2, "docs": [doc | {"body_t": "Long."} for doc in SOLR]},
        "highlighting": {str(n): {"content": HIGHLIGHTS[n]["body"]} for n in range(2)},
    },
    "Solr without highlights": {"response": {"docs": [d | {"body_t": s} for d, s in zip(SOLR, SNIPPETS, strict=True)]}},
    "Elasticsearch": {
        "took": 3,
        "hits": {
            "total": {"value": 2},
            "hits": [h | {"highlight": t} for h, t in zip(ELASTIC, HIGHLIGHTS, strict=True)],
        },
    },
    "OpenSearch": {"_shards": {}, "hits": {"hits": [{"_id": hit["id"], "_source": hit} for hit in CONTENT]}},
    "fields of Elasticsearch": {
        "hits": {
            "hits": [{"_id": hit["id"], "fields": {k: [v] for k, v in hit.items() if k != "id"}} for hit in CONTENT]
        }
    },
    "SearXNG": {
        "query": "jaguar",
        "results": CONTENT,
        "answers": [],
        "infoboxes": [{"infobox": "Jaguar", "content": "A genus"}],
        "suggestions": ["jaguar car"],
    },
    "Typesense": {
        "found": 2,
        "hits": [
            {"document": hit, "highlights": [{"field": "body", "snippet": text}]}
            for hit, text in zip(HITS, SNIPPETS, strict=True)
        ],
    },
    "a page of results": {
        "web": {
            "results": [
                {"id": hit["id"], "name": hit["title"], "link": hit["url"], "description": text}
                for hit, text in zip(HITS, SNIPPETS, strict=True)
            ]
        }
    },
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("engine", ANSWERS)
def test_the_hits_of_an_answer_are_found_some_levels_down(tmp_path, engine, indent):
    assert read_hits(write(tmp_path, json.dumps(ANSWERS[engine], indent=indent))) == EXPECTED
    assert as_hits(ANSWERS[engine]) == EXPECTED


def test_one_hit_alone_is_a_hit_whatever_lists_it_holds(tmp_path):
    hit = WITH_SNIPPET[0] | {"sources": [{"title": "Web"}, {"title": "News"}]}
    assert read_hits(write(tmp_path, json.dumps(hit))) == EXPECTED[:1]
    assert read_hits(write(tmp_path, '{"title": "a"}')) == (SearchHit("a"),)


@pytest.mark.parametrize(
    ("ranks", "order"),
    [
        (["2", "1"], [1, 0]),
        (["10", "9"], [1, 0]),
        ([" 1", "0.5"], [1, 0]),
        (["2", "first"], [0, 1]),
        (["2_0", "1"], [0, 1]),
        (["\u0662", "1"], [0, 1]),
    ],
)
def test_ranks_may_be_text(tmp_path, ranks, order):
    records = [hit | {"rank": rank} for hit, rank in zip(WITH_SNIPPET, ranks, strict=True)]
    assert read_hits(write(tmp_path, json.dumps(records))) == tuple(EXPECTED[place] for place in order)


def test_the_hits_of_a_request_to_carrot2_are_grouped():
    path = Path(__file__).parent / "carrot2-request.json"
    result = CliRunner().invoke(commands, ["search", "jaguar", "--hits", str(path)])
    assert result.output.startswith("  10 hits in 3 groups\n")


def test_highlights_and_entities_of_engines_become_plain_text():
    found = as_hits([{"title": "<b>Jaguar</b> &amp; Co", "snippet": "a &lt;i&gt; <em>cat</em>, list<int>"}])
    assert found == (SearchHit("Jaguar & Co", "a <i> cat, list<int>"),)


def test_one_text_is_no_list_of_hits():
    with pytest.raises(InputError, match="one text is not a list"):
        as_hits("jaguar")
    with pytest.raises(InputError, match="hit 1 is a int"):
        as_hits(["jaguar", 3])


def test_hits_may_be_a_table_of_polars_or_pyarrow():
    rows = [{"title": "Jaguar", "snippet": "A large cat"}, {"title": "Boat", "snippet": "A small one"}]
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for table in (polars.DataFrame(rows), pyarrow.Table.from_pylist(rows)):
        assert [hit.title for hit in as_hits(table)] == ["Jaguar", "Boat"]
