"""Finding documents: ranked for a query, search results in groups, and browsing."""

from doccluster.base.package import offer

# loaded when used: hits are read without what ranks and groups them
__getattr__, __dir__, __all__ = offer(__name__)
