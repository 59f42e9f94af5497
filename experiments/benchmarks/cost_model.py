"""How long a run would take on more workers than there are here: a model, not a measurement.

It takes the processor seconds that one run on this machine spent in each stage, for each document (reading,
vectorizing, what follows the clustering) or each document, cluster and iteration, and adds what travels:

- every worker has a processor like this one, a disk of 500 MB/s and a network of 10 Gbit/s;
- there are 100 clusters and 20 iterations, and the table has a value of 8 bytes for each of 200,000 terms in each
  cluster (a vocabulary held to that by `--max-features`), sent whole in each iteration; the sums are as large;
- both go through a tree whose levels double, or add, the workers reached: log2 of their number;
- texts of 400 bytes are read, written and read twice, rows of 40 terms of 12 bytes written and read once;
- labels, scores and tables are made by one machine, and all other stages divide evenly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NETWORK, DISK = 1.25e9, 5e8  # bytes a second
N_CLUSTERS, N_ITERATIONS, N_TERMS, TERM_BYTES = 100, 20, 200_000, 8
BYTES_OF_DOCUMENT = 4 * 400 + 2 * 40 * 12


@dataclass(frozen=True)
class Costs:
    """Processor seconds for a document, and for a document, cluster and iteration."""

    read: float
    vectorize: float
    iteration: float
    afterwards: float


def table_seconds(n_workers: int) -> float:
    """Return how long the table takes to all workers and the sums back, in one iteration."""
    n_bytes = N_CLUSTERS * N_TERMS * TERM_BYTES
    return 2 * n_bytes / NETWORK * max(1.0, math.log2(n_workers))


def clustering_seconds(costs: Costs, n_documents: float, n_workers: int) -> float:
    """Return how long the workers compute in one iteration."""
    return n_documents * N_CLUSTERS * costs.iteration / n_workers


def stages(costs: Costs, n_documents: float, n_workers: int) -> dict[str, float]:
    """Return the seconds of each stage."""
    return {
        "read": n_documents * costs.read / n_workers,
        "vectorize": n_documents * costs.vectorize / n_workers,
        "disk": n_documents * BYTES_OF_DOCUMENT / DISK / n_workers,
        "cluster": N_ITERATIONS * clustering_seconds(costs, n_documents, n_workers),
        "table": N_ITERATIONS * table_seconds(n_workers),
        "afterwards": n_documents * costs.afterwards,
    }


def table_limit(costs: Costs, n_documents: float) -> int:
    """Return from how many workers on the table takes longer than the computing, in powers of two."""
    n_workers = 1
    while table_seconds(n_workers) < clustering_seconds(costs, n_documents, n_workers):
        n_workers *= 2
    return n_workers
