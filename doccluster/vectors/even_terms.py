"""Terms that say nothing of what a document is about: documents with one are hardly more alike than any others.

Function words are such, in a language without a list too, and so is what a collection has around its texts
("writes", "edu" in messages, "Reuter" at the end of news).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.validation import unit_rows

LEAST_DOCUMENTS = 100  # of fewer, chance says which terms come together
LEAST_SHARE = 0.05  # of the documents that have the term,
LEAST_WITH = 20  # and their number: the mean of 190 cosines
LIKE_ANY = 1.25  # times as alike as any two documents
MAY_BE_EMPTIED = 0.01  # of the documents
_TOGETHER = 64  # terms whose documents are added up at once


def even_terms(counts: Any) -> npt.NDArray[np.bool_]:
    """Return which terms are spread evenly over documents that have nothing else in common: shape (n_terms,).

    Parameters
    ----------
    counts : csr array of shape (n_documents, n_terms)
        How often each term occurs; only whether it does counts here.

    Notes
    -----
    A row is w(t) = ln(N / df(t)) for each term of the document, made unit. Over the m documents with a term, the mean
    cosine of two, that term apart, is (|sum of rows|^2 - sum of |row|^2) / (m (m - 1)). The term is spread evenly when
    that is at most 1.25 times the mean over all pairs, and the term in one of twenty documents or more. If more than
    one document in a hundred had nothing but such terms, none is found.
    """
    has = sparse.csr_array(counts, dtype=np.float64, copy=True)
    has.data[:] = 1.0
    n_documents, n_terms = has.shape
    even = np.zeros(n_terms, dtype=bool)
    if n_documents < LEAST_DOCUMENTS:
        return even
    frequency = np.asarray(has.sum(axis=0)).ravel()
    weights = np.log(n_documents / np.maximum(frequency, 1.0))
    rows = unit_rows(sparse.csr_array(has * weights[np.newaxis, :]), warn=False)
    squares = sparse.csr_array(rows * rows)
    own = np.asarray(squares.sum(axis=1)).ravel()
    total = np.asarray(rows.sum(axis=0)).ravel()
    of_all = (total @ total - own.sum()) / (n_documents * (n_documents - 1))
    common = np.flatnonzero(frequency >= max(LEAST_SHARE * n_documents, LEAST_WITH))
    with_term = sparse.csr_array(has[:, common].T)
    for start in range(0, common.size, _TOGETHER):
        columns, members = common[start : start + _TOGETHER], with_term[start : start + _TOGETHER]
        sums = sparse.csr_array(members @ rows)
        diagonal = np.arange(columns.size), columns
        length = np.asarray((sums * sums).sum(axis=1)).ravel() - sums[diagonal] ** 2
        own_parts = members @ own - sparse.csr_array(members @ squares)[diagonal]
        m = frequency[columns]
        even[columns] = length - own_parts <= LIKE_ANY * of_all * m * (m - 1)
    emptied = np.count_nonzero((has.sum(axis=1) > 0) & ~(has @ (~even).astype(np.float64) > 0))
    return even if emptied <= MAY_BE_EMPTIED * n_documents else np.zeros_like(even)
