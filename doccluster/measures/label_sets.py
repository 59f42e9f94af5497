"""Which labels documents have where they may have several, and how many documents of each cluster have which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.partition import Partition


@dataclass(frozen=True, eq=False)
class LabelSets:
    """The different sets of labels that documents have; none is empty."""

    labels: sparse.csr_array  # (n_sets, n_labels), ones: which labels are in each set
    counts: sparse.csr_array  # (k, n_sets): documents of each cluster with each set

    @property
    def n_documents(self) -> int:
        """The number of documents that have a label."""
        return int(self.counts.sum())

    @classmethod
    def of_classes(cls, counts: sparse.csr_array) -> LabelSets:
        """Return the sets where every document has one label: a set for each class."""
        return cls(sparse.csr_array(sparse.eye_array(counts.shape[1])), counts)

    @classmethod
    def of_documents(
        cls, labels: Iterable[Sequence[Any]], clusters: npt.NDArray[np.int64], n_clusters: int
    ) -> LabelSets:
        """Return the sets of documents with any number of different labels; those without one are left out."""
        labels = list(labels)
        known = Partition.from_labels([label for own in labels for label in own], name="truth").names
        number_of_label = {label: number for number, label in enumerate(known)}
        number_of_set: dict[frozenset[int], int] = {}
        rows, sets = [], []
        for row, own in enumerate(labels):
            if own:
                key = frozenset(number_of_label[label] for label in own)
                rows.append(row)
                sets.append(number_of_set.setdefault(key, len(number_of_set)))
        members = [(number, label) for key, number in number_of_set.items() for label in sorted(key)]
        at = np.array(members, np.int64).reshape(-1, 2)
        shape = (len(number_of_set), len(number_of_label))
        table = sparse.coo_array((np.ones(len(members)), (at[:, 0], at[:, 1])), shape=shape)
        cells = (clusters[np.array(rows, np.int64)], np.array(sets, np.int64))
        counts = sparse.coo_array((np.ones(len(rows), np.int64), cells), shape=(n_clusters, len(number_of_set)))
        return cls(sparse.csr_array(table), sparse.csr_array(counts))
