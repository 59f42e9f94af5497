"""Terms of scripts without blanks: shown as strings that recur whole, not as the pieces they were counted by."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from doccluster.geometry.partition import Partition
from doccluster.labeling import describe_clusters
from doccluster.labeling.describe import recurring_strings
from doccluster.labeling.label_terms import is_content
from doccluster.text import scripts
from doccluster.text.scripts import whole_word
from doccluster.vectors import TfidfVectorizer, vectorize

JAPANESE = [
    "東京地下鉄は来月から新しい路線を開業する。",
    "新路線について東京地下鉄の社長が説明した。",
    "大雨のため東京地下鉄の全線で運転を見合わせた。",
    "国立天文台は新しい彗星を発見したと発表した。",
    "彗星は来月に地球へ近づくと国立天文台が述べた。",
    "国立天文台の望遠鏡が彗星の尾を撮影した。",
]
THAI = ["แผ่นดินไหวที่เชียงใหม่", "เกิดแผ่นดินไหวอีกครั้ง", "ประกาศเตือนแผ่นดินไหว"]


class Parser:
    """Cuts texts into some words, and single characters."""

    def __init__(self, *words):
        self.words = words

    def parse(self, text):
        return re.findall("|".join([*self.words, "."]), text)


def without_known_words():
    for cached in (scripts._parsers, scripts._borders):
        cached.cache_clear()


@pytest.fixture(autouse=True)
def budoux(monkeypatch):
    """Make the extra as it is where it is not installed; return what installs another."""
    monkeypatch.setitem(sys.modules, "budoux", None)
    without_known_words()
    yield lambda module: monkeypatch.setitem(sys.modules, "budoux", module)
    without_known_words()


def described(texts, labels):
    vectors = vectorize(texts, TfidfVectorizer(analyzer="script"))
    return describe_clusters(vectors, Partition.from_labels(labels), texts=texts)


def test_a_label_has_words_that_recur_whole_and_no_pairs_of_characters():
    labels = [cluster.label for cluster in described(JAPANESE, [0, 0, 0, 1, 1, 1])]
    assert "東京地下鉄" in labels[0].split(", ")[0]
    assert any(word.startswith("国立天文台") for word in labels[1].split(", "))
    for label in labels:
        words = label.split(", ")
        assert not any(word != other and word in other for word in words for other in words)


def test_pieces_of_one_string_are_one_term_with_the_sum_of_their_shares():
    vectors = vectorize(JAPANESE, TfidfVectorizer(analyzer="script"))
    partition = Partition.from_labels([0, 0, 0, 1, 1, 1])
    pieces = describe_clusters(vectors, partition, n_terms=200)[0].descriptive
    whole = described(JAPANESE, partition.labels)[0].descriptive
    first = whole[0]
    assert first.term.startswith("東京地下鉄")
    pairs = {first.term[i : i + 2] for i in range(len(first.term) - 1)}
    total = sum(piece.share for piece in pieces if piece.term in pairs)
    assert first.share >= total - 1e-9
    assert sum(term.share for term in whole) <= 1 + 1e-9
    assert [term.share for term in whole] == sorted((term.share for term in whole), reverse=True)


def test_a_string_grows_only_as_far_as_most_of_its_occurrences_go():
    texts = ["北海道大学", "北海道大学", "北海道大学", "北海道庁", "北海道新聞"]
    assert recurring_strings(["北海"], texts)["北海"] == "北海道大学"
    assert recurring_strings(["北海"], texts, min_share=0.8)["北海"] == "北海道"
    assert recurring_strings(["北海"], texts, longest=2)["北海"] == "北海"


def test_a_string_is_the_longest_that_several_titles_share():
    texts = ["新駅の東京駅", "東京駅は", "東京都", "東京都"]
    titles = ["東京地下鉄の新線", "東京地下鉄が開業", "東京地下鉄が開業", "大阪"]
    assert recurring_strings(["東京"], texts, min_share=0.9) == {"東京": "東京"}
    assert recurring_strings(["東京"], texts, titles=titles, min_share=0.9) == {"東京": "東京地下鉄"}
    assert recurring_strings(["大阪"], ["大阪城", "大阪城"], titles=titles) == {"大阪": "大阪城"}  # of one title alone


def test_korean_words_are_whole_and_without_particles_where_they_occur_without_them_too():
    texts = ["튀르키예에서 지진이 발생", "강한 지진으로 사망", "지진 피해", "고양이 사진", "고양이 카페"]
    shown = recurring_strings(["지진", "진이", "양이"], texts)
    assert shown == {"지진": "지진", "진이": "지진이", "양이": "고양이"}
    assert recurring_strings(["지진"], texts[:2]) == {"지진": "지진"}
    assert not is_content("에서", ())


def test_a_string_never_leaves_its_script_or_the_line():
    texts = ["新駅 東京 開業", "新駅 東京 2026", "東京,"]
    assert recurring_strings(["東京"], texts)["東京"] == "東京"


def test_words_of_other_scripts_and_terms_that_no_text_has_are_left_alone():
    assert recurring_strings(["metro", "大阪", "1984"], ["metro 東京"]) == {}


def test_a_thai_string_does_not_begin_with_a_mark_that_lost_its_letter():
    for shown in recurring_strings(["ผ่", "่น", "ดิ", "ไหว"], THAI).values():
        assert shown == "แผ่นดินไหว"


def test_texts_with_words_are_described_as_before():
    texts = ["oil prices rise", "oil exports", "wheat harvest", "wheat rain"]
    vectors = vectorize(texts)
    partition = Partition.from_labels([0, 0, 1, 1])
    plain, given = describe_clusters(vectors, partition), describe_clusters(vectors, partition, texts=texts)
    assert plain == given
    assert all(cluster.label for cluster in given)


def test_a_thai_string_is_never_torn_inside_a_letter_with_its_vowels():
    texts = ["เสียงดังมาก", "เสียใจมาก", "เสียหายหมด"]  # what recurs ends before a vowel sign, or begins after one
    for term in ("สีย", "เส", "สี"):
        found = recurring_strings([term], texts)[term]
        assert found.startswith("เสี")
        assert found in ("เสีย", "เสี")
    assert recurring_strings(["ดิน"], ["แผ่นดิน", "แผ่นดิน"])["ดิน"] == "แผ่นดิน"


def test_where_words_can_be_told_a_term_is_shown_as_the_words_it_is_in(budoux):
    parser = Parser("東京", "地下鉄", "国立", "天文台", "の")
    names = ("japanese", "thai", "simplified_chinese", "traditional_chinese")
    budoux(SimpleNamespace(**{f"load_default_{name}_parser": lambda: parser for name in names}))
    assert recurring_strings(["下鉄", "京地", "天文"], JAPANESE) == {
        "下鉄": "地下鉄",
        "京地": "東京地下鉄",
        "天文": "天文台",
    }


@pytest.mark.skipif(find_spec("budoux") is None, reason="the extra cjk is not installed")
def test_budoux_finds_words_of_three_scripts(budoux, monkeypatch):
    monkeypatch.delitem(sys.modules, "budoux")
    assert whole_word("地震造成至少五千人死亡", 2, 4) == "造成"
    assert whole_word("東京で大きな地震が発生", 6, 8) == "地震"
    assert whole_word("ในประเทศตุรกี", 4, 7) == "ประเทศ"
