"""The head of a message: its headers, and the encoded words in them."""

from __future__ import annotations

import base64
import binascii
import re
from quopri import decodestring

from doccluster.corpus.encodings import decode

_HEADER = re.compile(r"([!-9;-~]+):[ \t]*(.*)")
_ENCODED_WORD = re.compile(r"=\?([^?\s]+)\?([bBqQ])\?([^?]*)\?=")
_HEAD = re.compile(r"(?:(?:From|Subject|Date|To|Newsgroups|Organization|Reply-To|Message-ID):.*\r?\n){2}")
LONGEST_HEAD = 4_000  # characters
_FIRST_WORD = re.compile(r"([A-Za-z][A-Za-z0-9-]*):(?:[ \t]|\r?$)|[ \t]")
_BETWEEN = re.compile(r"(\?=)\s+(=\?)")


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
            return _joined(headers), message[following:]
        found = _HEADER.match(line)
        if line[0] in " \t" and lines:
            lines.append(line.strip())
        elif found is not None:
            lines = [found[2].strip()]
            headers.setdefault(found[1].lower(), lines)
        else:  # not a header: the body begins without a blank line
            return _joined(headers), message[position:]
        position = following
    return _joined(headers), ""


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


def _joined(headers: dict[str, list[str]]) -> dict[str, str]:
    return {name: " ".join(lines) for name, lines in headers.items()}


def decoded_header(value: str) -> str:
    """Return a header with its encoded words (RFC 2047) decoded; broken ones stay as they are.

    >>> decoded_header("=?iso-8859-1?q?Gr=FC=DFe?= =?utf-8?b?IGFuIGFsbGU=?=")
    'Grüße an alle'
    """
    if "=?" not in value:
        return " ".join(value.split())
    return " ".join(_ENCODED_WORD.sub(_decoded_word, _BETWEEN.sub(r"\1\2", value)).split())


def _decoded_word(word: re.Match[str]) -> str:
    charset, kind, content = word[1].partition("*")[0], word[2].lower(), word[3]
    if kind == "q":
        data = decodestring(content.replace("_", " ").encode("latin-1", "replace"), header=True)
    else:
        try:
            data = base64.b64decode(content + "=" * (-len(content) % 4))
        except (binascii.Error, ValueError):
            return word[0]
    return decode(data, declared=charset).text
