"""Mail: mailboxes (mbox) message by message, and single messages (eml)."""

from __future__ import annotations

import email
import email.message
import re
from collections.abc import Iterator
from email.policy import Compat32

from doccluster.corpus.dates import iso_date
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft, record, with_title
from doccluster.corpus.encodings import codec_name
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.mail_headers import decoded_header, message_kind
from doccluster.corpus.markup import strip_markup
from doccluster.corpus.options import ReadOptions

_LONGEST_MESSAGE = 64 * 1024**2  # bytes, with attachments
_LONGEST_HEADER = 16_384  # characters: the standard library reads the parameters of a header in quadratic time
_MAILBOX = re.compile(r"From \S.*\r?\n(?:>?[A-Za-z-]+: )")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)


class _Policy(Compat32):
    """How messages are parsed: as ever, with no more of a header than any real one has."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


_POLICY = _Policy()


def read_eml(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the one message that the file is."""
    found = record(file.name, _message, file.read(_LONGEST_MESSAGE), file, file.name)
    if isinstance(found, Draft):
        found.id = found.id or str(file.place)
        found.is_whole_file = True
    yield found


def read_mbox(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the messages of a mailbox; attachments are left out."""
    for number, data in enumerate(_messages(file), 1):
        where = f"{file.name}:{number}"
        if data is None:
            yield Skipped(where, "too-long", f"a message of more than {_LONGEST_MESSAGE:,} bytes")
        else:
            yield record(where, _message, _QUOTED_FROM.sub(rb"\1", data), file, where)


def _messages(file: InputFile) -> Iterator[bytes | None]:
    """Cut a mailbox at lines that begin with "From " after a blank line; None stands for an over-long message."""
    lines: list[bytes] = []
    size, after_blank, begun = 0, True, False
    for line in file.stream_lines(_LONGEST_MESSAGE):
        if line is None:  # longer than any message may be: so is the message it is in
            size += _LONGEST_MESSAGE + 1
            continue
        if after_blank and line.startswith(b"From "):
            if begun:
                yield _joined(lines, size)
            lines, size, begun = [], 0, True
        elif begun:
            size += len(line)
            if size <= _LONGEST_MESSAGE:
                lines.append(line)
        after_blank = not line.strip(b"\r\n")
    if begun:
        yield _joined(lines, size)


def _joined(lines: list[bytes], size: int) -> bytes | None:
    return b"".join(lines) if size <= _LONGEST_MESSAGE else None


def _message(data: bytes, file: InputFile, where: str) -> Draft:
    message = email.message_from_bytes(data, policy=_POLICY)
    title = decoded_header(_header(message, "Subject"))
    return Draft(
        text=with_title(title, _body(message, file)),
        where=where,
        id=_header(message, "Message-ID").strip("<> \t"),
        title=title,
        date=iso_date(_header(message, "Date")),
    )


def _header(message: email.message.Message, name: str) -> str:
    value = message.get(name)
    if value is None:
        return ""
    text = str(value)  # bytes that are not ASCII come as surrogates, or as a Header of unknown charset
    if any("\udc80" <= character <= "\udcff" for character in text):
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
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
    "subject, date; attachments are left out",
    suffixes=(".mbox", ".mbx"),
    recognises=lambda beginning: _MAILBOX.match(beginning.text) is not None,
)
EML = Format(
    "eml",
    read_eml,
    "a message in a file",
    "subject, date; attachments are left out",
    suffixes=(".eml",),
    aliases=("mail",),
    recognises=lambda beginning: message_kind(beginning.text, beginning.name) == "eml",
)
