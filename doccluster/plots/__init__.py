"""The figures of `doccluster.report.plots`, so that ``import doccluster.plots`` finds them too."""

from __future__ import annotations

import sys

from doccluster.report import plots


def __getattr__(name: str) -> object:  # for loaders that keep this module itself
    value: object = getattr(plots, name)
    return value


sys.modules[__name__] = plots
