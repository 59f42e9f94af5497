"""Mean directions that have a given cosine with one another, exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import linalg

from doccluster.errors import Argument, InputError
from doccluster.synthetic.checks import check_share

Floats = npt.NDArray[np.float64]


def mean_directions(n_clusters: int, n_terms: int, separation: float | None, generator: np.random.Generator) -> Floats:
    """Return unit rows whose pairwise cosine is `separation`, in a random position; None: independent uniform rows.

    k directions with one common cosine s exist when their Gram matrix (1 - s) I + s 11' has no negative eigenvalue,
    s >= -1 / (k - 1), and no more positive ones than there are dimensions.

    Raises InputError if k directions cannot have that cosine in that dimension.
    """
    if separation is None:
        rows = generator.standard_normal((n_clusters, n_terms))
        return _unit(rows)
    shared, own = _eigenvalues(n_clusters, check_share(separation, "separation", least=-1.0))
    rank = (shared > 0) + (own > 0) * (n_clusters - 1)
    if rank > n_terms:
        raise InputError(
            (
                f"{n_clusters} directions with ",
                Argument("separation", separation),
                f" need {rank} dimensions and ",
                Argument("n_terms", n_terms),
            ),
            remedy=("choose ", Argument("n_terms"), f" >= {rank}, fewer clusters, or ", Argument("separation", None)),
        )
    scales = np.sqrt(np.concatenate([[shared] if shared > 0 else [], np.full((own > 0) * (n_clusters - 1), own)]))
    vectors = linalg.helmert(n_clusters, full=True)  # its first row is constant: the eigenvectors of the Gram matrix
    vectors = vectors[0 if shared > 0 else 1 : None if own > 0 else 1]
    frame = _random_frame(rank, n_terms, generator)
    rows = (vectors * scales[:, None]).T @ frame
    return _unit(rows)


def _unit(rows: Floats) -> Floats:
    lengths: Floats = np.linalg.norm(rows, axis=1)
    return np.divide(rows, lengths[:, None])


def _eigenvalues(n_clusters: int, separation: float) -> tuple[float, float]:
    """Return the eigenvalue of the constant vector and the one of all others, cleaned of rounding around zero."""
    shared = 1.0 + (n_clusters - 1) * separation
    if shared < -1e-12 * n_clusters:
        raise InputError(
            (
                f"{n_clusters} directions cannot all have ",
                Argument("separation", separation),
                f": the least cosine that they can share is {-1 / (n_clusters - 1):g}",
            ),
            remedy=("choose ", Argument("separation"), f" >= {-1 / (n_clusters - 1):g}"),
        )
    own = 1.0 - separation if n_clusters > 1 else 0.0
    return (shared if shared > 1e-12 * n_clusters else 0.0), (own if own > 1e-12 else 0.0)


def _random_frame(rank: int, n_terms: int, generator: np.random.Generator) -> Floats:
    """Return orthonormal rows in a uniformly random position, float64 array of shape (rank, n_terms)."""
    basis, triangle = linalg.qr(generator.standard_normal((n_terms, rank)), mode="economic", check_finite=False)
    frame: Floats = (basis * np.where(np.diagonal(triangle) < 0, -1.0, 1.0)).T
    return frame
