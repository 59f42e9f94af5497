"""Bytes of text -> counts per document: finds the runs of word characters, numbers them and counts them.

A token is looked up by its first sixteen bytes, kept in two 64-bit numbers, and by a comparison of all its bytes when
it is longer, so two tokens are never taken for one. All arrays have their size before the loop starts: growing one
inside it costs most of the speed. When there is no room left, the loop notes where it stands and returns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doccluster.base.compiled import jit

# What is kept of each token in one entry: its first 16 bytes, its hash, and its last place in the output.
LOW, HIGH, HASH, SEEN = range(4)
# Where the counting loop stands, in its `state`.
EDGE, DOCUMENT, KEPT, FIRST, N_TOKENS, N_PLACED, COUNTED = range(7)
PADDING = 16  # zero bytes after the text: eight can be read twice at any place

# numba turns a sum of signed and unsigned numbers into a float, so all arithmetic on keys is unsigned.
_ONE = np.uint64(1)
_TOP_BITS = np.uint64(0x8080808080808080)
_MIX_LOW = np.uint64(0x9E3779B97F4A7C15)
_MIX_HIGH = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX_TAIL = np.uint64(0x100000001B3)
_FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)  # masks for the first 0..8 bytes


class TokenTable(NamedTuple):
    """The tokens met so far, as a hash table, and the bytes of all of them."""

    slots: npt.NDArray[np.int32]  # numbers of tokens, -1 where empty; a power of two
    entries: npt.NDArray[np.uint64]  # (n, 4), of each token: LOW, HIGH, HASH, SEEN
    starts: npt.NDArray[np.int64]  # (n + 1,), of each token, in the arena
    arena: npt.NDArray[np.uint8]  # the bytes of all tokens, each followed by a line break


class CountedTokens(NamedTuple):
    """The counts of the tokens of each document, one document after the other."""

    columns: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]  # how many tokens each document has


@jit(inner=True)
def eight_bytes(array, place):
    """Return the eight bytes that begin at any place of a uint8 array as one number, the first byte lowest."""
    first = np.uint64(place)  # unsigned: no place is counted from the end, so that this is one load
    word = np.uint64(array[first])
    word |= np.uint64(array[first + np.uint64(1)]) << np.uint64(8)
    word |= np.uint64(array[first + np.uint64(2)]) << np.uint64(16)
    word |= np.uint64(array[first + np.uint64(3)]) << np.uint64(24)
    word |= np.uint64(array[first + np.uint64(4)]) << np.uint64(32)
    word |= np.uint64(array[first + np.uint64(5)]) << np.uint64(40)
    word |= np.uint64(array[first + np.uint64(6)]) << np.uint64(48)
    return word | (np.uint64(array[first + np.uint64(7)]) << np.uint64(56))


@jit
def find_words(text, lowers, is_word, words, edges):
    """Write the words of a text in UTF-8 into `words`, zeros between them, and their two ends, in turn, into `edges`.

    Returns how many edges there are. lowers: whether letters of ASCII are lowered (the others are already); is_word:
    which characters are parts of words, by code point, empty when all are ASCII.
    """
    step = np.uint8(32) if lowers else np.uint8(0)
    for place in range(text.size):  # what is beyond ASCII counts as part of a word here
        byte = text[place]
        is_upper = np.uint8(byte - np.uint8(65)) < np.uint8(26)
        is_letter = np.uint8((byte | np.uint8(32)) - np.uint8(97)) < np.uint8(26)
        is_digit = np.uint8(byte - np.uint8(48)) < np.uint8(10)
        in_word = is_letter | is_digit | (byte == np.uint8(95)) | (byte > np.uint8(127))
        words[place] = (byte + step * np.uint8(is_upper)) * np.uint8(in_word)
    place = np.int64(0)
    while is_word.size and place < text.size - PADDING:
        if eight_bytes(text, place) & _TOP_BITS == 0:
            place += 8
            continue
        lead = np.int64(text[place])
        width = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
        point = lead & (0xFF >> (width + 1))
        for following in range(place + 1, place + width):
            point = point << 6 | np.int64(text[following]) & 0x3F
        if width > 1 and not is_word[point]:
            words[place : place + width] = 0
        place += width
    n_edges = 0
    before = np.uint8(0)
    for place in range(text.size):  # without a branch, which no processor foresees
        here = words[place]
        edges[n_edges] = place
        n_edges += (here == 0) != (before == 0)
        before = here
    return n_edges


@jit(inner=True)
def same_bytes(arena, start, text, place, size):
    """Return whether a token of the arena is `text[place:place + size]`; the first 16 bytes are known to agree."""
    for offset in range(16, size):  # noqa: SIM110 - numba compiles the loop, not a generator
        if arena[start + offset] != text[place + offset]:
            return False
    return True


@jit
def count_words(words, edges, ends, shortest, tokens, counted_tokens, state):
    """Count the words of at least `shortest` characters of each document; returns whether all were counted.

    `words`: bytes of all documents and `PADDING` zeros. `edges`: where words begin and end, in turn. `ends`: where
    each document ends. `state`: where the loop stands; for a new text those before N_TOKENS are zero, and COUNTED is 1
    before the first. N_PLACED: how many tokens are in slots, none after these were made anew.
    """
    slots, entries, starts, arena = tokens
    columns, counts, lengths = counted_tokens
    document, n_entries, first, n_tokens = state[DOCUMENT], state[KEPT], state[FIRST], state[N_TOKENS]
    # Places go on from one text to the next, so that those of earlier texts are below all of this one.
    counted = state[COUNTED]
    mask = np.uint64(slots.size - 1)
    for token in range(state[N_PLACED], n_tokens):
        slot = entries[token, HASH] & mask
        while slots[slot] >= 0:
            slot = (slot + _ONE) & mask
        slots[slot] = token
    for edge in range(state[EDGE], edges.size, 2):
        begin, end = np.int64(edges[edge]), np.int64(edges[edge + 1])
        size = end - begin
        low = eight_bytes(words, begin) & _FIRST_BYTES[min(size, 8)]
        high = eight_bytes(words, begin + 8) & _FIRST_BYTES[min(max(size - 8, 0), 8)]
        characters = size
        if ((low | high) & _TOP_BITS != 0 or size > 16) and size < 4 * shortest:
            for place in range(begin, end):  # bytes that continue a character do not count
                characters -= (words[place] & np.uint8(0xC0)) == np.uint8(0x80)
        if characters < shortest:
            continue
        code = low * _MIX_LOW ^ high * _MIX_HIGH
        for place in range(begin + 16, end):
            code = (code ^ np.uint64(words[place])) * _MIX_TAIL
        code = (code ^ (code >> np.uint64(32))) * _MIX_LOW >> np.uint64(16)
        slot = code & mask
        token = np.int64(slots[slot])
        # a token of fewer than 16 bytes is all in its key, and no token holds a zero byte
        while token >= 0 and not (
            entries[token, LOW] == low
            and entries[token, HIGH] == high
            and (
                size < 16
                or (
                    starts[token + 1] - starts[token] == size + 1
                    and same_bytes(arena, starts[token], words, begin, size)
                )
            )
        ):
            slot = (slot + _ONE) & mask
            token = np.int64(slots[slot])
        while begin > ends[document]:
            lengths[document] = n_entries - first
            first = n_entries
            document += 1
        if token < 0:
            token, used_bytes = n_tokens, starts[n_tokens]
            if token == entries.shape[0] or used_bytes + size >= arena.size:
                state[EDGE], state[DOCUMENT], state[KEPT], state[FIRST] = edge, document, n_entries, first
                state[N_TOKENS] = state[N_PLACED] = n_tokens
                return False
            n_tokens += 1
            slots[slot] = token
            entries[token, LOW], entries[token, HIGH], entries[token, HASH] = low, high, code
            entries[token, SEEN] = 0
            for offset in range(size):
                arena[used_bytes + offset] = words[begin + offset]
            arena[used_bytes + size] = 10
            starts[token + 1] = used_bytes + size + 1
        # Whether the document had the token before cannot be foreseen either, so there is no branch on it.
        last_place = np.int64(entries[token, SEEN]) - counted
        is_new = last_place < first
        where = n_entries if is_new else last_place
        columns[n_entries] = token
        counts[n_entries] = 0
        counts[where] += 1
        entries[token, SEEN] = counted + where
        n_entries += is_new
    lengths[document:] = 0
    lengths[document] = n_entries - first
    state[KEPT], state[COUNTED] = n_entries, counted + n_entries
    state[N_TOKENS] = state[N_PLACED] = n_tokens
    return True
