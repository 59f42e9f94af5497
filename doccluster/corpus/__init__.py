"""How text gets in: every reader ends in a `Corpus`."""

from doccluster.corpus.document import Corpus, Skipped
from doccluster.corpus.formats import FORMATS
from doccluster.corpus.reading import read_corpus

__all__ = ["FORMATS", "Corpus", "Skipped", "read_corpus"]
