"""Generated corpora with a known truth: the names of `doccluster.lab.synthetic`."""

from doccluster.base.package import offer

__getattr__, __dir__, __all__ = offer("doccluster.lab.synthetic")
