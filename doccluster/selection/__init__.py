"""How many clusters, and is there anything to find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.lazy import offer
from doccluster.selection.recommendation import Granularity, Recommendation, choose_k

__all__ = [
    "Comparison",
    "Granularity",
    "LabelledCorpus",
    "Recommendation",
    "choose_k",
    "compare",
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
