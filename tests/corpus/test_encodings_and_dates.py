"""Encodings are found without the locale; dates become ISO 8601 or nothing."""

from __future__ import annotations

import datetime as dt
import locale
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doccluster.corpus import read_corpus
from doccluster.corpus.dates import iso_date
from doccluster.corpus.encodings import codec_name, declared_encoding, decode

SAMPLES = {
    "Russian": "Все люди рождаются свободными и равными в своём достоинстве и правах. Все наделены разумом.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "Polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są obdarzeni rozumem.",
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft begabt für alle.",
    "Spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos, señor; razón, corazón, mañana.",
    "Japanese": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "Chinese": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "Hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון.",
}


@pytest.mark.parametrize("language", SAMPLES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "gb18030"])
def test_unicode_and_declared_encodings_are_exact(language, encoding):
    text = SAMPLES[language]
    data = text.encode(encoding)
    if encoding == "utf-16-be":
        data = b"\xfe\xff" + data
    assert decode(data, declared="gb18030" if encoding == "gb18030" else None).text == text


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        ("Russian", "cp1251"),
        ("Russian", "koi8-r"),
        ("Greek", "cp1253"),
        ("Polish", "cp1250"),
        ("German", "cp1252"),
        ("Spanish", "latin-1"),
        ("Japanese", "shift_jis"),
        ("Japanese", "euc_jp"),
        ("Japanese", "iso2022_jp"),
        ("Chinese", "gb2312"),
        ("Chinese", "hz"),
        ("Korean", "euc_kr"),
        ("Hebrew", "cp1255"),
    ],
)
def test_an_undeclared_encoding_is_detected(language, encoding):
    text = " ".join([SAMPLES[language]] * 6)
    assert decode(text.encode(encoding)).text == text


MACINTOSH = {
    "mac-roman": [
        "Le café près de la forêt a été fermé à cause de la tempête, mais l’été reviendra.",
        "El año pasado la canción más oída fue la del niño; ¿quién lo sabía? Pidió más música.",
        "Die Mädchen hörten für drei Stunden die schöne Musik; das Schloß ist größer als früher.",
        "“I don’t know,” she said — and he didn’t either…",
        "A inundação não é uma situação fácil; o porto está cheio de caminhões.",
    ],
    "mac-latin2": ["Żółć i gęś, zażółć gęślą jaźń; większość ludzi myśli, że łódź płynie."],
    "mac-turkish": ["Limanda ışıklar yeniden yandı ve halk evine döndü, çünkü fırtına dindi. İstanbul’da yağmur var."],
}


@pytest.mark.parametrize("end", ["\r", "\n"])
@pytest.mark.parametrize(("encoding", "text"), [(name, text) for name, texts in MACINTOSH.items() for text in texts])
def test_files_of_the_macintosh_are_detected(encoding, text, end):
    decoded = decode(f"{text}{end}{text}".encode(encoding))
    assert (decoded.text, decoded.guess) == (f"{text}{end}{text}", encoding)


@pytest.mark.parametrize(
    "text", [*MACINTOSH["mac-roman"], "CAFÉ À PARIS", "Ærø og Århus, på gården", "the cafÉ", "café"]
)
def test_files_of_windows_are_not_taken_for_those_of_the_macintosh(text):
    assert decode(text.encode("cp1252")).text == text
    assert decode(f"{text}\r{text}".encode("cp1252")).text == f"{text}\r{text}"


@pytest.mark.filterwarnings("ignore:the encoding")
def test_a_table_of_the_macintosh_is_read():
    corpus = read_corpus(Path(__file__).parent / "files" / "38-mac-roman.csv")
    assert corpus.texts[0].startswith("Le café près de la forêt a été fermé à cause de la tempête, mais l’été")
    assert corpus.guessed_encodings == {"mac-roman": 1}


def test_a_wrong_declaration_is_not_believed():
    assert decode("naïve".encode(), declared="ascii").text == "naïve"
    assert decode("naïve café".encode("cp1252"), declared="utf-8").text == "naïve café"
    assert decode(b"text", declared="base64").text == "text"
    assert decode(b"text", declared="no such thing").text == "text"
    assert decode(b"\\u0041", declared="unicode_escape").text == "\\u0041"


def test_utf_16_without_a_mark_is_recognised_by_its_zero_bytes():
    assert decode("id,text\n1,words".encode("utf-16-le")).text == "id,text\n1,words"
    assert decode("id,text\n1,words".encode("utf-16-be")).text == "id,text\n1,words"


def test_the_locale_does_not_matter(monkeypatch):
    monkeypatch.setattr(locale, "getpreferredencoding", lambda *_: "ascii")
    assert decode("é".encode()).text == "é"


@given(st.binary(max_size=300), st.sampled_from([None, "utf-8", "cp1252", "utf-16", "hz", "punycode", "x\0y", ""]))
def test_any_bytes_become_text(data, declared):
    decoded = decode(data, declared=declared)
    assert isinstance(decoded.text, str)


@given(st.text(max_size=200))
def test_utf_8_is_always_read_back(text):
    written = "".join(one for one in text if not "\ud800" <= one <= "\udfff" and one not in "\0\ufeff\x1b~")
    assert decode(written.encode()).text == written


def test_declarations_are_found():
    assert declared_encoding(b"<?xml version='1.0' encoding='KOI8-R'?>") == "KOI8-R"
    assert declared_encoding(b"<html><meta http-equiv=x content='text/html; charset=big5'>") == "big5"
    assert declared_encoding(b"text") is None
    assert codec_name("latin1") == "cp1252"
    assert codec_name("x-sjis") == "cp932"


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        ("26-FEB-1987 15:01:01.79", "1987-02-26T15:01:01"),
        (" 3-APR-1987 07:09:06.48", "1987-04-03T07:09:06"),
        ("31-MAR-1987 605:12:19.12", ""),
        ("Thu, 26 Feb 1987 15:01:01 GMT", "1987-02-26T15:01:01+00:00"),
        ("Thu, 26 Feb 1987 15:01:01 +0530", "1987-02-26T15:01:01+05:30"),
        ("2024-03-01T12:00:00Z", "2024-03-01T12:00:00+00:00"),
        ("2024-03-01 12:00", "2024-03-01T12:00:00"),
        ("2024-03-01", "2024-03-01"),
        ("20240301", "2024-03-01"),
        ("2024/03/01", "2024-03-01"),
        ("1.3.2024", "2024-03-01"),
        ("25/12/2024", "2024-12-25"),
        ("12/25/2024 8:30", "2024-12-25T08:30:00"),
        ("03/04/2024", ""),
        ("March 5, 2024", "2024-03-05"),
        ("5th of never", ""),
        ("5 March 2024", "2024-03-05"),
        ("Mar 2024", "2024-03"),
        ("2024", "2024"),
        (2024, "2024"),
        (1709290000, "2024-03-01T10:46:40+00:00"),
        ("1709290000.0", "2024-03-01T10:46:40+00:00"),
        (1709290000000, "2024-03-01T10:46:40+00:00"),
        ("2024-02-30", ""),
        ("99/99/9999", ""),
        (float("nan"), ""),
        (None, ""),
        (pd.NaT, ""),
        (pd.Timestamp("2024-03-01"), "2024-03-01"),
        (pd.Timestamp("2024-03-01 10:00:00.123456789"), "2024-03-01T10:00:00"),
        (pd.Timestamp("2024-03-01 10:00", tz="Europe/Berlin"), "2024-03-01T10:00:00+01:00"),
        (dt.date(2024, 3, 1), "2024-03-01"),
        ("", ""),
    ],
)
def test_dates_become_iso_or_nothing(value, iso):
    assert iso_date(value) == iso


@given(st.one_of(st.text(max_size=40), st.floats(), st.integers(), st.none()))
def test_any_date_is_iso_or_nothing(value):
    iso = iso_date(value)
    if len(iso) >= 10:
        dt.datetime.fromisoformat(iso)


@given(st.datetimes(min_value=dt.datetime(1000, 1, 1), timezones=st.none() | st.just(dt.UTC)))
def test_iso_dates_are_kept(moment):
    assert dt.datetime.fromisoformat(iso_date(moment.isoformat())) == moment.replace(microsecond=0)
