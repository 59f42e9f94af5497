"""What a cluster is about: terms, representatives, borderline documents."""

from doccluster.labeling.describe import describe_clusters, descriptive_terms, discriminating_terms
from doccluster.labeling.label_terms import short_labels
from doccluster.labeling.placement import (
    Contrast,
    Contribution,
    Placement,
    borderline_documents,
    contrast_clusters,
    explain_membership,
    place_documents,
    representative_documents,
)
from doccluster.labeling.profiles import (
    Borderline,
    ClusterDescription,
    ClusterProfiles,
    LabelTerm,
    NamingRequest,
    Representative,
    Term,
)

__all__ = [
    "Borderline",
    "ClusterDescription",
    "ClusterProfiles",
    "Contrast",
    "Contribution",
    "LabelTerm",
    "NamingRequest",
    "Placement",
    "Representative",
    "Term",
    "borderline_documents",
    "contrast_clusters",
    "describe_clusters",
    "descriptive_terms",
    "discriminating_terms",
    "explain_membership",
    "place_documents",
    "representative_documents",
    "short_labels",
]
