"""The newsroom sample is what its README says, and its derived forms follow from articles.jsonl."""

from __future__ import annotations

import filecmp
import importlib.util
from collections import Counter

from tests.conftest import ROOT

SAMPLE = ROOT / "corpora" / "samples" / "newsroom"
spec = importlib.util.spec_from_file_location("newsroom_build", SAMPLE / "build.py")
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)


def test_articles_are_many_short_and_labelled():
    articles = build.read_articles()
    assert len({article["id"] for article in articles}) == len(articles) == 176
    assert all(60 <= len(article["text"].split()) <= 150 for article in articles)
    assert len({article["topic"] for article in articles}) == 8
    assert min(Counter(article["story"] for article in articles).values()) >= 4


def test_no_sentence_is_repeated_outside_near_copies():
    sentences = Counter()
    for article in build.read_articles():
        if "near_copy_of" not in article:
            sentences.update({s.strip() for s in article["text"].split(". ") if len(s.split()) > 5})
    assert [sentence for sentence, count in sentences.items() if count > 1] == []


def test_derived_forms_are_those_that_the_build_writes(tmp_path):
    build.build(tmp_path)
    for name in ("folder", "feeds"):
        difference = filecmp.dircmp(SAMPLE / name, tmp_path / name)
        stack = [difference]
        while stack:
            level = stack.pop()
            assert [*level.left_only, *level.right_only, *level.diff_files, *level.funny_files] == []
            stack.extend(level.subdirs.values())
