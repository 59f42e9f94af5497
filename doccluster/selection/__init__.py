"""How many clusters, and is there anything to find; the names of `doccluster/lab/` that answer it are offered here."""

from doccluster.base.package import offer

# loaded when used: they import scikit-learn and pandas, and a run that chooses its number of clusters needs neither
__getattr__, __dir__, __all__ = offer(__name__)
