"""How text gets in: every reader ends in a `Corpus`."""

from doccluster.corpus.assembly import is_companion
from doccluster.corpus.document import Corpus, Document, Skipped
from doccluster.corpus.duplicates import find_exact_duplicates, find_near_duplicates
from doccluster.corpus.formats import FORMATS
from doccluster.corpus.near_copies import find_near_copies
from doccluster.corpus.reading import read_corpus

__all__ = [
    "FORMATS",
    "Corpus",
    "Document",
    "Skipped",
    "find_exact_duplicates",
    "find_near_copies",
    "find_near_duplicates",
    "is_companion",
    "read_corpus",
]
