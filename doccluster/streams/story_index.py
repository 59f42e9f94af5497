"""The open stories as sums of their documents' vectors, and which of them a document can join."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from doccluster.kernels.story_index import (
    END,
    LENGTH,
    NEXT,
    Postings,
    add_document,
    add_products,
    find_leaders,
    keep_slots,
)
from doccluster.streams.frequencies import WeightedTerms

N_FIELDS = 3
PLACES_FOR_EACH = 1.5  # of an arena that was packed: 1.25 are in lists, the rest is for lists that are moved
_FIRST_TERMS, _FIRST_PLACES, _FIRST_SLOTS = 1 << 12, 1 << 14, 1 << 8

Floats = npt.NDArray[np.float64]


class StoryIndex:
    """Sums of vectors, by slot. A slot is free, in use, or given up: then its postings go when the index is packed."""

    def __init__(self) -> None:
        self._lists = np.zeros((_FIRST_TERMS, 3), dtype=np.int64)
        self._slots = np.zeros(_FIRST_PLACES, dtype=np.int32)
        self._weights = np.zeros((N_FIELDS, _FIRST_PLACES), dtype=np.float64)
        self._state = np.zeros(2, dtype=np.int64)
        self.squares = np.zeros((_FIRST_SLOTS, N_FIELDS), dtype=np.float64)
        self._products = np.zeros((N_FIELDS, _FIRST_SLOTS), dtype=np.float64)
        self._free = list(range(_FIRST_SLOTS - 1, -1, -1))
        self._given_up: list[int] = []
        self._n_used = 0

    @property
    def n_slots(self) -> int:
        """How many slots there are, in use or not."""
        return int(self.squares.shape[0])

    @property
    def n_terms(self) -> int:
        """A number that is above those of all terms in the sums."""
        return int(self._lists.shape[0])

    def take_slot(self) -> int:
        """Return an empty slot."""
        if not self._free:
            old = self.n_slots
            self.squares = np.concatenate([self.squares, np.zeros_like(self.squares)])
            self._products = np.zeros((N_FIELDS, 2 * old), dtype=np.float64)
            self._free = list(range(2 * old - 1, old - 1, -1))
        self._n_used += 1
        return self._free.pop()

    def give_up(self, slot: int) -> None:
        """Let go of the sums of a slot."""
        self._given_up.append(slot)
        self._n_used -= 1
        if len(self._given_up) > max(64, self._n_used):
            self._pack()

    def add(self, slot: int, vectors: WeightedTerms, factor: float) -> None:
        """Add `factor` times the vectors of a document to the sums of a slot."""
        if vectors.ids.size == 0:
            return
        self._make_room_for_terms(int(vectors.ids.max()) + 1)
        self._state[NEXT] = 0
        while not add_document(vectors.ids, vectors.values, factor, slot, self._postings, self.squares, self._state):
            self._repack(np.arange(self.n_slots, dtype=np.int64))

    def products(self, vectors: WeightedTerms) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Return the products of a document with the sums of all slots, by field, and which fields it has.

        float64 array of shape (3, n_slots), the same for every call so that it keeps its memory, and bool array of
        shape (3,).
        """
        found = self._products
        found.fill(0.0)
        has_field = np.zeros(N_FIELDS, dtype=np.bool_)
        add_products(vectors.ids, vectors.values, self._postings, found, has_field)
        return found, has_field

    def leaders(self, products: Floats, usable: npt.NDArray[np.bool_], besides: Sequence[int] = ()) -> Floats:
        """Return the two greatest cosines of all words with usable slots that are not `besides`: float64 array (2,)."""
        found = np.zeros(2, dtype=np.float64)
        find_leaders(products, self.squares, usable, np.array(besides, dtype=np.int64), found)
        return found

    @property
    def _postings(self) -> Postings:
        return Postings(self._lists, self._slots, self._weights)

    def _make_room_for_terms(self, n_terms: int) -> None:
        if n_terms > self.n_terms:
            larger = np.zeros((2 * n_terms, 3), dtype=np.int64)
            larger[: self.n_terms] = self._lists
            self._lists = larger

    def _pack(self) -> None:
        new_slot = np.arange(self.n_slots, dtype=np.int64)
        new_slot[self._given_up] = -1
        self.squares[self._given_up] = 0.0
        self._free = sorted({*self._free, *self._given_up}, reverse=True)
        self._given_up = []
        self._repack(new_slot)

    def _repack(self, new_slot: npt.NDArray[np.int64]) -> None:
        """Copy what is in the lists to a new arena; what they left behind when they were moved stays in the old one."""
        lengths = self._lists[:, LENGTH]
        n_postings = int(lengths.sum())
        n_places = max(_FIRST_PLACES, int(PLACES_FOR_EACH * n_postings) + 2 * int(lengths.max()))
        slots = np.zeros(n_places, dtype=np.int32)
        weights = np.zeros((N_FIELDS, n_places), dtype=np.float64)
        self._state[END] = keep_slots(new_slot, self._postings, slots, weights)
        self._slots, self._weights = slots, weights


class StoryFacts:
    """What is known of the story in each slot besides its sums, as arrays; grows with the slots."""

    def __init__(self) -> None:
        self.usable = np.zeros(_FIRST_SLOTS, dtype=np.bool_)
        self.lasts = np.zeros(_FIRST_SLOTS, dtype=np.float64)
        self.firsts = np.zeros(_FIRST_SLOTS, dtype=np.float64)
        self.counts = np.ones(_FIRST_SLOTS, dtype=np.float64)
        self.waits = np.zeros(_FIRST_SLOTS, dtype=np.float64)
        self.languages = np.zeros(_FIRST_SLOTS, dtype=np.int64)

    def make_room(self, n_slots: int) -> None:
        """Have a place for each slot."""
        if n_slots > self.usable.size:
            for name, blank in (
                ("usable", 0),
                ("lasts", 0),
                ("firsts", 0),
                ("waits", 0),
                ("counts", 1),
                ("languages", 0),
            ):
                old = getattr(self, name)
                larger = np.full(n_slots, blank, dtype=old.dtype)
                larger[: old.size] = old
                setattr(self, name, larger)
