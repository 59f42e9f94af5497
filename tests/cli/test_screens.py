"""Every screen of the command line is the one that is kept: each verb, plain and --json, piped and in 80 columns.

These are all verbs but a few, so this is also where none of them may open a connection.
"""

from __future__ import annotations

import difflib
import importlib
import sys

import click
import pytest

from doccluster.cli.main import COMMANDS, commands
from tests.golden.screens import CALLS, kept_screens, screens

AGAIN = "if these changes are meant, `make screens` writes the screens again"
# what needs processes of its own or goes on for good; their tests are in tests/experiments and
# tests/streams/test_serving.py
UNSEEN = {"demo", "stream serve"}  # what `demo` prints is in the README


met, watched = [], []
OF_THE_NETWORK = {"socket.connect", "socket.bind", "socket.sendto"}


def note(event, arguments):
    if event in OF_THE_NETWORK:
        met.append((event, repr(arguments[1])))
    elif event == "socket.getaddrinfo":
        met.append((event, arguments[0]))


@pytest.fixture
def network():
    """What is asked of the network during the test: each event and its address."""
    importlib.import_module("urllib3.util.connection")  # tries, as it is loaded, whether this machine has IPv6
    if not watched:
        sys.addaudithook(note)
        watched.append(True)
    met.clear()
    return met


@pytest.mark.skipif(sys.platform != "linux", reason="the screens are kept as Linux has them")
@pytest.mark.parametrize("narrow", [False, True], ids=["piped", "terminal of 80 columns"])
def test_every_screen_is_the_one_that_is_kept_and_no_verb_opens_a_connection(narrow, network):
    kept, shown = kept_screens(narrow=narrow), screens(narrow=narrow)
    # a poll looks at the address that it is given, and refuses it
    assert set(network) == {("socket.getaddrinfo", "127.0.0.1")}
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
            assert f"{verb} {name}".strip() in called | UNSEEN
