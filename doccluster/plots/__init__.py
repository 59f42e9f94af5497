"""The figures of `doccluster.report.plots`, so that ``import doccluster.plots`` finds them too."""

import sys

from doccluster.report import plots

sys.modules[__name__] = plots
