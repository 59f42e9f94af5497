"""``python -m experiments.streams.following FOLDER HOURS KILLS SEED``: follow feeds undisturbed, then killed at random.

A process that has loaded everything makes a copy of itself (fork) for each life. A life follows the feeds until its
clock has gone on for some hours, or is ended by SIGKILL after a random number of moments: statements to its store,
and sleeps. The clock is a file, so it goes on where the killed life left it.
"""

from __future__ import annotations

import json
import mmap
import os
import pathlib
import signal
import ssl
import struct
import sys
from collections.abc import Sequence

import numpy as np

import doccluster.streams.polling.parsing as parsing
import doccluster.streams.stream as streaming
from doccluster.streams.polling._fetching import Reachable
from doccluster.streams.polling.addresses import parse_networks
from doccluster.streams.polling.poller import Clock, PollOptions
from doccluster.streams.settings import HOUR
from doccluster.streams.store.access import open_to_write
from experiments.streams.certificates import AUTHORITY
from experiments.streams.misbehaving import BEGINS, ENDLESS, INSIDE, UNKNOWN

CLOCK, FEEDS, STORES = "clock", "feeds.txt", ("undisturbed.db", "disturbed.db")
WHOLE_SECONDS = 2.0  # that a request may take: all that answer at all do so at once
ENDED_AFTER = 0.3
PRIVATE = {INSIDE: "10.1.2.3", "0x0a000001": "10.0.0.1"}
CONNECTED_ELSEWHERE = 97
_MOMENT = struct.Struct("d")


class DayIsOver(Exception):
    """The clock has reached its end."""


class FileClock(Clock):
    """A clock that goes on by what is slept, and is in a file, so that it outlives its readers.

    Parameters
    ----------
    path : path
        A file of eight bytes.
    ends : float
        When it stops.
    """

    def __init__(self, path: pathlib.Path, ends: float = float("inf")) -> None:
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), _MOMENT.size)
        self._ends = ends

    def now(self) -> float:
        """Return seconds since 1970."""
        return float(_MOMENT.unpack_from(self._shared)[0])

    def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        count_a_moment()
        if self.now() + seconds > self._ends:
            raise DayIsOver
        _MOMENT.pack_into(self._shared, 0, self.now() + seconds)

    def set_back(self) -> None:
        """Begin the day again."""
        _MOMENT.pack_into(self._shared, 0, BEGINS)

    @staticmethod
    def make(path: pathlib.Path) -> None:
        """Write a clock that stands at the beginning of the day."""
        path.write_bytes(_MOMENT.pack(BEGINS))


class SharedParser:
    """A process that reads feeds, shared by all lives: it is asked between two moments, never while a life ends.

    The feed that would take minutes has another one, which is ended after `ENDED_AFTER` seconds instead of twenty.
    """

    def __init__(self) -> None:
        self._parser, self._impatient = parsing.FeedParser(), parsing.FeedParser(seconds=ENDED_AFTER)

    def parse(self, body: bytes) -> parsing.Parsed:
        """Return the entries of a feed."""
        return (self._impatient if ENDLESS in body[:100] else self._parser).parse(body)

    def close(self) -> None:
        """Leave the process to the next life."""

    def end(self) -> None:
        """End the processes."""
        self._parser.close()
        self._impatient.close()


class Life:
    """How many moments this process has lived, and after how many it is killed (0 for never)."""

    n_moments = 0
    kill = 0


def count_a_moment(_statement: str = "") -> None:
    """Count a statement or a sleep, and die if it is time."""
    Life.n_moments += 1
    if Life.n_moments == Life.kill:
        os.kill(os.getpid(), signal.SIGKILL)


def look_up(host: str, _port: int) -> Sequence[str]:
    """Return the address of a name: of one there is none, some are private, all others are on the loopback address."""
    if host == UNKNOWN:
        raise OSError("no such host")
    return [PRIVATE.get(host) or (host if host[0].isdecimal() or ":" in host else "127.0.0.1")]


def _stay_here(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect" and isinstance(arguments[1], tuple) and arguments[1][0] != "127.0.0.1":
        os._exit(CONNECTED_ELSEWHERE)


def live(store: pathlib.Path, clock: FileClock, feeds: Sequence[str], parser: SharedParser) -> None:
    """Follow the feeds to the end of the clock."""

    def watched(path: pathlib.Path | None) -> object:
        connection, lock = open_to_write(path)
        connection.set_trace_callback(count_a_moment)
        return connection, lock

    streaming.open_to_write = watched  # type: ignore[assignment, attr-defined]
    parsing.FeedParser = lambda: parser  # type: ignore[assignment, misc]
    reach = Reachable(
        allowed=parse_networks(["127.0.0.1/32"]),
        resolve=look_up,
        whole_seconds=WHOLE_SECONDS,
        context=ssl.create_default_context(cafile=AUTHORITY),
    )
    with streaming.StoryStream(store) as stream:
        try:
            for _ in stream.follow(feeds, options=PollOptions(reach=reach, spacing=0.0, clock=clock)):
                pass
        except DayIsOver:
            pass


def follow_in_lives(
    store: pathlib.Path, clock: FileClock, feeds: Sequence[str], parser: SharedParser, kills: Sequence[int]
) -> tuple[int, int]:
    """Follow the feeds in one life after the other, each killed at its moment, and a last one that lives on.

    Returns
    -------
    n_moments : int
        Of the last life.
    n_killed : int
    """
    n_killed = 0
    told, tell = os.pipe()
    for kill in [*kills, 0]:
        child = os.fork()
        if child == 0:
            Life.kill = kill
            live(store, clock, feeds, parser)
            os.write(tell, str(Life.n_moments).encode())
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status not in (0, -signal.SIGKILL):
            raise SystemExit(f"a life ended with {status}")
        n_killed += status == -signal.SIGKILL
    return int(os.read(told, 100)), n_killed


def main() -> None:
    """Live through the time twice, undisturbed and killed, and print how many moments and kills there were."""
    folder, hours, n_kills, seed = pathlib.Path(sys.argv[1]), *map(float, sys.argv[2:])
    sys.addaudithook(_stay_here)
    clock = FileClock(folder / CLOCK, BEGINS + hours * HOUR)
    feeds = (folder / FEEDS).read_text(encoding="utf-8").split()
    parser = SharedParser()
    parser.parse(b"")
    with streaming.StoryStream() as stream:  # loads what every life would have to load
        stream.replay([("2024-01-01", f"{word} of a story") for word in ("one", "two")])
    try:
        n_moments, _ = follow_in_lives(folder / STORES[0], clock, feeds, parser, [])
        kills = np.sort(np.random.default_rng(int(seed)).integers(1, n_moments, int(n_kills)))
        clock.set_back()
        _, n_killed = follow_in_lives(
            folder / STORES[1], clock, feeds, parser, np.diff(kills, prepend=0).clip(1).tolist()
        )
    finally:
        parser.end()
    print(json.dumps({"n_moments": n_moments, "n_killed": n_killed}))


if __name__ == "__main__":
    main()
