"""How text gets in: every reader ends in a `Corpus`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doccluster.base.package import offer

# loaded when used: the command line reads the parameters of the reader alone
_HOMES = {
    "FORMATS": "doccluster.corpus.formats",
    "Corpus": "doccluster.corpus.document",
    "Document": "doccluster.corpus.document",
    "Skipped": "doccluster.corpus.document",
    "find_near_copies": "doccluster.corpus.duplicates",
    "find_near_duplicates": "doccluster.corpus.duplicates",
    "load_sample": "doccluster.corpus.reading",
    "read_corpus": "doccluster.corpus.reading",
}
__all__ = [*_HOMES]
__getattr__, __dir__ = offer(__name__, _HOMES)

if TYPE_CHECKING:
    from doccluster.corpus.document import Corpus as Corpus
    from doccluster.corpus.document import Document as Document
    from doccluster.corpus.document import Skipped as Skipped
    from doccluster.corpus.duplicates import find_near_copies as find_near_copies
    from doccluster.corpus.duplicates import find_near_duplicates as find_near_duplicates
    from doccluster.corpus.formats import FORMATS as FORMATS
    from doccluster.corpus.reading import load_sample as load_sample
    from doccluster.corpus.reading import read_corpus as read_corpus
