"""Messages: mailboxes (mbox) message by message, single ones (eml), and those of newsgroups, one in a file.

The folder of a message of a newsgroup is its group: the layout of 20 Newsgroups. What says which group it is in without
being what it is about (headers, signatures, quotations) can be left out, as the usual way to cluster that asks.
"""

from __future__ import annotations

import email
import email.errors
import email.header
import email.message
import re
from collections.abc import Iterator
from email.policy import Compat32
from itertools import chain, pairwise

from doccluster.corpus.dates import iso_date
from doccluster.corpus.document import Skipped
from doccluster.corpus.encodings import codec_name, decode
from doccluster.corpus.markup import strip_markup
from doccluster.corpus.reader import Draft, Format, InputFile, record, with_title
from doccluster.corpus.reader_options import ReadOptions

_HEADER = re.compile(r"([!-9;-~]+):[ \t]*(.*)")
_HEAD = re.compile(r"(?:(?:From|Subject|Date|To|Newsgroups|Organization|Reply-To|Message-ID):.*\r?\n){2}")
LONGEST_HEAD = 4_000  # characters
_FIRST_WORD = re.compile(r"([A-Za-z][A-Za-z0-9-]*):(?:[ \t]|\r?$)|[ \t]")


def split_headers(message: str) -> tuple[dict[str, str], str]:
    """Return the headers by name in lower case (the first of each, unfolded), and what follows the blank line."""
    headers: dict[str, list[str]] = {}
    lines: list[str] = []  # of the header that may go on
    position = 0
    while position < len(message):
        end = message.find("\n", position)
        line = message[position:] if end < 0 else message[position:end]
        following = len(message) if end < 0 else end + 1
        if not line.strip():
            return _unfolded(headers), message[following:]
        match = _HEADER.match(line)
        if line[0] in " \t" and lines:
            lines.append(line.strip())
        elif match is not None:
            lines = [match[2].strip()]
            headers.setdefault(match[1].lower(), lines)
        else:  # not a header: the body begins without a blank line
            return _unfolded(headers), message[position:]
        position = following
    return _unfolded(headers), ""


def begins_with_head(text: str) -> bool:
    """Return whether a text begins with two or more of the headers that messages have."""
    return _HEAD.match(text) is not None


def message_kind(text: str, name: str) -> str | None:
    """Return eml or newsgroups for text that begins with mail headers, From and Subject among them, else None."""
    names: set[str] = set()
    for line in text[:16_384].split("\n"):
        header = _FIRST_WORD.match(line)
        if not line.strip() or header is None:
            break
        if header[1]:
            names.add(header[1].lower())
    if not {"from", "subject"} <= names:
        return "eml" if name.endswith(".eml") else None
    is_mail = name.endswith(".eml") or bool(names & {"mime-version", "received", "to", "delivered-to", "content-type"})
    is_news = "newsgroups" in names or (not is_mail and bool(names & {"organization", "lines", "nntp-posting-host"}))
    if is_news:
        return "newsgroups"
    return "eml" if is_mail or "message-id" in names or "date" in names else None


def subject_of_message(text: str) -> str:
    """Return the subject of a text that begins with the head of a message, empty for any other text.

    >>> subject_of_message("From: A. Writer\\nSubject: Re: rye bread\\n\\nBake it longer.")
    'Re: rye bread'
    """
    if not begins_with_head(text[:LONGEST_HEAD]):
        return ""
    return decoded_header(split_headers(text[:LONGEST_HEAD])[0].get("subject", ""))


def _unfolded(headers: dict[str, list[str]]) -> dict[str, str]:
    return {name: " ".join(lines) for name, lines in headers.items()}


def decoded_header(value: str) -> str:
    """Return a header with its encoded words (RFC 2047) decoded; broken ones stay as they are.

    >>> decoded_header("=?iso-8859-1?q?Gr=FC=DFe?= =?utf-8?b?IGFuIGFsbGU=?=")
    'Grüße an alle'
    """
    try:
        parts = email.header.decode_header(value)
    except email.errors.HeaderParseError:
        return " ".join(value.split())
    texts = (
        part
        if isinstance(part, str)
        # what is between encoded words comes in this encoding
        else part.decode("raw-unicode-escape", "replace")
        if charset is None
        else decode(part, declared=charset.partition("*")[0]).text
        for part, charset in parts
    )
    return " ".join("".join(texts).split())


_LONGEST_MESSAGE = 64 * 1024**2  # bytes, with attachments
_LONGEST_HEADER = 16_384  # characters: the standard library reads the parameters of a header in quadratic time
_NEXT_HEADER = re.compile(rb">From |[!-9;-~]+[ \t]*:")
_AFTER_DATE = re.compile(r" (?:remote from \S+|[+-]\d{4})$")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_QUOTED = re.compile(r"\s*(?:[>|:%}]|[A-Za-z]{1,4}>)")
_ATTRIBUTION = re.compile(
    r"\s*+(?:In article\b|In <|Quoted from\b|.{0,100}\b(?:writes|wrote|said|says)\s*+:\s*+$"
    r"|.{0,100}<[^<>\s@]++@[^<>\s]++>\s*+(?:writes|wrote)?:?\s*+$)",
    re.IGNORECASE,
)
_RULE = re.compile(r"[\s_=*~.-]*")
_LONGEST_FOOTER = 12  # lines: a longer last part is not a signature
_SPLIT = re.compile(r"[-_](train|test)$", re.IGNORECASE)


class _Policy(Compat32):
    """How messages are parsed: as ever, with no more of a header than any real one has."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


_POLICY = _Policy()


def read_eml(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the one message that the file is."""
    draft = record(file.name, _message, file.read(_LONGEST_MESSAGE), file, file.name)
    if isinstance(draft, Draft):
        draft.id = draft.id or str(file.place)
        draft.is_whole_file = True
    yield draft


def read_mbox(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the messages of a mailbox; attachments are skipped."""
    for number, data in enumerate(messages_in(file), 1):
        where = f"{file.name}:{number}"
        if data is None:
            yield Skipped(where, "too-long", f"a message of more than {_LONGEST_MESSAGE:,} bytes")
        else:
            yield record(where, _message, _QUOTED_FROM.sub(rb"\1", data), file, where)


def messages_in(file: InputFile) -> Iterator[bytes | None]:
    """Cut a mailbox at the lines that begin a message, with a date if the first has one; None for an over-long one."""
    lines: list[bytes] = []
    size, after_blank, is_dated = 0, True, False
    for line, following in pairwise(chain(file.stream_lines(_LONGEST_MESSAGE), [b""])):
        if line is None:  # longer than any message may be: so is the message it is in
            size += _LONGEST_MESSAGE + 1
        elif after_blank and following is not None and is_envelope(line, following, needs_date=is_dated):
            is_dated = is_dated or is_envelope(line, following)
            if any(map(bytes.strip, lines)) or size > _LONGEST_MESSAGE:
                yield _joined(lines, size)
            lines, size = [], 0
        else:
            size += len(line)
            if size <= _LONGEST_MESSAGE:
                lines.append(line)
        after_blank = line is not None and not line.strip(b"\r\n")
    if any(map(bytes.strip, lines)) or size > _LONGEST_MESSAGE:
        yield _joined(lines, size)


def is_envelope(line: bytes, following: bytes, *, needs_date: bool = True) -> bool:
    """Return whether a line of a mailbox begins a message: "From ", a date at its end, and a header in the next line.

    >>> is_envelope(b"From a@b.org Mon Mar  2 08:01:00 2026", b"Subject: ferry")
    True
    >>> is_envelope(b"From memory, it was in 1986.", b""), is_envelope(b"From now: Monday", b"Note: at nine")
    (False, False)
    """
    if not line.startswith(b"From ") or _NEXT_HEADER.match(following) is None:
        return False
    words = _AFTER_DATE.sub("", line[5:500].decode("latin-1").strip()).split()
    return not needs_date or any(len(iso_date(" ".join(words[-count:]))) >= 10 for count in range(1, 9))


def _joined(lines: list[bytes], size: int) -> bytes | None:
    return b"".join(lines) if size <= _LONGEST_MESSAGE else None


def _message(data: bytes, file: InputFile, where: str) -> Draft:
    file.n_nuls += data.count(b"\0")
    file.check_parts(data, "\n")  # the standard library takes a hundred bytes for each line
    message = email.message_from_bytes(data.replace(b"\0", b""), policy=_POLICY)
    title = decoded_header(_header(message, "Subject", data))
    return Draft(
        text=with_title(title, _body(message, file)),
        where=where,
        id=_header(message, "Message-ID", data).strip("<> \t"),
        title=title,
        date=_header(message, "Date", data),
    )


def _header(message: email.message.Message, name: str, data: bytes) -> str:
    """Return a header, "" if there is none; bytes beyond ASCII in it are utf-8, else in the encoding of the message."""
    raw = (str(value) for header, value in message.raw_items() if header.lower() == name.lower())
    text = next(raw, "")
    if not text.isascii():
        encoded = text.encode("utf-8", "surrogateescape")  # such bytes come as surrogates
        stated = message.get_content_charset()
        encoding = None if _is_utf8(encoded) else decode(data, declared=stated).encoding
        text = decode(encoded, declared=encoding).text
    return text


def _body(message: email.message.Message, file: InputFile) -> str:
    """Return the plain parts of a message; the HTML parts when it has no plain one."""
    plain: list[str] = []
    pages: list[str] = []
    for part in message.walk():
        if part.is_multipart() or part.get_content_disposition() == "attachment":
            continue
        kind = part.get_content_type()
        if kind in ("text/plain", "text/html"):
            (plain if kind == "text/plain" else pages).append(_part_text(part, file))
    texts = [text for text in plain if text.strip()] or [strip_markup(page) for page in pages]
    return "\n\n".join(text.strip("\r\n") for text in texts)


def _part_text(part: email.message.Message, file: InputFile) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    charset = part.get_param("charset")
    declared = charset[2] if isinstance(charset, tuple) else charset
    return file.decode(data, declared=codec_name(declared if isinstance(declared, str) else None))


MBOX = Format(
    "mbox",
    read_mbox,
    "a message",
    "subject, date; attachments are skipped",
    suffixes=(".mbox", ".mbx"),
    recognises=lambda beginning: is_envelope(*beginning.text[:2000].encode("utf-8", "replace").partition(b"\n")[::2]),
)
EML = Format(
    "eml",
    read_eml,
    "a message in a file",
    "subject, date; attachments are skipped",
    suffixes=(".eml",),
    aliases=("mail",),
    recognises=lambda beginning: message_kind(beginning.text, beginning.name) == "eml",
)


def read_newsgroups(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the one message that the file is, without what `options.strip` names."""
    data = file.read(options.document_bytes)
    # these messages declare no charset, and what is neither ASCII nor utf-8 in them is Western
    message = file.decode(data, declared="utf-8" if _is_utf8(data) else "cp1252")
    headers, body = split_headers(message.replace("\r\n", "\n"))
    parts = [] if "headers" in options.stripped else [message[: len(message) - len(body)].strip("\n")]
    if "quotes" in options.stripped:
        body = strip_quotes(body)
    if "footers" in options.stripped:
        body = strip_footer(body)
    split = next((match[1].lower() for part in file.place.parts if (match := _SPLIT.search(part))), "")
    yield file.as_document(
        "\n\n".join([*(part for part in parts if part), body.strip("\n")]),
        title=decoded_header(headers.get("subject", "")),
        date=headers.get("date", ""),
        extra={"split": split} if split else {},
    )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def strip_quotes(text: str) -> str:
    """Return `text` without quoted lines and the lines that say who is quoted.

    >>> strip_quotes("A. Writer writes:\\n> Is it so?\\nIt is.")
    'It is.'
    """
    lines = text.split("\n")
    own_lines = [line for line in lines if not _QUOTED.match(line) and not _ATTRIBUTION.match(line)]
    return "\n".join(own_lines)


def strip_footer(text: str) -> str:
    """Return `text` without its signature: what follows the last blank or ruled line, if it is short.

    >>> strip_footer("It is.\\n\\n-- \\nA. Writer, Somewhere")
    'It is.'
    """
    lines = text.rstrip().split("\n")
    for place in range(len(lines) - 1, max(len(lines) - 2 - _LONGEST_FOOTER, 0), -1):
        if _RULE.fullmatch(lines[place]):
            above = lines[:place]
            while above and _RULE.fullmatch(above[-1]):
                above.pop()
            return "\n".join(above) if above else text
    return text


NEWSGROUPS = Format(
    "newsgroups",
    read_newsgroups,
    "a message of a newsgroup in a file",
    "subject, date, the group is the label `class`",
    aliases=("20newsgroups", "20news"),
    recognises=lambda beginning: message_kind(beginning.text, beginning.name) == "newsgroups",
    parameters=("strip",),
)
