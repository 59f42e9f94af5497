"""Samples of von Mises-Fisher distributions and of their mixtures, in memory or block by block to a file.

Synthetic corpora of this kind are what the mixture model and spherical k-means assume, so they show how far an
algorithm is from what can be had, and nothing about text: the rows are dense and have negative numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg

from doccluster.base.arrays import Array, Floats
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.validation import RandomState, as_generator, check_float_type, check_n_clusters, check_positive_int
from doccluster.clustering.mixtures.vmf_functions import VmfRows, log_normalizer, spawn_entropy
from doccluster.errors import Argument, InputError
from doccluster.lab.synthetic.synthetic_vectors import (
    SyntheticVectors,
    check_concentrations,
    check_dimensions,
    check_direction,
    check_share,
    check_weights,
    row_names,
    seed_record,
)
from doccluster.vectors import DocumentVectors


def sample_vmf(
    mean: npt.ArrayLike,
    kappa: float,
    size: int = 1,
    random_state: RandomState = None,
    *,
    dtype: npt.DTypeLike = np.float32,
    n_threads: int | None = None,
) -> Array:
    """Return draws from the von Mises-Fisher distribution.

    Parameters
    ----------
    mean : float array of shape (n_terms,), unit
        The mean direction, in 2 to 100,000 dimensions.
    kappa : float in [0, 1e7]
        The concentration; 0 is the uniform distribution.
    size : int
        The number of draws.
    random_state : None, int or numpy Generator
    dtype : float32 or float64
    n_threads : int or None
        None uses all processors; the rows are the same for any number.

    Returns
    -------
    float array of shape (size, n_terms), unit rows

    Raises
    ------
    InputError
        If `mean` is not a unit vector, or `kappa` is negative, NaN or infinite.

    Notes
    -----
    Ulrich (1984), Appl. Stat. 33, 158, as corrected by Wood (1994), Commun. Stat. Simul. 23, 157. O(size n_terms) time,
    and no memory beyond the result but a block.

    Examples
    --------
    >>> rows = sample_vmf([0.0, 0.6, 0.8], 1000.0, size=3, random_state=0)
    >>> bool((rows @ [0.0, 0.6, 0.8] > 0.98).all())
    True
    """
    direction = check_direction(mean)
    kappas = check_concentrations(kappa, 1)
    labels = np.zeros(check_positive_int(size, "size"), dtype=np.int64)
    entropy = spawn_entropy(random_state)
    rows = VmfRows(direction[None, :], kappas, labels, entropy=entropy, dtype=check_float_type(dtype))
    return rows.draw(n_threads=n_threads)


class VmfMixture:
    """A von Mises-Fisher mixture whose parameters and labels are chosen and whose rows are still to be drawn.

    Made by `plan_vmf_mixture`; `make_vmf_mixture` draws all rows at once, `blocks` yields them for a file.

    Attributes
    ----------
    means : float64 array of shape (n_clusters, n_terms), unit rows
    kappas, weights : float64 arrays of shape (n_clusters,)
    truth : int64 array of shape (n_documents,)
    parameters : dict
        All of the above that is of fixed size, for the record.
    """

    def __init__(
        self, means: Floats, kappas: Floats, weights: Floats, rows: VmfRows, parameters: Mapping[str, object]
    ) -> None:
        self.means = means
        self.kappas = kappas
        self.weights = weights
        self.truth = rows.labels
        self.parameters = parameters
        self.shape = rows.shape
        self.dtype = rows.dtype
        self._rows = rows

    def blocks(self, *, n_threads: int | None = None) -> Iterator[Array]:
        """Yield the rows in order, in blocks of about a megabyte."""
        return self._rows.blocks(n_threads=n_threads)

    def draw(self, *, n_threads: int | None = None) -> SyntheticVectors:
        """Return all rows with their truth."""
        vectors = DocumentVectors(self._rows.draw(n_threads=n_threads), row_names(self.shape[0]))
        law = partial(_log_posteriors, self.means, self.kappas, self.weights)
        return SyntheticVectors(vectors, self.truth, self.parameters, law)


def _log_posteriors(means: Floats, kappas: Floats, weights: Floats, rows: Any) -> Floats:
    """Return log weight + log c_d(kappa) + kappa cosine of each row and cluster."""
    constants = log_normalizer(means.shape[1], kappas) + np.log(np.maximum(weights, np.finfo(float).tiny))
    return np.asarray(rows @ (kappas[:, None] * means).T + constants)


def plan_vmf_mixture(
    n_documents: int,
    n_terms: int,
    n_clusters: int,
    *,
    kappa: float | npt.ArrayLike,
    separation: float | None = None,
    weights: npt.ArrayLike | None = None,
    random_state: RandomState = None,
    dtype: npt.DTypeLike = np.float32,
) -> VmfMixture:
    """Return the mixture of `make_vmf_mixture` before its rows are drawn, for sets larger than memory."""
    n_rows = check_positive_int(n_documents, "n_documents")
    k = check_n_clusters(n_clusters, n_rows)
    dimensions = check_dimensions(n_terms)
    kappas = check_concentrations(kappa, k)
    shares = check_weights(weights, k)
    float_type = check_float_type(dtype)
    generator = as_generator(random_state)
    means = _mean_directions(k, dimensions, separation, generator)
    # the clusters of all rows are drawn before any row, so that blocks may be made in any order
    labels = generator.choice(k, size=n_rows, p=shares).astype(np.int64, copy=False)
    rows = VmfRows(means, kappas, labels, entropy=spawn_entropy(generator), dtype=float_type)
    parameters = {
        "kind": "vmf",
        "n_documents": n_rows,
        "n_terms": dimensions,
        "n_clusters": k,
        "kappa": kappas.tolist(),
        "separation": "random" if separation is None else float(separation),
        "weights": shares.tolist(),
        "dtype": str(float_type),
        "random_state": seed_record(random_state),
    }
    return VmfMixture(means, kappas, shares, rows, parameters)


@at_the_door
def make_vmf_mixture(
    n_documents: int,
    n_terms: int,
    n_clusters: int,
    *,
    kappa: float | npt.ArrayLike,
    separation: float | None = None,
    weights: npt.ArrayLike | None = None,
    random_state: RandomState = None,
    dtype: npt.DTypeLike = np.float32,
    n_threads: int | None = None,
) -> SyntheticVectors:
    """Return dense unit rows drawn from a mixture of von Mises-Fisher distributions, and the cluster of each.

    Parameters
    ----------
    n_documents, n_terms, n_clusters : int
        2 to 100,000 terms; at most as many clusters as documents.
    kappa : float or float array of shape (n_clusters,), in [0, 1e7]
        The concentrations. The expected cosine of a row to its mean is A_d(kappa), about kappa / d while kappa << d:
        the same kappa is far more spread in more dimensions.
    separation : float in [-1, 1], or None
        The cosine between each two mean directions, exactly: 0 makes them orthogonal, values near 1 nearly equal.
        None draws the directions independently, which in many dimensions is nearly orthogonal.
    weights : float array of shape (n_clusters,), or None
        The probabilities of the clusters, which sum to one; None makes them equal. The cluster of each row is drawn
        independently, so a cluster of small weight may get no row.
    random_state : None, int or numpy Generator
    dtype : float32 or float64
    n_threads : int or None
        None uses all processors; the rows are the same for any number.

    Returns
    -------
    SyntheticVectors
        Unpacks as ``vectors, truth``.

    Raises
    ------
    InputError
        If an argument is outside its range, weights do not sum to one, or k directions cannot have that separation.

    Examples
    --------
    >>> vectors, truth = make_vmf_mixture(500, 30, 3, kappa=200.0, separation=0.2, random_state=0)
    >>> vectors.matrix.shape, sorted(set(truth.tolist()))
    ((500, 30), [0, 1, 2])
    """
    mixture = plan_vmf_mixture(
        n_documents,
        n_terms,
        n_clusters,
        kappa=kappa,
        separation=separation,
        weights=weights,
        random_state=random_state,
        dtype=dtype,
    )
    return mixture.draw(n_threads=n_threads)


def _mean_directions(n_clusters: int, n_terms: int, separation: float | None, generator: np.random.Generator) -> Floats:
    """Return unit rows whose pairwise cosine is `separation`, in a random position; None: independent uniform rows.

    k directions with one common cosine s exist when their Gram matrix (1 - s) I + s 11' has no negative eigenvalue,
    s >= -1 / (k - 1), and no more positive ones than there are dimensions.
    """
    if separation is None:
        rows = generator.standard_normal((n_clusters, n_terms))
        return np.asarray(rows / np.linalg.norm(rows, axis=1)[:, None])
    constant, varying = _eigenvalues(n_clusters, check_share(separation, "separation", lowest=-1.0))
    rank = (constant > 0) + (varying > 0) * (n_clusters - 1)
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
    scales = np.sqrt(
        np.concatenate([[constant] if constant > 0 else [], np.full((varying > 0) * (n_clusters - 1), varying)])
    )
    vectors = linalg.helmert(n_clusters, full=True)  # its first row is constant: the eigenvectors of the Gram matrix
    vectors = vectors[0 if constant > 0 else 1 : None if varying > 0 else 1]
    basis, triangle = linalg.qr(generator.standard_normal((n_terms, rank)), mode="economic", check_finite=False)
    frame = (basis * np.where(np.diagonal(triangle) < 0, -1.0, 1.0)).T  # orthonormal, in a uniformly random position
    rows = (vectors * scales[:, None]).T @ frame
    return np.asarray(rows / np.linalg.norm(rows, axis=1)[:, None])


def _eigenvalues(n_clusters: int, separation: float) -> tuple[float, float]:
    """Return the eigenvalue of the constant vector and the one of all others, cleaned of rounding around zero."""
    constant = 1.0 + (n_clusters - 1) * separation
    if constant < -1e-12 * n_clusters:
        raise InputError(
            (
                f"{n_clusters} directions cannot all have ",
                Argument("separation", separation),
                f": the least cosine that they can share is {-1 / (n_clusters - 1):g}",
            ),
            remedy=("choose ", Argument("separation"), f" >= {-1 / (n_clusters - 1):g}"),
        )
    varying = 1.0 - separation if n_clusters > 1 else 0.0
    return (constant if constant > 1e-12 * n_clusters else 0.0), (varying if varying > 1e-12 else 0.0)
