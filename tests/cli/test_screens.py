"""Every screen of the command line is the one that is kept: each verb, plain and --json, piped and in 80 columns."""

from __future__ import annotations

import difflib
import sys
from importlib import metadata

import click
import pytest

from doccluster.cli.main import COMMANDS, commands
from tests.golden.screens import CALLS, kept_screens, screens

AGAIN = "if these changes are meant, `make screens` writes the screens again"
# what needs processes of its own, or compiles everything; their tests are in tests/experiments and test_compiling.py
UNSEEN = {"benchmark", "warm-up"}


@pytest.mark.skipif(sys.platform != "linux", reason="the screens are kept as Linux has them")
@pytest.mark.skipif(
    tuple(map(int, metadata.version("rich").split(".")[:2])) < (14, 3), reason="older rich lays out tables otherwise"
)
@pytest.mark.parametrize("narrow", [False, True], ids=["piped", "terminal of 80 columns"])
def test_every_screen_is_the_one_that_is_kept(narrow):
    kept, shown = kept_screens(narrow=narrow), screens(narrow=narrow)
    changes = []
    for call, screen in shown.items():
        pair = kept.get(call, "").splitlines(), screen.splitlines()
        changes += difflib.unified_diff(*pair, f"kept: {call}", f"shown: {call}", lineterm="", n=1)
    assert not changes, "\n".join([*changes, AGAIN])
    assert narrow or list(shown) == CALLS.strip().splitlines()
    assert narrow or set(kept) == set(shown), AGAIN


def test_every_verb_has_a_screen_that_is_kept():
    called = {word for call in CALLS.strip().splitlines() for word in (call.split()[0], " ".join(call.split()[:2]))}
    for verb in set(COMMANDS) - UNSEEN:
        group = commands.get_command(click.Context(commands), verb)
        for name in group.commands if isinstance(group, click.Group) else [""]:
            assert f"{verb} {name}".strip() in called
