"""How text gets in: every reader ends in a `Corpus`."""

from doccluster.base.package import offer

# loaded when used: the command line reads the parameters of the reader alone
__getattr__, __dir__, __all__ = offer(__name__)
