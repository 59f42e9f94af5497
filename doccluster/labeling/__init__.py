"""What a cluster is about: terms, representatives, borderline documents."""

from doccluster.labeling.describe import describe_clusters, descriptive_terms, discriminating_terms
from doccluster.labeling.description import Borderline, ClusterDescription, LabelTerm, Representative, Term
from doccluster.labeling.explain import Contrast, Contribution, contrast_clusters, explain_membership
from doccluster.labeling.label_evidence import TitleCounts
from doccluster.labeling.label_phrases import LabelPhrases, count_label_phrases
from doccluster.labeling.label_terms import rank_label_terms
from doccluster.labeling.placement import (
    BORDERLINE_MARGIN,
    Placement,
    borderline_documents,
    own_similarity,
    place_documents,
    representative_documents,
)
from doccluster.labeling.profiles import ClusterProfiles
from doccluster.labeling.short_labels import short_labels

__all__ = [
    "BORDERLINE_MARGIN",
    "Borderline",
    "ClusterDescription",
    "ClusterProfiles",
    "Contrast",
    "Contribution",
    "LabelPhrases",
    "LabelTerm",
    "Placement",
    "Representative",
    "Term",
    "TitleCounts",
    "borderline_documents",
    "contrast_clusters",
    "count_label_phrases",
    "describe_clusters",
    "descriptive_terms",
    "discriminating_terms",
    "explain_membership",
    "own_similarity",
    "place_documents",
    "rank_label_terms",
    "representative_documents",
    "short_labels",
]
