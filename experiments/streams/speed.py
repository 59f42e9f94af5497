"""How many articles a second go through the whole line into a store, and how much memory that takes.

``python -m experiments.streams.speed FOLDER`` is the process that is measured: it holds what a user's would hold.
"""

from __future__ import annotations

import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from doccluster.streams import StoryStream
from doccluster.streams.store.access import reading

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
    """Replay the parts of a stream, and print what each took."""
    store = folder / "news.db"
    with StoryStream(store) as stream:
        for part in range(N_PARTS):
            began = time.process_time()
            done = stream.replay(folder / f"{part}.jsonl", label_columns=())
            rate = done.n_articles / (time.process_time() - began)
            with reading(store) as connection:
                (n_open,) = connection.execute("SELECT COUNT(*) FROM story WHERE state = 'open'").fetchone()
            begins = part * N_ARTICLES // N_PARTS
            print(f"  articles {begins:6,} on: {rate:5,.0f} a second, {n_open:5,} open stories", flush=True)
    print(f"  most memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")


if __name__ == "__main__":
    replay_parts(pathlib.Path(sys.argv[1]))
