"""Partition -> numbers: three kinds of evidence, and on each of them short plain functions that declare themselves."""

from doccluster.measures.registry import Measure, Values, get_measure, get_measures, list_measures

__all__ = ["Measure", "Values", "get_measure", "get_measures", "list_measures"]
