"""The parameters that estimators share: an estimator is a dataclass of its parameters, each written once.

From the fields come the signature (scikit-learn's `get_params` and `clone` read it), the checks, the docstring, what
run.json may hold, and the tables of the docs.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from doccluster.base.parameter_fields import parameter
from doccluster.base.progress import Progress
from doccluster.base.validation import RandomState


@dataclass(eq=False, repr=False)
class ClusteringParameters:
    """What every estimator takes."""

    n_clusters: int = parameter(8, "The number of clusters.", low=1)
    _: KW_ONLY
    n_threads: int | None = parameter(
        None, "The number of threads, all processors by default; the result does not depend on it.", type="int"
    )
    progress: Progress | None = parameter(
        None, "Called with the stage, the work done and the total.", type="callable ``(stage, done, total)``"
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SeededParameters(ClusteringParameters):
    """What every estimator takes that makes random choices."""

    random_state: RandomState = parameter(None, "The seed.", type="int, numpy Generator or RandomState")
