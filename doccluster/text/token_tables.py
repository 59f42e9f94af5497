"""What the loops over text share: the table of tokens met so far, the room they work in, and where they stand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# What is kept of each token in one entry: its first 16 bytes, its hash, and its last place in the output.
LOW, HIGH, HASH, SEEN = range(4)
SPAN = SEEN  # of a token that is being looked up: its place in the text and its size
# Where the counting loop stands, in its `state`.
DOCUMENT, PLACE, KEPT, FIRST, PENDING, N_TOKENS, ARENA_USED, COUNTED = range(8)

PIECE = 1 << 14  # bytes of text that are taken apart before they are counted
PADDING = 88  # bytes after the text: its last 64 are looked at together, and eight bytes can be read at any place


class Wording(NamedTuple):
    """What a word is."""

    lowers: bool  # whether letters of ASCII are lowered; the others are lowered already
    is_word: npt.NDArray[np.uint8]  # which characters are parts of words, by code point; empty when all are ASCII
    shortest: int  # the fewest characters of a token


class TokenTable(NamedTuple):
    """The tokens met so far, as a hash table, and the bytes of all of them."""

    slots: npt.NDArray[np.int32]  # numbers of tokens, -1 where empty; a power of two
    entries: npt.NDArray[np.uint64]  # (n, 4), of each token: LOW, HIGH, HASH, SEEN
    sizes: npt.NDArray[np.int32]  # of each token, in bytes
    starts: npt.NDArray[np.int64]  # of each token, in the arena
    arena: npt.NDArray[np.uint8]  # the bytes of all tokens, each followed by a line break


class CountingRoom(NamedTuple):
    """Room to count a text in: two arrays of the size of the text, and two of the size of a piece of it."""

    folded: npt.NDArray[np.uint8]  # receives the lowered text
    gaps: npt.NDArray[np.uint8]  # receives where no word is
    edges: npt.NDArray[np.int32]  # (PIECE + 1,)
    keys: npt.NDArray[np.uint64]  # (PIECE // 2 + 1, 4)


class CountedTokens(NamedTuple):
    """What was counted: the tokens of one document after the other."""

    columns: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]  # how many tokens each document has
