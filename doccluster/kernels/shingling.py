"""Shingles as numbers: the codes of neighbouring words mixed into one, in one pass."""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@jit
def mix_shingles(codes, n_words):
    """Return the distinct shingles of a text, in ascending order, from the uint64 codes of its words.

    A text of fewer words than `n_words` is one shingle.
    """
    size = min(n_words, codes.size)
    mixed = np.full(codes.size - size + 1, np.uint64(size), dtype=np.uint64)
    for first in range(mixed.size):
        number = mixed[first]
        for place in range(first, first + size):
            number = (number ^ codes[place]) * _MULTIPLIER
            number ^= number >> _SHIFT
        mixed[first] = number
    mixed.sort()
    kept = 1
    for place in range(1, mixed.size):
        if mixed[place] != mixed[place - 1]:
            mixed[kept] = mixed[place]
            kept += 1
    return mixed[:kept].copy()


@jit
def count_shared(one, other):
    """Return how many numbers are in both of two ascending arrays of distinct numbers."""
    shared = 0
    place = 0
    for number in one:
        while place < other.size and other[place] < number:
            place += 1
        if place < other.size and other[place] == number:
            shared += 1
    return shared
