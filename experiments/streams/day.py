"""A simulated day of `stream poll --follow`, killed ten times at random, beside the same day undisturbed."""

from __future__ import annotations

import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from doccluster.streams.settings import HOUR
from doccluster.streams.store.access import check_store, reading
from doccluster.streams.store.tables import FILES, Exported, write_export
from experiments.streams.following import CLOCK, FEEDS, STORES, FileClock
from experiments.streams.labelled import ROOT
from experiments.streams.serving import Outlets, served

N_KILLS = 10
SEED = 7
_REASONS = "SELECT reason FROM fetch WHERE reason <> '' UNION SELECT reason FROM feed WHERE reason <> ''"


@dataclass(frozen=True)
class Day:
    """What came of a day.

    Attributes
    ----------
    n_feeds, n_requests, n_moments : int
        Feeds that were followed; polls of them, and statements and sleeps, of the undisturbed day.
    n_killed : int
    n_documents, n_stories : int
    reasons : frozenset of str
        Why requests failed.
    findings : list of str
        What `check` finds wrong with the store of the day that was disturbed.
    differing : list of str
        What differs between the two stores: files of the export, or the table of feeds.
    """

    n_feeds: int
    n_requests: int
    n_moments: int
    n_killed: int
    n_documents: int
    n_stories: int
    reasons: frozenset[str]
    findings: list[str]
    differing: list[str]


def live_through(
    folder: pathlib.Path, *, hours: float, n_stories: int, n_kills: int = N_KILLS, seed: int = SEED
) -> Day:
    """Follow misbehaving feeds for some hours, undisturbed and killed at random, and compare the stores."""
    outlets = Outlets(n_stories=n_stories, days=max(1.0, hours / 24 + 0.5), seed=seed)
    FileClock.make(folder / CLOCK)
    with served(FileClock(folder / CLOCK).now, outlets, slow=hours * HOUR / 6) as addresses:
        (folder / FEEDS).write_text("\n".join(addresses), encoding="utf-8")
        command = [sys.executable, "-m", "experiments.streams.following", *map(str, (folder, hours, n_kills, seed))]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        lived = json.loads(done.stdout)
    one, other = (folder / name for name in STORES)
    with reading(other) as connection:
        findings = [f"{one.check}: {one.detail}" for one in check_store(connection)]
    exported = _export(one)
    _export(other)
    differing = [
        name for name in FILES if len({(store.with_suffix("") / name).read_bytes() for store in (one, other)}) > 1
    ]
    differing += ["feeds"] if _rows(one, "SELECT * FROM feed") != _rows(other, "SELECT * FROM feed") else []
    return Day(
        n_feeds=len(addresses),
        n_requests=len(_rows(one, "SELECT 1 FROM fetch")),
        n_moments=lived["n_moments"],
        n_killed=lived["n_killed"],
        n_documents=exported.n_documents,
        n_stories=exported.states.total(),
        reasons=frozenset(reason for (reason,) in _rows(one, _REASONS)),
        findings=findings,
        differing=differing,
    )


def _export(store: pathlib.Path) -> Exported:
    with reading(store) as connection:
        return write_export(connection, store.with_suffix(""))


def _rows(store: pathlib.Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute(query).fetchall()


def measure_day(days: float = 1.0) -> None:
    """Print what came of a simulated day, or more."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        day = live_through(pathlib.Path(folder), hours=24 * days, n_stories=int(60 * days))
    print(
        f"  {days:g} simulated days of {day.n_feeds} feeds: {day.n_requests:,} requests, {day.n_documents:,} articles,"
    )
    print(f"  {day.n_stories:,} stories; {time.perf_counter() - began:.0f} s for both runs")
    print(f"  ways to fail that were met ({len(day.reasons)}): {', '.join(sorted(day.reasons))}")
    print(f"  killed {day.n_killed} times at random, of {day.n_moments:,} moments (statements and sleeps)")
    print(f"  the store is {'; '.join(day.findings) or 'sound'}")
    print(
        f"  beside the undisturbed day {', '.join(day.differing) + ' differ' if day.differing else 'nothing differs'}"
    )
