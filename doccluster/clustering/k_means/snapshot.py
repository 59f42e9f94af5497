"""A start as far as it has come: what is kept of it, and what an interruption leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from doccluster.clustering.k_means.means import Means


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A start as far as it has come: labels, the means they belong to, and the objective of the last update.

    The means may be given as a function, which is called when they are first asked for.
    """

    labels: npt.NDArray[np.int32]
    given: Means | Callable[[], Means]
    objective: float
    n_iter: int
    converged: bool = False

    @cached_property
    def means(self) -> Means:
        """The means that the labels belong to."""
        return self.given if isinstance(self.given, Means) else self.given()
