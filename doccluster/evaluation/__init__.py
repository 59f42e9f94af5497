"""Judge a partition: `score` one measure, `evaluate` many, against a truth, vectors, or both."""

from doccluster.evaluation.judging import evaluate, score
from doccluster.evaluation.result import Evaluation, Score
from doccluster.evaluation.scorers import Scorer, make_scorer

__all__ = ["Evaluation", "Score", "Scorer", "evaluate", "make_scorer", "score"]
