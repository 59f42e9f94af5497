"""How many clusters, and is there anything to find; the names of `doccluster/lab/` that answer it are offered here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.package import offer
from doccluster.selection.recommendation import Granularity, Recommendation, choose_k

# loaded when used: they import scikit-learn and pandas, and a run that chooses its number of clusters needs neither
_HOMES = {
    "Comparison": "doccluster.lab.comparison_result",
    "CriteriaOverK": "doccluster.lab.criteria",
    "LabelledCorpus": "doccluster.lab.comparison",
    "Tendency": "doccluster.lab.tendency_tests",
    "benchmark_synthetic": "doccluster.lab.synthetic_benchmark",
    "compare": "doccluster.lab.comparison",
    "criteria_over_k": "doccluster.lab.criteria",
    "tendency": "doccluster.lab.tendency_tests",
}

__all__ = ["Granularity", "Recommendation", "choose_k", *_HOMES]
__getattr__, __dir__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.lab.comparison import LabelledCorpus as LabelledCorpus
    from doccluster.lab.comparison import compare as compare
    from doccluster.lab.comparison_result import Comparison as Comparison
    from doccluster.lab.criteria import CriteriaOverK as CriteriaOverK
    from doccluster.lab.criteria import criteria_over_k as criteria_over_k
    from doccluster.lab.synthetic_benchmark import benchmark_synthetic as benchmark_synthetic
    from doccluster.lab.tendency_tests import Tendency as Tendency
    from doccluster.lab.tendency_tests import tendency as tendency
