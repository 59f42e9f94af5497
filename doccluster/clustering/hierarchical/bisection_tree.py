"""The tree of repeated bisection: which cluster was divided into which two, and the partition after any division."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.base.plain_values import ShortRepr
from doccluster.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class BisectionTree(ShortRepr):
    """Divisions in their order. Node 0 holds all documents; division t makes the nodes 2t + 1 and 2t + 2.

    Attributes
    ----------
    divided : int64 array of shape (n_divisions,)
        The node that each division divides.
    leaf_of : int64 array of shape (n_documents,)
        The node of each document after the last division.
    """

    divided: npt.NDArray[np.int64]
    leaf_of: npt.NDArray[np.int64]

    @property
    def n_clusters(self) -> int:
        """The number of clusters after the last division."""
        return int(self.divided.size) + 1

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of documents of each node, int64 array of shape (2 n_clusters - 1,)."""
        sizes = np.bincount(self.leaf_of, minlength=2 * self.n_clusters - 1)
        for division in range(self.divided.size - 1, -1, -1):
            sizes[self.divided[division]] = sizes[2 * division + 1] + sizes[2 * division + 2]
        return sizes.astype(np.int64)

    def cut(self, n_clusters: int) -> npt.NDArray[np.int64]:
        """Return the labels 0..n_clusters-1 after the first divisions, int64 array of shape (n_documents,).

        Raises
        ------
        InputError
            If the tree never had this many clusters.

        Examples
        --------
        >>> tree = BisectionTree(np.array([0, 2]), np.array([1, 3, 4, 4]))
        >>> tree.cut(3), tree.cut(2), tree.cut(1)
        (array([0, 1, 2, 2]), array([0, 1, 1, 1]), array([0, 0, 0, 0]))
        """
        if not 1 <= n_clusters <= self.n_clusters:
            raise InputError(
                "is not a level of this tree",
                argument="n_clusters",
                received=n_clusters,
                expected=f"a number from 1 to {self.n_clusters}",
            )
        node_at = np.arange(2 * self.n_clusters - 1)
        for division in range(n_clusters - 1, self.divided.size):  # parents come before their children
            node_at[2 * division + 1 : 2 * division + 3] = node_at[self.divided[division]]
        labels: npt.NDArray[np.int64] = np.unique(node_at[self.leaf_of], return_inverse=True)[1].astype(np.int64)
        return labels

    def linkage(self) -> npt.NDArray[np.float64]:
        """Return the tree as `scipy.cluster.hierarchy` takes it, over the final clusters as its leaves.

        The leaves are the labels of `cut(n_clusters)`. The height of a join is the number of clusters minus the number
        there were before that division, so the last division has height 1 and the first one the largest.

        Returns
        -------
        float64 array of shape (n_clusters - 1, 4)
            The two joined, the height, and the number of final clusters below.
        """
        k = self.n_clusters
        leaves = np.setdiff1d(np.arange(2 * k - 1), self.divided)
        number = np.zeros(2 * k - 1)
        number[leaves] = np.arange(k)
        below = np.zeros(2 * k - 1)
        below[leaves] = 1
        joins = np.empty((k - 1, 4))
        for step, division in enumerate(range(k - 2, -1, -1)):
            left, right, node = 2 * division + 1, 2 * division + 2, self.divided[division]
            below[node] = below[left] + below[right]
            joins[step] = (*sorted((number[left], number[right])), step + 1, below[node])
            number[node] = k + step
        return joins
