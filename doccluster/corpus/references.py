"""References as libraries and databases of papers export them: RIS, MEDLINE (PubMed), Web of Science, BibTeX.

The abstract is the text of a reference, its title where there is none. Exports are often joined, cut off or edited by
hand, so a record ends where the next one begins: tags and braces need not be closed, commas between fields may be
missing. LaTeX becomes letters.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources

from doccluster.corpus._marked_collections import between_marks
from doccluster.corpus.dates import iso_date
from doccluster.corpus.document import Skipped
from doccluster.corpus.json_records import record_drafts
from doccluster.corpus.reader import Beginning, Draft, Format, Found, InputFile, ReadFailure
from doccluster.corpus.reader_options import ReadOptions

_format = partial(
    Format,
    brings="title, date, link, the journal as source; columns `authors`, `keywords`, `type`; the text is the column "
    "`abstract`",
    has_columns=True,
)
TAGS: dict[str, dict[str, str]]  # of each form, by column
TAGS = tomllib.loads(resources.files("doccluster.corpus").joinpath("references.toml").read_text("utf-8"))
_DOI = re.compile(r"\b10\.\d+/\S+")
Reference = tuple[str, dict[str, str]]  # where it is, and its columns
Values = Mapping[str, list[list[str]]]  # the values of each tag, each on one line or more


def reference_drafts(
    references: Iterator[Reference | Skipped], file: InputFile, options: ReadOptions
) -> Iterator[Found]:
    """Return references as documents; where the options name a column for the text, it is the text of all."""
    is_empty = True
    for item in record_drafts(references, file, replace(options, text_column=options.text_columns or "abstract")):
        is_empty = False
        if isinstance(item, Draft) and not item.text and not options.text_columns:
            item.text, item.text_columns = item.title, ("title",)
        yield item
    if is_empty:
        raise ReadFailure("no-entries", "no reference in it")


def columns_of(values: Values, tags: Mapping[str, str], *, wraps: bool = True) -> dict[str, str]:
    """Return the columns of a reference.

    `wraps`: the lines of a value are one text, else keywords stand one on a line, as authors always do.
    """
    texts = {name: _all(values, *of_name.split(), by_line=name == "authors") for name, of_name in tags.items()}
    words = [word for tag in tags["keywords"].split() for word in _all(values, tag, by_line=not wraps)]
    first = {name: next(iter(texts.get(name, ())), "") for name in (*tags, "day", "link")}
    doi = _DOI.search(" ".join(texts["doi"]))
    return {
        "id": first["id"],
        "title": first["title"],
        "abstract": "\n".join(texts["abstract"]),
        "date": date_of(first["year"], first["day"]),
        "source": first["source"],
        "link": first["link"] or (f"https://doi.org/{doi[0]}" if doi is not None else ""),
        "authors": "; ".join(texts["authors"]),
        "keywords": "; ".join(words),
        "type": "; ".join(texts["type"]),
    }


def _all(values: Values, *tags: str, by_line: bool = False) -> list[str]:
    """Return all values of the first of some tags that has any; `by_line`: each line is a value."""
    for tag in tags:
        lists = [list(map(str.strip, lines)) for lines in values.get(tag, ())]
        texts = [line for lines in lists for line in lines] if by_line else list(map(" ".join, lists))
        if any(texts):
            return [text.strip() for text in texts if text.strip()]
    return []


def date_of(year: str, day: str) -> str:
    """Return the date of a reference: the year, with month and day where they can be read; of a span its begin.

    >>> date_of("2010", "MAR-APR"), date_of("2010 Mar 5", ""), date_of("2010", "Winter"), date_of("2010/03//", "")
    ('2010-03', '2010-03-05', '2010', '2010-03')
    """
    year, _, rest = (day if "/" in day and day.startswith(year[:4]) else year).strip().partition(" ")
    begin = re.split("[-\u2013]", rest or day)[0].strip()
    numbers = "-".join(filter(None, [*year.split("/")[:3], begin if begin.isdecimal() else ""]))
    ways = (f"{begin} {year}", f"{rest or day} {year}", numbers, year[:4])
    return next(filter(None, map(iso_date, ways)), year)


@dataclass(frozen=True)
class _Tags:
    """How one form of tagged records is written."""

    line: re.Pattern[str]  # a line with a tag: the tag, and what follows
    begin: re.Pattern[str]  # of the first line of a record
    tags: dict[str, str]  # by column
    wraps: bool = True

    def read(self, file: InputFile, options: ReadOptions) -> Iterator[Found]:
        """Return one document for each record."""
        return reference_drafts(between_marks(file, self.begin, options, self.reference), file, options)

    def reference(self, where: str, begins: str, content: str) -> Reference:
        """Return the columns of a record; what stands behind its last tag says nothing."""
        values: dict[str, list[list[str]]] = {}
        lines: list[str] = []  # of the value that is read
        for line in f"{begins}{content}".split("\n"):
            match = self.line.match(line.lstrip("\ufeff").rstrip())
            if match is not None:
                lines = [match[2] or ""]
                values.setdefault(match[1], []).append(lines)
            elif line.strip():
                lines.append(line)
        return where, columns_of(values, self.tags, wraps=self.wraps)


_RIS_TAGS = "TY|ER|T[12I]|A[1BU]|PY|Y1|DA|KW|N[12]|UR|DO|J[FO]|ID|[SE]P|VL|IS|SN|PB"  # which people space as they like
_RIS = _Tags(
    re.compile(rf"[ \t]*((?:{_RIS_TAGS})(?=[ \t]*-(?:[ \t]|$))|[A-Z][A-Z0-9](?=  -))[ \t]*-(.*)", re.DOTALL),
    re.compile(r"^(\ufeff?[ \t]*TY[ \t]*-)(?=[ \t]|$)"),
    TAGS["ris"],
    wraps=False,
)
_MEDLINE = _Tags(
    re.compile(r"([A-Z]{2,4}) {0,2}-(?: (.*)|$)", re.DOTALL),
    re.compile(r"^(\ufeff?PMID {0,2}-)(?= |$)"),
    TAGS["medline"],
)
_WOS = _Tags(
    re.compile(r"([A-Z][A-Z0-9])(?: (.*)|$)", re.DOTALL),
    re.compile(r"^(\ufeff?PT)(?= |$)"),
    TAGS["wos"],
)
_WOS_HEADER = r"PT\t(?:[A-Z][A-Z0-9]\t)+[A-Z][A-Z0-9]\s*$"


def _read_wos(file: InputFile, options: ReadOptions) -> Iterator[Found]:
    """Return the references of an export, in tagged lines or in a table whose header is tags."""
    is_table = b"PT\t" in file.head[:80].replace(b"\0", b"")
    return reference_drafts(_rows_of_wos(file, options), file, options) if is_table else _WOS.read(file, options)


def _rows_of_wos(file: InputFile, options: ReadOptions) -> Iterator[Reference | Skipped]:
    """Return the rows below a header of tags; no cell holds a tab or a line end."""
    names: list[str] = []
    number = 0
    for line in file.lines(options.document_bytes):
        cells = (line or "").lstrip("\ufeff").rstrip("\r\n").split("\t")
        if cells[0] == "PT":  # as often as exports were joined
            names = cells
            continue
        number += 1
        where = f"{file.name}:{number}"
        if line is None:
            yield Skipped(where, "too-long", f"a row of more than {options.document_bytes:,} bytes")
        elif any(cells):
            plain = (cell[1:-1].replace('""', '"') if cell[:1] == cell[1:][-1:] == '"' else cell for cell in cells)
            yield where, columns_of({name: [[cell]] for name, cell in zip(names, plain, strict=False)}, _WOS.tags)


def _begins(pattern: str) -> Callable[[Beginning], bool]:
    """Return the function that says whether a file begins so; before records a database may say who it is."""
    begin = re.compile(pattern, re.MULTILINE)
    return lambda beginning: begin.search(re.sub(r"\r\n?", "\n", beginning.text[:_LONGEST_PREAMBLE])) is not None


_LONGEST_PREAMBLE = 4_000  # characters
RIS = _format(
    "ris",
    _RIS.read,
    "a reference",
    suffixes=(".ris",),
    recognises=_begins(r"^[ \t]*TY[ \t]*-[ \t]*[A-Z]+\s*\n[ \t]*[A-Z][A-Z0-9][ \t]*-[ \t]"),
)
MEDLINE = _format(
    "medline",
    _MEDLINE.read,
    "a reference of PubMed",
    suffixes=(".nbib", ".medline"),
    aliases=("nbib", "pubmed"),
    recognises=_begins(r"\APMID- ?\d+\s*\n[A-Z]{2,4} {0,2}- "),
)
WOS = _format(
    "wos",
    _read_wos,
    "a reference of Web of Science, in tagged lines or in a table",
    suffixes=(".ciw", ".isi"),
    aliases=("web-of-science",),
    recognises=_begins(rf"\A(?:FN .*\n)?(?:VR .*\n)?\s*PT [A-Z]\b.*\n[A-Z][A-Z0-9] |\A{_WOS_HEADER}"),
)


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
    for item in between_marks(file, _ENTRY, options, lambda *parts: parts):
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
_SIGNS = {"~": " ", "--": "–", "---": "—", "``": "“", "''": "”", r"\-": "", r"\,": " ", r"\;": " ", "\\\\": " "}


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
    return _SIGNS.get(match[0], match["sign"] or "")


BIBTEX = _format(
    "bibtex",
    read_bibtex,
    "an entry of BibTeX",
    suffixes=(".bib", ".bibtex"),
    aliases=("bib", "biblatex"),
    recognises=lambda beginning: _BEGINS.match(beginning.text) is not None,
)
