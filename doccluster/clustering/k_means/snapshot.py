"""A start as far as it has come: what is kept of it, and what an interruption leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A start as far as it has come: labels, the means they belong to, and the objective of the last update.

    The means may be given as a function, which is called when they are first asked for.
    """

    labels: npt.NDArray[np.int32]
    given: sparse.csr_array | Callable[[], sparse.csr_array]
    objective: float
    n_iter: int
    converged: bool = False

    @cached_property
    def means(self) -> sparse.csr_array:
        """The means that the labels belong to."""
        return self.given() if callable(self.given) else self.given
