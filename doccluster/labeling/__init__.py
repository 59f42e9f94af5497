"""What a cluster is about: terms, representatives, borderline documents."""

from doccluster.labeling.description import Borderline, ClusterDescription, Representative, Term

__all__ = ["Borderline", "ClusterDescription", "Representative", "Term"]
