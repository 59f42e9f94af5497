r"""References in BibTeX, as managers of references and archives of papers export them; LaTeX in them becomes letters.

Braces need not be closed: an entry ends where the next one begins a line. Commas between fields may be missing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from doccluster.corpus._marked_collections import between_marks
from doccluster.corpus.document import Skipped
from doccluster.corpus.reader import Format, Found, InputFile
from doccluster.corpus.reader_options import ReadOptions
from doccluster.corpus.references import BRINGS, TAGS, Reference, columns_of, reference_drafts

_ENTRY = re.compile(r"((?:^|(?<=[})]))[ \t\ufeff]*@[ \t]*[A-Za-z]\w*\s*[{(])")  # that begins a line, or behind another
_BEGINS = re.compile(
    r"(?:%.*\n|\s)*+@[ \t]*(?:(?:string|preamble|comment)\s*[{(]|[a-z]+\s*[{(]\s*[^\s,{}=()]*\s*,\s*[\w-]+\s*=)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![\w:.+-])([A-Za-z][\w:.+-]*+)\s*+=\s*+")
_WORD = re.compile(r"[^\s,#{}()\"=]+")
_NEXT_PART = re.compile(r"\s*#\s*")
_BRACE, _BRACE_OR_QUOTE = re.compile("[{}]"), re.compile('[{}"]')
_NO_REFERENCES = ("string", "preamble", "comment")
# Strings of strings double with each line of a file that is made to harm: what one field may take.
_LONGEST_STRING, _MAX_PARTS, _MAX_FIELDS = 500, 100, 500


def read_bibtex(file: InputFile, options: ReadOptions) -> Iterator[Found]:
    """Return one document for each entry."""
    return reference_drafts(_references(file, options), file, options)


def _references(file: InputFile, options: ReadOptions) -> Iterator[Reference | Skipped]:
    strings: dict[str, str] = {}
    number = 0
    for item in between_marks(file, _ENTRY, options):
        if isinstance(item, Skipped):
            yield item
            continue
        kind, body = item[1].strip("\ufeff \t\n@{(").lower(), item[2]
        if kind == "string":
            strings |= {name: value[:_LONGEST_STRING] for name, value in _fields(body, 0, strings).items()}
        if kind in _NO_REFERENCES:
            continue
        number += 1
        where = f"{file.name}:{number}"
        head, comma, _ = body.partition(",")
        has_key = bool(comma) and "=" not in head
        fields = _fields(body, len(head) if has_key else 0, strings)
        if fields:
            yield where, _reference(kind, head.strip() if has_key else "", fields)
        else:
            yield Skipped(where, "bad-record", "an entry without fields")


def _fields(body: str, place: int, strings: dict[str, str]) -> dict[str, str]:
    """Return the fields of an entry as they are written, the first of each name; names are in lower case."""
    fields: dict[str, str] = {}
    while len(fields) < _MAX_FIELDS and (match := _NAME.search(body, place)) is not None:
        value, place = _value(body, match.end(), strings)
        fields.setdefault(match[1].lower(), value)
    return fields


def _value(body: str, place: int, strings: dict[str, str]) -> tuple[str, int]:
    """Return the value that begins at a place, of parts joined by #, and where it ends."""
    parts: list[str] = []
    while True:
        opening = body[place : place + 1]
        if opening and opening in '{"':
            end = _end_of_part(body, place)
            parts.append(body[place + 1 : end])
            place = end + 1
        elif (word := _WORD.match(body, place)) is not None:
            parts.append(strings.get(word[0].lower(), word[0]))
            place = word.end()
        following = _NEXT_PART.match(body, place)
        if following is None or following.end() == len(body):
            return "".join(parts[:_MAX_PARTS]), place
        place = following.end()


def _end_of_part(body: str, place: int) -> int:
    """Return where the brace or quote that opens at a place is closed; the end of the entry if it never is."""
    is_quoted, depth = body[place] == '"', 0
    for token in (_BRACE_OR_QUOTE if is_quoted else _BRACE).finditer(body, place + is_quoted):
        depth += (token[0] == "{") - (token[0] == "}")
        if depth == 0 and token[0] == ('"' if is_quoted else "}"):
            return token.start()
    return len(body)


def _reference(kind: str, key: str, fields: dict[str, str]) -> dict[str, str]:
    authors = re.split(r"\s+and\s+", fields.get("author") or fields.get("editor", ""))
    words = re.split(r"\s*[,;]\s*", fields.get("keywords") or fields.get("keyword", ""))
    values = {name: [[plain_latex(value)]] for name, value in fields.items()}
    values |= {"authors": [list(map(plain_latex, authors))], "words": [[plain_latex(word)] for word in words]}
    values |= {"key": [[key]], "kind": [[kind]], "url": [[re.sub(r"[\\{}]", "", fields.get("url", ""))]]}
    month_day = " ".join(plain_latex(fields.get(name, "")) for name in ("month", "day"))
    whole = fields.get("date", "").partition("/")[0].replace("-", "/")
    return columns_of(values | {"day": [[month_day]], "date": [[whole]]}, TAGS["bibtex"])


# LaTeX puts accents before letters, Unicode behind them
_MARKS = "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0328\u030a\u0323\u0331"
_ACCENTS = dict(zip("\"'`^~=.uvHckrdb", _MARKS, strict=True))
_LETTERS = "ss ß o ø O Ø l ł L Ł ae æ AE Æ oe œ OE Œ aa å AA Å i ı dh ð DH Ð th þ TH Þ dj đ DJ Đ ldots ... dots ..."
_LETTER_OF = dict(re.findall(r"(\S+) (\S+)", _LETTERS))
_LATEX = re.compile(
    r"""\\(?P<accent>["'`^~=.]|[uvHckrdb](?=\s*\{|\s+\\?[A-Za-z]))\s*\{?\s*(?P<letter>\\[ij](?![A-Za-z])|[^\W\d_])
    |(?P<note>\\(?:[a-z]*cite[a-z]*|ref|label)\*?\s*\{[^{}]*+\})|\\(?P<command>[A-Za-z]+)\*?(?P<blanks>\s*)|\\(?P<sign>.)|(?P<rest>[{}$]|~|---?|``|'')""",
    re.VERBOSE | re.DOTALL,
)
_LOOKS = re.compile(
    r"(?:text|math)[a-z]*|emph|em|it|bf|rm|tt|sc|sl|sf|[mh]box|url|href|ensuremath|par|left|right|protect|newline"
)
_REST = {"~": " ", "--": "–", "---": "—", "``": "“", "''": "”"}


def plain_latex(text: str) -> str:
    r"""Return LaTeX as people read it, on one line: accents and letters in Unicode, other commands as words.

    >>> plain_latex(r"{\'E}tude of {K\"onigsberg} \& the \textit{Stra{\ss}e}: $\alpha$ 5--7")
    'Étude of Königsberg & the Straße: alpha 5–7'
    """
    return unicodedata.normalize("NFC", " ".join(_LATEX.sub(_plain, text).split()))


def _plain(match: re.Match[str]) -> str:
    if match["accent"]:
        return match["letter"].removeprefix("\\") + _ACCENTS[match["accent"]]
    if match["command"]:
        name = match["command"]
        return _LETTER_OF.get(name) or ("" if _LOOKS.fullmatch(name) else name + match["blanks"])
    if match["note"]:
        return ""
    if match["sign"]:
        return {"-": "", "\\": " ", ",": " ", ";": " "}.get(match["sign"], match["sign"])
    return _REST.get(match["rest"], "")


BIBTEX = Format(
    "bibtex",
    read_bibtex,
    "an entry of BibTeX",
    BRINGS,
    suffixes=(".bib", ".bibtex"),
    aliases=("bib", "biblatex"),
    recognises=lambda beginning: _BEGINS.match(beginning.text) is not None,
    has_columns=True,
)
