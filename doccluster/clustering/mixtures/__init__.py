"""Mixtures: von Mises-Fisher distributions over unit rows, multinomials over counts."""
