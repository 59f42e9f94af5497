"""How text gets in: every reader ends in a `Corpus`."""

from doccluster.corpus.document import Corpus, Skipped

__all__ = ["Corpus", "Skipped"]
