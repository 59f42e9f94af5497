"""From the name of a measure or a method to its references."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from doccluster import __version__
from doccluster.base.choices import spelled
from doccluster.bibliography.reference import Reference, read_methods, read_references
from doccluster.errors import InputError
from doccluster.measures import get_measure, list_measures
from doccluster.measures.registry import Measure

SOFTWARE = Reference(
    "doccluster", "misc", (), "{The doccluster developers}", "doccluster", "2026", f"Software, version {__version__}"
)
METHODS = read_methods()
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
        if near:
            raise InputError(
                f"there is no measure or method {name!r} to cite", remedy=f"did you mean {near[0]}?"
            ) from error
        raise InputError(
            f"there is no measure or method {name!r} to cite",
            remedy=f"give a measure (`doccluster measures` lists them) or one of {', '.join(method_names())}",
        ) from error


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
