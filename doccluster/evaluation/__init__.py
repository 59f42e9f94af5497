"""Judge a partition: `score` one measure, `evaluate` many, against a truth, vectors, or both."""

from doccluster.evaluation.baseline import divergence_from_random_baseline
from doccluster.evaluation.judging import evaluate, score
from doccluster.evaluation.result import Evaluation, Score

__all__ = ["Evaluation", "Score", "divergence_from_random_baseline", "evaluate", "score"]
