"""The articles of living stories by their terms: the products of a document with all of them at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from doccluster.kernels.postings import END, LENGTH, NEXT, Postings, add_document, add_products, keep_slots
from doccluster.streams.frequencies import WeightedTerms

PLACES_FOR_EACH = 1.5  # of an arena that was packed: 1.25 are in lists, the rest is for lists that are moved
_FIRST_TERMS, _FIRST_PLACES, _FIRST_SLOTS = 1 << 12, 1 << 14, 1 << 8


class ArticleIndex:
    """Articles by slot. A slot is free, in use, or given up: then its postings go when the index is packed."""

    def __init__(self) -> None:
        self._lists = np.zeros((_FIRST_TERMS, 3), dtype=np.int64)
        self._slots = np.zeros(_FIRST_PLACES, dtype=np.int32)
        self._weights = np.zeros(_FIRST_PLACES, dtype=np.float32)
        self._state = np.zeros(2, dtype=np.int64)
        self._free = list(range(_FIRST_SLOTS - 1, -1, -1))
        self._given_up: list[int] = []
        self.n_slots = _FIRST_SLOTS

    def add(self, vectors: WeightedTerms) -> int:
        """Add an article; return its slot."""
        if not self._free:
            self._free = list(range(2 * self.n_slots - 1, self.n_slots - 1, -1))
            self.n_slots *= 2
        slot = self._free.pop()
        n_terms = int(vectors.ids.max(initial=-1)) + 1
        if n_terms > len(self._lists):
            self._lists = np.concatenate([self._lists, np.zeros((2 * n_terms - len(self._lists), 3), dtype=np.int64)])
        self._state[NEXT] = 0
        while not add_document(vectors.ids, vectors.values, slot, self._postings, self._state):
            self._pack(np.ones(self.n_slots, dtype=np.bool_))
        return slot

    def give_up(self, slot: int) -> None:
        """Let go of an article."""
        self._given_up.append(slot)
        if len(self._given_up) > max(64, self.n_slots // 2):
            is_kept = np.ones(self.n_slots, dtype=np.bool_)
            is_kept[self._given_up] = False
            self._free = sorted({*self._free, *self._given_up}, reverse=True)
            self._given_up = []
            self._pack(is_kept)

    def products(self, vectors: WeightedTerms) -> npt.NDArray[np.float64]:
        """Return the products of a document with all articles: array of shape (n_slots,)."""
        found = np.zeros(self.n_slots, dtype=np.float64)
        add_products(vectors.ids, vectors.values, self._postings, found)
        return found

    @property
    def _postings(self) -> Postings:
        return Postings(self._lists, self._slots, self._weights)

    def _pack(self, is_kept: npt.NDArray[np.bool_]) -> None:
        """Copy what is in the lists to a new arena; what they left behind when they were moved stays in the old one."""
        lengths = self._lists[:, LENGTH]
        n_places = max(_FIRST_PLACES, int(PLACES_FOR_EACH * lengths.sum()) + 2 * int(lengths.max()))
        slots, weights = np.zeros(n_places, dtype=np.int32), np.zeros(n_places, dtype=np.float32)
        self._state[END] = keep_slots(is_kept, self._postings, slots, weights)
        self._slots, self._weights = slots, weights
