"""Matrix -> partition: seeding, iterations, estimators."""

from doccluster.base.package import offer

# loaded when used: no command needs all of it
__getattr__, __dir__, __all__ = offer(__name__)
