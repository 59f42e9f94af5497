"""``python -m tests.streams.killed_polls FOLDER MOMENT...``: polls that are killed before and after each commit.

FOLDER holds a clock and a list of feeds. At each moment a copy (fork) of a process that has loaded everything makes one
pass undisturbed, which leaves the store ``PASS.db``. Others begin with the store of the pass before, are killed right
before or right after a commit, and are begun again: they leave ``PASS-KILL.db``.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import sys

import doccluster.streams.polling.parsing as parsing
import doccluster.streams.store.access as access
import doccluster.streams.store.batches as store
import doccluster.streams.store.database as database
import doccluster.streams.stream as streaming
from doccluster.streams import StreamSettings
from doccluster.streams.polling._fetching import Reachable
from doccluster.streams.polling.poller import PollOptions
from doccluster.streams.settings import DAY, HOUR
from experiments.news_stream import make_news_stream
from experiments.streams.following import CLOCK, FEEDS, FileClock, SharedParser
from tests.streams.loopback import LOOPBACK, loopback_only

SETTINGS = StreamSettings(half_life=DAY / 2, look_every=HOUR)
UNSOUND = 3
N_FIRST = 3  # commits of the first pass alone
_commit = database.transaction


class Dying:
    """A transaction that ends the process when it is time."""

    n_left = 0

    def __init__(self, connection):
        self._inner = _commit(connection)

    def __enter__(self):
        return self._inner.__enter__()

    def __exit__(self, *error):
        self._die_if_it_is_time()
        self._inner.__exit__(*error)
        self._die_if_it_is_time()

    def _die_if_it_is_time(self):
        Dying.n_left -= 1
        if Dying.n_left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def poll(path, feeds, clock, parser, *, kill=0):
    """Make one pass in a process of its own; return whether it was killed."""
    child = os.fork()
    if child == 0:
        Dying.n_left = kill
        parsing.FeedParser = lambda: parser
        reach = Reachable(allowed=LOOPBACK, resolve=lambda host, port: ["127.0.0.1"])
        options = PollOptions(reach=reach, spacing=0.0, hosts_at_once=1, clock=clock)  # one by one: the same order
        with loopback_only(), streaming.StoryStream(path, settings=SETTINGS) as stream:
            if stream.check():
                os._exit(UNSOUND)
            stream._connection.execute("PRAGMA synchronous = OFF")  # what a process wrote outlives it without that
            stream.poll(feeds, options=options)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (0, -signal.SIGKILL):
        raise SystemExit(f"a poll of {path} ended with {status}")
    return status == -signal.SIGKILL


def main():
    """Make all passes."""
    folder, moments = pathlib.Path(sys.argv[1]), map(float, sys.argv[2:])
    for module in (access, database, store, streaming):
        module.transaction = Dying
    feeds = (folder / FEEDS).read_text(encoding="utf-8").split()
    clock, parser, before = FileClock(folder / CLOCK), SharedParser(), None
    parser.parse(b"")
    with streaming.StoryStream(settings=SETTINGS) as stream:  # loads what every poll would have to load
        stream.replay(make_news_stream(6, days=5, merges=2, splits=2, random_state=0).to_corpus(), batch=DAY)
    try:
        for number, moment in enumerate(moments):
            clock.sleep(moment - clock.now())
            # the first pass alone makes tables, keeps settings and begins the list of feeds: it is killed before and
            # after each of these; else a pass is killed before each commit, or the next one after it
            kills = range(2 - number % 2, 1000, 2)
            if number == 0:
                kills = [*range(1, 2 * N_FIRST + 1), *range(2 * N_FIRST + 1, 1000, 2)]
            lives = ((kill, folder / f"{number}-{kill}.db") for kill in kills)
            for kill, path in [(0, folder / f"{number}.db"), *lives]:
                if before is not None:
                    shutil.copy(before, path)
                if not poll(path, feeds, clock, parser, kill=kill) and kill:
                    path.unlink()
                    break
                if kill:
                    poll(path, feeds, clock, parser)
            before = folder / f"{number}.db"
    finally:
        parser.end()


if __name__ == "__main__":
    main()
