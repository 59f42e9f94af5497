"""The mixture of multinomials as an algorithm of the table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from doccluster.clustering.estimating import fit_estimator
from doccluster.clustering.linear_rule import LinearRule
from doccluster.clustering.mixtures.multinomial_mixture import MultinomialMixture
from doccluster.clustering.task import Found, Task

WITHOUT_COUNTS = "The mixture was fitted to weights of terms: the matrix holds no counts."


def find_multinomials(task: Task) -> Found:
    """Return the clusters of a mixture of the counts, or of the weighted rows where there are none."""
    has_counts = task.counts is not None

    def most_probable(fitted: Any) -> LinearRule:
        rule: LinearRule = fitted.mixture_.rule
        return replace(rule, on_counts=has_counts)

    found = fit_estimator(MultinomialMixture(2), task, most_probable, matrix=task.counts)
    return found if has_counts else replace(found, left_out=(WITHOUT_COUNTS,))
