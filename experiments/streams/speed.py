"""How many articles a second go through the whole line into a store, how much memory that takes, and where it goes."""

from __future__ import annotations

import pathlib
import resource
import tempfile
import time

from doccluster.streams import StoryStream
from doccluster.synthetic import plan_zipf, write_zipf

N_ARTICLES = 20_000
N_STORIES = 8000
DAYS = 7.0
N_PARTS = 4  # of the stream, timed apart: the cost of an article must not grow with the store


def measure_speed() -> None:
    """Print articles a second of processor time for each part of a made stream, and the most memory."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "made.jsonl"
        plan = plan_zipf(n_documents=N_ARTICLES, n_topics=50, n_stories=N_STORIES, days=DAYS, random_state=0)
        write_zipf(source, plan)
        lines = sorted(source.read_text(encoding="utf-8").splitlines(), key=lambda line: line[line.index('"date"') :])
        with StoryStream(pathlib.Path(folder) / "news.db") as stream:
            for part in range(N_PARTS):
                own = lines[part * N_ARTICLES // N_PARTS : (part + 1) * N_ARTICLES // N_PARTS]
                source.write_text("\n".join(own) + "\n", encoding="utf-8")
                began = time.process_time()
                stream.replay(source, label_columns=())
                seconds = time.process_time() - began
                states = list(stream.tables().stories["state"])
                print(
                    f"  articles {part * N_ARTICLES // N_PARTS:6,} on: {len(own) / seconds:5,.0f} a second, "
                    f"{states.count('open'):5,} open stories",
                    flush=True,
                )
    print(f"  most memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")
