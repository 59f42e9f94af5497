"""How many clusters, and is there anything to find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.package import offer
from doccluster.selection.recommendation import Granularity, Recommendation, choose_k

# loaded when used: they import scikit-learn and pandas, and a run that chooses its number of clusters needs neither
_HOMES = {
    "Comparison": "doccluster.selection.comparison_result",
    "CriteriaOverK": "doccluster.selection.criteria",
    "LabelledCorpus": "doccluster.selection.comparison",
    "Tendency": "doccluster.selection.tendency_tests",
    "benchmark_synthetic": "doccluster.selection.synthetic_benchmark",
    "compare": "doccluster.selection.comparison",
    "criteria_over_k": "doccluster.selection.criteria",
    "tendency": "doccluster.selection.tendency_tests",
}

__all__ = ["Granularity", "Recommendation", "choose_k", *_HOMES]
__getattr__, __dir__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.selection.comparison import LabelledCorpus as LabelledCorpus
    from doccluster.selection.comparison import compare as compare
    from doccluster.selection.comparison_result import Comparison as Comparison
    from doccluster.selection.criteria import CriteriaOverK as CriteriaOverK
    from doccluster.selection.criteria import criteria_over_k as criteria_over_k
    from doccluster.selection.synthetic_benchmark import benchmark_synthetic as benchmark_synthetic
    from doccluster.selection.tendency_tests import Tendency as Tendency
    from doccluster.selection.tendency_tests import tendency as tendency
