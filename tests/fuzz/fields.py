"""Targets: what stands in a field: dates in a column, the lines of a mailbox, the names of encodings."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import tracemalloc
from functools import cache
from pathlib import Path, PurePosixPath

from doccluster.base.text_table import csv_text
from doccluster.corpus import read_corpus
from doccluster.corpus.columns import kept_names
from doccluster.corpus.encodings import codec_name, decode
from doccluster.corpus.mail import decoded_header, is_envelope, messages_in
from doccluster.corpus.markup import read_page
from doccluster.corpus.reader import InputFile, counted_stream
from doccluster.measures.label_files import read_labels
from doccluster.text.running_text import RunningText
from tests.fuzz.campaign import Target, scratch_folder

_DATES = (
    ("2019/11/15 10:00:00", "Sat, Oct 28 2023 08:28:28 PM", "Fri, 19 Nov 2021 01:45:08 +02:00", "13/04/2026 09:00"),
    ("15 novembre 2019 à 10h30", "15 ноября 2019 г., 10:00", "2019年11月15日(金) 10時30分", "15 listopada 2019"),
    ("1573812000", "20191115T100000Z", "Fri Nov 15 10:00:00 CET 2019", "2019-07-15 10:00 Europe/Berlin", "15.11.19"),
    ("03/04/2026", "05/06/26", "soon", "31.02.2024", "١٥ نوفمبر ٢٠١٩"),
)
_PARTS_OF_DATES = (
    *(
        " PM",
        " am",
        "Z",
        " IST",
        " GMT+5:30",
        " -0500 (EST)",
        "+99:99",
        "T24:00:60",
        "T24:00:00Z",
        "23:59:60",
        "W01-1",
        "-366",
        "[Europe/Berlin]",
        " ../etc",
        "٣",
    ),
    *("Nov", "novembre", "listopada", "tháng 11", "年", "月", "日", "오후", "/", ".", "-", ",", "'19", "99999", " to "),
    *("\u200f", "\u00a0", "İ", "(", ")", "e400", "-", "_", "½", "²", "Ⅻ", "𝟙", "a" * 200, "9" * 90, "1.2.3.4.5"),
    *(" m11 ", "z+02:00", "0"),
)
_ENVELOPE = b"From a@b.example Mon Mar  2 08:01:00 2026\n"
_BOXES = (
    _ENVELOPE + b"Subject: one\n\nFrom memory, 1986.\n\nFrom now on: no\n\n" + _ENVELOPE + b"Subject: two\n\nbody\n",
    b"Subject: before\n\nbody\n\n" + _ENVELOPE + b"no header\n\n>From me\n\n" + _ENVELOPE + b"Subject: two\n\nbody\n",
)
_CHARSETS = (b"iso-8859-8-i\n\xf9\xec\xe5\xed", b"x-windows-949\nabc", b"unicode-1-1-utf-7\n+AGE-", b"gb2312\n\xd6\xd0")


def dates_of_a_column(data: bytes) -> str:
    """Read lines as the dates of a table: each is ISO 8601 or nothing, and all are counted."""
    dates = data.decode("utf-8", "replace").splitlines()[:200] or [""]
    corpus = read_corpus(
        {"text": [f"text {number}" for number in range(len(dates))], "date": dates}, date_column="date"
    )
    read = [date for date in corpus.column("date") if date]
    for date in read:
        dt.datetime.fromisoformat(date if len(date) >= 10 else f"{date}-01-01"[:10])
    assert corpus.dates.n_read == len(read)
    assert corpus.dates.n_read + corpus.dates.n_unread <= sum(bool(date.strip()) for date in dates)
    return "read" if corpus.dates.n_unread == 0 else "unread"


def lines_of_a_mailbox(data: bytes) -> str:
    """Cut a mailbox: what is between its envelopes comes out as it is."""
    file = InputFile("a.mbox", PurePosixPath("a.mbox"), counted_stream(io.BytesIO(data)))
    messages = list(messages_in(file))
    left = data
    for message in messages:
        before, found, left = left.partition(message or b"")
        assert found
        line, _, following = before.lstrip(b"\r\n").partition(b"\n")
        assert not line or line.startswith(b"From ")
        assert not following.strip() or is_envelope(line, following, needs_date=False)
    return f"{min(len(messages), 2)}"


def name_of_an_encoding(data: bytes) -> str:
    """Decode bytes in the encoding that their first line names, as a body and as a header."""
    label, _, content = data.partition(b"\n")
    name = label.decode("latin-1")
    decode(content, declared=name).text.encode("utf-8", "surrogatepass")
    decoded_header(f"=?{name}?q?{content.hex('=')}?=").encode("utf-8", "surrogatepass")
    return "known" if codec_name(name) else "unknown"


def names_of_columns(data: bytes) -> str:
    """Write a table whose columns have the names and cells of others: it comes back, and nothing in it runs."""
    try:
        names = [name for name in json.loads(data) if isinstance(name, str)] or [""]
    except (ValueError, TypeError, RecursionError):
        names = data.decode("utf-8", "replace").split(",")
    names = list(dict.fromkeys(names))
    kept = kept_names(names)
    assert len(set(kept.values())) == len(names)
    text = csv_text({"id": ["1"], **{kept[name]: [name] for name in names}})
    assert "\r" not in text
    header, cells = csv.reader(io.StringIO(text, newline=""))
    assert not any(line.splitlines()[1:] for line in header)
    assert not any(cell[:1] in "=@\t\n＝＠" for cell in (*header, *cells) if cell)
    return "renamed" if list(kept.values()) != names else "kept"


@cache
def _folder() -> Path:
    return scratch_folder()


def table_of_labels(data: bytes) -> str:
    """Read labels to be judged: a table, records, or a line for each document."""
    path = _folder() / "labels.csv"
    path.write_bytes(data)
    return "ids" if read_labels(path).ids else "lines"


def repeated_markup(data: bytes) -> str:
    """Read what is repeated a thousand times as a page and as words: no letter of it takes much memory."""
    text = data[:60].decode("utf-8", "replace") * 300
    tracemalloc.start()
    try:
        page = read_page(f"<a {text}").text
        RunningText.of_texts([text])
        assert tracemalloc.get_traced_memory()[1] < 400 * len(text) + 2**24
    finally:
        tracemalloc.stop()
    return "text" if page else "none"


FIELDS = (
    Target(
        "column_names",
        lambda: [b'["party", "a\\nb", "a b", "file", "\\r=1+1"]', b'["\\u2028x", "-1", "\\ud800"]', b"seats"],
        names_of_columns,
        (b"\\r", b"\\n", b"\\t", b"=", b"+", b"-", b"@", b"\\u0085", b"\\u0000", b'","', b"\\ufeff", b" ", b"source."),
    ),
    Target(
        "label_tables",
        lambda: [
            b"id,cluster,truth\n1,a,b\n2,b,b\n",
            b'[{"id": 1, "label": "a"}, {"id": 2}]',
            b'id,"a\nb"\n1,2\n',
            b"a\nb\n",
        ],
        table_of_labels,
        (b"n" * 70_000, b",", b";", b"\t", b'"', b"\n", b"id", b"label", b"{", b"[", b"\r", b"\xff"),
    ),
    Target(
        "repeated_markup",
        lambda: [b"<p>text</p>", b"a='b' c", b"a.b-c d'e", b'""', b"<!-- x -->&amp;", "က္".encode()],
        repeated_markup,
        (b"<a ", b"<!--", b"<![CDATA[", b"&#", b"'", b'"', b">", b"</", b"A.", b"\n ", b"@", b"http://", b"<script>"),
    ),
    Target(
        "dates",
        lambda: ["\n".join(dates).encode() for dates in _DATES],
        dates_of_a_column,
        tuple(part.encode() for part in _PARTS_OF_DATES),
    ),
    Target(
        "envelopes",
        lambda: _BOXES,
        lines_of_a_mailbox,
        (_ENVELOPE, b"\n\n", b"From ", b"From x\n", b"Subject: x\n", b"\r\n", b">From ", b"2026", b"\0"),
    ),
    Target(
        "charsets",
        lambda: _CHARSETS,
        name_of_an_encoding,
        (
            b"x-",
            b"iso-8859-",
            b"-i",
            b"cs",
            b"utf-16",
            b"utf-32",
            b"unicode",
            b"idna",
            b"zip",
            b"rot13",
            b"\0",
            b"\x1b$)C",
        ),
    ),
)
