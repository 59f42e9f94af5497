"""One partition out of several: clusters of documents that stay together.

Runs of one method alone err alike; a consensus gains where the runs are of different methods
(docs/explanation/quality.md).

Source: Wu, Liu, Xiong, Cao & Chen 2015, "K-means-based consensus clustering: a unified view", IEEE TKDE 27(1) (k-means
of the memberships, here with the cosine).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.progress import Progress, silent
from doccluster.clustering.consensus.ensemble import Ensemble, co_association_rows
from doccluster.clustering.k_means.spherical_k_means import SphericalKMeans
from doccluster.validation import RandomState, check_n_clusters


def consensus_labels(
    runs: Sequence[Iterable[Any]],
    n_clusters: int,
    *,
    n_init: int = 10,
    random_state: RandomState = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> npt.NDArray[np.int64]:
    """Return the partition that several runs have in common.

    Spherical k-means of the rows that hold a one for each cluster a document was in: the cosine of two such rows is the
    share of the runs that put the documents together.

    Parameters
    ----------
    runs : sequence of label arrays, each of n_documents
        Of any algorithms and numbers of clusters; -1 means that a document has no cluster.
    n_clusters : int
    n_init : int
        Starts of spherical k-means.
    random_state : None, int or numpy Generator
    n_threads : int, optional
        Changes no result.

    Returns
    -------
    int64 array of shape (n_documents,)

    Raises
    ------
    InputError
        If the runs do not fit together.

    Examples
    --------
    >>> runs = [[0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 0], [2, 2, 2, 0, 0, 0]]
    >>> found = consensus_labels(runs, 2, random_state=0)
    >>> bool(found[0] == found[1] == found[2] != found[3] == found[4] == found[5])
    True
    """
    ensemble = Ensemble.from_labels(runs)
    k = check_n_clusters(n_clusters, ensemble.n_documents)
    model = SphericalKMeans(k, n_init=n_init, random_state=random_state, n_threads=n_threads, progress=progress)
    return model.fit(co_association_rows(ensemble)).labels_.astype(np.int64)
