"""Targets: what stands in a field: dates in a column, the lines of a mailbox, the names of encodings."""

from __future__ import annotations

import datetime as dt
import io
from pathlib import PurePosixPath

from doccluster.corpus import read_corpus
from doccluster.corpus.encodings import codec_name, decode
from doccluster.corpus.mail import decoded_header, is_envelope, messages_in
from doccluster.corpus.reader import InputFile, counted_stream
from tests.fuzz.campaign import Target

_DATES = (
    ("2019/11/15 10:00:00", "Sat, Oct 28 2023 08:28:28 PM", "Fri, 19 Nov 2021 01:45:08 +02:00", "13/04/2026 09:00"),
    ("15 novembre 2019 à 10h30", "15 ноября 2019 г., 10:00", "2019年11月15日(金) 10時30分", "15 listopada 2019"),
    ("1573812000", "20191115T100000Z", "Fri Nov 15 10:00:00 CET 2019", "2019-07-15 10:00 Europe/Berlin", "15.11.19"),
    ("03/04/2026", "05/06/26", "soon", "31.02.2024", "١٥ نوفمبر ٢٠١٩"),
)
_PARTS_OF_DATES = (
    *(" PM", " am", "Z", " IST", " GMT+5:30", " -0500 (EST)", "+99:99", "T24:00:60", "[Europe/Berlin]", " ../etc", "٣"),
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


FIELDS = (
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
