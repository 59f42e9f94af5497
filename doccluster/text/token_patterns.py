r"""Which regular expressions are sure to end soon on any text, so that one from another person's file may be used.

A matcher that goes back and tries again needs time that grows with a power of the text's length, or doubles with each
letter, where the same letters can be divided among repetitions in many ways: `(\w+)+!`, `\w*\w*\w*!`. So a pattern is
read from left to right, and refused where two repetitions could share letters. Some harmless ones are refused too:
those with groups inside groups, alternatives inside a group, or what looks ahead or back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from doccluster.text.tokens import build_tokenizer, word_run_length

LONGEST = 200  # characters of a pattern
_LETTER = r"""\\[wWdDsS.+*?()\[\]{}|^$\\/'"&@\#_-]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\()\[\]{}|*+?^$]"""
_TIMES = r"(?:([*+?])|\{(\d{0,4})(,)?(\d{0,4})\})?\??"
_EDGE = re.compile(r"\\[bBAZ]|[\^$]")
_ITEM = re.compile(f"({_LETTER}){_TIMES}")
_GROUP = re.compile(rf"\((?:\?:)?((?:\\[bBAZ]|(?:{_LETTER}){_TIMES})*)\){_TIMES}")
_BRANCH = re.compile(rf"((?:\((?:{_LETTER}|[?*+^${{}}])*\)|{_LETTER}|\\[bBAZ]|[*+?^${{}}])*)(\||$)")
# letters that stand for all others when sets of letters are compared
_SAMPLE = "".join(map(chr, range(128))) + "àßéğñøÅЖдעم漢かン가ก０½²€–—’‘“”…\xa0\u0301\U0001f600"

Letters = frozenset[str]


@dataclass(frozen=True)
class Item:
    """A letter or a set of letters, and how often it is there."""

    letters: Letters
    low: int
    high: float


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
    reason = f"it has more than {LONGEST} characters" if len(pattern) > LONGEST else ""
    unread = re.sub(r"^\(\?[aimsux]+\)", "", pattern)
    while unread and not reason:
        branch = _BRANCH.match(unread)
        if branch is None:
            reason = f"{unread[:10]!r} is not looked into"
            break
        reason, unread = _danger(branch[1]), unread[branch.end() :]
    if reason:
        raise ValueError(f"the token pattern {pattern[:80]!r} might never finish on some texts: {reason}")


def _danger(branch: str) -> str:
    """Return why an alternative might take long; an empty text if it cannot."""
    place, open_ended = 0, list[Letters]()  # the letters of items that may still go on
    while place < len(branch):
        if edge := _EDGE.match(branch, place):
            place = edge.end()
            continue
        if group := _GROUP.match(branch, place):
            items = [_item(match) for match in _ITEM.finditer(_EDGE.sub("", group[1]))]
            low, high = _times(group.groups()[-4:])
        elif group := _ITEM.match(branch, place):
            items, low, high = [_item(group)], 1, 1
        else:
            return f"{branch[place:][:10]!r} is not looked into"
        if high > 1 and not _begins_apart(items):
            return f"{group[0][:20]!r} repeats what can be divided in several ways"
        if low != high and (not items or any(items[0].letters & letters for letters in open_ended)):
            return "two repetitions share letters"
        inside = list(open_ended)
        for item in items:
            if item.low != item.high:
                if any(item.letters & letters for letters in inside):
                    return "two repetitions share letters"
                inside.append(item.letters)
            else:  # what has none of these letters ends the repetitions before it
                inside = [letters for letters in inside if item.letters & letters]
        open_ended = inside if low == high else [*open_ended, *inside, items[0].letters]
        place = group.end()
    return ""


def _begins_apart(items: Sequence[Item]) -> bool:
    """Return whether the times of a repeated group can be told apart: by one letter that is nowhere else in it."""
    return (
        bool(items)
        and items[0].low == items[0].high == 1
        and not any(items[0].letters & item.letters for item in items[1:])
    )


def _item(match: re.Match[str]) -> Item:
    letter = re.compile(match[1])
    return Item(
        frozenset(character for character in _SAMPLE if letter.fullmatch(character)), *_times(match.groups()[-4:])
    )


def _times(quantifier: Sequence[str | None]) -> tuple[int, float]:
    """Return the least and the largest number of times."""
    sign, low, comma, high = quantifier
    if sign is not None:
        return int(sign == "+"), 1 if sign == "?" else float("inf")
    if low is None:
        return 1, 1
    least = int(low or 0)
    return least, least if not comma else float(high or "inf")
