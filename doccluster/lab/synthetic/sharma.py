"""Algorithm 1 of Sharma and Sharma: small sparse matrices with a block for each cluster and a few shared columns.

As printed, the algorithm fills every cell alike and so has no clusters. The default here is the reading in which its
text makes sense (each cluster has at least 4 documents, each document at least 10 terms, a few extra terms overlap):
values lie in the block of the own cluster. `structure="dense"` is the literal one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse, special

from doccluster.base.arrays import CsrArray, Floats, Integers, Matrix
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.validation import RandomState, as_generator, check_choice, check_positive_int, unit_rows
from doccluster.errors import Argument, InputError
from doccluster.lab.synthetic.synthetic_vectors import (
    SyntheticVectors,
    check_share,
    mass_by_cluster,
    row_names,
    seed_record,
)
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
    check_choice(structure, _STRUCTURES, "structure")
    check_choice(extra_rows, _EXTRA_ROWS, "extra_rows")
    plan = _BlockPlan(
        k,
        n_documents,
        n_terms,
        n_overlap,
        (min(low, n_rows), min(high, n_rows)),
        check_share(alpha, "alpha"),
        check_share(beta, "beta"),
        check_share(sigma, "sigma", lowest=1e-6, highest=1e6),
        structure,
        as_generator(random_state),
    )
    plan.check()
    truth = np.repeat(np.arange(k), n_documents)
    blocks, shared = plan.draw_blocks(), plan.draw_overlap()
    # the draws may leave a term or a document without any value; both are given one
    owners, added = plan.rows_for_empty_columns(blocks, extra_rows, math.ceil(gamma * n_rows))
    if owners.size:
        blocks, truth = sparse.vstack([blocks, added], format="csr"), np.concatenate([truth, owners])
        shared = sparse.vstack([shared, sparse.csr_array((owners.size, n_overlap))], format="csr")
    blocks = plan.fill_empty_rows(blocks, shared, truth)
    matrix = sparse.hstack([blocks, shared], format="csr", dtype=np.float64)
    rows = sparse.csr_array(unit_rows(matrix, warn=False), dtype=np.float32)
    names = [f"cluster{c}_term{t}" for c in range(k) for t in range(n_terms)]
    terms = np.array(names + [f"overlap{t}" for t in range(n_overlap)], dtype=object)
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
        "overlap_rows": list(plan.overlap_rows),
        "alpha": plan.alpha,
        "beta": plan.beta,
        "sigma": plan.sigma,
        "structure": structure,
        "extra_rows": extra_rows,
        "n_extra_rows": rows.shape[0] - n_rows,
        "random_state": seed_record(random_state),
    }
    owners = np.concatenate([np.repeat(np.arange(k), n_terms), np.full(n_overlap, -1)])
    law = partial(mass_by_cluster, owners, k) if structure == "block" else None
    return SyntheticVectors(vectors, truth, parameters, law)


@dataclass(frozen=True)
class _BlockPlan:
    """The shape of the matrix, and the law of its values.

    They are normal about 1/2, truncated to [0, 1], minus a threshold (alpha, of overlap columns beta), zero below it.
    """

    n_clusters: int
    documents: int  # of a cluster
    terms: int  # of a cluster
    n_overlap: int
    overlap_rows: tuple[int, int]
    alpha: float
    beta: float
    sigma: float
    structure: str
    generator: np.random.Generator

    @property
    def n_rows(self) -> int:
        return self.documents * self.n_clusters

    @property
    def n_block_terms(self) -> int:
        return self.terms * self.n_clusters

    def check(self) -> None:
        """Raise InputError if a threshold leaves next to no value: rows and columns without any are drawn again."""
        low, high = special.ndtr([-0.5 / self.sigma, 0.5 / self.sigma])
        for name, threshold, n_cells in (("alpha", self.alpha, self.terms), ("beta", self.beta, self.overlap_rows[0])):
            share_above = (high - special.ndtr((threshold - 0.5) / self.sigma)) / (high - low)
            if share_above * n_cells < 1e-3:
                raise InputError(
                    ("with ", Argument("sigma", self.sigma), " leaves next to no value above zero"),
                    argument=name,
                    received=threshold,
                    expected=("a smaller ", Argument(name), " or a larger ", Argument("sigma")),
                )

    def draw(self, shape: int | tuple[int, ...], threshold: float) -> Floats:
        """Return values of the law."""
        low, high = special.ndtr([-0.5 / self.sigma, 0.5 / self.sigma])
        values = 0.5 + self.sigma * special.ndtri(low + self.generator.random(shape) * (high - low))
        values_above: Floats = np.maximum(np.clip(values, 0.0, 1.0) - threshold, 0.0)
        return values_above

    def columns_of(self, cluster: int) -> Integers:
        """Return the block columns in which documents of a cluster have values."""
        first = cluster * self.terms
        return np.arange(self.n_block_terms) if self.structure == "dense" else np.arange(first, first + self.terms)

    def draw_blocks(self) -> CsrArray:
        """Return the part of the block columns, csr array of shape (n_rows, n_block_terms)."""
        shape = self.documents, self.columns_of(0).size
        parts = [sparse.csr_array(self.draw(shape, self.alpha)) for _ in range(self.n_clusters)]
        return sparse.csr_array(
            (sparse.vstack if self.structure == "dense" else sparse.block_diag)(parts, format="csr")
        )

    def draw_overlap(self) -> CsrArray:
        """Return the part of the overlap columns, csr array of shape (n_rows, n_overlap), no column all zero."""
        rows, columns, values = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
        low, high = self.overlap_rows
        for column in range(self.n_overlap):
            weights = np.zeros(1)
            while not weights.any():
                size = int(self.generator.integers(low, high + 1))
                chosen = self.generator.choice(self.n_rows, size=size, replace=False)
                weights = self.draw(size, self.beta)
            rows.append(chosen)
            columns.append(np.full(size, column))
            values.append(weights)
        entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        matrix = sparse.csr_array(sparse.coo_array(entries, shape=(self.n_rows, self.n_overlap)))
        matrix.eliminate_zeros()
        return matrix

    def rows_for_empty_columns(self, blocks: CsrArray, extra_rows: str, n_wanted: int) -> tuple[Integers, CsrArray]:
        """Return rows to be added so that every block column has a value, and the cluster of each."""
        zero = np.flatnonzero(np.bincount(blocks.indices[blocks.data > 0], minlength=self.n_block_terms) == 0)
        owners = zero // self.terms
        if extra_rows == "per_column":
            targets = [(owner, zero[at : at + 1]) for at, owner in enumerate(owners)]
        else:
            targets = [(owner, zero[owners == owner]) for owner in np.unique(owners)]
            if extra_rows == "gamma_n" and targets:
                targets = [targets[row % len(targets)] for row in range(max(n_wanted, len(targets)))]
        added = sparse.lil_array((len(targets), self.n_block_terms))
        for row, (owner, columns) in enumerate(targets):
            others = self.generator.choice(self.terms, min(_MORE_COLUMNS, self.terms), replace=False)
            chosen = np.union1d(columns, owner * self.terms + others)
            # half open at zero in practice: a value of exactly zero has probability zero
            added[row, chosen] = self.draw(chosen.size, 0.0)
        return np.array([owner for owner, _ in targets], dtype=np.int64), added.tocsr()

    def fill_empty_rows(self, blocks: CsrArray, shared: CsrArray, truth: Integers) -> Matrix:
        """Return the block part with new values in the rows that are all zero in both parts."""
        zero = np.flatnonzero((blocks.sum(axis=1) == 0) & (shared.sum(axis=1) == 0))
        if not zero.size:
            return blocks
        blocks = blocks.tolil()
        for row in zero:
            columns, weights = self.columns_of(int(truth[row])), np.zeros(1)
            while not weights.any():
                weights = self.draw(columns.size, self.alpha)
            filled = np.flatnonzero(weights)
            blocks[row, columns[filled]] = weights[filled]
        return blocks.tocsr()


def _rounded(value: float) -> int:
    return math.floor(value + 0.5)
