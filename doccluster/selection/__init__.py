"""How many clusters, and is there anything to find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.lazy import offer
from doccluster.selection.recommendation import Granularity, Recommendation, choose_k
from doccluster.selection.tendency import (
    Tendency,
    distance_distribution_test,
    hopkins,
    hopkins_test,
    spatial_histogram_test,
    tendency_tests,
)

__all__ = [
    "Comparison",
    "Granularity",
    "LabelledCorpus",
    "Recommendation",
    "Tendency",
    "choose_k",
    "compare",
    "distance_distribution_test",
    "hopkins",
    "hopkins_test",
    "spatial_histogram_test",
    "tendency_tests",
]
# loaded when used: they import scikit-learn and pandas, and a run that chooses its number of clusters needs neither
__getattr__, __dir__ = offer(
    __name__,
    {
        "Comparison": "doccluster.selection.comparison_result",
        "LabelledCorpus": "doccluster.selection.comparison",
        "compare": "doccluster.selection.comparison",
    },
)

if TYPE_CHECKING:
    from doccluster.selection.comparison import LabelledCorpus as LabelledCorpus
    from doccluster.selection.comparison import compare as compare
    from doccluster.selection.comparison_result import Comparison as Comparison
