"""What a cluster is about: terms, representatives, borderline documents."""

from doccluster.base.package import offer

__getattr__, __dir__, __all__ = offer(__name__)
