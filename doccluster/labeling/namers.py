"""What a namer gets of a cluster (a function, program or model that people choose), and which answers can be names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from typing import Any

from doccluster.labeling.profiles import ClusterDescription

MAX_NAME_LETTERS = 60
N_TERMS = 10
CONTENT = ("level", "size", "terms", "apart", "phrases", "titles", "excerpts", "parent", "siblings")

_MARKUP = re.compile(r"[<>{}\[\]`*|\\]|__|~~|^#|&#|&\w+;|://|\bwww\.", re.IGNORECASE)
_AROUND = " \t\r\n\"'`*“”„‘’«»「」"
_JOINERS = str.maketrans("", "", "\u200c\u200d")  # invisible, and part of words in Persian and scripts of India


@dataclass(frozen=True, repr=False)
class NamingRequest(ClusterDescription):
    """The description of a cluster as a namer gets it: with texts of documents, and the names around it.

    Attributes
    ----------
    level : str
        What the cluster is: "section", "topic", "subtopic", "story" or "cluster".
    terms, apart, phrases : tuple of str
        Terms that hold it together, terms that set it apart from the others, phrases that may name it; best first.
    titles, excerpts : tuple of str
        Of its most central documents, each on one line and cut; empty ones are left out.
    parent : str
        The name of the cluster that it is part of; empty on the coarsest level.
    siblings : tuple of str
        The names of the other parts of its parent, or their labels where they have no names yet.
    """

    level: str = "cluster"
    terms: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()
    parent: str = ""
    siblings: tuple[str, ...] = ()

    @classmethod
    def of(cls, cluster: ClusterDescription, **context: Any) -> NamingRequest:
        """Return a request for a name of `cluster`; the keywords are the attributes beside its terms and phrases."""
        return cls(
            **{part.name: getattr(cluster, part.name) for part in fields(ClusterDescription)},
            terms=tuple(term.term for term in cluster.descriptive[:N_TERMS]),
            apart=tuple(term.term for term in cluster.discriminating[:N_TERMS]),
            phrases=tuple(term.term for term in cluster.label_terms if len(term.term.split()) > 1)[:N_TERMS],
            **context,
        )

    def content(self) -> dict[str, Any]:
        """Return the request as values of JSON: what a program or a model reads."""
        return {name: getattr(self, name) for name in CONTENT}


Namer = Callable[[NamingRequest], str]


def plain_name(answer: str) -> str:
    """Return the name in an answer, without quotation marks, asterisks and a full stop around it.

    >>> plain_name(' **"Rye prices".** '), plain_name("U.S. attorneys.")
    ('Rye prices', 'U.S. attorneys.')
    """
    name = unicodedata.normalize("NFC", answer).strip(_AROUND)
    return name.removesuffix(".").strip(_AROUND) if name.count(".") == 1 else name


def name_problem(name: str, names: Collection[str] = ()) -> str:
    """Return in a few words why a text cannot name a cluster beside clusters of these names; nothing where it can.

    >>> name_problem("Rye prices"), name_problem("<b>Rye</b>"), name_problem("rye", ["Rye"])
    ('', 'has markup or an address', 'is the name of another cluster')
    """
    problems = (
        (not name, "is empty"),
        (len(name.splitlines()) > 1, "has more than one line"),
        (not name.translate(_JOINERS).isprintable(), "has control characters"),
        (len(name) > MAX_NAME_LETTERS, f"has more than {MAX_NAME_LETTERS} characters"),
        (_MARKUP.search(name), "has markup or an address"),
        (not any(map(str.isalpha, name)), "has no letters"),
        (name.casefold() in {label.casefold() for label in names}, "is the name of another cluster"),
    )
    return next((problem for is_wrong, problem in problems if is_wrong), "")
