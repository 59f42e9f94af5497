"""What an article costs in a store that already holds ten thousand, a hundred thousand or a million others.

The store is filled directly with articles whose stories ended long ago, as a stream leaves them: no vectors, no
shingles, their terms counted. Then the same stream of made articles is replayed into it. What an article costs is the
processor time of the line and of the process that reads ahead together; the memory is that of the line.
"""

from __future__ import annotations

import json
import os
import pathlib
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from doccluster.base.plain_values import format_size
from doccluster.streams import StoryStream
from doccluster.streams.article import document_key, story_id, text_hash
from doccluster.streams.settings import HOUR
from doccluster.streams.store.batches import write_meta
from doccluster.streams.store.database import transaction
from doccluster.synthetic import plan_zipf, write_zipf

SIZES = (10_000, 100_000, 1_000_000)
N_ARTICLES = 5000  # of the stream that is timed, and in how many stories and days
N_STORIES, DAYS = 3000, 3.0
PER_STORY = 4
N_COUNTED = 90_000  # articles at most, in the frequencies of terms: they are halved at 100,000
EARLIER = 1_600_000_000  # 2020; the timed stream is of 2024
TEXT = "The council of Port Ellery met on Monday and put off the vote on the new harbour wall again. " * 8


def measure_growth(sizes: tuple[int, ...] = SIZES) -> None:
    """Print, for each size of the store, how long it takes to open, what an article costs, and the most memory."""
    for size in sizes:
        subprocess.run([sys.executable, "-m", "experiments.streams.growth", str(size)], check=True)


def measure_one(size: int) -> None:
    """Print what the stream costs in a store of this size; in a process of its own, for its memory."""
    with tempfile.TemporaryDirectory() as folder:
        source, path = pathlib.Path(folder) / "made.jsonl", pathlib.Path(folder) / "news.db"
        plan = plan_zipf(n_documents=N_ARTICLES, n_topics=50, n_stories=N_STORIES, days=DAYS, random_state=0)
        write_zipf(source, plan)
        fill(path, size)
        n_bytes = path.stat().st_size
        began = time.process_time()
        stream = StoryStream(path)
        opened = time.process_time() - began
        with stream:
            began = sum(os.times()[:4])
            stream.replay(source, label_columns=())
            seconds = sum(os.times()[:4]) - began
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            n_wrong = len(stream.check())
        print(
            f"  {size:9,} articles in the store ({format_size(n_bytes)}): opened in {opened:.2f} s, "
            f"{1000 * seconds / N_ARTICLES:.2f} ms an article, most memory {format_size(most)}, {n_wrong} findings",
            flush=True,
        )


def fill(path: pathlib.Path, size: int) -> None:
    """Make a store of articles whose stories ended long ago."""
    StoryStream(path).close()
    connection = sqlite3.connect(path, isolation_level=None)
    with transaction(connection):
        connection.executemany("INSERT INTO batch VALUES (?, ?, 'replay', 100, ?)", _batches(size))
        connection.executemany(
            "INSERT INTO document (doc_id, doc_key, id, published, date, first_seen, batch_id, number, language,"
            " source, link, guid, title, text, text_hash, n_versions, family, first_story)"
            " VALUES (?, ?, ?, ?, '', ?, ?, ?, 'english', ?, '', ?, ?, ?, ?, 1, ?, ?)",
            _documents(size),
        )
        connection.executemany(
            "INSERT INTO story (story_id, founder, born, first, last, language, parent, lead, led_at, n_documents,"
            " n_families, changed, state, touched)"
            " VALUES (:story, :founder, :born, :born, :last, 'english', '', :lead, :born, 0, 0, 0, 'closed', :last)",
            (
                {"story": _story(first), "founder": _key(first), "born": _time(first), "lead": first}
                | {"last": _time(min(size, first + PER_STORY - 1))}
                for first in range(1, size + 1, PER_STORY)
            ),
        )
        connection.execute(
            "INSERT INTO story_lead SELECT story_id, batch_id, doc_id FROM story JOIN document ON number = lead"
        )
        connection.execute(
            "UPDATE story SET n_documents = own.n, n_families = own.n FROM"
            " (SELECT first_story, COUNT(*) AS n FROM document GROUP BY 1) own WHERE own.first_story = story_id"
        )
        connection.execute("INSERT INTO membership SELECT doc_id, first_story, batch_id, NULL FROM document")
        connection.execute("INSERT INTO sighting SELECT source, guid, doc_id, first_seen FROM document")
        connection.execute(
            "INSERT INTO lineage SELECT doc_id, batch_id, published, CASE WHEN doc_id % 4 = 1 THEN 'born' ELSE 'grew'"
            " END, first_story, '', 1, 0.5, doc_id, '' FROM document"
        )
        connection.execute(
            "INSERT INTO lineage (batch_id, moment, event, story_id, other_id, n_documents, similarity)"
            " SELECT MAX(batch_id), MAX(published), 'closed', first_story, '', COUNT(*), 0.0 FROM document GROUP BY 4"
        )
        n_counted = min(size, N_COUNTED)
        n_terms = int(44 * (100 * n_counted) ** 0.5)  # Heaps' law with the constants of IIR, section 5.1.1
        terms = (("english", one, f"term{one}", n_counted // (one + 1)) for one in range(n_terms))
        connection.executemany("INSERT INTO term VALUES (?, ?, ?, ?)", terms)
        desk = {"n_articles": n_counted, "n_when_linked": n_counted, "looked_at": 0, "next_term": n_terms}
        write_meta(connection, next_number=size + 1, desks=json.dumps({"english": desk}), languages="{}")
    connection.close()


def _batch(number: int) -> int:
    return 1 + (number - 1) // 100


def _time(number: int) -> int:
    return EARLIER + 60 * number


def _key(number: int) -> str:
    return document_key(link="", guid=str(number), source=f"wire {number % 50}", title="", text="")


def _story(number: int) -> str:
    return story_id(_key(number - (number - 1) % PER_STORY))


def _batches(size: int) -> Iterator[tuple[int, int, int]]:
    for batch in range(1, _batch(size) + 1):
        moment = _time(100 * batch) + HOUR
        yield batch, moment, moment


def _documents(size: int) -> Iterator[tuple[object, ...]]:
    for number in range(1, size + 1):
        title, text, time_of = f"Article {number}", f"{number} {TEXT}", _time(number)
        hashed = text_hash(title, text)
        yield (
            *(
                number,
                _key(number),
                str(number),
                time_of,
                time_of + HOUR,
                _batch(number),
                number,
                f"wire {number % 50}",
            ),
            *(str(number), title, text, hashed, number, _story(number)),
        )


if __name__ == "__main__":
    measure_one(int(sys.argv[1]))
