"""One fit of the peer `sparsekmeans`, in whichever Python has it; started as a script, imports nothing of this package.

    python peer_sparsekmeans.py MATRIX.npz N_CLUSTERS lloyd|elkan N_THREADS MAX_ITER LABELS.npy

prints one JSON line with its seconds. The clock starts when the matrix is in memory, as scipy csr.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from scipy import sparse


def main() -> None:
    """Fit and print."""
    import sparsekmeans

    path, n_clusters, mode, n_threads, max_iter, labels = sys.argv[1:]
    matrix = sparse.load_npz(path).astype(np.float64)
    kind = {"lloyd": sparsekmeans.LloydKmeans, "elkan": sparsekmeans.ElkanKmeans}[mode]
    model = kind(n_clusters=int(n_clusters), n_threads=int(n_threads), max_iter=int(max_iter), random_state=0)
    started = time.perf_counter()
    found = model.fit(matrix)
    seconds = time.perf_counter() - started
    found = getattr(model, "labels", found)
    np.save(labels, np.asarray(found))
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
