"""One damaged input from small valid ones; the same draw gives the same bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

LONGEST = 65_536  # bytes of a mutated input: enough for quadratic time to show, small enough to run thousands

_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_WORD = re.compile(rb"[A-Za-z][A-Za-z0-9_-]+")
_NUMBERS = (
    *(b"-1", b"0", b"-0", b"1", b"255", b"65536", b"2147483647", b"2147483648", b"-2147483649", b"4294967296"),
    *(b"4611686018427387904", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616"),
    *(b"9" * 400, b"1e308", b"1e999", b"-1e-999", b"nan", b"inf", b"-inf", b"0x10", b"1_0", b"1,5", b""),
)
_BYTES = (
    0x00,
    0x01,
    0x0A,
    0x0D,
    0x1B,
    0x20,
    0x22,
    0x26,
    0x27,
    0x3C,
    0x3E,
    0x5B,
    0x7B,
    0x7F,
    0x80,
    0xBF,
    0xC0,
    0xFE,
    0xFF,
)
_WIDE = (-1, -(2**31), 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, -(2**63), 0, 1)

Mutation = Callable[[bytearray, random.Random, Sequence[bytes], Sequence[bytes]], None]


def mutated(
    samples: Sequence[bytes], draw: random.Random, *, tokens: Sequence[bytes] = (), in_place: bool = False
) -> bytes:
    """Return one of `samples` after one to six mutations (now and then none).

    Parameters
    ----------
    samples : sequence of bytes
        Small valid inputs; pieces of the others are spliced into the one that is drawn.
    draw : Random
        Decides on everything.
    tokens : sequence of bytes
        Pieces that mean something in this format: tags, keywords, headers.
    in_place : bool
        Half of the inputs keep their length: for formats where an offset is wrong as soon as one byte is missing.
    """
    ways = _IN_PLACE if in_place and draw.random() < 0.5 else _MUTATIONS
    data = bytearray(draw.choice(samples))
    for _ in range(draw.choice((0, 1, 1, 1, 2, 2, 3, 4, 6))):
        draw.choice(ways)(data, draw, samples, tokens)
        del data[LONGEST:]
    return bytes(data)


def _place(data: bytearray, draw: random.Random) -> int:
    return draw.randrange(len(data) + 1)


def _span(data: bytearray, draw: random.Random, longest: int = 200) -> slice:
    start = _place(data, draw)
    return slice(start, start + draw.randint(1, longest))


def _flip_bits(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    for _ in range(draw.randint(1, 8) if data else 0):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def _set_bytes(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    for _ in range(draw.randint(1, 4) if data else 0):
        data[draw.randrange(len(data))] = draw.choice(_BYTES)


def _truncate(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    del data[_place(data, draw) :]


def _delete(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    del data[_span(data, draw)]


def _repeat(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    span = _span(data, draw, draw.choice((1, 4, 20, 200)))
    block = bytes(data[span])
    times = draw.choice((1, 2, 10, 500, 5000))
    data[span.start : span.start] = block * min(times, LONGEST // max(len(block), 1))


def _repeat_token(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    token = draw.choice(tokens or _NUMBERS)
    place = _place(data, draw)
    data[place:place] = token * min(draw.choice((2, 100, 1500, 10_000)), LONGEST // max(len(token), 1))


def _splice(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    other = bytearray(draw.choice(samples))
    data[_span(data, draw)] = other[_span(other, draw, 400)]


def _join(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    other = draw.choice(samples)
    data[_place(data, draw) :] = other[draw.randrange(len(other) + 1) :]


def _insert_token(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    for _ in range(draw.randint(1, 3)):
        place = _place(data, draw)
        data[place:place] = draw.choice(tokens or _NUMBERS)


def _swap_word(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    found = list(_WORD.finditer(bytes(data[:8192])))
    if found:
        chosen = draw.choice(found)
        data[slice(*chosen.span())] = draw.choice(tokens) if tokens and draw.random() < 0.7 else draw.choice(found)[0]


def _swap_number(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    found = list(_NUMBER.finditer(bytes(data[:8192])))
    if found:
        data[slice(*draw.choice(found).span())] = draw.choice(_NUMBERS)


def _set_integer(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    """Overwrite a field as binary headers have them: two, four or eight bytes, either end first."""
    size = draw.choice((2, 4, 8))
    order = draw.choice(("little", "little", "big"))
    value = draw.choice(_WIDE) % (1 << 8 * size)
    place = _place(data, draw) // size * size if draw.random() < 0.5 else _place(data, draw)
    place = min(place, max(len(data) - size, 0))
    data[place : place + size] = value.to_bytes(size, "little" if order == "little" else "big")


def _swap_blocks(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    one, other = sorted((_place(data, draw), _place(data, draw)))
    size = draw.randint(1, 100)
    block = bytes(data[other : other + size])
    del data[other : other + size]
    data[one:one] = block


def _add_noise(data: bytearray, draw: random.Random, samples: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    place = _place(data, draw)
    data[place:place] = draw.randbytes(draw.choice((1, 3, 9, 300)))


_MUTATIONS: tuple[Mutation, ...] = (
    *(_flip_bits, _set_bytes, _truncate, _delete, _repeat, _repeat_token, _splice, _join),
    *(_insert_token, _swap_word, _swap_number, _set_integer, _swap_blocks, _add_noise),
)

_IN_PLACE: tuple[Mutation, ...] = (_flip_bits, _flip_bits, _set_bytes, _set_integer)


def shrunk(data: bytes, fails: Callable[[bytes], bool], *, most_tries: int = 400) -> bytes:
    """Return a smaller input that still fails: pieces are left out, half the input first, then ever smaller ones."""
    size = len(data) // 2
    tries = 0
    while size > 0 and tries < most_tries:
        place = 0
        while place < len(data) and tries < most_tries:
            shorter = data[:place] + data[place + size :]
            tries += 1
            if fails(shorter):
                data = shorter
            else:
                place += size
        size //= 2
    return data
