"""Columns that are escaped as in HTML although they hold no tags; and columns that are about such escapes."""

from __future__ import annotations

import json

import pytest

import doccluster
from doccluster.corpus import read_corpus
from doccluster.errors import DocclusterWarning

PLAIN = [f"Ferry {number} leaves the harbour at nine" for number in range(20)]


def read(texts, tmp_path, titles=None, **options):
    rows = [{"text": text} | ({"title": titles[number]} if titles else {}) for number, text in enumerate(texts)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return read_corpus(path, **options)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("storm broke the wall &amp; more &lt;3", "storm broke the wall & more <3"),
        ("don&#8217;t panic&#x2026;", "don’t panic…"),
        ("Fish &amp;amp; chips &amp;#8217; twice", "Fish & chips ’ twice"),
        ("caf&eacute;&nbsp;noir &quot;open&quot;", 'café\xa0noir "open"'),
    ],
)
def test_a_column_whose_ampersands_are_all_references_is_decoded(written, meant, tmp_path):
    with pytest.warns(DocclusterWarning, match=r"character references of rows.jsonl are read as the characters"):
        corpus = read([written, *PLAIN, written], tmp_path)
    assert corpus.texts == (meant, *PLAIN, meant)


def test_one_reference_is_enough_in_a_few_rows(tmp_path):
    with pytest.warns(DocclusterWarning, match="character references"):
        assert read(["Fish &amp; chips", *PLAIN[:4]], tmp_path).texts == ("Fish & chips", *PLAIN[:4])


def test_a_run_of_escaped_posts_has_no_term_that_is_part_of_a_reference(tmp_path):
    posts = ["storm broke the harbour wall &amp; more &lt;3", "ferry leaves at nine &amp; more &lt;3"] * 8
    with pytest.warns(DocclusterWarning, match="character references"):
        run = doccluster.run([f"{post} {number}" for number, post in enumerate(posts)], n_clusters=2)
    assert {"harbour", "ferry"} <= set(run.vectors.terms)
    assert not {"amp", "lt"} & set(run.vectors.terms)
    assert not any("&amp;" in text for text in run.documents.excerpts)


def test_titles_are_judged_apart_from_texts(tmp_path):
    with pytest.warns(DocclusterWarning, match="character references"):
        corpus = read(PLAIN, tmp_path, titles=["Tom &#038; Jerry"] * 2 + ["A harbour"] * 18)
    assert list(corpus.column("title"))[:3] == ["Tom & Jerry", "Tom & Jerry", "A harbour"]


@pytest.mark.parametrize(
    "texts",
    [
        ["AT&T and Q&A", "R & D", "Tom &amp; Jerry"],  # most stand bare
        [
            "Write &nbsp; in HTML for a blank",
            "An entity such as &eacute; is a letter",
            "In HTML &lt; stands for a sign",
        ],
        ["Write <b>x</b> for bold", "Use <br> and &nbsp; here", "A <p> begins a paragraph, &amp; ends it"],
        ["http://a.example/?x=1&y=2", "http://a.example/?lang=de&copy=3", "&amp;"],
        ["Write &lt; for a sign", *PLAIN],  # one text of many may mean it
        PLAIN,
    ],
)
def test_texts_about_references_and_plain_ones_are_left_alone(texts, tmp_path, recwarn):
    assert read(texts, tmp_path).texts == tuple(texts)
    assert not recwarn.list


def test_what_is_escaped_twice_in_a_column_about_html_is_decoded_once(tmp_path):
    titles = ["How do I center a &lt;div&gt;?", "What is &amp;nbsp; for?", "Why does &lt;span&gt; wrap?"]
    with pytest.warns(DocclusterWarning, match="character references"):
        corpus = read(titles, tmp_path)
    assert corpus.texts == ("How do I center a <div>?", "What is &nbsp; for?", "Why does <span> wrap?")


def test_a_column_of_escaped_html_is_read_without_its_markup(tmp_path):
    with pytest.warns(DocclusterWarning, match="texts of rows.jsonl are HTML"):
        corpus = read(
            [f"&lt;p&gt;Ferry &lt;b&gt;{number}&lt;/b&gt; &amp;amp; crew&lt;/p&gt;" for number in range(12)], tmp_path
        )
    assert corpus.texts[0] == "Ferry 0 & crew"


def test_references_stay_where_markup_is_to_stay(tmp_path, recwarn):
    texts = ["storm &amp; wall", "wall &amp; storm"]
    assert read(texts, tmp_path, strip_html=False).texts == tuple(texts)
    assert not recwarn.list


def test_a_column_in_memory_is_read_as_one_in_a_file():
    with pytest.warns(DocclusterWarning, match="character references of the source"):
        assert read_corpus(["storm &amp; wall", "wall &#8211; storm"]).texts == ("storm & wall", "wall – storm")
