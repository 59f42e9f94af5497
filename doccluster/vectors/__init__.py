"""Terms become a matrix: weighting, the vectorizers, streams, and readers of ready matrices."""

from doccluster.vectors.document_vectors import DocumentVectors, read_matrix, write_matrix
from doccluster.vectors.vectorize import vectorize
from doccluster.vectors.vectorizer import TfidfVectorizer

__all__ = [
    "DocumentVectors",
    "TfidfVectorizer",
    "read_matrix",
    "vectorize",
    "write_matrix",
]
