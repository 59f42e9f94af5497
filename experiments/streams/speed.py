"""How many articles a second go through the whole line into a store, and how much memory that takes.

``python -m experiments.streams.speed FOLDER`` is the process that is measured: it holds what a user's would hold.
"""

from __future__ import annotations

import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

from doccluster.streams import StoryStream
from doccluster.streams.database import reading

ROOT = pathlib.Path(__file__).resolve().parents[2]
N_ARTICLES = 20_000
N_STORIES = 8000
DAYS = 7.0
N_PARTS = 4  # of the stream, timed apart: the cost of an article must not grow with the store


def measure_speed() -> None:
    """Print articles a second of processor time for each part of a made stream, and the most memory."""
    from doccluster.synthetic import plan_zipf, write_zipf

    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "made.jsonl"
        plan = plan_zipf(n_documents=N_ARTICLES, n_topics=50, n_stories=N_STORIES, days=DAYS, random_state=0)
        write_zipf(made, plan)
        lines = sorted(made.read_text(encoding="utf-8").splitlines(), key=lambda line: line[line.index('"date"') :])
        for part in range(N_PARTS):
            own = lines[part * N_ARTICLES // N_PARTS : (part + 1) * N_ARTICLES // N_PARTS]
            (made.parent / f"{part}.jsonl").write_text("\n".join(own) + "\n", encoding="utf-8")
        subprocess.run([sys.executable, "-m", "experiments.streams.speed", folder], check=True, cwd=ROOT)


def replay_parts(folder: pathlib.Path) -> None:
    """Replay the parts of a stream, and print what each took.

    Articles are read in a second process while those before them are placed. Where each has a core of its own, the one
    that takes more processor time says how many articles go through.
    """
    store = folder / "news.db"
    most_of_readers = 0.0

    def look(stage: str, n_done: int, n_all: int) -> None:
        nonlocal most_of_readers
        if n_done > n_all // 2:
            most_of_readers = max(most_of_readers, _memory_of_children())

    with StoryStream(store) as stream:
        for part in range(N_PARTS):
            began = _processor_times()
            done = stream.replay(folder / f"{part}.jsonl", label_columns=(), progress=look)
            line, reading_process = (now - before for now, before in zip(_processor_times(), began, strict=True))
            with reading(store) as connection:
                (n_open,) = connection.execute("SELECT COUNT(*) FROM story WHERE state = 'open'").fetchone()
            begins = part * N_ARTICLES // N_PARTS
            rate, alone = (
                done.n_articles / seconds for seconds in (max(line, reading_process), line + reading_process)
            )
            print(
                f"  articles {begins:6,} on: {rate:5,.0f} a second on two cores, {alone:5,.0f} on one, "
                f"{n_open:5,} open stories",
                flush=True,
            )
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"  most memory {most + most_of_readers:,.0f} MiB, of which {most_of_readers:,.0f} MiB where articles are read"
    )


def _processor_times() -> tuple[float, float]:
    """Return the seconds of a core that this process has taken, and those of the processes that it has ended."""
    times = os.times()
    return time.process_time(), times.children_user + times.children_system


def _memory_of_children() -> float:
    """Return the most memory that the living processes of this one have held, in MiB.

    What the system counts for processes that have ended begins with the memory of the one that started them.
    """
    own = pathlib.Path("/proc/self")
    found = " ".join(path.read_text() for path in own.glob("task/*/children")).split()
    told = "".join(pathlib.Path("/proc", child, "status").read_text() for child in found)
    return sum(int(kibibytes) for kibibytes in re.findall(r"VmHWM:\s+(\d+)", told)) / 1024


if __name__ == "__main__":
    replay_parts(pathlib.Path(sys.argv[1]))
