"""Naive definitions of the measures, written from the papers and not from the code: what the contract tests trust.

Each module has ``ORACLES``: the name of a registered measure to a plain function. External ones take two lists of
labels, ``oracle(found, truth)``; the others take a dense matrix, a list of labels and the metric.
"""
