"""Bytes of text -> counts per document: finds the runs of word characters, numbers them and counts them.

Words are found sixty-four bytes at a time. A token is looked up by its first sixteen bytes, kept in two 64-bit numbers,
and by a comparison of all its bytes when it is longer, so two tokens are never taken for one. All arrays have their
size before the loop starts: growing one inside it costs most of the speed. When there is no room left, the loop notes
where it stands and returns.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit
from doccluster.text.token_tables import (
    ARENA_USED,
    COUNTED,
    DOCUMENT,
    FIRST,
    HASH,
    HIGH,
    KEPT,
    LOW,
    N_TOKENS,
    PENDING,
    PIECE,
    PLACE,
    SEEN,
    SPAN,
)

_MANTISSA = 52  # bits of a float64 below its exponent
_BIAS = 1023  # of that exponent


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


@jit(inner=True)
def trailing_zeros(bits):
    """Return how many zeros are below the lowest bit that is set; one is. It is the exponent of that bit as a float."""
    lowest = bits & (~bits + np.uint64(1))
    return (np.float64(lowest).view(np.int64) >> _MANTISSA) - _BIAS


# numba turns a sum of signed and unsigned numbers into a float, so all arithmetic on keys is unsigned.
_ONE = np.uint64(1)
_SEVEN = np.uint64(7)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_TOP_BYTE = np.uint64(56)
_LAST_BIT = np.uint64(63)
_TOP_BITS = np.uint64(0x8080808080808080)
_EACH_BYTE = np.uint64(0x0101010101010101)
_GATHER = np.uint64(0x0102040810204080)  # times eight bytes of 0 or 1: a byte of eight bits on top
_MIX_LOW = np.uint64(0x9E3779B97F4A7C15)
_MIX_HIGH = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX_TAIL = np.uint64(0x100000001B3)
FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)  # masks for the first 0..8 bytes


@jit(inner=True)
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


@jit(inner=True)
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


@jit(inner=True)
def mark_gaps_beyond_ascii(text, is_word, n_bytes, gaps):
    """Mark in `gaps` the bytes of characters beyond ASCII that are not word characters (is_word: by code point)."""
    place = np.int64(0)
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


@jit(inner=True)
def find_edges(gaps, place, stop, edges, n_edges):
    """Write where words begin and end, in turn, between two places that are multiples of 64; returns their number.

    n_edges: 1 when a word has begun before `place`, its beginning then being the first of the edges; else 0.
    """
    before = np.uint64(n_edges)
    while place < stop:
        in_gap = np.uint64(0)
        for eight in range(8):
            marks = (eight_bytes(gaps, place + 8 * eight) >> _SEVEN) & _EACH_BYTE
            in_gap |= ((marks * _GATHER) >> _TOP_BYTE) << np.uint64(8 * eight)
        in_word = ~in_gap
        changes = in_word ^ ((in_word << _ONE) | before)
        before = in_word >> _LAST_BIT
        while changes != 0:
            edges[n_edges] = place + trailing_zeros(changes)
            n_edges += 1
            changes &= changes - _ONE
        place += 64
    return n_edges


@jit(inner=True)
def is_shorter(text, begin, end, shortest):
    """Return whether a run has fewer than `shortest` characters; bytes that continue a character do not count."""
    characters = end - begin
    if characters >= 4 * shortest:
        return False
    for place in range(begin, end):
        characters -= (text[place] & np.uint8(0xC0)) == np.uint8(0x80)
    return characters < shortest


@jit(inner=True)
def collect_tokens(text, edges, n_edges, is_ascii, shortest, keys):
    """Write the key of each word that is long enough; returns how many there are, and their bytes with one more each.

    keys: uint64 array of four columns: the first 16 bytes of a token as two numbers, its hash, its place and size.
    """
    n_tokens = 0
    n_bytes = 0
    for edge in range(0, n_edges - 1, 2):
        begin, end = np.int64(edges[edge]), np.int64(edges[edge + 1])
        size = end - begin
        # Without branches on the size, which no processor foresees: a word too short is overwritten by the next.
        low = eight_bytes(text, begin) & FIRST_BYTES[min(size, 8)]
        high = eight_bytes(text, begin + 8) & FIRST_BYTES[min(max(size - 8, 0), 8)]
        code = low * _MIX_LOW ^ high * _MIX_HIGH
        for place in range(begin + 16, end):
            code = (code ^ np.uint64(text[place])) * _MIX_TAIL
        keys[n_tokens, LOW] = low
        keys[n_tokens, HIGH] = high
        keys[n_tokens, HASH] = (code ^ (code >> _HALF)) * _MIX_LOW >> np.uint64(16)
        keys[n_tokens, SPAN] = (np.uint64(begin) << _HALF) | np.uint64(size)
        is_token = size >= shortest
        if not is_ascii and ((low | high) & _TOP_BITS != 0 or size > 16) and is_token:
            is_token = not is_shorter(text, begin, end, shortest)
        n_tokens += is_token
        n_bytes += size + 1
    return n_tokens, n_bytes


@jit(inner=True)
def find_token(text, word, tokens):
    """Return the number of a token, or -1 when it is new, and the slot where the search ended."""
    slots, entries, sizes, starts, arena = tokens
    begin, size, low, high, code = word
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


@jit(inner=True)
def same_bytes(arena, start, text, place, size):
    """Return whether a token of the arena is `text[place:place + size]`; the first 16 bytes are known to agree."""
    for offset in range(16, size):  # noqa: SIM110 - numba compiles the loop, not a generator
        if arena[start + offset] != text[place + offset]:
            return False
    return True


@jit(inner=True)
def store_token(text, word, token, slot, tokens, used):
    """Write a new token into the tables and the arena; returns how much of the arena is used then."""
    slots, entries, sizes, starts, arena = tokens
    begin, size, low, high, code = word
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
def count_runs(text, ends, wording, tokens, room, counted_tokens, state):
    """Count the runs of at least `shortest` word characters of each document; returns whether all were counted.

    Three short loops take turns on a piece of the text: edges of words, keys of tokens, counts. Each has few branches,
    and what one leaves to the next stays near the processor. All is one call, since each return waits for the
    interpreter lock.

    Parameters
    ----------
    text : uint8 array
        The documents in UTF-8, a line break between two of them, and PADDING zero bytes at the end.
    ends : int64 array of shape (n_documents,)
        Where each document ends.
    wording : Wording
    tokens : TokenTable
    room : CountingRoom
    counted_tokens : CountedTokens
        Receives what is counted.
    state : int64 array of shape (8,)
        Where the loop stands. For a new text PENDING is -1 and those before it are zero; COUNTED is 1 before the first.
    """
    lowers, is_word, shortest = wording
    folded, gaps, edges, keys = room
    columns, counts, lengths = counted_tokens
    place, pending, document = state[PLACE], state[PENDING], state[DOCUMENT]
    kept, first = state[KEPT], state[FIRST]
    n_tokens, used = state[N_TOKENS], state[ARENA_USED]
    # Places go on from one text to the next, so that those of earlier texts are below all of this one.
    counted = state[COUNTED]
    is_ascii = is_word.size == 0
    if place == 0:
        mark_gaps(text, lowers, folded, gaps)
        if not is_ascii:
            mark_gaps_beyond_ascii(folded, is_word, ends[-1], gaps)
    last, has_room = text.size // 64 * 64, True
    while place < last:
        stop = min(place + PIECE, last)
        edges[0] = max(pending, 0)
        n_edges = find_edges(gaps, place, stop, edges, 1 if pending >= 0 else 0)
        n_found, n_bytes = collect_tokens(folded, edges, n_edges, is_ascii, shortest, keys)
        has_room = n_tokens + n_found <= tokens.sizes.size and used + n_bytes <= tokens.arena.size
        if not has_room:
            break
        pending = np.int64(edges[n_edges - 1]) if n_edges & 1 else -1
        place = stop
        for found in range(n_found):
            low, high, code = keys[found, LOW], keys[found, HIGH], keys[found, HASH]
            begin = np.int64(keys[found, SPAN] >> _HALF)
            size = np.int64(keys[found, SPAN] & _LOW_HALF)
            while begin > ends[document]:
                lengths[document] = kept - first
                first = kept
                document += 1
            word = (begin, size, low, high, code)
            token, slot = find_token(folded, word, tokens)
            if token < 0:
                token = n_tokens
                n_tokens += 1
                used = store_token(folded, word, token, slot, tokens, used)
            # Whether the document had the token before cannot be foreseen either, so there is no branch on it.
            seen = np.int64(tokens.entries[token, SEEN]) - counted
            is_new = seen < first
            where = kept if is_new else seen
            columns[kept] = token
            counts[kept] = 0
            counts[where] += 1
            tokens.entries[token, SEEN] = counted + where
            kept += is_new
    if has_room:
        while document < ends.size:
            lengths[document] = kept - first
            first = kept
            document += 1
        pending = np.int64(-1)
        counted += kept
    state[DOCUMENT], state[PLACE], state[PENDING], state[KEPT] = document, place, pending, kept
    state[FIRST], state[N_TOKENS], state[ARENA_USED], state[COUNTED] = first, n_tokens, used, counted
    return has_room


@jit
def absorb_tokens(tokens, others, state, numbers):
    """Number the tokens of another counter as in this one, adding those it lacks; there must be room for all.

    tokens, others: `TokenTable`; numbers: int32 array, receives the number here of each token of the other counter.
    """
    n_tokens = state[N_TOKENS]
    used = state[ARENA_USED]
    for other in range(numbers.size):
        key = others.entries[other]
        word = (others.starts[other], np.int64(others.sizes[other]), key[LOW], key[HIGH], key[HASH])
        token, slot = find_token(others.arena, word, tokens)
        if token < 0:
            token = n_tokens
            n_tokens += 1
            used = store_token(others.arena, word, token, slot, tokens, used)
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
