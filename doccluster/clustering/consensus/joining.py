"""One partition out of several: the run that agrees most with the others, or clusters of documents that stay together.

Runs of one method alone err alike; a consensus gains where the runs are of different methods
(docs/explanation/quality.md).

Sources: Strehl & Ghosh 2002, JMLR 3 (agreement by mutual information); Wu, Liu, Xiong, Cao & Chen 2015,
"K-means-based consensus clustering: a unified view", IEEE TKDE 27(1) (k-means of the memberships, here with the
cosine); Fern & Brodley 2004, "Solving cluster ensemble problems by bipartite graph partitioning", ICML (the graph of
documents and clusters).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.clustering.consensus.ensemble import Ensemble, co_association_rows, medoid_run
from doccluster.clustering.k_means.spherical_k_means import SphericalKMeans
from doccluster.geometry import Documents, latent_semantic_space
from doccluster.progress import Progress, silent
from doccluster.validation import RandomState, as_generator, check_choice, check_n_clusters, unit_rows

CONSENSUS_METHODS = ("co-association", "bipartite", "medoid")


def consensus_labels(
    runs: Sequence[Iterable[Any]],
    n_clusters: int,
    *,
    method: str = "co-association",
    n_init: int = 10,
    random_state: RandomState = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> npt.NDArray[np.int64]:
    """Return the partition that several runs have in common.

    Parameters
    ----------
    runs : sequence of label arrays, each of n_documents
        Of any algorithms and numbers of clusters; -1 means that a document has no cluster.
    n_clusters : int
    method : {'co-association', 'bipartite', 'medoid'}
        'co-association': spherical k-means of the rows that hold a one for each cluster a document was in; the cosine
        of two such rows is the share of the runs that put the documents together. 'bipartite': the same in the leading
        directions of the graph of documents and clusters. 'medoid': the run that agrees most with the others, whatever
        its number of clusters.
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
        If the runs do not fit together, or the method is not known.

    Examples
    --------
    >>> runs = [[0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 0], [2, 2, 2, 0, 0, 0]]
    >>> found = consensus_labels(runs, 2, random_state=0)
    >>> bool(found[0] == found[1] == found[2] != found[3] == found[4] == found[5])
    True
    """
    check_choice(method, CONSENSUS_METHODS, "method")
    ensemble = Ensemble.from_labels(runs)
    if method == "medoid":
        chosen = ensemble.labels[medoid_run(ensemble)]
        return np.unique(chosen, return_inverse=True)[1].astype(np.int64) - int(chosen.min() < 0)
    k = check_n_clusters(n_clusters, ensemble.n_documents)
    rng = as_generator(random_state)
    if method == "bipartite":
        memberships = ensemble.memberships
        sizes = np.asarray(memberships.sum(axis=0)).ravel()
        scaled = Documents(sparse.csr_array(memberships @ sparse.diags_array(1.0 / np.sqrt(sizes))))
        space = latent_semantic_space(scaled, k, random_state=rng, n_threads=n_threads)
        points = unit_rows(space.project(scaled, n_threads=n_threads), warn=False).astype(np.float32)
    else:
        points = co_association_rows(ensemble)
    model = SphericalKMeans(k, n_init=n_init, random_state=rng, n_threads=n_threads, progress=progress)
    return model.fit(points).labels_.astype(np.int64)
