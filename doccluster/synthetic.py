"""Generated corpora with a known truth: the names that `doccluster.synthetic` offers."""

from doccluster.lab.synthetic import *  # noqa: F403
from doccluster.lab.synthetic import __all__ as __all__
