"""Cluster pruning with its two parameters: what searching the followers of a few leaders costs and gives."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from doccluster.clustering import SphericalKMeans
from experiments.retrieval.cluster_pruning import ClusterPruning, draw_leaders
from experiments.retrieval.judged_collections import Collection
from experiments.retrieval.judging import judge, means

FOLLOWED = (1, 2)
SHARES = (0.05, 0.1, 0.2)


def prune(collection: Collection) -> pd.DataFrame:
    """Return the quality of a search of the followers of the nearest leaders, beside a search of everything by cosine.

    There are as many leaders as the root of the number of documents: documents drawn at random, or the centroids of
    spherical k-means. b1 is how many leaders a document follows, b2 how many a query looks at: a share of the leaders.
    """
    rows, queries = collection.rows, collection.query_rows
    cosines = (queries @ rows.T).toarray()
    whole = judge(collection, cosines)
    drawn = draw_leaders(rows.shape[0])
    model = SphericalKMeans(drawn.size, n_init=1, random_state=0, n_threads=1).fit(rows)
    leaders = {"documents": rows[drawn], "centroids": sparse.csr_array(model.centroids_)}
    found: list[dict[str, Any]] = []
    for (name, own), b1, share in itertools.product(leaders.items(), FOLLOWED, SHARES):
        pruning, b2 = ClusterPruning.from_rows(rows, own, b1), max(1, round(share * drawn.size))
        is_searched = np.zeros(cosines.shape, dtype=bool)
        for place in range(queries.shape[0]):
            is_searched[place, pruning.candidates(queries[[place]], b2)] = True
        given = {"leaders": name, "b1": b1, "b2": b2, "b2 of leaders": share, "documents": float(is_searched.mean())}
        found.append(given | _beside(judge(collection, np.where(is_searched, cosines, -1.0)), whole))
    found.append({"leaders": "all searched", "documents": 1.0, **_beside(whole, whole)})
    return pd.DataFrame(found).astype({"b1": "Int64", "b2": "Int64"})


def _beside(values: dict[str, Any], whole: dict[str, Any]) -> dict[str, float]:
    shares = {f"{name} of all": float(values[name].mean() / whole[name].mean()) for name in ("MAP", "P@10")}
    return {**means(values), **shares}
