"""Algorithm 1 of Sharma and Sharma: small sparse matrices with a block for each cluster and a few shared columns.

As printed, the algorithm fills every cell alike and so has no clusters. The default here is the reading in which its
text makes sense (each cluster has at least 4 documents, each document at least 10 terms, a few extra terms overlap):
values lie in the block of the own cluster. `structure="dense"` is the literal one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

from doccluster.base.arrays import CsrArray, Floats, Integers, Matrix
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.validation import RandomState, as_generator, check_choice, check_positive_int, unit_rows
from doccluster.errors import Argument, InputError
from doccluster.synthetic.synthetic_vectors import SyntheticVectors, check_share, row_names, seed_record
from doccluster.vectors import DocumentVectors

_DOCUMENTS = 4  # "each cluster has at least 4 documents"
_TERMS = 10  # "each document must have at least 10 terms"
_OVERLAP_ROWS = (2, 4)  # "few" rows of an overlap column
_MORE_COLUMNS = 3  # "few other randomly selected columns" of an added row
_STRUCTURES = ("block", "dense")
_EXTRA_ROWS = ("owner", "per_column", "gamma_n")


@at_the_door
def make_sharma(
    n_clusters: int = 5,
    *,
    overlap: float = 0.3,
    alpha: float = 0.4,
    beta: float = 0.3,
    sigma: float = 1 / 6,
    structure: str = "block",
    extra_rows: str = "owner",
    scale: int = 1,
    documents_per_cluster: int | None = None,
    terms_per_cluster: int | None = None,
    overlap_rows: tuple[int, int] | None = None,
    random_state: RandomState = None,
) -> SyntheticVectors:
    """Return the matrix of Algorithm 1 and the cluster of each row.

    Parameters
    ----------
    n_clusters : int
        The number of clusters k.
    overlap : float in [0, 1]
        gamma: there are round(2 n gamma) overlap columns for n = documents_per_cluster * k rows.
    alpha, beta : float in [0, 1)
        Subtracted from the values of block columns and of overlap columns; what falls below zero becomes zero.
    sigma : float > 0
        Values are normal with mean 1/2 and this standard deviation, truncated to [0, 1]; it is missing in the paper,
        and 1/6 makes the interval three standard deviations to each side.
    structure : {'block', 'dense'}
        Values in the block of the own cluster only, or in all cells (the literal text, which has no clusters).
    extra_rows : {'owner', 'per_column', 'gamma_n'}
        How rows are added for block columns that are all zero: one for each block that owns any, one for each column,
        or ceil(gamma n) of them, dealt to the owners in turn.
    scale : int
        Multiplies documents and terms per cluster, and the rows of an overlap column, which keeps the shape: the share
        of a document's values that overlap, and the share of filled cells of a block.
    documents_per_cluster, terms_per_cluster : int, optional
        4 and 10 times `scale` unless given.
    overlap_rows : (int, int), optional
        The least and most rows of an overlap column; (2, 4) for 4 documents per cluster, in proportion for more.
    random_state : None, int or numpy Generator

    Returns
    -------
    SyntheticVectors
        float32 csr unit rows; no row and no column is zero; every cluster has at least `documents_per_cluster` rows;
        there are round(terms_per_cluster k + 2 n gamma) columns. The terms are named by their role.

    Raises
    ------
    InputError
        If an argument is outside its range, or `alpha` or `beta` leave next to nothing.

    Notes
    -----
    Sharma and Sharma, Algorithm 1 and Section III. [x] is rounded as floor(x + 1/2); the second X_ij is read as X_lj;
    an overlap column that comes out all zero is drawn again, and so is a row.

    Examples
    --------
    >>> vectors, truth = make_sharma(5, random_state=0)
    >>> vectors.n_terms, len(truth) >= 20
    (62, True)
    """
    k, factor = check_positive_int(n_clusters, "n_clusters"), check_positive_int(scale, "scale")
    gamma = check_share(overlap, "overlap")
    n_documents = _DOCUMENTS * factor if documents_per_cluster is None else documents_per_cluster
    n_documents = check_positive_int(n_documents, "documents_per_cluster")
    n_terms = _TERMS * factor if terms_per_cluster is None else terms_per_cluster
    n_terms = check_positive_int(n_terms, "terms_per_cluster")
    if overlap_rows is None:
        low, high = (max(1, _rounded(rows * n_documents / _DOCUMENTS)) for rows in _OVERLAP_ROWS)
    else:
        low, high = (check_positive_int(rows, "overlap_rows") for rows in overlap_rows)
    if not low <= high:
        raise InputError(
            "is not a range", argument="overlap_rows", received=(low, high), remedy="give the least and the most rows"
        )
    n_rows = n_documents * k
    n_overlap = _rounded(n_terms * k + 2 * n_rows * gamma) - n_terms * k
    shape = _Shape(k, n_documents, n_terms, n_overlap, gamma, (min(low, n_rows), min(high, n_rows)))
    check_choice(structure, _STRUCTURES, "structure")
    check_choice(extra_rows, _EXTRA_ROWS, "extra_rows")
    law = _Values.of(alpha, beta, sigma, shape)
    generator = as_generator(random_state)
    truth = np.repeat(np.arange(shape.n_clusters), shape.documents)
    blocks = _block_part(shape, law, structure, generator)
    shared = _overlap_part(shape, law, generator)
    blocks, shared, truth = _fill_zero_columns(blocks, shared, truth, shape, law, extra_rows, generator)
    blocks = _redraw_zero_rows(blocks, shared, truth, shape, law, structure, generator)
    # the draws above may leave a term or a document without any value; both were given one
    matrix = sparse.hstack([blocks, shared], format="csr", dtype=np.float64)
    rows = sparse.csr_array(unit_rows(matrix, warn=False), dtype=np.float32)
    terms = shape.term_names()
    vectors = DocumentVectors(rows, row_names(rows.shape[0]), terms, terms)
    parameters = {
        "kind": "sharma",
        "n_documents": rows.shape[0],
        "n_terms": rows.shape[1],
        "n_clusters": k,
        "overlap": gamma,
        "documents_per_cluster": n_documents,
        "terms_per_cluster": n_terms,
        "overlap_columns": n_overlap,
        "overlap_rows": list(shape.overlap_rows),
        "alpha": law.alpha,
        "beta": law.beta,
        "sigma": law.sigma,
        "structure": structure,
        "extra_rows": extra_rows,
        "n_extra_rows": rows.shape[0] - shape.n_rows,
        "random_state": seed_record(random_state),
    }
    return SyntheticVectors(vectors, truth, parameters)


@dataclass(frozen=True)
class _Shape:
    """How many rows and columns there are."""

    n_clusters: int
    documents: int
    terms: int
    n_overlap: int
    overlap: float
    overlap_rows: tuple[int, int]

    @property
    def n_rows(self) -> int:
        return self.documents * self.n_clusters

    @property
    def n_block_terms(self) -> int:
        return self.terms * self.n_clusters

    def term_names(self) -> npt.NDArray[np.object_]:
        cluster_terms = [f"cluster{c}_term{t}" for c in range(self.n_clusters) for t in range(self.terms)]
        return np.array(cluster_terms + [f"overlap{t}" for t in range(self.n_overlap)], dtype=object)


@dataclass(frozen=True)
class _Values:
    """The law of the values: normal about 1/2, truncated to [0, 1], minus a threshold, zero below it."""

    alpha: float
    beta: float
    sigma: float

    @classmethod
    def of(cls, alpha: float, beta: float, sigma: float, shape: _Shape) -> _Values:
        law = cls(
            check_share(alpha, "alpha"),
            check_share(beta, "beta"),
            check_share(sigma, "sigma", lowest=1e-6, highest=1e6),
        )
        for name, threshold, n_cells in (
            ("alpha", law.alpha, shape.terms),
            ("beta", law.beta, shape.overlap_rows[0]),
        ):
            if law.share_above(threshold) * n_cells < 1e-3:  # rows and columns without values are drawn again
                raise InputError(
                    ("with ", Argument("sigma", law.sigma), " leaves next to no value above zero"),
                    argument=name,
                    received=threshold,
                    expected=("a smaller ", Argument(name), " or a larger ", Argument("sigma")),
                )
        return law

    def share_above(self, threshold: float) -> float:
        low, high = special.ndtr([-0.5 / self.sigma, 0.5 / self.sigma])
        return float((high - special.ndtr((threshold - 0.5) / self.sigma)) / (high - low))

    def draw(self, shape: int | tuple[int, ...], threshold: float, generator: np.random.Generator) -> Floats:
        low, high = special.ndtr([-0.5 / self.sigma, 0.5 / self.sigma])
        values = 0.5 + self.sigma * special.ndtri(low + generator.random(shape) * (high - low))
        values_above: Floats = np.maximum(np.clip(values, 0.0, 1.0) - threshold, 0.0)
        return values_above


def _rounded(value: float) -> int:
    return math.floor(value + 0.5)


def _block_part(shape: _Shape, law: _Values, structure: str, generator: np.random.Generator) -> CsrArray:
    """Return the part of the block columns, csr array of shape (n_rows, n_block_terms)."""
    n_terms = shape.n_block_terms if structure == "dense" else shape.terms
    blocks = (law.draw((shape.documents, n_terms), law.alpha, generator) for _ in range(shape.n_clusters))
    parts = [sparse.csr_array(part) for part in blocks]
    return sparse.csr_array((sparse.vstack if structure == "dense" else sparse.block_diag)(parts, format="csr"))


def _overlap_part(shape: _Shape, law: _Values, generator: np.random.Generator) -> CsrArray:
    """Return the part of the overlap columns, csr array of shape (n_rows, n_overlap), no column all zero."""
    rows, columns, values = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    low, high = shape.overlap_rows
    for column in range(shape.n_overlap):
        weights = np.zeros(1)
        while not weights.any():
            chosen = generator.choice(shape.n_rows, size=int(generator.integers(low, high + 1)), replace=False)
            weights = law.draw(chosen.size, law.beta, generator)
        rows.append(chosen)
        columns.append(np.full(chosen.size, column))
        values.append(weights)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    matrix = sparse.csr_array(sparse.coo_array(entries, shape=(shape.n_rows, shape.n_overlap)))
    matrix.eliminate_zeros()
    return matrix


def _fill_zero_columns(
    blocks: CsrArray,
    shared: CsrArray,
    truth: Integers,
    shape: _Shape,
    law: _Values,
    extra_rows: str,
    generator: np.random.Generator,
) -> tuple[CsrArray, CsrArray, Integers]:
    """Return both parts and the truth with rows added so that every block column has a value."""
    zero = np.flatnonzero(np.bincount(blocks.indices[blocks.data > 0], minlength=shape.n_block_terms) == 0)
    if not zero.size:
        return blocks, shared, truth
    targets = _targets(zero, zero // shape.terms, shape, extra_rows)
    added = sparse.lil_array((len(targets), shape.n_block_terms))
    for row, (owner, columns) in enumerate(targets):
        others_of_owner = owner * shape.terms + generator.choice(
            shape.terms, min(_MORE_COLUMNS, shape.terms), replace=False
        )
        chosen = np.union1d(columns, others_of_owner)
        # half open at zero in practice: a value of exactly zero has probability zero
        added[row, chosen] = law.draw(chosen.size, 0.0, generator)
    labels = np.array([owner for owner, _ in targets], dtype=np.int64)
    return (
        sparse.vstack([blocks, added.tocsr()], format="csr"),
        sparse.vstack([shared, sparse.csr_array((len(targets), shape.n_overlap))], format="csr"),
        np.concatenate([truth, labels]),
    )


def _targets(zero: Integers, owners: Integers, shape: _Shape, extra_rows: str) -> list[tuple[int, Integers]]:
    """Return the cluster and the zero columns of each row to add."""
    if extra_rows == "per_column":
        return [(int(owner), zero[at : at + 1]) for at, owner in enumerate(owners)]
    by_owner = [(int(owner), zero[owners == owner]) for owner in np.unique(owners)]
    if extra_rows == "owner":
        return by_owner
    n_rows = max(math.ceil(shape.overlap * shape.n_rows), len(by_owner))
    return [by_owner[row % len(by_owner)] for row in range(n_rows)]


def _redraw_zero_rows(
    blocks: CsrArray,
    shared: CsrArray,
    truth: Integers,
    shape: _Shape,
    law: _Values,
    structure: str,
    generator: np.random.Generator,
) -> Matrix:
    """Return the block part with new values in the rows that are all zero in both parts."""
    zero = np.flatnonzero((blocks.sum(axis=1) == 0) & (shared.sum(axis=1) == 0))
    if not zero.size:
        return blocks
    blocks = blocks.tolil()
    for row in zero:
        is_dense = structure == "dense"
        first = 0 if is_dense else int(truth[row]) * shape.terms
        n_cells = shape.n_block_terms if is_dense else shape.terms
        weights = np.zeros(n_cells)
        while not weights.any():
            weights = law.draw(n_cells, law.alpha, generator)
        filled = np.flatnonzero(weights)
        blocks[row, first + filled] = weights[filled]
    return blocks.tocsr()
