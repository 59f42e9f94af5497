"""One table of the names of encodings, for headers as for bodies; and a guess is said to be one."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from doccluster import read_corpus
from doccluster.cli.main import main
from doccluster.corpus.encodings import codec_name, decode
from doccluster.corpus.mail import decoded_header
from doccluster.pipeline.inspecting import inspect_source

CASES = Path(__file__).parent / "files"
ARABIC = "افتتحت المدينة جسرا جديدا فوق النهر اليوم، وقال رئيس البلدية إن الجسر سيخفف الازدحام في وسط المدينة"
RUSSIAN = "Все люди рождаются свободными и равными в своём достоинстве и правах. Все наделены разумом и совестью."
KOREAN = "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 이성과 양심을 부여받았다."
HEBREW = "המעבורת חזרה לפעול היום בבוקר"


def test_a_header_is_decoded_by_the_name_that_its_body_has():
    corpus = read_corpus(CASES / "12-subject.eml")
    assert list(corpus.column("title")) == ["המעבורת חזרה"]
    assert corpus.texts[0].startswith("המעבורת חזרה\n\nשלום לכולם, המעבורת חזרה לפעול היום בבוקר")


# labels of the WHATWG encoding standard (and of mail) beside the codec that Python has for the same encoding
LABELS = {
    "iso8859_8": "iso-8859-8-i iso-8859-8-e csiso88598i logical visual hebrew iso_8859-8:1988 iso-ir-138",
    "iso8859_6": "iso-8859-6-i iso-8859-6-e asmo-708 arabic csiso88596e ecma-114 iso88596",
    "iso8859_7": "sun_eu_greek elot_928 greek8 iso88597",
    "iso8859_2": "l2 latin2 csisolatin2 iso88592 x-iso-8859-2",
    "iso8859_15": "l9 csisolatin9 iso885915",
    "cp1251": "x-cp1251 windows-1251 win-1251 windows1251 x-windows-1251 cp-1251",
    "cp1252": "x-cp1252 iso-8859-1 latin1 l1 iso_8859-1:1987 iso88591",
    "cp1254": "latin5 iso-8859-9 x-cp1254",
    "cp874": "tis-620 windows-874 dos-874 iso-8859-11",
    "koi8_r": "koi koi8 cskoi8r x-koi8-r",
    "koi8_u": "koi8-ru",
    "mac_cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "mac_roman": "x-mac-roman macintosh csmacintosh",
    "gb18030": "gb2312 csgb2312 gb_2312-80 chinese gbk x-gbk euc-cn iso-ir-58",
    "cp949": "ks_c_5601-1987 ks_c_5601-1989 ksc_5601 korean euc-kr windows-949 x-windows-949 iso-ir-149 cseuckr",
    "cp932": "shift_jis x-sjis windows-31j ms_kanji csshiftjis ms932",
    "euc_jp": "x-euc-jp cseucpkdfmtjapanese",
    "cp950": "big5 cn-big5 x-x-big5 csbig5",
    "utf_7": "unicode-1-1-utf-7 x-unicode-2-0-utf-7",
    "utf_8": "unicode-1-1-utf-8 x-unicode20utf8 utf8mb4 utf8",
}
TEXTS = {
    "iso8859_8": HEBREW,
    "iso8859_6": "جسر جديد",
    "iso8859_7": "λιμάνι",
    "iso8859_2": "Przystań Łódź",
    "cp874": "ท่าเรือ",
    "cp1251": "Паром",
    "koi8_r": "Паром",
    "koi8_u": "Пором і їжа",
    "mac_cyrillic": "Паром",
    "gb18030": "渡轮朱镕基",
    "cp949": "나루 똠방",
    "cp932": "港①",
    "euc_jp": "港",
    "cp950": "渡輪",
}


@pytest.mark.parametrize(
    ("codec", "label"), [(codec, label) for codec, names in LABELS.items() for label in names.split()]
)
def test_a_name_of_browsers_is_known_in_headers_and_bodies(codec, label):
    text = TEXTS.get(codec, "Größe")
    data = text.encode(codec)
    assert decode(data, declared=label.upper()).text == text
    assert decoded_header(f"=?{label}?B?{base64.b64encode(data).decode()}?=") == text


@pytest.mark.parametrize("label", ["x-user-defined", "unknown-8bit", "x-", "", "no such", "x-idna", None])
def test_a_name_of_no_encoding_is_none(label):
    assert codec_name(label) is None


def test_the_superset_is_read_where_people_name_its_ancestor():
    assert decode("朱镕基".encode("gb18030"), declared="gb2312").text == "朱镕基"
    assert decode("똠방각하".encode("cp949"), declared="ks_c_5601-1987").text == "똠방각하"


def test_utf_16_is_not_believed_where_the_text_is_none():
    page = "<?xml version='1.0' encoding='utf-16'?><doc>Größe  </doc>"
    assert decode(page.encode(), declared="utf-16").text == page
    assert decode("Größe\n".encode("utf-16-be"), declared="utf-16be").text == "Größe\n"


@pytest.mark.parametrize(("header", "body", "stated"), [("utf-8", "koi8-r", "koi8-r"), ("cp1251", "cp1251", "utf-8")])
def test_bytes_in_a_header_are_utf_8_or_in_the_encoding_that_the_message_has(tmp_path, header, body, stated):
    head = (
        b"From: a\nTo: b\nSubject: " + "Паром".encode(header) + f"\nContent-Type: text/plain; charset={stated}".encode()
    )
    (tmp_path / "a.eml").write_bytes(head + b"\n\n" + RUSSIAN.encode(body))
    assert read_corpus(tmp_path / "a.eml").texts == (f"Паром\n\n{RUSSIAN}",)


def test_bytes_in_a_header_are_in_the_encoding_of_the_body(tmp_path):
    (tmp_path / "a.eml").write_bytes(
        b"From: a\nTo: b\nSubject: "
        + "Паром".encode("koi8-r")
        + b"\nContent-Type: text/plain; charset=koi8-r\n\n"
        + RUSSIAN.encode("koi8-r")
    )
    assert list(read_corpus(tmp_path / "a.eml").column("title")) == ["Паром"]


@pytest.mark.parametrize("declared", [None, "utf-8"])
@pytest.mark.parametrize(("text", "codec"), [(ARABIC, "iso8859_6"), (KOREAN, "iso2022_kr"), (RUSSIAN, "cp1251")])
def test_an_encoding_that_is_not_declared_or_declared_as_utf_8_is_found(text, codec, declared):
    for times in (1, 5):
        data = " ".join([text] * times).encode(codec)
        assert decode(data, declared=declared).text == " ".join([text] * times)


def test_korean_in_seven_bits_is_a_text_file(tmp_path):
    (tmp_path / "a.txt").write_bytes(KOREAN.encode("iso2022_kr"))
    assert read_corpus(tmp_path / "a.txt").texts == (KOREAN,)


def test_a_feed_in_cp1251_that_says_utf_8_is_read(tmp_path):
    feed = f"<?xml version='1.0' encoding='utf-8'?><rss><channel><item><title>{RUSSIAN}</title></item></channel></rss>"
    (tmp_path / "a.xml").write_bytes(feed.encode("cp1251"))
    corpus = read_corpus(tmp_path / "a.xml")
    assert corpus.texts == (RUSSIAN,)
    assert corpus.guessed_encodings == {"cp1251": 1}


def test_a_guess_is_counted_and_said(tmp_path, capsys):
    assert inspect_source(CASES / "14-arabic-iso-8859-6.txt").languages == {"arabic": 1.0}
    for name, codec in (("a", "cp1251"), ("b", "cp1251"), ("c", "utf-8")):
        (tmp_path / f"{name}.txt").write_bytes(f"{name} {RUSSIAN}".encode(codec))
    (tmp_path / "d.csv").write_bytes(f"text\n{ARABIC}\n".encode("iso8859_6"))
    assert dict(inspect_source(tmp_path).guessed_encodings) == {"cp1251": 2, "iso8859-6": 1}
    with pytest.raises(SystemExit):
        main(["inspect", str(tmp_path)])
    assert "encodings  guessed, where files do not state theirs: 2 cp1251, 1 iso8859-6" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["inspect", str(tmp_path), "--json"])
    assert json.loads(capsys.readouterr().out)["guessed_encodings"] == {"cp1251": 2, "iso8859-6": 1}
