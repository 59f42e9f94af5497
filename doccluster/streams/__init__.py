"""Streams of dated articles: what comes in, which story it belongs to, and what happens to the stories."""

from doccluster.base.package import offer

__getattr__, __dir__, __all__ = offer(__name__)
