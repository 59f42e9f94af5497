r"""Which regular expressions are sure to end soon on any text, so that one from another person's file may be used.

A matcher that goes back and tries again needs time that grows with a power of the text's length, or doubles with each
letter, where the same letters can be divided among repetitions in many ways: `(\w+)+!`, `\w*\w*\w*!`. Patterns are
therefore taken apart, and refused where two repetitions could share letters. Some harmless patterns are refused too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from doccluster.text.tokens import build_tokenizer, word_run_length

LONGEST = 200  # characters of a pattern
_ATOM = re.compile(
    r"""(?P<open>\((?:\?:)?(?!\?)) | (?P<close>\)) | (?P<bar>\|) | (?P<edge>\\[bBAZ]|[\^$])
    | (?P<letter>\\[wWdDsS.+*?()\[\]{}|^$\\/'"&@\#_-]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\()\[\]{}|*+?^$])""",
    re.VERBOSE,
)
_TIMES = re.compile(r"(?:(?P<sign>[*+?])|\{(?P<low>\d{0,4})(?P<comma>,)?(?P<high>\d{0,4})\})\??")
# letters that stand for all others when sets of letters are compared
_LETTERS = "".join(map(chr, range(128))) + "àßéğñøÅЖдעم漢かン가ก０½²€–—’‘“”…\xa0\u0301\U0001f600"
_MANY = 8  # a repetition that may be longer counts as one without an end


@dataclass(frozen=True)
class Piece:
    """A part of a pattern.

    Attributes
    ----------
    letters, first : frozenset of str
        The letters it may hold, and those it may begin with.
    may_be_empty, may_be_long, is_fixed : bool
        Whether it may match nothing, may match many letters, always matches equally many.
    is_ambiguous : bool
        Whether a text may match it in several ways.
    begins_apart : bool
        Whether it begins with one letter that can be nowhere else in it.
    """

    letters: frozenset[str]
    first: frozenset[str]
    may_be_empty: bool = False
    may_be_long: bool = False
    is_fixed: bool = True
    is_ambiguous: bool = False
    begins_apart: bool = False


def check_safe_pattern(pattern: str) -> None:
    r"""Raise ValueError unless a pattern is one of those that are sure to end soon.

    >>> check_safe_pattern(r"(?u)\b\w\w+\b"), check_safe_pattern(r"[a-z]+(?:-[a-z]+)*")
    (None, None)
    >>> check_safe_pattern(r"\w+\w+!")
    Traceback (most recent call last):
        ...
    ValueError: the token pattern '\\w+\\w+!' might never finish on some texts: two repetitions share letters
    """
    build_tokenizer(pattern[: LONGEST + 1])
    if word_run_length(pattern) is not None:
        return
    try:
        if len(pattern) > LONGEST:
            raise _Unsafe(f"it has more than {LONGEST} characters")
        _Reader(re.sub(r"^\(\?[aimsux]+\)", "", pattern)).read()
    except _Unsafe as reason:
        shown = repr(pattern[:80])
        raise ValueError(f"the token pattern {shown} might never finish on some texts: {reason}") from None


class _Unsafe(ValueError):
    pass


class _Reader:
    """Takes a pattern apart from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0

    def read(self) -> None:
        self._alternatives()
        if self.place < len(self.pattern):
            raise _Unsafe(f"{self.pattern[self.place :][:10]!r} is not looked into")

    def _alternatives(self) -> Piece:
        """Read up to a closing bracket, or the end."""
        branches = [self._sequence()]
        while self.pattern[self.place : self.place + 1] == "|":
            self.place += 1
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        return Piece(
            _union(branch.letters for branch in branches),
            _union(branch.first for branch in branches),
            may_be_empty=any(branch.may_be_empty for branch in branches),
            may_be_long=any(branch.may_be_long for branch in branches),
            is_fixed=False,
            is_ambiguous=True,
        )

    def _sequence(self) -> Piece:
        pieces: list[Piece] = []
        while self.place < len(self.pattern) and self.pattern[self.place] not in "|)":
            piece = self._repeated()
            if piece is not None:
                _check_neighbours(pieces, piece)
                pieces.append(piece)
        return _joined(pieces)

    def _repeated(self) -> Piece | None:
        """Read one letter, set or group with its number of times; an edge has no letters."""
        start = self.place
        match = _ATOM.match(self.pattern, self.place)
        if match is None:
            raise _Unsafe(f"{self.pattern[self.place :][:10]!r} is not looked into")
        self.place = match.end()
        if match["edge"]:
            return None
        if match["open"]:
            body = self._alternatives()
            if self.pattern[self.place : self.place + 1] != ")":
                raise _Unsafe("a bracket is not closed")
            self.place += 1
        else:
            letter = re.compile(match[0])
            letters = frozenset(one for one in _LETTERS if letter.fullmatch(one))
            body = Piece(letters, letters)
        low, high = self._times()
        if high > 1:
            _check_repeated(body, self.pattern[start : self.place])
        return replace(
            body,
            may_be_empty=body.may_be_empty or low == 0,
            may_be_long=body.may_be_long or high > _MANY,
            is_fixed=body.is_fixed and low == high,
            begins_apart=body.begins_apart and low == high == 1,
        )

    def _times(self) -> tuple[int, int]:
        """Read the least and the largest number of times."""
        match = _TIMES.match(self.pattern, self.place)
        if match is None:
            return 1, 1
        self.place = match.end()
        if match["sign"]:
            return int(match["sign"] == "+"), 1 if match["sign"] == "?" else sys.maxsize
        low = int(match["low"] or 0)
        return low, low if not match["comma"] else int(match["high"] or sys.maxsize)


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _joined(pieces: list[Piece]) -> Piece:
    """Return a sequence as one piece."""
    n_first = next((place + 1 for place, piece in enumerate(pieces) if not piece.may_be_empty), len(pieces))
    others = [_union(other.letters for other in (*pieces[:i], *pieces[i + 1 :])) for i in range(len(pieces))]
    variable = [i for i, piece in enumerate(pieces) if not piece.is_fixed]
    return Piece(
        _union(piece.letters for piece in pieces),
        _union(piece.first for piece in pieces[:n_first]),
        may_be_empty=all(piece.may_be_empty for piece in pieces),
        may_be_long=any(piece.may_be_long for piece in pieces),
        is_fixed=not variable,
        is_ambiguous=any(one.is_ambiguous for one in pieces) or any(pieces[i].letters & others[i] for i in variable),
        begins_apart=bool(pieces) and pieces[0].is_fixed and not pieces[0].letters & others[0],
    )


def _check_neighbours(before: list[Piece], last: Piece) -> None:
    """Raise if a long piece before and the last one can share letters, and nothing says where one of them ends."""
    if not last.may_be_long:
        return
    between: list[Piece] = []
    for earlier in reversed(before):
        if earlier.may_be_long and earlier.letters & last.letters and earlier.letters & last.first:
            walls = (piece.letters for piece in between if not piece.may_be_empty)
            if not any(not wall & earlier.letters or not wall & last.letters for wall in walls):
                raise _Unsafe("two repetitions share letters")
        between.append(earlier)


def _check_repeated(body: Piece, shown: str) -> None:
    """Raise unless a text can be divided in one way only among the times of what is repeated."""
    if body.may_be_empty:
        raise _Unsafe(f"{shown[:20]!r} repeats what may be empty")
    if body.is_ambiguous or not (body.is_fixed or body.begins_apart):
        raise _Unsafe(f"{shown[:20]!r} repeats what can be divided in several ways")
