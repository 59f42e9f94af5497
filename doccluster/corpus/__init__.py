"""How text gets in: every reader ends in a `Corpus`."""

from __future__ import annotations

from doccluster.base.package import offer

# loaded when used: the command line reads the parameters of the reader alone
__getattr__, __dir__, __all__ = offer(__name__)
