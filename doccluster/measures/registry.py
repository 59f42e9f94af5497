"""The record of every measure, made where the measure is written; the CLI, report, docs and tests read it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError

Family = Literal["external", "internal", "intrinsic", "topic"]
Evidence = Literal["contingency", "geometry", "pairwise", "topics"]
Direction = Literal["higher", "lower", "none"]


@dataclass(frozen=True)
class Values:
    """What a measure says of one partition; the parts it does not have are None."""

    value: float
    per_cluster: npt.NDArray[np.float64] | None = None  # (k,)
    per_class: npt.NDArray[np.float64] | None = None  # (g,)
    per_document: npt.NDArray[np.float64] | None = None  # (n,)
    per_pair: npt.NDArray[np.float64] | None = None  # (k, k) or (k, g)
    note: str | None = None


def undefined(reason: str, **parts: Any) -> Values:
    """Return the value nan with the reason as its note (policy P6)."""
    return Values(float("nan"), note=reason, **parts)


@dataclass(frozen=True)
class Measure:
    """One measure, one of its variants, or an alias under which others know it.

    Attributes
    ----------
    name : str
        Unique, snake case, for instance ``nmi_strehl``.
    title : str
        The name in words.
    family, evidence, direction
        What it judges, what it is computed from (which is its cost class), and which way is better.
    bounds : tuple of two floats or None
        The least and the largest possible value where they are fixed numbers (used by the tests).
    range : str
        The range in words or symbols, for people.
    formula, source, meaning, edges : str
        Plain text: formula; citation with equation; what it says about documents; degenerate cases.
    variant_of, alias_of : str or None
        The counted measure that this is a variant or an alias of.
    parameters : mapping
        The arguments fixed for this name when calling `function`.
    """

    name: str
    title: str
    function: Callable[..., float | Values]
    family: Family
    evidence: Evidence
    direction: Direction
    range: str
    formula: str
    source: str
    meaning: str
    edges: str
    bounds: tuple[float | None, float | None] = (None, None)
    variant_of: str | None = None
    alias_of: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()

    @property
    def cost(self) -> Evidence:
        """The cost class: contingency O(n), geometry O(nnz k), pairwise O(n^2) in blocks, topics O(nnz)."""
        return self.evidence

    @property
    def is_counted(self) -> bool:
        """Whether this is a measure of its own: not a variant, not an alias."""
        return self.variant_of is None and self.alias_of is None

    def compute(self, evidence: Any, **parameters: Any) -> Values:
        """Return what this measure says of the evidence."""
        result = self.function(evidence, **{**self.parameters, **parameters})
        return result if isinstance(result, Values) else Values(float(result))


_MEASURES: dict[str, Measure] = {}


def measure(name: str, **record: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the measure `name`; may be stacked to register variants and aliases."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if name in _MEASURES:
            raise ValueError(f"the measure {name!r} is registered twice")
        _MEASURES[name] = Measure(name=name, function=function, **record)
        return function

    return register


def get_measure(name: str, *, variant: str | None = None) -> Measure:
    """Return the record of the measure called `name`, or of its variant (``get_measure("nmi", variant="strehl")``).

    Raises
    ------
    InputError
        If there is no such measure or variant; the message names the nearest ones.
    """
    wanted = name if variant is None else f"{name}_{variant}"
    if wanted in _MEASURES:
        return _MEASURES[wanted]
    near = difflib.get_close_matches(wanted, _MEASURES, n=3, cutoff=0.5)
    hint = f" did you mean {', '.join(near)}?" if near else " `doccluster measures` lists them all."
    raise InputError(f"there is no measure {wanted!r};{hint}")


def list_measures(
    *,
    family: Family | None = None,
    source: str | None = None,
    cost: Evidence | None = None,
    counted: bool | None = None,
) -> list[Measure]:
    """Return the measures that match, in the order they are declared."""
    found: Iterable[Measure] = _MEASURES.values()
    return [
        record
        for record in found
        if (family is None or record.family == family)
        and (source is None or source.lower() in record.source.lower())
        and (cost is None or record.cost == cost)
        and (counted is None or record.is_counted == counted)
    ]
