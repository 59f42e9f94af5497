"""How long a run would take on more workers than there are here: a model, not a measurement.

It is fitted to runs on one worker of one thread over several numbers of documents: for each stage, the processor
seconds of the worker and those of the machine that the command was typed on, as so much for a run and so much for a
document (for what workers do in the iterations: for a document, a cluster and an iteration). What a worker did is
divided by the workers, what the main machine did is not. It takes too much where work grows with the vocabulary, which
ends growing, and where workers do something once, not in each iteration: seeds, digests. To that it adds what travels,
by `ASSUMPTIONS`:

- every worker has one processor like this one, a disk and a network as below; the main machine too;
- the table of clusters is full, a value for each term in each cluster, and it is sent whole in each iteration; the sums
  that come back are as large. Both go through a tree whose levels double, or add, the workers reached: log2 of their
  number. (Small collections leave most values empty.)
- texts are written to the scratch folder once and read three times, rows are written twice; where the rows of a worker
  fit into what it keeps they are read once, else in every iteration, and then nothing is known from the iteration
  before, which costs more;
- Dask's scheduler takes its time for each task: a task for each block in each stage and each iteration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

ITERATED = "cluster"
STAGES = ("read", "vectorize", ITERATED, "label", "judge", "write")


@dataclass(frozen=True)
class Assumptions:
    """What is not measured; bytes, seconds, and bytes a second."""

    network: float = 1.25e9
    disk: float = 5e8
    n_clusters: int = 100
    n_iterations: int = 20
    n_terms: int = 200_000
    bytes_of_a_value: int = 8
    bytes_of_a_text: int = 400
    terms_of_a_document: int = 45
    bytes_of_an_entry: int = 12
    documents_of_a_block: int = 80_000
    kept_bytes_of_a_worker: int = 2**30
    seconds_of_a_task: float = 1e-3


ASSUMPTIONS = Assumptions()


@dataclass(frozen=True)
class Line:
    """Seconds that grow with the number of documents."""

    of_a_run: float
    of_a_document: float

    def at(self, n_documents: float) -> float:
        """Return the seconds for `n` documents."""
        return self.of_a_run + self.of_a_document * n_documents


@dataclass(frozen=True)
class Measured:
    """A run on one worker: processor seconds by stage, and how many iterations there were."""

    n_documents: int
    n_clusters: int
    n_iterations: int
    main: Mapping[str, float]
    worker: Mapping[str, float]

    def times(self, stage: str) -> int:
        """Return how many times a worker did what the costs of a stage are for."""
        return self.n_iterations * self.n_clusters if stage == ITERATED else 1


@dataclass(frozen=True)
class Costs:
    """What is fitted: for each stage what the main machine and the workers compute; the table of who does what.

    Attributes
    ----------
    main, workers : dict of str to Line
        By stage; what workers do in the iterations is that of one iteration and one cluster.
    slower_from_disk : float
        How many times as long an iteration computes when nothing is kept from the one before.
    """

    main: Mapping[str, Line]
    workers: Mapping[str, Line]
    slower_from_disk: float = 1.0


def fit(runs: Sequence[Measured], slower_from_disk: float = 1.0) -> Costs:
    """Return the costs that fit runs of different numbers of documents, by least squares of the relative errors."""

    def line(seconds: Sequence[float]) -> Line:
        n = np.array([run.n_documents for run in runs], dtype=np.float64)
        of_a_document, of_a_run = np.polyfit(n, np.array(seconds), 1, w=1 / n)
        if of_a_document < 0 or of_a_run < 0:  # neither can be: the run alone then explains it, or the documents
            return Line(0.0, float(np.mean(np.array(seconds) / n)))
        return Line(float(of_a_run), float(of_a_document))

    main = {stage: line([run.main[stage] for run in runs]) for stage in STAGES}
    workers = {stage: line([run.worker[stage] / run.times(stage) for run in runs]) for stage in STAGES}
    return Costs(main, workers, slower_from_disk)


def computed(costs: Costs, run: Measured, n_workers: int = 1) -> dict[str, float]:
    """Return the processor seconds that the model says for each stage of a run like one that was measured."""
    asked = replace(ASSUMPTIONS, n_clusters=run.n_clusters)
    slower = 1.0 if keeps_rows(run.n_documents, n_workers, asked) else costs.slower_from_disk
    of_workers = {stage: run.times(stage) * costs.workers[stage].at(run.n_documents) for stage in STAGES}
    of_workers[ITERATED] *= slower
    return {stage: costs.main[stage].at(run.n_documents) + of_workers[stage] for stage in STAGES}


def keeps_rows(n_documents: float, n_workers: int, asked: Assumptions = ASSUMPTIONS) -> bool:
    """Return whether the rows and bounds of a worker, and its tables in the columns of its blocks, fit in memory."""
    own = n_documents / n_workers
    n_blocks = math.ceil(own / asked.documents_of_a_block)
    n_bytes = own * (8 * asked.terms_of_a_document + 64) + n_blocks * 8 * asked.n_terms * asked.n_clusters
    return n_bytes <= asked.kept_bytes_of_a_worker


def table_seconds(n_workers: int, asked: Assumptions = ASSUMPTIONS) -> float:
    """Return how long the table takes to all workers and the sums back, in one iteration."""
    n_bytes = asked.n_clusters * asked.n_terms * asked.bytes_of_a_value
    return 2 * n_bytes / asked.network * max(1.0, math.log2(n_workers))


def iteration_seconds(costs: Costs, n_documents: float, n_workers: int, asked: Assumptions = ASSUMPTIONS) -> float:
    """Return how long the workers compute in one iteration."""
    slower = 1.0 if keeps_rows(n_documents, n_workers, asked) else costs.slower_from_disk
    return asked.n_clusters * slower * costs.workers[ITERATED].of_a_document * n_documents / n_workers


def modelled(
    costs: Costs, n_documents: float, n_workers: int, asked: Assumptions = ASSUMPTIONS
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the seconds of each stage on the workers, with what travels, and those on the main machine."""
    workers = {
        stage: costs.workers[stage].of_a_document * n_documents / n_workers for stage in STAGES if stage != ITERATED
    }
    workers[ITERATED] = asked.n_iterations * iteration_seconds(costs, n_documents, n_workers, asked)
    workers["table"] = asked.n_iterations * table_seconds(n_workers, asked)
    rows = asked.terms_of_a_document * asked.bytes_of_an_entry
    times = 2 + (1 if keeps_rows(n_documents, n_workers, asked) else asked.n_iterations)
    workers["disk"] = n_documents * (4 * asked.bytes_of_a_text + times * rows) / asked.disk / n_workers
    n_tasks = n_documents / asked.documents_of_a_block * (asked.n_iterations + len(STAGES) - 1)
    main = {stage: costs.main[stage].of_a_document * n_documents for stage in STAGES}
    main["scheduler"] = n_tasks * asked.seconds_of_a_task
    return workers, main


def table_limit(costs: Costs, n_documents: float, asked: Assumptions = ASSUMPTIONS) -> int:
    """Return from how many workers on the table takes longer than the computing, in powers of two."""
    n_workers = 1
    while table_seconds(n_workers, asked) < iteration_seconds(costs, n_documents, n_workers, asked):
        n_workers *= 2
    return n_workers


def main_limit(costs: Costs, n_documents: float, asked: Assumptions = ASSUMPTIONS) -> int:
    """Return from how many workers on the main machine takes longer than they do, in powers of two."""
    n_workers = 1
    while True:
        workers, main = modelled(costs, n_documents, n_workers, asked)
        if sum(main.values()) >= sum(workers.values()):
            return n_workers
        n_workers *= 2


def with_fewer_terms(times: int, asked: Assumptions = ASSUMPTIONS) -> Assumptions:
    """Return the assumptions with this many times fewer terms: what makes the table smaller."""
    return replace(asked, n_terms=asked.n_terms // times)
