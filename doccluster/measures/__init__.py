"""Judge a partition: `score` one measure, `evaluate` many, against a truth, vectors, or both.

Measures are short plain functions on three kinds of evidence, which declare themselves.
Importing this package imports every module of measures, so that the registry is complete; the order of these imports
is the order in which measures are listed.
"""

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

# loaded when used: a list of measures needs nothing that judges by them
__getattr__, __dir__, __all__ = offer(__name__)
