"""Token patterns of files: those that end soon are taken, those that try for ever are refused."""

from __future__ import annotations

import random
import re
import time

import pytest

from doccluster.text.tokens import check_safe_pattern

USUAL = (
    r"(?u)\b\w\w+\b",
    r"\w{3,}",
    r"[a-z]+",
    r"\b[^\W\d_]{2,}\b",
    r"\w+(?:-\w+)*",
    r"\w+(?:['’]\w+)?",
    r"(?:[A-Z]\.)+|\w+",
    r"\d+(?:[.,]\d+)*|[^\W\d_]+",
    r"\w+|[^\w\s]",
    r"\S+",
    r"(\w+)",
    r"#?\w+",
    r"[A-Za-z]+[0-9]*",
)
SLOW = (
    r"(\w+)+!",
    r"(?:\w*)*!",
    r"(?:\w|\d)+!",
    r"(?:a|ab|b)*!",
    r"(?:-a?a?)+!",
    r"(?:-(?:a?a?)b)+!",
    r"(?:a?){60}a{60}!",
    r"\w*\w*\w*\w*\w*\w*!",
    r"(?:\w+){6}!",
    r"\w+\d*\w+\d*\w+\d*\w+!",
    r"(?:\w+\s?)+!",
    r"\w{1,4000}\w{1,4000}\w{1,4000}\w{1,4000}!",
    r"(?:(?:a+)b?)+!",
)


@pytest.mark.parametrize("pattern", USUAL)
def test_usual_patterns_are_taken(pattern):
    check_safe_pattern(pattern)


@pytest.mark.parametrize("pattern", SLOW)
def test_patterns_that_try_for_ever_are_refused(pattern):
    with pytest.raises(ValueError, match="might never finish"):
        check_safe_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", [r"(?=\w+)\w", r"(\w)\1+", r"(?<!a)\w+", r"(?P<name>\w+)", "a" * 500, r"\N{DIGIT ONE}+"]
)
def test_what_is_not_looked_into_is_refused(pattern):
    with pytest.raises(ValueError, match="might never finish"):
        check_safe_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(", "[a", "(a)(b)", "*"])
def test_what_finds_no_tokens_is_refused_as_always(pattern):
    with pytest.raises(ValueError, match="token_pattern"):
        check_safe_pattern(pattern)


ATOMS = (
    "a",
    "b",
    "-",
    r"\w",
    "[ab]",
    ".",
    "(?:a|b)",
    "(?:ab)",
    "(?:-a+)",
    "(?:a+)",
    "(?:a?b)",
    "(?:-a?a?)",
    "(?:a-a*)",
)
TIMES = ("", "", "*", "+", "?", "{2}", "{1,3}", "{9,}", "*?")


def test_no_pattern_that_is_taken_takes_long_on_texts_made_to_hurt_it():
    draw = random.Random(0)
    n_taken = 0
    for _ in range(4000):
        pattern = "".join(draw.choice(ATOMS) + draw.choice(TIMES) for _ in range(draw.randint(1, 4)))
        if draw.random() < 0.4:
            pattern = f"(?:{pattern}){draw.choice(TIMES)}"
        pattern += "!"
        try:
            check_safe_pattern(pattern)
        except ValueError:
            continue
        n_taken += 1
        for text in ("a" * 300, "-a" * 150, "ab" * 150, "-aa" * 100, "a-" * 150):
            before = time.process_time()
            re.search(pattern, text)
            assert time.process_time() - before < 2.0, (pattern, text)
    assert n_taken > 200
