"""References as libraries and databases of papers export them: RIS, MEDLINE (PubMed), Web of Science.

A line begins with a tag, further lines go on with its value. The abstract is the text of a reference, its title where
there is none. Exports are often joined, cut off or edited by hand, so a record ends where the next one begins too.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from doccluster.corpus.dates import iso_date
from doccluster.corpus.document import Skipped
from doccluster.corpus.json_records import record_drafts
from doccluster.corpus.reader import Beginning, Draft, Format, Found, InputFile, ReadFailure
from doccluster.corpus.reader_options import ReadOptions

BRINGS = (
    "title, date, link, the journal as source; columns `authors`, `keywords`, `type`; the text is the column `abstract`"
)
_DOI_ADDRESS = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
Reference = tuple[str, dict[str, str]]  # where it is, and its columns
_Values = Mapping[str, list[list[str]]]  # the values of each tag, each on one line or more


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


def date_of(year: str, rest: str) -> str:
    """Return the date of a reference: the year, with month and day where they can be read; of a span its begin.

    >>> date_of("2010", "Mar 5"), date_of("2010", "MAR-APR"), date_of("2010", "Winter"), date_of("2010", "3")
    ('2010-03-05', '2010-03', '2010', '2010-03')
    """
    begin = re.split("[-\u2013/]", rest)[0].strip()
    by_number = f"{year}-{begin:0>2}" if begin.isdecimal() else ""
    return next(filter(None, map(iso_date, (f"{begin} {year}", f"{rest} {year}", by_number, year))), year or rest)


def link_of(address: str, doi: str) -> str:
    """Return the address of a reference, that of its DOI where it names no other."""
    doi = _DOI_ADDRESS.sub("", doi.strip())
    return address or (f"https://doi.org/{doi}" if doi else "")


@dataclass(frozen=True)
class _Tags:
    """How one form of tagged records is written."""

    line: re.Pattern[str]  # a line with a tag: the tag, and what follows
    begins: str  # the first line of a record, as it would be without a value
    ends: str  # the tag of the last line; "" where there is none
    columns: Callable[[_Values], dict[str, str]]

    def read(self, file: InputFile, options: ReadOptions) -> Iterator[Found]:
        """Return one document for each record."""
        return reference_drafts(self.references(file, options), file, options)

    def references(self, file: InputFile, options: ReadOptions) -> Iterator[Reference | Skipped]:
        """Return the columns of each record; what stands outside of records is left out."""
        number, size = 0, 0
        values: dict[str, list[list[str]]] | None = None  # of the record that is open
        for line in itertools.chain(file.lines(options.document_bytes), [self.begins]):
            text = "" if line is None else line.lstrip("\ufeff").rstrip()
            size += len(text) if line is not None else options.document_bytes + 1
            match = self.line.match(text)
            tag = "" if match is None else match[1]
            is_begin = bool(tag) and tag == self.begins.rstrip("- ")
            if is_begin or (tag and tag == self.ends):
                where = f"{file.name}:{number}"
                if values is not None and size > options.document_bytes:
                    yield Skipped(where, "too-long", f"a record of more than {options.document_bytes:,} bytes")
                elif values is not None:
                    yield where, self.columns(values)
                values, size, number = ({} if is_begin else None), len(text), number + is_begin
            if values is None or size > options.document_bytes:
                continue
            if match is not None:
                lines = [match[2] or ""]
                values.setdefault(tag, []).append(lines)
            elif text.strip():
                lines.append(text)


def _all(values: _Values, *tags: str, are_lines: bool = False) -> list[str]:
    """Return all values of the first of some tags that has any; `are_lines`: each line is a value."""
    for tag in tags:
        lists = [list(map(str.strip, lines)) for lines in values.get(tag, ())]
        texts = [line for lines in lists for line in lines] if are_lines else list(map(" ".join, lists))
        if any(texts):
            return [text.strip() for text in texts if text.strip()]
    return []


def _first(values: _Values, *tags: str) -> str:
    return next(iter(_all(values, *tags)), "")


def _of_ris(values: _Values) -> dict[str, str]:
    year, day = ("-".join(filter(None, _first(values, *tags).split("/")[:3])) for tags in (("PY", "Y1"), ("DA",)))
    return {
        "id": _first(values, "ID", "AN"),
        "title": _first(values, "TI", "T1", "CT", "BT"),
        "abstract": "\n".join(_all(values, "AB", "N2")),
        "date": day if iso_date(day) and day.startswith(year[:4]) else year,
        "source": _first(values, "JF", "JO", "T2", "JA", "J2"),
        "link": link_of(_first(values, "UR"), _first(values, "DO")),
        "authors": "; ".join(_all(values, "AU", "A1", are_lines=True)),
        "keywords": "; ".join(_all(values, "KW", are_lines=True)),
        "type": _first(values, "TY"),
    }


def _of_medline(values: _Values) -> dict[str, str]:
    year, _, rest = _first(values, "DP").partition(" ")
    dois = [text.removesuffix("[doi]") for text in _all(values, "AID") + _all(values, "LID") if text.endswith("[doi]")]
    return {
        "id": _first(values, "PMID"),
        "title": _first(values, "TI", "BTI", "TT"),
        "abstract": "\n".join(_all(values, "AB")),
        "date": date_of(year, rest),
        "source": _first(values, "JT", "TA"),
        "link": link_of("", "".join(dois[:1])),
        "authors": "; ".join(_all(values, "FAU", "AU")),
        "keywords": "; ".join(_all(values, "MH") + _all(values, "OT")),
        "type": "; ".join(_all(values, "PT")),
    }


def _of_wos(values: _Values) -> dict[str, str]:
    return {
        "id": _first(values, "UT"),
        "title": _first(values, "TI"),
        "abstract": _first(values, "AB"),
        "date": date_of(_first(values, "PY"), _first(values, "PD")),
        "source": _first(values, "SO"),
        "link": link_of("", _first(values, "DI")),
        "authors": "; ".join(_all(values, "AF", "AU", are_lines=True)),
        "keywords": "; ".join(_all(values, "DE") + _all(values, "ID")),
        "type": _first(values, "DT", "PT"),
    }


_RIS_TAGS = "TY|ER|T[12I]|A[1BU]|PY|Y1|DA|KW|N[12]|UR|DO|J[FO]|ID|[SE]P|VL|IS|SN|PB"  # which people space as they like
_RIS = _Tags(
    re.compile(rf"[ \t]*((?:{_RIS_TAGS})(?=[ \t]*-(?:[ \t]|$))|[A-Z][A-Z0-9](?=  -))[ \t]*-(.*)", re.DOTALL),
    *("TY  -", "ER", _of_ris),
)
_MEDLINE = _Tags(re.compile(r"([A-Z]{2,4}) {0,2}-(?: (.*)|$)", re.DOTALL), "PMID-", "", _of_medline)
_WOS = _Tags(re.compile(r"([A-Z][A-Z0-9])(?: (.*)|$)", re.DOTALL), "PT", "ER", _of_wos)
_WOS_HEADER = r"PT\t(?:[A-Z][A-Z0-9]\t)+[A-Z][A-Z0-9]\s*$"


def _read_wos(file: InputFile, options: ReadOptions) -> Iterator[Found]:
    """Return the references of an export, in tagged lines or in a table whose header is tags."""
    is_table = b"PT\t" in file.head[:80].replace(b"\0", b"")
    return reference_drafts(_rows_of_wos(file, options), file, options) if is_table else _WOS.read(file, options)


def _rows_of_wos(file: InputFile, options: ReadOptions) -> Iterator[Reference | Skipped]:
    """Return the rows below a header of tags; no cell holds a tab or a line end, and quotes mean nothing."""
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
            yield where, _of_wos({name: [[cell]] for name, cell in zip(names, cells, strict=False)})


def _begins(pattern: str) -> Callable[[Beginning], bool]:
    """Return the function that says whether a file begins so; before records a database may say who it is."""
    begin = re.compile(pattern, re.MULTILINE)
    return lambda beginning: begin.search(re.sub(r"\r\n?", "\n", beginning.text[:_LONGEST_PREAMBLE])) is not None


_LONGEST_PREAMBLE = 4_000  # characters
RIS = Format(
    "ris",
    _RIS.read,
    "a reference",
    BRINGS,
    suffixes=(".ris",),
    recognises=_begins(r"^[ \t]*TY[ \t]*-[ \t]*[A-Z]+\s*\n[ \t]*[A-Z][A-Z0-9][ \t]*-[ \t]"),
    has_columns=True,
)
MEDLINE = Format(
    "medline",
    _MEDLINE.read,
    "a reference of PubMed",
    BRINGS,
    suffixes=(".nbib", ".medline"),
    aliases=("nbib", "pubmed"),
    recognises=_begins(r"\APMID- ?\d+\s*\n[A-Z]{2,4} {0,2}- "),
    has_columns=True,
)
WOS = Format(
    "wos",
    _read_wos,
    "a reference of Web of Science, in tagged lines or in a table",
    BRINGS,
    suffixes=(".ciw", ".isi"),
    aliases=("web-of-science",),
    recognises=_begins(rf"\A(?:FN .*\n)?(?:VR .*\n)?\s*PT [A-Z]\b.*\n[A-Z][A-Z0-9] |\A{_WOS_HEADER}"),
    has_columns=True,
)
