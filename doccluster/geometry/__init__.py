"""Documents as points: their projections, and which lie near which."""

from __future__ import annotations

from doccluster.geometry.neighbours import NeighbourGraph, nearest_neighbours
from doccluster.geometry.projection import SemanticSpace, latent_semantic_space, smoothed_rows

__all__ = ["NeighbourGraph", "SemanticSpace", "latent_semantic_space", "nearest_neighbours", "smoothed_rows"]
