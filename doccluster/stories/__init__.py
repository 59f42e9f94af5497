"""The one rule of stories: articles of a dump at once, and those of a stream by looking again at the last days."""

from doccluster.base.package import offer

__getattr__, __dir__, __all__ = offer(__name__)
