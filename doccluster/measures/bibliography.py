"""The works that measures and methods are from: full references, as BibTeX or as text."""

from __future__ import annotations

import csv
import difflib
import io
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from doccluster.base.choices import spelled
from doccluster.base.package import __version__
from doccluster.errors import InputError
from doccluster.measures.registry import Measure, get_measure, list_measures

__all__ = ["Reference", "bibtex", "cite", "method_names", "plain_text"]

# combining mark: the LaTeX command that puts it on a letter
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030c": "v",
    "\u0327": "c",
}
_SIGNS = {"&": r"\&", "%": r"\%", "–": "--", "—": "---", "ß": r"{\ss}", "ł": r"{\l}", "ø": r"{\o}"}


@dataclass(frozen=True)
class Reference:
    """A work: its BibTeX kind and fields, and the words by which the records of measures cite it."""

    key: str  # of BibTeX
    kind: str  # article, book, inproceedings, phdthesis, techreport or misc
    # texts of which one stands in the source of each measure that the work is cited for; none for methods alone
    cited_as: tuple[str, ...]
    authors: str  # separated by " and ", family names first
    title: str
    year: str  # empty where the work has none
    place: str = ""  # the journal, the proceedings, the publisher, the school or institution
    volume: str = ""
    number: str = ""
    pages: str = ""
    doi: str = ""  # empty where there is none, or none is certain

    @property
    def bibtex(self) -> str:
        """The entry in plain ASCII."""
        field_of_place = {
            "article": "journal",
            "book": "publisher",
            "inproceedings": "booktitle",
            "phdthesis": "school",
            "techreport": "institution",
        }.get(self.kind, "howpublished")
        fields = {
            "author": self.authors,
            "title": f"{{{self.title}}}" if self.title else "",  # braces keep the capitals
            field_of_place: self.place,
            "year": self.year,
            "volume": self.volume,
            "number": self.number,
            "pages": self.pages,
        }
        lines = [f"  {name} = {{{_as_latex(text)}}}," for name, text in fields.items() if text]
        if self.doi:
            lines.append(f"  doi = {{{self.doi}}},")
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])

    @property
    def text(self) -> str:
        """The reference on one line, with what is not known."""
        names = self.authors.split(" and ")
        authors = names[0] if len(names) == 1 else f"{'; '.join(names[:-1])} & {names[-1]}"
        numbers = self.volume + (f"({self.number})" if self.number else "")
        where = ", ".join(part for part in (self.place, numbers, self.pages) if part)
        parts = [f"{authors} ({self.year or 'no year'})", self.title, where]
        return ". ".join(part.rstrip(".") for part in parts if part) + (
            f". doi:{self.doi}" if self.doi else ". No DOI is known to us."
        )


def read_references() -> list[Reference]:
    """Return the works in references.csv, where a DOI stands only if it is certain."""
    rows = ({**row, "cited_as": _several(row["cited_as"])} for row in _rows_of("references.csv"))
    return [Reference(**row) for row in rows]


def _rows_of(name: str) -> Iterator[dict[str, Any]]:
    text = resources.files("doccluster.measures").joinpath(name).read_text(encoding="utf-8")
    return csv.DictReader(io.StringIO(text, newline=""))


def _several(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, cell.split("|")))


def _as_latex(text: str) -> str:
    result = ""
    for sign in unicodedata.normalize("NFD", text):
        if sign in _ACCENTS:
            letter = "\\i" if result[-1] == "i" else result[-1]
            command = _ACCENTS[sign]
            result = result[:-1] + (f"{{\\{command}{{{letter}}}}}")
        else:
            result += _SIGNS.get(sign, sign)
    return result


SOFTWARE = Reference(
    "doccluster", "misc", (), "{The doccluster developers}", "doccluster", "2026", f"Software, version {__version__}"
)
# the keys of the works to cite for a method: an algorithm, a weight, a stem, a rule for k, a test
METHODS = {row["method"]: _several(row["works"]) for row in _rows_of("methods.csv")}
_BY_SPELLING = {spelled(name): name for name in METHODS}
_BY_KEY = {reference.key: reference for reference in (SOFTWARE, *read_references())}


def cite(names: Iterable[str] = ()) -> list[Reference]:
    """Return the references of measures and methods, each once; of everything, the software first, for no name.

    Raises
    ------
    InputError
        If there is no measure or method of a name.

    Examples
    --------
    >>> [reference.key for reference in cite(["nmi_max", "spherical-k-means"])]
    ['vinh2010', 'dhillon2001']
    """
    names_to_cite = list(names) or ["doccluster", *(record.name for record in list_measures()), *METHODS]
    references = (reference for name in names_to_cite for reference in references_of(name))
    return list({reference.key: reference for reference in references}.values())


def references_of(name: str) -> list[Reference]:
    """Return the references of one measure or method."""
    if name == SOFTWARE.key:
        return [SOFTWARE]
    method = _BY_SPELLING.get(spelled(name))
    if method is not None:
        return [_BY_KEY[key] for key in METHODS[method]]
    try:
        return _cited_by(get_measure(name))
    except InputError as error:
        near = difflib.get_close_matches(name.lower(), method_names(), n=1, cutoff=0.7)
        every = f"give a measure (`doccluster measures` lists them) or one of {', '.join(method_names())}"
        remedy = f"did you mean {near[0]}?" if near else every
        raise InputError(f"there is no measure or method {name!r} to cite", remedy=remedy) from error


def method_names() -> list[str]:
    """Return everything that can be cited beside the measures."""
    return [SOFTWARE.key, *METHODS]


def _cited_by(record: Measure) -> list[Reference]:
    """Return the works whose short form stands in the source of a record, in the order they stand there."""
    places = {
        reference.key: min(place for text in reference.cited_as if (place := record.source.find(text)) >= 0)
        for reference in _BY_KEY.values()
        if any(text in record.source for text in reference.cited_as)
    }
    return [_BY_KEY[key] for key in sorted(places, key=lambda key: places[key])]


def bibtex(references: Iterable[Reference]) -> str:
    """Return BibTeX entries in plain ASCII, with an empty line between them."""
    return "\n\n".join(reference.bibtex for reference in references) + "\n"


def plain_text(references: Iterable[Reference]) -> str:
    """Return one line per reference."""
    return "\n".join(reference.text for reference in references) + "\n"
