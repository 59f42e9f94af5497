"""Terms become a matrix: weighting, the vectorizer, and readers of ready matrices."""

from doccluster.vectors.document_vectors import DocumentVectors

__all__ = ["DocumentVectors"]
