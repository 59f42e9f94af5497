"""Generated corpora with a known truth."""

from doccluster.base.package import offer

__getattr__, __dir__, __all__ = offer(__name__)
