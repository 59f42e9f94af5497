"""Bytes of text -> counts per document: finds the runs of word characters, numbers them and counts them.

Eight bytes are looked at a time. A token is looked up by its first sixteen bytes, kept in two 64-bit numbers, and by a
comparison of all its bytes when it is longer, so two tokens are never taken for one. All arrays have their size before
the loop starts: growing one inside it costs most of the speed. When there is no room left, the loop notes where it
stands and returns.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.intrinsics import eight_bytes
from doccluster.kernels.jit import jit
from doccluster.kernels.text_loops import (
    ARENA_USED,
    COUNTED,
    DOCUMENT,
    FIRST,
    HASH,
    HIGH,
    KEPT,
    LOW,
    N_TOKENS,
    PLACE,
    SEEN,
)

# numba turns a sum of signed and unsigned numbers into a float, so all arithmetic on keys is unsigned.
_ONE = np.uint64(1)
_SEVEN = np.uint64(7)
_HALF = np.uint64(32)
_TOP_BYTE = np.uint64(56)
_TOP_BITS = np.uint64(0x8080808080808080)
_WHICH_BYTE = np.uint64(0x0001020304050607)
_MIX_LOW = np.uint64(0x9E3779B97F4A7C15)
_MIX_HIGH = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX_TAIL = np.uint64(0x100000001B3)
FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)  # masks for the first 0..8 bytes


@jit
def code_point(text, place):
    """Return the character that starts at `place` and how many bytes it has; `text` is UTF-8, not ASCII there."""
    lead = np.int64(text[place])
    second = np.int64(text[place + 1]) & 0x3F
    if lead < 0xE0:
        return ((lead & 0x1F) << 6) | second, 2
    third = np.int64(text[place + 2]) & 0x3F
    if lead < 0xF0:
        return ((lead & 0x0F) << 12) | (second << 6) | third, 3
    return ((lead & 0x07) << 18) | (second << 12) | (third << 6) | (np.int64(text[place + 3]) & 0x3F), 4


@jit
def mark_gaps(text, lower, folded, gaps):
    """Write `text` into `folded`, lowered if `lower`, and 0x80 into `gaps` at each byte that is in no ASCII word.

    Bytes beyond ASCII count as parts of words here; see `mark_gaps_beyond_ascii`.
    """
    step = np.uint8(32) if lower else np.uint8(0)
    for place in range(text.size):
        byte = text[place]
        is_upper = np.uint8(byte - np.uint8(65)) < np.uint8(26)
        is_letter = np.uint8((byte | np.uint8(32)) - np.uint8(97)) < np.uint8(26)
        is_digit = np.uint8(byte - np.uint8(48)) < np.uint8(10)
        is_word = is_letter | is_digit | (byte == np.uint8(95)) | (byte > np.uint8(127))
        folded[place] = byte + step * np.uint8(is_upper)
        gaps[place] = np.uint8(0) if is_word else np.uint8(128)


@jit
def mark_gaps_beyond_ascii(text, is_word, n_bytes, gaps):
    """Mark in `gaps` the bytes of characters beyond ASCII that are no word characters (is_word: by code point)."""
    place = 0
    while place < n_bytes:
        if eight_bytes(text, place) & _TOP_BITS == 0:
            place += 8
            continue
        stop = min(place + 8, n_bytes)
        while place < stop:
            if text[place] < 128:
                place += 1
                continue
            point, width = code_point(text, place)
            if not is_word[point]:
                for byte in range(place, place + width):
                    gaps[byte] = 128
            place += width


@jit
def first_marked(bits):
    """Return which of eight bytes is the first with its top bit set; at least one is, and no other bit."""
    lowest = bits & (~bits + _ONE)
    return np.int64(((lowest >> _SEVEN) * _WHICH_BYTE) >> _TOP_BYTE)


@jit
def next_run(gaps, place, stop):
    """Return where the next run of word characters begins and ends; it begins at `stop` or later if there is none."""
    bits = ~eight_bytes(gaps, place) & _TOP_BITS
    while bits == 0:
        place += 8
        if place >= stop:
            return place, place
        bits = ~eight_bytes(gaps, place) & _TOP_BITS
    begin = place + first_marked(bits)
    place = begin
    bits = eight_bytes(gaps, place) & _TOP_BITS
    while bits == 0:
        place += 8
        bits = eight_bytes(gaps, place) & _TOP_BITS
    return begin, place + first_marked(bits)


@jit
def is_shorter(text, begin, end, shortest):
    """Return whether a run has fewer than `shortest` characters; bytes that continue a character do not count."""
    characters = end - begin
    if characters >= 4 * shortest:
        return False
    for place in range(begin, end):
        characters -= (text[place] & np.uint8(0xC0)) == np.uint8(0x80)
    return characters < shortest


@jit
def token_key(text, begin, end):
    """Return the first 16 bytes of a token as two numbers, and its hash."""
    # Without branches on the size, which no processor foresees.
    size = end - begin
    low = eight_bytes(text, begin) & FIRST_BYTES[min(size, 8)]
    in_high = min(max(size - 8, 0), 8)
    high = eight_bytes(text, begin + 8) & FIRST_BYTES[in_high]
    code = low * _MIX_LOW ^ high * _MIX_HIGH
    for place in range(begin + 16, end):
        code = (code ^ np.uint64(text[place])) * _MIX_TAIL
    return low, high, (code ^ (code >> _HALF)) * _MIX_LOW >> np.uint64(16)


@jit
def find_token(text, begin, size, low, high, code, slots, entries, sizes, starts, arena):
    """Return the number of a token, or -1 when it is new, and the slot where the search ended."""
    mask = np.uint64(slots.size - 1)
    slot = code & mask
    while True:
        token = np.int64(slots[slot])
        if token < 0:
            return token, slot
        if entries[token, LOW] == low and entries[token, HIGH] == high:
            # A token of fewer than 16 bytes is all in its key, and no token holds a zero byte.
            if size < 16:
                return token, slot
            if sizes[token] == size and same_bytes(arena, starts[token], text, begin, size):
                return token, slot
        slot = (slot + _ONE) & mask


@jit
def same_bytes(arena, start, text, place, size):
    """Return whether a token of the arena is `text[place:place + size]`; the first 16 bytes are known to agree."""
    for offset in range(16, size):  # noqa: SIM110 - numba compiles the loop, not a generator
        if arena[start + offset] != text[place + offset]:
            return False
    return True


@jit
def store_token(text, begin, size, token, low, high, code, slot, slots, entries, sizes, starts, arena, used):
    """Write a new token into the tables and the arena; returns how much of the arena is used then."""
    slots[slot] = token
    entries[token, LOW] = low
    entries[token, HIGH] = high
    entries[token, HASH] = code
    entries[token, SEEN] = 0
    sizes[token] = size
    starts[token] = used
    for offset in range(size):
        arena[used + offset] = text[begin + offset]
    arena[used + size] = 10
    return used + size + 1


@jit
def fill_slots(slots, entries, n_tokens):
    """Put the numbers of all tokens into empty (-1) slots, by their hashes."""
    mask = np.uint64(slots.size - 1)
    for token in range(n_tokens):
        slot = entries[token, HASH] & mask
        while slots[slot] >= 0:
            slot = (slot + _ONE) & mask
        slots[slot] = token


@jit
def save_state(state, document, place, kept, first, n_tokens, used, counted):
    """Note where the loop stands."""
    state[DOCUMENT] = document
    state[PLACE] = place
    state[KEPT] = kept
    state[FIRST] = first
    state[N_TOKENS] = n_tokens
    state[ARENA_USED] = used
    state[COUNTED] = counted


@jit
def count_runs(
    text, gaps, ends, is_ascii, shortest, slots, entries, sizes, starts, arena, columns, counts, lengths, state
):
    """Count the runs of at least `shortest` word characters of each document; returns whether all were counted.

    Parameters
    ----------
    text : uint8 array
        The folded documents in UTF-8, one gap byte between two of them, and PADDING gap bytes at the end.
    gaps : uint8 array
        Where no word is (see `mark_gaps`).
    ends : int64 array of shape (n_documents,)
        Where each document ends.
    is_ascii : bool
        Whether every character is one byte.
    shortest : int
        The fewest characters of a token.
    slots, entries, sizes, starts, arena : arrays
        The hash table (int32 numbers of tokens, -1 where empty; a power of two), then of each token: its entry
        (uint64, four columns), its number of bytes, its start in the arena; and the bytes of all tokens, each followed
        by a line break.
    columns, counts, lengths : int32 arrays
        Receive the tokens of each document, how often they occur, and how many there are.
    state : int64 array of shape (7,)
        Where the loop stands; the first four are zero for a new text, and COUNTED is 1 before the first text.
    """
    place = state[PLACE]
    kept = state[KEPT]
    first = state[FIRST]
    n_tokens = state[N_TOKENS]
    used = state[ARENA_USED]
    # Places go on from one text to the next, so that those of earlier texts are below all of this one.
    counted = state[COUNTED]
    for document in range(state[DOCUMENT], ends.size):
        stop = ends[document]
        while True:
            begin, end = next_run(gaps, place, stop)
            if begin >= stop:
                break
            place = end
            size = end - begin
            if size < shortest or (not is_ascii and is_shorter(text, begin, end, shortest)):
                continue
            low, high, code = token_key(text, begin, end)
            token, slot = find_token(text, begin, size, low, high, code, slots, entries, sizes, starts, arena)
            if token < 0:
                if n_tokens == sizes.size or used + size + 1 > arena.size:
                    save_state(state, document, begin, kept, first, n_tokens, used, counted)
                    return False
                token = n_tokens
                n_tokens += 1
                used = store_token(
                    text, begin, size, token, low, high, code, slot, slots, entries, sizes, starts, arena, used
                )
            where = np.int64(entries[token, SEEN]) - counted
            if where >= first:
                counts[where] += 1
            else:
                entries[token, SEEN] = counted + kept
                columns[kept] = token
                counts[kept] = 1
                kept += 1
        lengths[document] = kept - first
        first = kept
        place = stop + 1
    save_state(state, ends.size, place, kept, first, n_tokens, used, counted + kept)
    return True


@jit
def absorb_tokens(
    slots, entries, sizes, starts, arena, other_entries, other_sizes, other_starts, other_arena, state, numbers
):
    """Number the tokens of another counter as in this one, adding those it lacks; there must be room for all.

    numbers: int32 array of the size of the other counter, receives the number here of each of its tokens.
    """
    n_tokens = state[N_TOKENS]
    used = state[ARENA_USED]
    for other in range(numbers.size):
        low, high, code = other_entries[other, LOW], other_entries[other, HIGH], other_entries[other, HASH]
        begin, size = other_starts[other], np.int64(other_sizes[other])
        token, slot = find_token(other_arena, begin, size, low, high, code, slots, entries, sizes, starts, arena)
        if token < 0:
            token = n_tokens
            n_tokens += 1
            used = store_token(
                other_arena, begin, size, token, low, high, code, slot, slots, entries, sizes, starts, arena, used
            )
        numbers[other] = token
    state[N_TOKENS] = n_tokens
    state[ARENA_USED] = used


@jit
def copy_tokens(order, sizes, starts, arena, out):
    """Write the tokens in the given order into `out`, each followed by a line break."""
    place = 0
    for token in order:
        size = np.int64(sizes[token])
        for offset in range(size + 1):
            out[place + offset] = arena[starts[token] + offset]
        place += size + 1
