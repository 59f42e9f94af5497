"""Documents as points: checked once, summed by cluster, compared with clusters and with one another."""

from doccluster.base.package import offer

# loaded when used: texts become vectors without a compiled loop
__getattr__, __dir__, __all__ = offer(__name__)
