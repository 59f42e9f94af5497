"""A measure less what luck would give: the call for people, on top of the registered measure of the same name."""

from __future__ import annotations

from typing import Any

from doccluster.evaluation.judging import score
from doccluster.evaluation.result import Score
from doccluster.validation import RandomState


def divergence_from_random_baseline(
    name: str,
    found: Any,
    truth: Any,
    *,
    n_samples: int = 1000,
    random_state: RandomState = 0,
    **parameters: Any,
) -> Score:
    """Return an external measure minus its mean over all rearrangements of the found labels (De Vries et al. 2012).

    Parameters
    ----------
    name : str
        An external measure, variant or alias.
    found, truth : labels of shape (n_documents,)
        As for `score`.
    n_samples : int
        Rearrangements to draw where there are 10,000 or more; fewer are all visited and the result is exact.
    random_state : seed or Generator
        For the draws.
    **parameters
        What the measure takes besides (``beta``, ``average`` ...).

    Returns
    -------
    Score
        The divergence, with its `standard_error` (0 where it is exact).

    Examples
    --------
    >>> result = divergence_from_random_baseline("purity", [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 2])
    >>> round(result.value, 4), result.standard_error
    (0.0333, 0.0)
    """
    return score(
        "divergence_from_random_baseline",
        found,
        truth,
        measure=name,
        n_samples=n_samples,
        random_state=random_state,
        parameters=parameters,
    )
