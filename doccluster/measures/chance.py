"""How much of a measure is luck: its value beyond the mean over all rearrangements of the labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.validation import RandomState, as_generator, check_positive_int
from doccluster.errors import Argument, InputError
from doccluster.geometry.partition import Partition
from doccluster.measures.contingency import ContingencyTable
from doccluster.measures.registry import Values, external_measure, get_measure, undefined

EXACT_BELOW = 10_000  # arrangements
MAX_SAMPLES = 1_000_000  # the standard error is then a thousandth of the spread
NAME = "divergence_from_random_baseline"


@external_measure(
    NAME,
    title="Divergence from a random baseline",
    range="as the measure it is taken of, 0 is chance",
    bounds=(None, None),
    formula="m(T, C) - mean of m(T, pi C) over all rearrangements pi of the labels (the sizes are kept)",
    source="De Vries, Geva & Trotman 2012",
    meaning="What a measure says beyond what clusters of these sizes, filled at random, would score. measure= names "
    "any external measure (purity by default; parameters= goes to it). For one that is better when lower, below 0 is "
    "good.",
    edges="one cluster, one class or all singletons: 0; exact below 10,000 arrangements, else a seeded sample with its "
    "standard error",
    by_name_only=True,
)
def divergence_from_random_baseline(
    table: ContingencyTable,
    *,
    measure: str = "purity",
    n_samples: int = 1000,
    random_state: RandomState = 0,
    parameters: Mapping[str, object] | None = None,
) -> Values:
    """Return how far a measure is from its mean over random partitions of the same sizes."""
    record = get_measure(measure)
    if record.family != "external" or record.name == NAME:
        raise InputError(
            "is not an external measure with a random baseline",
            argument="measure",
            received=measure,
            remedy="try purity or nmi",
        )
    if not isinstance(parameters, Mapping | None):
        raise InputError("is not a mapping of names to values", argument="parameters", received=parameters)
    arguments = dict(parameters or {})
    if check_positive_int(n_samples, "n_samples") > MAX_SAMPLES:
        raise InputError(
            "is more samples than anything needs",
            argument="n_samples",
            received=n_samples,
            remedy=("give ", Argument("n_samples"), f" <= {MAX_SAMPLES:,}"),
        )
    actual = record.compute(table, **arguments)
    if math.isnan(actual.value):
        return undefined(f"{record.name} is undefined: {actual.note}")
    if table.has_single_group or table.has_singletons_only:
        return Values(0.0, note="every rearrangement scores the same", standard_error=0.0)
    # all rearrangements where they are few, else a seeded sample of them
    draws, how = _rearrangements(table, n_samples, random_state)
    values = np.fromiter((record.compute(rearranged, **arguments).value for rearranged in draws), np.float64)
    usable = values[np.isfinite(values)]
    if usable.size == 0:
        return undefined("the measure is undefined on all rearrangements")
    expected, sampled = math.fsum(usable) / usable.size, how == "sampled" and usable.size > 1
    error = float(usable.std(ddof=1)) / math.sqrt(usable.size) if sampled else 0.0
    number = f"{usable.size:,} seeded samples, standard error {error:.2g}" if sampled else f"all {usable.size:,}"
    note = f"mean of the rearrangements {expected:.6g} ({number})"
    return Values(actual.value - expected, note=note, standard_error=error)


def _rearrangements(
    table: ContingencyTable, n_samples: int, random_state: RandomState
) -> tuple[Iterator[ContingencyTable], str]:
    partition, truth = table.partition, table.truth
    if number_of_arrangements(partition.sizes) < EXACT_BELOW:
        labels: Iterator[Integers] = arrangements(partition.sizes)
        return (_rearranged(table, each) for each in labels), "exact"
    if number_of_arrangements(truth.sizes) < EXACT_BELOW:  # the same tables, met equally often
        return (
            ContingencyTable.from_partitions(partition, Partition(each, truth.names))
            for each in arrangements(truth.sizes)
        ), "exact"
    generator = as_generator(random_state)
    shuffled = (generator.permutation(partition.labels) for _ in range(n_samples))
    return (_rearranged(table, each) for each in shuffled), "sampled"


def _rearranged(table: ContingencyTable, labels: Integers) -> ContingencyTable:
    return ContingencyTable.from_partitions(Partition(labels, table.partition.names), table.truth)


def number_of_arrangements(sizes: Integers) -> float:
    """Return in how many different ways documents can be given to groups of these sizes (inf when too many to count).

    >>> number_of_arrangements(np.array([3, 3, 2]))
    560.0
    """
    logarithm = math.lgamma(int(sizes.sum()) + 1) - sum(math.lgamma(int(size) + 1) for size in sizes)
    return float(round(math.exp(logarithm))) if logarithm < 40 else math.inf


def arrangements(sizes: Integers) -> Iterator[Integers]:
    """Yield every labelling of documents by groups of these sizes, each once."""
    labels = np.empty(int(sizes.sum()), np.int64)

    def place(group: int, free: tuple[int, ...]) -> Iterator[Integers]:
        if group == sizes.size - 1:
            labels[list(free)] = group
            yield labels.copy()
            return
        for members in itertools.combinations(free, int(sizes[group])):
            labels[list(members)] = group
            chosen = set(members)
            yield from place(group + 1, tuple(row for row in free if row not in chosen))

    yield from place(0, tuple(range(labels.size)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for their number by Holm's step-down rule, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, running = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        running = max(running, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(1.0, running)
    return adjusted
