"""One fit for `engine`, in a process that imports one version of doccluster and nothing else of this folder."""

from __future__ import annotations

import hashlib
import json
import pathlib
import sys
import time

import numpy as np


def fit_here(checkout: str | None, matrix: str, rows: list[int], n_threads: int, repeats: int, weighted: bool) -> None:
    """Print processor seconds of a fit in this process, the least of some, its peak memory and its labels' digest."""
    if checkout is not None:
        sys.path.insert(0, checkout)
    from scipy import sparse
    from threadpoolctl import threadpool_limits

    documents = sparse.csr_array(sparse.load_npz(matrix))
    start, weights = documents[rows], None
    if weighted:
        weights = np.random.default_rng(0).uniform(0.5, 2, documents.shape[0])

    def fit() -> np.ndarray:
        if checkout is None:
            from sklearn.cluster import KMeans

            return KMeans(len(rows), init=start.toarray(), n_init=1).fit(documents).labels_
        from doccluster.clustering import SphericalKMeans

        model = SphericalKMeans(len(rows), init=start, tol=0.0, n_threads=n_threads)
        return model.fit(documents, sample_weight=weights).labels_

    seconds = []
    with threadpool_limits(n_threads):
        fit()
        before = _memory("VmRSS", reset=True)
        for _ in range(repeats):
            started = time.process_time()
            labels = fit()
            seconds.append(time.process_time() - started)
    digest = hashlib.sha256(np.asarray(labels, np.int32).tobytes()).hexdigest()
    beyond = max(0, _memory("VmHWM") - before)
    print(json.dumps({"processor_seconds": min(seconds), "peak_bytes_beyond_data": beyond, "labels": digest}))


def _memory(key: str, *, reset: bool = False) -> int:
    if reset:
        pathlib.Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    lines = pathlib.Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


if __name__ == "__main__":
    fit_here(**json.loads(sys.argv[1]))
