"""Markdown, and texts with front matter."""

from __future__ import annotations

import pathlib

import pytest

from doccluster.corpus import read_corpus
from doccluster.corpus.markdown import plain_markdown
from doccluster.errors import DocclusterWarning

CASES = pathlib.Path(__file__).parent / "files"

POST = """---
layout: post
title:  'It''s a "ferry"'   # a comment
date:   2026-03-10 09:00:00 +0100
author:
  name: Jane Doe
tags: ferry, island
categories:
- News
- "Harbour, wall"
authors: [Doe, "Roe, R."]
description: >-
  A folded
  text: of two lines
empty:
url: /2026/ferry/
---
The ferry sails.
"""
TOML = """+++
title = "A wall"
date = 2026-03-11T09:00:00Z
tags = ["sea", "wall"]
draft = true
[author]
name = "Jane"
+++
The wall stands.
"""
JSON = '{\n "title": "A pump", "date": "2026-03-12", "tags": ["sea"], "id": "x", "text": "y"\n}\n\nThe pump runs.\n'


def read_files(folder, files, **options):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_corpus(folder, **options)


def test_posts_give_title_date_and_labels_and_a_text_without_the_block():
    corpus = read_corpus(CASES / "36-front-matter")
    assert list(corpus.metadata["title"]) == ["Harbour news 0", "Harbour news 1", "Harbour news 2"]
    assert corpus.metadata["date"][0] == "2026-03-10T09:00:00+00:00"
    assert corpus.labels == {"categories": (("ferry",),) * 3, "tags": (("island",),) * 3}
    assert corpus.texts[0] == (
        "Harbour news 0\n\nThe ferry to Skerrow sailed again from the harbour on Friday after two weeks of storms."
    )


def test_yaml_toml_and_json_before_a_text_are_read(tmp_path):
    corpus = read_files(tmp_path, {"a.md": POST, "b.md": TOML, "c.md": JSON})
    assert corpus.ids == ("a.md", "b.md", "c.md")
    assert corpus.texts == (
        'It\'s a "ferry"\n\nThe ferry sails.',
        "A wall\n\nThe wall stands.",
        "A pump\n\nThe pump runs.",
    )
    assert list(corpus.metadata["date"]) == ["2026-03-10T09:00:00+01:00", "2026-03-11T09:00:00+00:00", "2026-03-12"]
    assert corpus.labels["tags"] == (("ferry", "island"), ("sea", "wall"), ("sea",))
    assert corpus.labels["categories"] == (("News", "Harbour, wall"), (), ())
    assert list(corpus.metadata["author.name"]) == ["Jane Doe", "Jane", ""]
    first = corpus.metadata.iloc[0]
    assert (first["authors"], first["description"]) == ("Doe; Roe, R.", "A folded text: of two lines")
    assert first["link"] == "/2026/ferry/"
    assert tuple(corpus.metadata.iloc[2][["source.id", "source.text"]]) == ("x", "y")


def test_markdown_may_begin_with_its_facts_alone(tmp_path):
    files = {
        "a.md": "Title: A wall\nDate: 2026-03-10\nTags: sea, wall\n\nIt stands.",
        "b.md": "Title: a\nand text.\n\nx",
    }
    corpus = read_files(tmp_path, files)
    assert corpus.texts == ("A wall\n\nIt stands.", files["b.md"])
    assert (corpus.metadata["date"][0], corpus.labels["Tags"][0]) == ("2026-03-10", ("sea", "wall"))
    assert read_files(tmp_path / "t", {"a.txt": files["a.md"], "b.txt": "x"}).texts[0] == files["a.md"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_front_matter_is_read_in_any_text_file(tmp_path, encoding, end):
    (tmp_path / "a.txt").write_bytes(POST.replace("\n", end).encode(encoding))
    corpus = read_corpus(tmp_path / "a.txt")
    assert corpus.texts == ('It\'s a "ferry"\n\nThe ferry sails.',)
    assert corpus.division == "a.txt is one document"


def test_what_is_no_key_value_or_list_stays_in_the_text_with_a_warning(tmp_path):
    block = "---\ntitle: Nested\nlinks:\n- name: Skerrow\n  url: x\nother: &anchor y\n---\nBody.\n"
    toml = '+++\ntitle = "T"\n[[links]]\nname = "Skerrow"\n+++\nBody.\n'
    with pytest.warns(DocclusterWarning, match="the front matter of a.md and 1 more holds more than keys"):
        corpus = read_files(tmp_path, {"a.md": block, "b.md": toml})
    assert corpus.texts[0] == "Nested\n\nBody.\nlinks:\n- name: Skerrow\n  url: x\nother: &anchor y"
    assert corpus.texts[1] == 'T\n\nBody.\nlinks: [{"name": "Skerrow"}]'


@pytest.mark.parametrize(
    "text",
    [
        "---\nThis is a text.\nNote: it stands between rules.\nAnd ends.\n---\nBelow.",
        "---\ntitle: never closed\n\nText.",
        "---\nNote: a text between rules.\nIt goes on.\n---\nBelow.",
        "---\nA rule first, then a text: this.\n---\nBelow.",
        "Date: she came at noon.\nShe said: hello.\n\nThen we left.",
        "Words first.\n\n---\n\ntitle: x\n\n---\n",
        "+++\nno = toml = here\n+++\nText.",
    ],
)
def test_rules_in_a_text_are_no_front_matter(tmp_path, text):
    corpus = read_files(tmp_path, {"a.md": text})
    assert "".join(corpus.metadata["title"]) == ""
    words = [word for word in text.replace("-", "").split() if word != "+++"]
    assert [word for word in corpus.texts[0].split() if word != "+++"] == words


def test_a_stream_of_yaml_is_no_text_with_front_matter(tmp_path):
    yaml = "---\ntitle: a\n---\ntitle: b\n---\ntitle: c\n"
    corpus = read_files(tmp_path, {"a.yaml": yaml})
    assert corpus.texts == (yaml,)


def test_signs_of_markdown_go_and_what_people_read_stays():
    text, title = plain_markdown(
        'Intro with a [link](https://a.org/b_(c) "Title"), ![A photo](/x.jpg) and <https://a.org>.\n\n'
        "# The *first* heading #\n\n"
        "[![Badge](b.svg)](https://ci.org) A [reference][ref], [[Page|shown]], a **bold**, snake_case, 5*3*2.\n"
        '<p>Raw <b>html</b><br>here</p> <!-- not\nthis --> AT&amp;T {{< figure src="x.png" >}}{% include y %}\n\n'
        "Underlined\n==========\n\n```python\nimport os  # [not](a link) <tag>\n```\n\n`a<b>` a < b and c > d\n\n"
        '[ref]: https://a.org/ref "A title"\n[^1]: A footnote.\n'
    )
    assert title == "The first heading"
    assert " ".join(text.split()) == (
        "Intro with a link, A photo and . The first heading Badge A reference, shown, a bold, snake_case, 5*3*2. "
        "Raw html here AT&T Underlined import os # [not](a link) <tag> a<b> a < b and c > d [^1]: A footnote."
    )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Ferry\n=====\n\nIt sails.", "Ferry"),
        ("## Second\n\nx", "Second"),
        ("x\n\n## Second", ""),
        ("```\n# no\n```", ""),
    ],
)
def test_the_first_heading_is_the_title(text, title):
    assert plain_markdown(text)[1] == title


def test_a_folder_of_markdown_has_the_labels_of_its_folders_and_leaves_out_a_readme(tmp_path):
    files = {"sport/a.md": "# Goal\n\nReport.", "wheat/b.md": "Grain prices.", "README.md": "# About"}
    corpus = read_files(tmp_path, files)
    assert corpus.ids == ("sport/a.md", "wheat/b.md")
    assert corpus.labels == {"class": (("sport",), ("wheat",))}
    assert corpus.texts == ("Goal\n\nReport.", "Grain prices.")


def test_keys_are_named_as_columns_are_and_may_be_missing_in_some_files(tmp_path):
    files = {"a.md": "---\ndesk: sea\nprinted: 2026-03-10\n---\nOne.", "b.md": "Two."}
    corpus = read_files(tmp_path, files, label_columns="desk", date_column="printed")
    assert corpus.labels == {"desk": (("sea",), ())}
    assert list(corpus.metadata["date"]) == ["2026-03-10", ""]
