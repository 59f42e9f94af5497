"""`search` on documents, on a run, and on the hits of another engine."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def hits(tmp_path):
    path = tmp_path / "hits.jsonl"
    cats = ["a large cat of the forest", "a cat hunts in the forest", "forest cat at night"]
    cars = ["engine and price of cars", "used cars, price by engine", "cars: engine, price"]
    records = [{"rank": place, "title": text, "url": "https://example.org"} for place, text in enumerate(cats + cars)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_hits_of_another_engine_are_grouped(doccluster, hits):
    done = doccluster("search", "jaguar", "--hits", hits)
    assert done.code == 0
    assert "6 hits in 2 groups" in done.out
    assert "a large cat of the forest" in done.out
    found = json.loads(doccluster("search", "--hits", hits, "--max-groups", "1", "--json").out)
    assert [one["documents"] for one in found["clusters"]] == [[0, 1, 2], [3, 4, 5]]
    assert found["clusters"][1]["labels"] == ["Other"]


def test_a_blank_line_stands_before_each_group_and_before_the_page(doccluster, hits, tmp_path):
    lines = doccluster("search", "jaguar", "--hits", hits, "-o", tmp_path / "page.html").out.splitlines()
    heads = [place for place, line in enumerate(lines) if line.endswith(("(3)", "page.html"))]
    assert len(heads) == 3
    assert all(lines[place - 1] == "" and lines[place][0] == " " for place in heads)


def test_a_title_with_line_breaks_takes_one_line(doccluster, tmp_path):
    path = tmp_path / "hits.jsonl"
    path.write_text("".join(json.dumps({"title": f"cat\n  0  forged\r{n}"}) + "\n" for n in "ab"), encoding="utf-8")
    printed = doccluster("search", "--hits", path).out
    assert "cat   0  forged a" in printed


def test_a_run_is_searched_by_its_counts_without_the_documents(doccluster, newsroom, tmp_path):
    copy = tmp_path / newsroom.name
    copy.write_bytes(newsroom.read_bytes())
    assert doccluster("run", copy, "-k", "5", "--quality", "fast", "-o", tmp_path / "run").code == 0
    copy.unlink()
    done = doccluster("search", "ferry strike", tmp_path / "run", "--top", "10", "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert len(found["hits"]) == 10
    assert any("ferry" in hit["title"].lower() for hit in found["hits"])
    assert all(len(hit["path"]) == 1 for hit in found["hits"])  # five clusters have no sections
    of_one = json.loads(doccluster("search", "mayor", tmp_path / "run", "--in", "0", "--json").out)["hits"]
    assert {tuple(hit["path"]) for hit in of_one} == {tuple(of_one[0]["path"])}
    assert f"\n     {of_one[0]['path'][0]}\n" in doccluster("search", "mayor", tmp_path / "run", "--in", "0").out
    placed = sorted(place for one in found["clusters"] for place in one["documents"])
    assert placed == list(range(10))
    missed = doccluster("search", "zzzz", tmp_path / "run")
    assert missed.err.strip().endswith("or search the documents themselves: a run leaves some words out.")


def test_the_place_by_bm25_stands_beside_each_document(doccluster, newsroom):
    alone = json.loads(doccluster("search", "ferry strike", newsroom, "--rank", "bm25", "--json").out)["hits"]
    assert [hit["bm25_place"] for hit in alone] == list(range(len(alone)))
    both = json.loads(doccluster("search", "ferry strike", newsroom, "--json").out)["hits"]
    assert [alone[hit["bm25_place"]]["id"] for hit in both] == [hit["id"] for hit in both]
    assert [hit["id"] for hit in both] != [hit["id"] for hit in alone]
    printed = doccluster("search", "ferry strike", newsroom).out
    assert f"1. [{both[0]['bm25_place'] + 1}] {both[0]['title']}" in printed


def test_a_run_of_vectors_has_no_words_to_search_for(doccluster, newsroom, tmp_path):
    assert doccluster("vectorize", newsroom, "-o", tmp_path / "x.npz").code == 0
    assert doccluster("run", tmp_path / "x.npz", "-k", "3", "--levels", "none", "-o", tmp_path / "run").code == 0
    done = doccluster("search", "ferry", tmp_path / "run")
    assert done.code == 2
    assert "is of vectors without texts, so there are no words to search for" in done.err


def test_hits_without_a_text_and_empty_files_are_one_sentence(doccluster, tmp_path):
    path = tmp_path / "hits.jsonl"
    path.write_text('{"url": "https://example.org"}\n{"rank": 2}\n', encoding="utf-8")
    done = doccluster("search", "q", "--hits", path)
    assert done.code == 3
    assert done.err == "doccluster: no hit has a title or a snippet; give hits with texts.\n"
    path.write_text("\n", encoding="utf-8")
    done = doccluster("search", "q", "--hits", path)
    assert done.code == 3
    assert "has no hits; give JSON lines with title, snippet, url and rank." in done.err
    path.write_text('{"url": "https://example.org/a"}\n{"title": "a cat"}\n', encoding="utf-8")
    assert "1. https://example.org/a" in doccluster("search", "q", "--hits", path).out


def test_the_page_escapes_what_hits_say_and_runs_no_script(doccluster, tmp_path):
    hostile = {"title": "<script>alert(1)</script> cat", "snippet": "forest <b>x</b>", "url": "javascript:alert(1)"}
    path = tmp_path / "hits.jsonl"
    path.write_text(f"{json.dumps(hostile)}\n{json.dumps({'title': 'forest cat'})}\n", encoding="utf-8")
    page = tmp_path / "page.html"
    assert doccluster("search", "<i>q</i>", "--hits", path, "-o", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "javascript:" not in text
    assert "<i>q" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "script-src" not in text  # default-src 'none' refuses all of it
    again = doccluster("search", "q", "--hits", path, "-o", page)
    assert again.code == 2
    assert "--overwrite" in again.err
    assert doccluster("search", "q", "--hits", path, "-o", page, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search"], "give a query"),
        (["search", "ferry"], "give a query"),
        (["search", " ", "{newsroom}"], "the query is empty"),
        (["search", "zzzz", "{newsroom}"], "no document has a word of the query 'zzzz'; try other words."),
        (["search", "a", "b", "--hits", "x.jsonl"], "give the query alone"),
        (["search", "a", "--hits", "x.jsonl", "--in", "3"], "--in is for the folder of a run"),
        (["search", "--hits", "absent.jsonl"], "absent.jsonl cannot be read"),
        (["search", "ferry", "absent"], "absent does not exist|'absent' does not exist"),
    ],
)
def test_wrong_use_is_one_sentence(doccluster, newsroom, arguments, message):
    import re

    done = doccluster(*(str(newsroom) if one == "{newsroom}" else one for one in arguments))
    assert done.code in (2, 3)
    assert re.search(message, done.err)
    assert "Traceback" not in done.err


def test_a_matrix_has_no_texts_to_search_in(doccluster, newsroom, tmp_path):
    assert doccluster("vectorize", newsroom, "-o", tmp_path / "x.npz").code == 0
    done = doccluster("search", "ferry", tmp_path / "x.npz")
    assert done.code == 2
    assert "has no texts to search in" in done.err
