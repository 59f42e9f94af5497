"""The references of measures and methods: full references, as BibTeX or as text."""

from doccluster.bibliography.citing import bibtex, cite, method_names, plain_text
from doccluster.bibliography.reference import Reference

__all__ = ["Reference", "bibtex", "cite", "method_names", "plain_text"]
