"""The records of all measures, each declared beside its function; commands, report, docs and tests read them.

And what measures take besides their evidence, checked: beta, the base of logarithms.
"""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from doccluster.base.arrays import Floats
from doccluster.base.choices import METRICS
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.plain_values import ShortRepr, short
from doccluster.base.validation import as_generator, check_choice, check_positive_int
from doccluster.errors import InputError


def _as_number(value: Any, name: str, remedy: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError("is not a number", argument=name, received=value, remedy=remedy) from error


def check_beta(beta: float) -> float:
    """Return `beta` as a float >= 0 (infinity is legal: recall alone), or raise InputError."""
    number = _as_number(beta, "beta", "give beta >= 0")
    if math.isnan(number) or number < 0:
        raise InputError(
            "is not a weight", argument="beta", received=beta, remedy="give beta >= 0 (above 1 recall weighs more)"
        )
    return number


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Return (1 + b2) P R / (b2 P + R) with b2 = beta^2; 0 where both are 0 or one is."""
    if precision == 0 or recall == 0:
        return 0.0
    if math.isinf(beta):
        return recall
    return (1 + beta * beta) * precision * recall / (beta * beta * precision + recall)


def log_unit(base: float | None) -> float:
    """Return the divisor that turns nats into units of `base` (None: nats), or raise InputError."""
    if base is None:
        return 1.0
    number = _as_number(base, "base", "give 2 for bits, or leave it out for nats")
    if not number > 1 or math.isinf(number):
        raise InputError(
            "is not a base of logarithms above 1", argument="base", received=base, remedy="give 2 for bits"
        )
    return math.log(number)


F = TypeVar("F", bound=Callable[..., Any])

Family = Literal["external", "internal", "intrinsic", "topic"]
Evidence = Literal["contingency", "geometry", "pairwise", "topics"]
Direction = Literal["higher", "lower", "none"]
ARROWS = {"higher": "↑", "lower": "↓", "none": "·"}


@dataclass(frozen=True, repr=False)
class Values(ShortRepr):
    """The value of a measure for one partition, with its parts; those that the measure does not have are None."""

    value: float
    per_cluster: Floats | None = None  # (k,)
    per_class: Floats | None = None  # (g,)
    per_document: Floats | None = None  # (n,)
    per_pair: Floats | None = None  # (k, k) or (k, g)
    note: str | None = None
    standard_error: float | None = None  # of the value, where it was sampled


def undefined(reason: str, **parts: Any) -> Values:
    """Return the value nan with the reason as its note."""
    return Values(float("nan"), note=reason, **parts)


@dataclass(frozen=True, eq=False, repr=False)  # a record is itself, so that it can be a key
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
        The range in words or symbols, for people; by default the bounds.
    formula, source, meaning, edges : str
        Plain text: formula; citation with equation; what it says about documents; degenerate cases.
    variant_of, alias_of : str or None
        The measure that this is a variant or an alias of. An alias is equal to it for every input, or 1 minus it, or
        follows from it, n and k alone; a variant is another choice of average, base, weighting or mapping.
    parameters : mapping
        The arguments fixed for this name when calling `function`.
    metrics : tuple of str
        The metrics it can be computed in (``"cosine"``, ``"euclidean"``); empty where no vectors are needed.
    parts : tuple of str
        Which of per_cluster, per_class, per_document, per_pair come with the value.
    swapped : str or None
        External measures: the measure that has this value when clusters and classes change places (itself when
        symmetric); None where there is none.
    by_name_only : bool
        Whether `evaluate` leaves it out (and says so) unless it is asked for by name.
    evidence_by_metric : mapping of metric to evidence
        Where the evidence, and so the cost, is not `evidence` under that metric (see `evidence_for`).
    also_called : tuple of str
        Other names under which it is found, such as scikit-learn's; not measures, and listed nowhere as such.
    several_labels : bool
        External measures: whether documents with several labels count, instead of those with exactly one.
    """

    name: str
    title: str
    function: Callable[..., float | Values]
    family: Family
    evidence: Evidence
    direction: Direction
    formula: str
    source: str
    meaning: str
    edges: str
    bounds: tuple[float | None, float | None] = (None, None)
    range: str = ""
    variant_of: str | None = None
    alias_of: str | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    swapped: str | None = None
    by_name_only: bool = False
    evidence_by_metric: Mapping[str, Evidence] = field(default_factory=dict)
    also_called: tuple[str, ...] = ()
    several_labels: bool = False

    def __post_init__(self) -> None:
        if not self.range:
            low, high = self.bounds
            object.__setattr__(self, "range", f"[{low:g}, {'inf)' if high is None else f'{high:g}]'}")

    def __repr__(self) -> str:
        return f"Measure({self.name}, {self.family}: {self.title}; {self.direction}, {self.range})"

    def __reduce_ex__(self, protocol: Any) -> Any:  # of pickle and copy: the record itself
        is_ours = _MEASURES.get(self.name) is self and self.function.__module__.startswith("doccluster.measures.")
        return (get_measure, (self.name,)) if is_ours else super().__reduce_ex__(protocol)

    def evidence_for(self, metric: str) -> Evidence:
        """Return the evidence needed under `metric`: cosine gets from sums what takes all pairs elsewhere."""
        return self.evidence_by_metric.get(metric, self.evidence)

    @property
    def cost(self) -> Evidence:
        """The cost class: contingency O(n), geometry O(nnz k), pairwise O(n^2) in blocks, topics O(nnz)."""
        return self.evidence

    @property
    def is_counted(self) -> bool:
        """Whether this is a measure of its own: not a variant, not an alias."""
        return self.variant_of is None and self.alias_of is None

    @property
    def variant(self) -> str | None:
        """The name of the variant without that of its measure (``geometric`` for ``nmi_geometric``), or None."""
        return None if self.variant_of is None else self.name.removeprefix(f"{self.variant_of}_")

    @property
    def options(self) -> dict[str, object]:
        """The parameters a user may give, with their defaults; those fixed for this name show the fixed value."""
        arguments = list(inspect.signature(self.function).parameters.values())[1:]
        return {a.name: self.parameters.get(a.name, a.default) for a in arguments if a.kind is a.KEYWORD_ONLY}

    def check_parameters(self, parameters: Mapping[str, object]) -> None:
        """Raise InputError if the measure does not take one of `parameters`, or not such a value.

        Checked here is what several measures have in common; its function checks the rest.
        """
        unknown = sorted(set(parameters) - set(self.options))
        if unknown:
            takes = f"it takes {', '.join(self.options)}" if self.options else "it takes none"
            raise InputError(f"the measure {self.name!r} has no parameter {', '.join(unknown)}", remedy=takes)
        for name, value in parameters.items():
            _check_value(name, value, self.options[name])

    def compute(self, evidence: object, **parameters: object) -> Values:
        """Return the value of this measure on the evidence.

        Raises
        ------
        InputError
            If a parameter is unknown, or the measure refuses its value.
        """
        self.check_parameters(parameters)
        result = self.function(evidence, **{**self.parameters, **parameters})
        return result if isinstance(result, Values) else Values(float(result))


def _check_value(name: str, value: Any, default: object) -> None:
    if isinstance(default, bool):
        if not isinstance(value, bool | np.bool_):
            raise InputError("is not known", argument=name, received=value, expected="True or False")
    elif name == "random_state":
        as_generator(value)
    elif name in ("n_classes", "sample") and value is not None:
        check_positive_int(value, name)


_MEASURES: dict[str, Measure] = {}
_OTHER_NAMES: dict[str, str] = {}
COUNTED_IN_WINDOWS = ("c_v", "c_npmi", "c_uci")  # measures of `Run.topic_coherence`, which need the texts


def measure(name: str, *, direction: Direction = "higher", **record: Any) -> Callable[[F], F]:
    """Register the decorated function as the measure `name`, by default titled so and better when higher."""

    def register(function: F) -> F:
        title = name.replace("_", " ").capitalize()
        _add(Measure(name=name, function=function, direction=direction, **{"title": title, **record}))
        return function

    return register


def _add(record: Measure) -> None:
    """Register a record; the same measure may come again, as when its module is reloaded, but not another one."""
    registered = _MEASURES.get(record.name)
    if registered is not None and _home(registered) != _home(record):
        raise ValueError(f"the measure {record.name!r} is registered twice: in {_home(registered)} and {_home(record)}")
    _MEASURES[record.name] = record
    for name in record.also_called:
        if name in _MEASURES or _OTHER_NAMES.get(name, record.name) != record.name:
            raise ValueError(f"{name!r} is the name of two measures: {record.name} and another")
        _OTHER_NAMES[name] = record.name


def _home(record: Measure) -> tuple[str, str]:
    return record.function.__module__, getattr(record.function, "__qualname__", record.name)


def external_measure(name: str, **record: Any) -> Callable[[F], F]:
    """Register the decorated function of a ContingencyTable as the external measure `name`, from 0 to 1 by default."""
    return measure(name, family="external", evidence="contingency", **{"bounds": (0.0, 1.0), **record})


def internal_measure(name: str, **record: Any) -> Callable[[F], F]:
    """Register the decorated function of a ClusterEvidence (by default) as the internal measure `name`."""
    return measure(name, **{"family": "internal", "evidence": "geometry", "metrics": METRICS, **record})


def variant(name: str, *, of: str, **changes: object) -> None:
    """Register `name` as a variant of the measure `of`, whose record it shares but for `changes`."""
    _register_like(of, name, variant_of=of, alias_of=None, **changes)


def alias(name: str, *, of: str, **changes: object) -> None:
    """Register `name` as an alias of the measure `of`, whose record it shares but for `changes`."""
    _register_like(of, name, alias_of=of, variant_of=None, **changes)


def _register_like(of: str, name: str, **changes: Any) -> None:
    base = _MEASURES[of]
    if base.swapped == of and "swapped" not in changes:
        changes["swapped"] = name  # what is symmetric stays so in its variants
    if "bounds" in changes:
        changes.setdefault("range", "")
    _add(replace(base, name=name, **{"also_called": (), **changes}))


@at_the_door
def get_measure(name: str, *, variant: str | None = None) -> Measure:
    """Return the record of the measure called `name`, or of its variant (``get_measure("nmi", variant="strehl")``).

    Raises
    ------
    InputError
        If there is no such measure or variant; the message names the nearest ones.
    """
    return get_measures([name if variant is None else f"{name}_{variant}"])[0]


def get_measures(names: Iterable[str]) -> list[Measure]:
    """Return the records of the measures called `names`, in that order; other names, as scikit-learn's, are known.

    Raises InputError if some names are unknown: all of them are listed, each with the nearest known ones.
    """
    resolved = [_OTHER_NAMES.get(name, name) if isinstance(name, str) else name for name in names]
    unknown = [name for name in resolved if not isinstance(name, str) or name not in _MEASURES]
    if not unknown:
        return [_MEASURES[name] for name in resolved]
    if len(unknown) == 1:
        raise InputError(f"there is no measure {short(unknown[0])};{_hint(unknown[0])}")
    raise InputError(
        "; ".join(f"there is no measure {short(name)},{_hint(name).rstrip('.')}" for name in unknown) + "."
    )


def _hint(name: str) -> str:
    if name in COUNTED_IN_WINDOWS:
        return f" it is counted in windows of the texts: ask a run for topic_coherence({name!r})."
    near = difflib.get_close_matches(str(name).lower(), [*_MEASURES, *_OTHER_NAMES], n=3, cutoff=0.5)
    return f" did you mean {', '.join(near)}?" if near else " `doccluster measures` lists them all."


@at_the_door
def list_measures(
    *,
    family: Family | None = None,
    source: str | None = None,
    counted: bool | None = None,
) -> list[Measure]:
    """Return the measures that match, in the order they are declared.

    Parameters
    ----------
    family : {"external", "internal", "intrinsic", "topic"}, optional
        What the measure judges.
    source : str, optional
        Text to be found in the citation, in any case (``"zaki"``).
    counted : bool, optional
        True for measures, False for variants and aliases of them.

    Raises
    ------
    InputError
        If there is no such family.
    """
    if family is not None:
        check_choice(family, get_args(Family), "family")
    records: Iterable[Measure] = _MEASURES.values()
    return [
        record
        for record in records
        if (family is None or record.family == family)
        and (source is None or source.lower() in record.source.lower())
        and (counted is None or record.is_counted == counted)
    ]
