"""Newsgroup messages, one in a file, the folder its group: the layout of 20 Newsgroups.

What says which group a message is in without being what it is about (headers, signatures, quotations of other
messages) can be left out, as the usual way to cluster this collection asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from doccluster.corpus.dates import iso_date
from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.mail_headers import decoded_header, message_kind, split_headers
from doccluster.corpus.options import ReadOptions

_QUOTED = re.compile(r"\s*(?:[>|:%}]|[A-Za-z]{1,4}>)")
_ATTRIBUTION = re.compile(
    r"\s*+(?:In article\b|In <|Quoted from\b|.{0,100}\b(?:writes|wrote|said|says)\s*+:\s*+$"
    r"|.{0,100}<[^<>\s@]++@[^<>\s]++>\s*+(?:writes|wrote)?:?\s*+$)",
    re.IGNORECASE,
)
_RULE = re.compile(r"[\s_=*~.-]*")
_LONGEST_FOOTER = 12  # lines: a longer last part is not a signature
_SPLIT = re.compile(r"[-_](train|test)$", re.IGNORECASE)


def read_newsgroups(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the one message that the file is, without what `options.strip` names."""
    data = file.read(options.limits.document_bytes)
    # these messages declare no charset, and what is neither ASCII nor utf-8 in them is Western
    message = file.decode(data, declared="utf-8" if _is_utf8(data) else "cp1252")
    headers, body = split_headers(message.replace("\r\n", "\n"))
    parts = [] if "headers" in options.stripped else [message[: len(message) - len(body)].strip("\n")]
    if "quotes" in options.stripped:
        body = strip_quotes(body)
    if "footers" in options.stripped:
        body = strip_footer(body)
    split = next((found[1].lower() for part in file.place.parts if (found := _SPLIT.search(part))), "")
    yield Draft(
        text="\n\n".join([*(part for part in parts if part), body.strip("\n")]),
        where=file.name,
        id=str(file.place),
        title=decoded_header(headers.get("subject", "")),
        date=iso_date(headers.get("date", "")),
        extra={"split": split} if split else {},
        is_whole_file=True,
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
    kept = [line for line in lines if not _QUOTED.match(line) and not _ATTRIBUTION.match(line)]
    return "\n".join(kept)


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
