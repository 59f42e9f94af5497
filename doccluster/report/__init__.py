"""Run -> plain data -> one self-contained page; and figures for papers."""

from doccluster.base.package import offer

# loaded when used: how dates and numbers are worded needs no templates, and a report no matplotlib
__getattr__, __dir__, __all__ = offer(__name__)
