"""Whole streams, compared after every batch with the plain definition of what becomes of their articles."""

from __future__ import annotations

import csv
import itertools
import math
import random

import pytest

from doccluster.corpus import Corpus
from doccluster.streams import StoryStream, StreamSettings, frequencies
from doccluster.streams.article import as_text
from doccluster.streams.database import open_to_read
from doccluster.streams.export import write_export
from doccluster.streams.identity import document_key
from doccluster.streams.kept_stories import KeptStories
from doccluster.streams.settings import DAY, HOUR
from tests.streams.naive import NaiveStream

BEGIN = 1_772_409_600  # midnight
GRID = 600  # seconds between two batches
FUNCTION_WORDS = {"english": "the and with which from", "german": "der und nicht mit werden", "": ""}


def words_of(rng, n):
    """Made-up words, some with a capital, and numbers."""
    made = ["".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(3)) for _ in range(n)]
    return [str(rng.randrange(100, 10_000)) if rng.random() < 0.05 else one.title() if rng.random() < 0.2 else one
            for one in made]  # fmt: skip


def made_articles(rng, n_articles, *, days):
    """Articles of threads that come and go, turn into one another and part; some are copies, or like two others."""
    fillers = words_of(rng, 60)
    threads = [
        {"words": words_of(rng, 24), "language": rng.choice(["english", "english", "german", ""]), "from": rng.random()}
        for _ in range(max(4, n_articles // 14))
    ]
    found, time = [], BEGIN
    for number in range(n_articles):
        time += int(rng.expovariate(n_articles / days) * DAY) + 1
        part = (time - BEGIN) / (days * DAY)
        near = [one for one in threads if 0 <= part - one["from"] < 0.3] or threads[:1]
        thread = rng.choice(near)
        age = (part - thread["from"]) / 0.3
        own = thread["words"]
        if age > 0.4 and threads.index(thread) % 3 == 0:  # two parts, which say less and less of each other
            own = own[:12] if rng.random() < 0.5 else own[12:]
        if age > 0.3 and threads.index(thread) % 3 == 1:  # on its way to another
            own = own[:8] + near[0]["words"][:16]
        text = [rng.choice(own) for _ in range(rng.choice([12, 20, 60]))]
        text += [rng.choice(fillers) for _ in range(len(text) // 4)]
        text += FUNCTION_WORDS[thread["language"]].split()
        rng.shuffle(text)
        for place in range(8, len(text), 9):
            text[place] += rng.choice(".,")
        title = " ".join(rng.sample(own, 4)) if rng.random() < 0.9 else ""
        made = {"title": title, "stem": text, "language": thread["language"], "more": rng.choices(fillers, k=24)}
        if found and rng.random() < 0.3:
            made = dict(rng.choice(found[-8:]))
        # a reprint has more at its end: enough to be a copy, or twice as much, which is none, but may be linked by one
        n_more = rng.choice([0, 1, 2]) * (12 if len(made["stem"]) > 50 else 2)
        made["text"] = " ".join(made["stem"] + made["more"][:n_more])
        if rng.random() < 0.02:
            made |= {"title": "", "text": "?!", "language": "", "stem": ["?!"]}
        made |= {"id": f"a{number}", "time": time, "source": rng.choice(["", "Tide", "Post", "Echo"]), "link": ""}
        made["function_words"] = FUNCTION_WORDS[made["language"]].split()
        made["key"] = document_key(link="", guid=made["id"], **{one: made[one] for one in ("source", "title", "text")})
        found.append(made)
    return found


def letters(texts):
    """An encoder of our own: what a text means are its consonants, at which vowels are taken off."""
    return [[1.0 + text.lower().count(one) - text.lower().count("i") / 2 for one in "bdfgklmn"] for text in texts]


def corpus_of(articles):
    columns = {name: [one[name] for one in articles] for name in ("title", "source", "link")}
    columns["date"] = [as_text(one["time"]) for one in articles]
    return Corpus(
        ids=tuple(one["id"] for one in articles), texts=tuple(one["text"] for one in articles), metadata=columns
    )


def assert_same(naive, tables):
    wanted = {"documents": naive.documents(), "stories": naive.stories(), "lineage": naive.lineage}
    for name, rows in wanted.items():
        given = list(zip(*getattr(tables, name).values(), strict=True))
        wrong = [pair for pair in itertools.zip_longest(given, rows) if not are_same(*pair)]
        assert not wrong, f"{name}: the stream has {wrong[0][0]}, by the rules {wrong[0][1]}"


def are_same(one, other):
    return one == other or (
        None not in (one, other)
        and all(
            a == b or (isinstance(a, float) and isinstance(b, float) and abs(a - b) < 1e-7)
            for a, b in zip(one, other, strict=True)
        )
    )


QUICK = StreamSettings(
    half_life=DAY / 4, close_after_least=DAY, close_after_most=3 * DAY, resume_within=5 * DAY, copy_window=4 * DAY,
    quiet=6 * HOUR, merge=0.55, split=0.4,
)  # fmt: skip


NARROW = StreamSettings(n_newest=2, least_families=4, join=0.4, split=0.39, merge=0.41)
RARE = {"two of its families are one", "the lead stays"}


@pytest.mark.parametrize(
    ("seed", "settings", "together", "warm", "parts", "passes"),
    [
        (2, StreamSettings(), 1, 2000, 1, {"merged", "closed", *RARE}),
        (5, QUICK, 3, 2000, 1, {"merged", "closed", "resumed", "meaning"}),
        (2, QUICK, 1, 2000, 1, {"merged", "closed", "resumed", *RARE}),
        (4, NARROW, 1, 2000, 1, {"split", "resumed", *RARE}),
        (6, QUICK, 5, 20, 1, {"merged", "closed", "resumed"}),
        (3, QUICK, 2, 20, 5, {"closed", "a jump of the clock", "a jump is believed"}),
    ],
)
def test_a_stream_is_what_its_rules_say_after_every_batch(
    tmp_path, monkeypatch, seed, settings, together, warm, parts, passes
):
    monkeypatch.setattr(frequencies, "WARM", warm)
    # what comes late stays where these rules place it; test_rebuilding.py has what a replay makes of it at its end
    monkeypatch.setattr(KeptStories, "rebuild", lambda stories, known: (0, []))
    rng = random.Random(seed)
    made, naive = made_articles(rng, 120, days=30), NaiveStream(settings, warm=warm)
    size = len(made) // parts
    left = [one for part in rng.sample(range(parts), parts) for one in made[part * size : (part + 1) * size]]
    store = tmp_path / "news.db" if together > 1 else None
    encoder = letters if "meaning" in passes else None
    stream = StoryStream(store, settings=settings, encoder=encoder)
    after = []
    while left:
        batch = [left.pop(0) for _ in range(min(len(left), rng.randint(1, together)))]
        now = (max(one["time"] for one in batch) // GRID + 1) * GRID
        for one in batch:  # what comes together is dated on one side of the grid, and some of it alike
            one["time"] = max(one["time"], now - GRID)
        batch.sort(key=lambda one: (one["time"], one["key"]))
        if store and rng.random() < 0.2:
            stream.close()
            stream = StoryStream(store, encoder=encoder)
        if encoder is not None:
            for one in batch:
                (row,) = letters([f"{one['title']}\n{one['text']}"])
                one["meaning"] = [round(2048 * float(value) / math.hypot(*row)) / 2048 for value in row]
        stream.replay(corpus_of(batch), batch=GRID, now=now)
        naive.run_batch(batch, now)
        after.append((now, stream.tables()))
        assert_same(naive, after[-1][1])
    assert passes - {"meaning"} <= {one[1] for one in naive.lineage} | naive.taken.keys()
    last = after[-1][1]
    for then, _ in after[::9]:
        wanted = next(own for moment, own in reversed(after) if moment <= then)
        assert without_families(stream.tables(at=then)) == without_families(wanted)
        kept = stream.tables(at=then).documents
        assert kept["family"] == last.documents["family"][: len(kept["family"])], "copies are told as known now"
    stream.close()
    if store is not None:
        connection = open_to_read(store)
        write_export(connection, tmp_path / "export")
        connection.close()
        for name, columns in without_families(last, left_out=()).items():
            with (tmp_path / "export" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
                written = list(csv.reader(file))
            rows = [
                ["" if value is None else str(value) for value in row] for row in zip(*columns.values(), strict=True)
            ]
            assert written == [list(columns), *rows]


def without_families(tables, left_out=("family", "families")):
    named = {"documents": tables.documents, "stories": tables.stories, "lineage": tables.lineage}
    return {name: {one: own[one] for one in own if one not in left_out} for name, own in named.items()}
