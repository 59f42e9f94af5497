"""A partition of documents: clusters and true classes are the same type."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import AnyIntegers, Array, Integers
from doccluster.base.plain_values import cut, listed
from doccluster.base.validation import is_missing
from doccluster.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """Documents divided into clusters (or classes) 0..k-1, none of them empty; labels never change.

    What is counted of the labels is counted once, so all arrays are read-only; the labels are a copy of those given.

    Attributes
    ----------
    labels : int64 array of shape (n_documents,)
        The cluster of each document, 0..k-1 without gaps.
    names : tuple of length k
        What the user called each cluster; sorted where they can be compared, else in order of appearance.
    """

    labels: Integers
    names: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        """Take a copy of the labels; raise InputError unless they are 0..k-1 without gaps."""
        labels, k = self.labels, len(self.names)
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or labels.dtype.kind not in "iu":
            raise InputError(
                "labels of a partition are not a vector of whole numbers", remedy="use Partition.from_labels"
            )
        if labels.min(initial=0) < 0 or labels.max(initial=k - 1) >= k:
            raise InputError(
                f"of a partition go from {labels.min()} to {labels.max()}, expected 0 to {k - 1}",
                argument="labels",
                remedy="use Partition.from_labels",
            )
        object.__setattr__(self, "labels", _fixed(np.array(labels)))
        # within the package a truth may be one of no document
        if not self.sizes.all():
            raise InputError("labels of a partition leave a cluster empty", remedy="use Partition.from_labels")

    def __reduce__(self) -> tuple[type[Partition], tuple[Integers, tuple[Hashable, ...]]]:
        """Let a copy be made of the labels, so that it is read-only too."""
        return Partition, (self.labels, self.names)

    @classmethod
    def from_labels(cls, labels: Iterable[object], *, name: str = "labels") -> Partition:
        """Return the partition given by one hashable label per document; only labels that occur count.

        Raises
        ------
        InputError
            If there is no label, one is missing (None or NaN), or one cannot be hashed.

        Examples
        --------
        >>> Partition.from_labels([7, -1, 7]).labels
        array([1, 0, 1])
        """
        if isinstance(labels, Partition):
            if not labels.n_documents:
                raise InputError("is empty", argument=name, expected="one label per document")
            return labels
        plain = _as_plain_array(labels)
        if plain is not None:
            codes, distinct = _codes(plain)
            return cls(codes, tuple(distinct.tolist()))
        values = label_list(labels, name)
        if not values:
            raise InputError("is empty", argument=name, expected="one label per document")
        if any(is_missing(value) for value in values):
            raise InputError("has missing values (None or NaN)", argument=name, remedy="give every document a label")
        try:
            unique = dict.fromkeys(values)
        except TypeError as error:
            raise InputError(
                f"has a label that cannot be hashed ({error})", argument=name, expected="numbers or strings"
            ) from error
        try:
            names = sorted(unique)
        except TypeError:
            names = list(unique)
        code = {value: index for index, value in enumerate(names)}
        return cls(np.fromiter((code[value] for value in values), np.int64, len(values)), tuple(names))

    def __repr__(self) -> str:
        sizes = listed(self.sizes.tolist(), 8)
        return cut(f"Partition({self.n_documents:,} documents in {self.n_clusters:,} clusters of {sizes})")

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return int(self.labels.size)

    @property
    def n_clusters(self) -> int:
        """The number of clusters k."""
        return len(self.names)

    @cached_property
    def sizes(self) -> Integers:
        """The number of documents of each cluster, int64 array of shape (k,), all >= 1."""
        return _fixed(np.bincount(self.labels, minlength=self.n_clusters).astype(np.int64))

    def members(self, cluster: int) -> Integers:
        """Return the row numbers of the documents of one cluster, ascending."""
        return self._order[self._starts[cluster] : self._starts[cluster + 1]]

    @cached_property
    def _order(self) -> Integers:
        return _fixed(np.argsort(self.labels, kind="stable"))

    @cached_property
    def _starts(self) -> Integers:
        return np.concatenate([[0], np.cumsum(self.sizes)])


def _fixed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view of an array."""
    array.flags.writeable = False
    return array


def _as_plain_array(labels: object) -> Array | None:
    """Return labels that are one-dimensional integers, booleans or text, which need no look at each; else None."""
    if hasattr(labels, "to_numpy") and not hasattr(labels, "to_pylist"):  # pandas Series and Index
        labels = labels.to_numpy()
    if np.ma.isMaskedArray(labels):  # what is masked is missing, whatever stands below the mask
        return None
    if isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.size and labels.dtype.kind in "iubU":
        return labels
    return None


def _codes(labels: Array) -> tuple[Integers, Array]:
    """Return the rank of each label among the distinct ones, and these; integers close together are counted."""
    if labels.dtype.kind in "iu" and labels.dtype != np.uint64:
        smallest, largest = int(labels.min()), int(labels.max())
        if largest - smallest <= 4 * labels.size:
            offsets = labels.astype(np.int64) - smallest
            present = np.flatnonzero(np.bincount(offsets))
            ranks = np.empty(largest - smallest + 1, np.int64)
            ranks[present] = np.arange(present.size)
            return ranks[offsets], present + smallest
    names, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), names


def label_list(labels: Iterable[object], name: str) -> list[Any]:
    """Return labels, one per document, as a list; raise InputError if they are not a sequence."""
    if isinstance(labels, str | bytes):
        raise InputError("is a single string", argument=name, expected="one label per document")
    if isinstance(labels, Mapping | Set):
        raise InputError(
            f"is a {type(labels).__name__}, not a sequence", argument=name, expected="one label per document, in order"
        )
    if getattr(labels, "ndim", 1) == 2 and hasattr(labels, "to_numpy"):  # pandas DataFrame
        labels = labels.to_numpy()
    if isinstance(labels, np.ndarray):
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        if labels.ndim != 1:
            raise InputError(f"has {labels.ndim} dimensions", argument=name, expected="one label per document")
        return list(labels.tolist())
    if hasattr(labels, "to_pylist"):  # of pyarrow
        return list(labels.to_pylist())
    if hasattr(labels, "tolist"):  # pandas Series and Index
        return list(labels.tolist())
    try:
        return list(labels)
    except TypeError as error:
        raise InputError(f"is not a sequence of labels: {error}", argument=name) from error


def numbered_by_first(labels: AnyIntegers) -> Integers:
    """Return labels numbered from 0 in the order in which they occur.

    >>> numbered_by_first(np.array([7, 2, 7, 0]))
    array([0, 1, 0, 2])
    """
    _, first, numbers = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[numbers]
