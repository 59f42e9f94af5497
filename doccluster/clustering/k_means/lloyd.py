"""Lloyd's iterations from means to a fixed point: label, refill, update, until nothing moves or too little is gained.

There is one loop, for documents in memory (`lloyd_steps.LloydSteps`) and for documents in blocks on disk or on the
workers of a cluster (`distributed.block_clustering.BlockMeans`): it asks for the steps, wherever these run.

Exact labels means: those of a naive Lloyd that stores documents and unit means as float32, computes in float64 in
ascending order of the columns, breaks ties to the lowest index and refills by the same rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import CsrArray, Flags, Floats, Integers
from doccluster.base.progress import Progress, silent

LAST_REFILLS = 3  # iterations that a start may go on beyond `max_iter` because a cluster was just refilled
KEPT_LABELS = 2**20  # labels of starts, 4 MiB, that are kept to say how far the starts agree

Labels = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A start as far as it has come: the means (csr), the labels by these means, and the sum of weighted cosines."""

    labels: Labels
    means: CsrArray
    objective: float
    n_iter: int
    converged: bool = False
    history: tuple[float, ...] = ()  # the objective after each update
    penalty: float = 0.0  # of the sizes of clusters


class Steps(Protocol):
    """Documents, their labels, and the means of the labels, wherever these lie."""

    def assign(self) -> tuple[int, int]:
        """Label all documents by the means; return how many moved, and how many went to clusters that were empty."""
        ...

    def update(self) -> float:
        """Make the means those of the labels, and return the objective.

        With c = s / |s| the cosines x.c of the members of a sum s add up to |s|: the objective is the lengths together.
        """
        ...

    def postpone_snapshot(self, number: int) -> Callable[[], Snapshot]:
        """Return a function that makes a snapshot of the last update, or of the labels after it.

        Most snapshots are never asked for, and one takes a look at all documents.
        """
        ...

    def finish(self, number: int, *, converged: bool) -> Snapshot:
        """Return the start as it is now; clusters that could not be filled are dropped."""
        ...


@dataclass(frozen=True)
class Limits:
    """When a start ends."""

    max_iter: int = 300
    tol: float = 1e-4


# is shown, before each update, the steps, how many updates they made, and the last objective
Observer = Callable[[Any, int, float], None]


def run_start(
    steps: Steps,
    limits: Limits,
    *,
    resume_from: tuple[int, float] | None = None,
    progress: Progress = silent,
    observe: Observer | None = None,
    keep: Callable[[Callable[[], Snapshot]], None] | None = None,
) -> Snapshot:
    """Return where the iterations end.

    `resume_from`: of steps that have labels already, the number of their iterations and the last objective. `keep` is
    given the state after every update, so that an interruption loses nothing.
    """
    number, objective = resume_from or (0, -np.inf)
    history: list[float] = []
    if resume_from is None:
        steps.assign()
    while True:
        if observe:
            observe(steps, number, objective)
        before, objective = objective, steps.update()
        number += 1
        history.append(objective)
        if keep:
            keep(steps.postpone_snapshot(number))
        n_moved, n_refilled = steps.assign()
        progress("cluster", number, limits.max_iter)
        if n_moved == 0:
            return replace(steps.finish(number, converged=True), history=tuple(history))
        is_last = number >= limits.max_iter or objective - before < limits.tol * objective
        # a cluster that was just refilled has no mean of its own before the next update
        if is_last and (not n_refilled or number >= limits.max_iter + LAST_REFILLS):
            return replace(steps.finish(number, converged=False), history=tuple(history))


@dataclass(eq=False)
class BestStart:
    """The best of several starts so far; it can be used at any time after the first update."""

    limits: Limits
    best: Snapshot | None = None  # the start with the highest objective of those that are over, the first among equals
    objectives: list[float] = field(default_factory=list)  # of all that are over
    labels: list[Labels] = field(default_factory=list)  # of the first of these, as many as `KEPT_LABELS` allow
    running: Callable[[], Snapshot] | None = None

    def run(
        self,
        starts: Iterable[Steps],
        *,
        resume_from: tuple[int, float] | None = None,
        refine: Callable[[Snapshot], Snapshot] | None = None,
        progress: Progress = silent,
        observe: Observer | None = None,
    ) -> Snapshot:
        """Return the best start once all are over; `resume_from` is of the first, `refine` may make a start better."""
        for steps in starts:
            start = run_start(
                steps, self.limits, resume_from=resume_from, progress=progress, observe=observe, keep=self._keep
            )
            resume_from = None
            if refine:
                self.running = lambda unrefined=start: unrefined
                start = refine(start)
            self.running = None
            self.objectives.append(start.objective)
            if (len(self.labels) + 1) * start.labels.size <= KEPT_LABELS:
                self.labels.append(start.labels.copy())
            if self.best is None or start.objective - start.penalty > self.best.objective - self.best.penalty:
                self.best = start
        assert self.best is not None
        return self.best

    def _keep(self, running: Callable[[], Snapshot]) -> None:
        self.running = running

    @property
    def other_labels(self) -> tuple[Labels, ...]:
        """The labels of the starts but the best, as far as they were kept."""
        best = int(np.argmax(self.objectives)) if self.objectives else -1
        return tuple(labels for number, labels in enumerate(self.labels) if number != best)

    def so_far(self) -> Snapshot | None:
        """Return the best of the starts that are over and the one that runs, or None before the first update."""
        snapshots = self.best, self.running and self.running()
        return max(filter(None, snapshots), key=lambda snapshot: snapshot.objective, default=None)


def empty_clusters(is_usable: Flags, labels: Labels, n_clusters: int) -> Integers:
    """Return the clusters that have no document with a direction and a weight, ascending."""
    return np.flatnonzero(np.bincount(labels[is_usable], minlength=n_clusters) == 0)


def choose_refills(
    similarities: Floats,
    labels: Labels,
    digests: npt.NDArray[np.uint64],
    is_usable: Flags,
    empty: Integers,
) -> dict[int, int]:
    """Return which document each empty cluster is given, as row -> cluster, in the order of the clusters.

    It is the one least similar to its own centroid, the first among equals, of a cluster that has more than one
    distinct row left (else it would be emptied in turn); where there is none, a cluster stays empty.

    `similarities`: float64 array of shape (n_documents,), to the own centroid. `digests`: a number for each row that
    only equal rows share. `is_usable`: whether a row has a direction and a weight.
    """
    rows = np.flatnonzero(is_usable)
    farthest_first = rows[np.lexsort((rows, similarities[rows]))]
    copies = Counter(zip(labels[rows].tolist(), digests[rows].tolist(), strict=True))
    n_distinct = Counter(cluster for cluster, _ in copies)
    chosen: dict[int, int] = {}
    remaining = iter(empty.tolist())
    for row in farthest_first.tolist():
        cluster, digest = int(labels[row]), int(digests[row])
        if n_distinct[cluster] > 1:
            if (filled := next(remaining, None)) is None:
                break
            chosen[row] = filled
            copies[cluster, digest] -= 1
            n_distinct[cluster] -= copies[cluster, digest] == 0
    return chosen
