"""One fit in a process of its own: ``python -m doccluster.selection.one_fit JOB`` prints labels, seconds and memory."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.selection.algorithms import parse_algorithm


def main(job: dict[str, Any]) -> dict[str, Any]:
    """Return the labels of a fit, the seconds it took, and the bytes by which it raised the peak of the process.

    A tiny fit comes first, so that neither compiling nor importing is counted.
    """
    matrix = load(job["path"])
    algorithm = parse_algorithm(job["algorithm"])
    algorithm.labels(matrix[: min(50, matrix.shape[0])], n_clusters=1, seed=0)
    before, started = peak_memory(), time.perf_counter()
    labels = algorithm.labels(matrix, n_clusters=job["n_clusters"], seed=job["seed"])
    seconds = time.perf_counter() - started
    return {"labels": labels.tolist(), "seconds": seconds, "peak_memory": peak_memory() - before}


def load(path: str) -> Any:
    """Return the matrix in a file of scipy's or of numpy's."""
    with np.load(path, allow_pickle=False) as arrays:
        if "dense" in arrays:
            return arrays["dense"]
    return sparse.csr_array(sparse.load_npz(path))


def peak_memory() -> float:
    """Return the peak resident memory of this process in bytes; nan where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.loads(sys.argv[1]))) + "\n")
