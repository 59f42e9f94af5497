"""How much of a document a vectorizer does not know: the share of its terms that have no column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.vectors.term_counts import count_terms
from doccluster.vectors.vectorizer import TfidfVectorizer
from doccluster.vectors.vectorizer_parameters import analysis_of


def unknown_term_shares(texts: Sequence[Any], vectorizer: TfidfVectorizer) -> npt.NDArray[np.float64]:
    """Return the share of the distinct terms of each text that the vectorizer has no column for, in [0, 1].

    Parameters
    ----------
    texts : sequence of str
    vectorizer : TfidfVectorizer, fitted

    Returns
    -------
    float64 array of shape (n_texts,)
        nan for a text without any term.

    Examples
    --------
    >>> vectorizer = TfidfVectorizer().fit(["oil prices rise", "oil prices fall"])
    >>> unknown_term_shares(["oil prices soar", "wheat", ""], vectorizer)
    array([0.33333333, 1.        ,        nan])
    """
    counts = count_terms(texts, analysis_of(vectorizer), n_threads=vectorizer.n_threads)
    is_known = vectorizer.columns_of(counts.terms) >= 0
    n_terms = counts.rows.lengths.astype(np.float64)
    counts.rows.keep(is_known)
    with np.errstate(invalid="ignore"):
        shares: npt.NDArray[np.float64] = 1 - counts.rows.lengths / n_terms
    return shares
