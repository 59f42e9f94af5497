"""A process that fits, one request after the other: ``python -m doccluster.selection.fit_worker``.

Each line of standard input is a job, and each line of the answer its labels, seconds and memory, or its failure, all as
JSON. What is loaded, imported and compiled for one fit is there for the next. A fit that fails is an answer too.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import threading
import time
from dataclasses import asdict
from typing import Any, TextIO

import numpy as np
from scipy import sparse

from doccluster.selection.clusterers import fit_labels, make_estimator
from doccluster.selection.fit_failure import FitFailure
from doccluster.selection.peak_memory import PeakMemory
from doccluster.validation import compact_indices

_SECONDS_BETWEEN_LOOKS = 1.0  # at whether the process that asks is still there
_WARM_UP = (200, 10)  # documents and clusters of the first, unmeasured fit of an algorithm


def serve(requests: TextIO, replies: TextIO) -> None:
    """Answer requests until there are no more."""
    warm: set[str] = set()
    for line in requests:
        replies.write(json.dumps(answer(json.loads(line), warm)) + "\n")
        replies.flush()


def answer(job: dict[str, Any], warm: set[str]) -> dict[str, Any]:
    """Return labels, seconds and peak memory of a fit, or the failure that ended it."""
    try:
        return _fit(job, warm)
    except Exception as error:  # noqa: BLE001  any estimator may raise anything; it is reported; the next fit goes on
        return {"failure": asdict(FitFailure.of(error))}


def _fit(job: dict[str, Any], warm: set[str]) -> dict[str, Any]:
    matrix = load(job["path"])
    kind = json.dumps([job["record"], str(matrix.dtype), sparse.issparse(matrix)])
    if kind not in warm:  # so that neither importing nor compiling is measured
        warm.add(kind)
        few = matrix[: min(_WARM_UP[0], matrix.shape[0])]
        with contextlib.suppress(Exception):  # what fails on few documents need not fail on all
            fit_labels(make_estimator(job["record"]), few, n_clusters=min(_WARM_UP[1], job["n_clusters"]), seed=0)
    estimator = make_estimator(job["record"])
    with PeakMemory() as memory:
        started = time.perf_counter()
        labels = fit_labels(estimator, matrix, n_clusters=job["n_clusters"], seed=job["seed"])
        seconds = time.perf_counter() - started
    return {"labels": labels.tolist(), "seconds": seconds, "peak_memory": memory.added}


@functools.lru_cache(maxsize=1)
def load(path: str) -> Any:
    """Return the matrix in a file of scipy's or of numpy's."""
    with np.load(path, allow_pickle=False) as arrays:
        if "dense" in arrays:
            return arrays["dense"]
    return compact_indices(sparse.csr_array(sparse.load_npz(path)))


def _leave_with(parent: int) -> None:
    """End this process when the one that started it is gone, also in the middle of a fit."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(0)


def main() -> None:
    """Serve standard input; what libraries print goes to standard error, so that answers stay whole."""
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as replies:
        os.dup2(2, 1)
        try:
            serve(sys.stdin, replies)
        except (KeyboardInterrupt, BrokenPipeError):
            os._exit(130)


if __name__ == "__main__":
    main()
