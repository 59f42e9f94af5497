"""Letters and words that texts write in several ways are one term: searched for, counted, placed by a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import doccluster
from doccluster.text.letter_forms import join_broken, plain_letters
from doccluster.vectors import vectorize
from doccluster.vectors.vectorize import choose_vectorizer

CASES = Path(__file__).parents[1] / "corpus" / "files"


@pytest.mark.parametrize(
    ("file", "query"),
    [
        ("28-hyphens.jsonl", "council"),
        ("28-hyphens.jsonl", "harbour"),
        ("29-ligatures.jsonl", "office"),
        ("29-ligatures.jsonl", "ﬁrst"),
        ("30-letters.jsonl", "ışıklar"),
        ("30-letters.jsonl", "IŞIKLAR"),
        ("30-letters.jsonl", "fırtına"),
    ],
)
def test_a_search_finds_both_ways_of_writing_a_word(file, query):
    assert len(doccluster.search(query, CASES / file).hits) == 2


def test_a_compound_that_a_line_breaks_stays_two_words_and_hits_are_shown_as_written():
    corpus = doccluster.read_corpus(CASES / "28-hyphens.jsonl")
    terms = set(vectorize(corpus).terms)
    assert {"well", "council", "harbour"} <= terms
    assert terms.isdisjoint({"wellknown", "coun", "cil", "har", "bour"})
    assert "coun- cil voted" in doccluster.search("council", corpus).hits[1].snippet


@pytest.mark.parametrize("end", ["-\n", "-\r\n", "-  \n   ", "-\n\n", "- ", "\u2010\n", "\u00ac\n", "\u00ad\n"])
def test_a_word_is_put_together_wherever_a_line_breaks_it(end):
    corpus = doccluster.read_corpus([f"The coun{end}cil voted", "The council met", "A well-\nknown stone"])
    assert "council" in vectorize(corpus).terms
    assert "cil" not in vectorize(corpus).terms


def test_hyphens_of_compounds_are_left_alone_where_lines_break_no_words():
    texts = [f"a {one}-\n{other} sky" for one in ("dark", "pale", "soft", "grey") for other in ("blue", "green", "red")]
    vectorizer, _, _ = choose_vectorizer([*texts, "a darkblue sky"], options={})
    assert not vectorizer.broken_words


def test_one_long_word_and_many_hyphens_are_read_in_linear_time():
    for text in ("a" * 300_000, "a-\n" * 100_000, "-\n" * 200_000, "a" + "-\n" + " " * 300_000):
        assert join_broken(text, {"never"}) == text


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("ﬀ ﬁ ﬂ ﬃ ﬄ ﬅ ﬆ", "ff fi fl ffi ffl st st"),
        ("Congreſs", "Congress"),
        ("ﺍﻟﻤﻴﻨﺎء", "الميناء"),
        ("ﻻ", "لا"),
        ("𝗕𝗿𝗲𝗮𝗸𝗶𝗻𝗴 𝒏𝒆𝒘𝒔 𝟚𝟘", "Breaking news 20"),
        ("ﬓﬔ", "մնմե"),
        ("ĳzer ǆep Ⅳ", "ijzer džep IV"),
        ("⽂件", "文件"),
        ("\u1f71\u212b\u2126\u00b5", "ά\u00c5Ωμ"),
    ],
)
def test_other_forms_of_letters_are_these_letters(written, plain):
    assert plain_letters(written) == plain


@pytest.mark.parametrize("text", ["x² ½ ① ª №", "ราคาน้ำมัน", "café Ångström", "ㅋㅋㅋ", "ŀl", "™ ℃"])
def test_raised_letters_fractions_and_signs_keep_their_meaning(text):
    assert plain_letters(text) == text


TURKISH = "LİMANDA IŞIKLAR SÖNDÜ VE HALK SOKAĞA ÇIKTI, ÇÜNKÜ FIRTINA DAHA DA ARTTI"
ENGLISH = "The IMF said that INFLATION in Istanbul was what Erdoğan and the others had expected of it"


def test_the_turkish_capital_is_read_as_such_in_turkish_texts_alone():
    terms = set(vectorize([TURKISH] * 4 + [ENGLISH] * 4).terms)
    assert {"ışıklar", "fırtına", "imf", "inflation", "istanbul"} <= terms
    assert "ısı" in vectorize(["ISI VE IŞIK"], language="turkish").terms
    assert "qızıl" in vectorize(["QIZIL GÜL VƏ AĞ ÇİÇƏK BAĞÇADADIR"]).terms
    assert "imf" in vectorize([ENGLISH]).terms


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("کتاب کودکی", "كتاب كودكي", "persian"),
        ("orașul și țările", "oraşul şi ţările", "romanian"),
        ("чёрный самолёт", "черный самолет", "russian"),
        ("کودکی کتاب", "كودكي كتاب", "none"),
    ],
)
def test_letters_that_a_language_writes_in_two_ways_are_one(one, other, language):
    matrix = vectorize([one, other, "x y harbour"], language=language).matrix
    assert matrix[[0]].nnz == 2
    np.testing.assert_array_equal(matrix[[0]].toarray(), matrix[[1]].toarray())


def test_persian_typed_with_arabic_letters_is_persian():
    text = "کشتی به جزیره رفت و مردم شهر در بندر منتظر بودند تا از راه برسد که یکی از آنها این را گفت"
    for written in (text, text.translate(str.maketrans("کی", "كي"))):
        vectorizer, languages, _ = choose_vectorizer([written] * 5, options={})
        assert languages == ("persian",)
        assert not {"كه", "که", "اين", "این"} & set(vectorizer.fit([written]).vocabulary_)


TEXTS = [
    "The harbour oﬃce on the ﬁrst ﬂoor sells tickets for the ferry.",
    "The harbour office on the first floor is closed.",
    "The coun-\ncil voted to raise the sea wall.",
    "The council met about the sea wall.",
    "Office hours of the ferry at the har-\nbour.",
    "The sea wall of the council is well-\nknown.",
] * 3
NEW = ["oﬃce ﬂoor", "the coun-\ncil"]


def test_blocks_find_the_clusters_and_terms_of_one_process(tmp_path):
    file = tmp_path / "texts"
    file.mkdir()
    for number, text in enumerate(TEXTS):
        (file / f"{number:02}.txt").write_text(text, encoding="utf-8")
    whole = doccluster.run(file, n_clusters=2)
    blocks = doccluster.run(file, n_clusters=2, scratch=tmp_path / "scratch")
    assert whole.vectors.terms.tolist() == blocks.vectors.terms.tolist()
    assert {"council", "offic"} <= set(whole.vectors.terms)
    assert whole.partition.labels.tolist() == blocks.partition.labels.tolist()


def test_a_model_keeps_how_it_reads_letters_and_one_of_an_earlier_version_reads_them_as_then(tmp_path):
    run = doccluster.run(TEXTS, n_clusters=2, output=tmp_path / "run")
    placed = doccluster.assign(tmp_path / "run", NEW)
    assert placed["unknown"].tolist() == [0, 0]
    arrays = dict(np.load(tmp_path / "run" / "model" / "vectorizer.npz"))
    first_version = {name: array for name, array in arrays.items() if not name.startswith("broken")}
    np.savez(tmp_path / "run" / "model" / "vectorizer.npz", **first_version)
    earlier = doccluster.load_run(tmp_path / "run").vectorizer
    assert not {"offic", "council"} & {earlier_term(earlier, text) for text in ("oﬃce", "coun-\ncil")}
    assert doccluster.assign(tmp_path / "run", NEW)["unknown"].tolist() == [1, 1]
    assert run.vectorizer.broken_words


def earlier_term(vectorizer, text):
    """Return the column's term of a text of one word, None where the model has none."""
    terms = vectorizer.get_feature_names_out()[vectorizer.transform([text]).indices]
    return terms[0] if terms.size else None
