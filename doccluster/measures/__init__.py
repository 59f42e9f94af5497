"""Judge a partition: `score` one measure, `evaluate` many, against a truth, vectors, or both.

Measures are short plain functions on three kinds of evidence, which declare themselves.
Importing this package imports every module of measures, so that the registry is complete; the order of these imports
is the order in which measures are listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.package import offer

# isort: off
from doccluster.measures import set_matching as set_matching
from doccluster.measures import pair_counting as pair_counting
from doccluster.measures import information as information
from doccluster.measures import retrieval as retrieval
from doccluster.measures import chance as chance
from doccluster.measures import intrinsic as intrinsic
from doccluster.measures import within_between as within_between
from doccluster.measures import scatter as scatter
from doccluster.measures import all_pairs as all_pairs
from doccluster.measures import topics as topics

# isort: on
from doccluster.measures.registry import Measure, Values, get_measure, list_measures

# loaded when used: a list of measures needs nothing that judges by them
_HOMES = {
    "Evaluation": "doccluster.measures.scores",
    "Score": "doccluster.measures.scores",
    "Scorer": "doccluster.measures.scorers",
    "evaluate": "doccluster.measures.judging",
    "make_scorer": "doccluster.measures.scorers",
    "score": "doccluster.measures.judging",
}

__all__ = ["Measure", "Values", "get_measure", "list_measures", *_HOMES]
__getattr__, __dir__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.measures.judging import evaluate as evaluate
    from doccluster.measures.judging import score as score
    from doccluster.measures.scorers import Scorer as Scorer
    from doccluster.measures.scorers import make_scorer as make_scorer
    from doccluster.measures.scores import Evaluation as Evaluation
    from doccluster.measures.scores import Score as Score
