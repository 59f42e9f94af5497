"""Terms become a matrix: weighting, the vectorizers, streams, and readers of ready matrices."""

from doccluster.vectors.document_vectors import DocumentVectors
from doccluster.vectors.hashing import HashingTfidf
from doccluster.vectors.matrix_folder import open_vectors
from doccluster.vectors.read_matrix import read_matrix, write_matrix
from doccluster.vectors.stream import vectorize_stream
from doccluster.vectors.vectorize import vectorize
from doccluster.vectors.vectorizer import TfidfVectorizer

__all__ = [
    "DocumentVectors",
    "HashingTfidf",
    "TfidfVectorizer",
    "open_vectors",
    "read_matrix",
    "vectorize",
    "vectorize_stream",
    "write_matrix",
]
