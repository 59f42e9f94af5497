"""What every generator of vectors returns: the vectors, the truth, and the parameters they were made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.short_repr import ShortRepr
from doccluster.vectors import DocumentVectors


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticVectors(ShortRepr):
    """Made vectors with a known truth; unpacks as ``vectors, truth = make_...()``.

    Attributes
    ----------
    vectors : DocumentVectors
        Unit rows.
    truth : int64 array of shape (n_documents,)
        The cluster that each row was drawn from, 0..n_clusters-1. A cluster of small weight may have no row.
    parameters : mapping
        All that was given or chosen, as it is written to `corpus.toml`.
    """

    vectors: DocumentVectors
    truth: npt.NDArray[np.int64]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.vectors, self.truth))


def row_names(n_documents: int) -> tuple[str, ...]:
    """Return the ids of made documents: "1", "2", ..., the names that readers give to rows without names."""
    return tuple(map(str, range(1, n_documents + 1)))
