"""The stories of a store made anew of its own documents, by the model of today, with the ids that they had."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import groupby
from operator import itemgetter

from doccluster.base.progress import LOOPS
from doccluster.errors import InputError
from doccluster.streams.article import Article, story_id, text_hash
from doccluster.streams.store.batches import ARTICLE, settings_of, with_model, write_batch, write_meta
from doccluster.streams.store.clusterer import BatchResult, Clusterer
from doccluster.streams.store.corrections import ALL_BATCHES, Correction, apply, bonds_of, keep
from doccluster.streams.store.database import copied, transaction

# what clustering has made of the documents, in an order in which it can go
_CLUSTERING = ("correction", "membership", "lineage", "story_lead", "story", "term", "batch")
_UNPLACED = """
UPDATE document SET batch_id = NULL, number = NULL, language = '', family = NULL, first_story = NULL,
    similarity = NULL, words = NULL, links = NULL, background = 0, is_edited = 0
"""
_ARTICLE = f"SELECT {ARTICLE} FROM document WHERE doc_id = ?"
_IDS = (
    *(("story", "story_id"), ("story", "parent"), ("story_lead", "story_id"), ("membership", "story_id")),
    *(("lineage", "story_id"), ("lineage", "other_id"), ("document", "first_story")),
)
# what came in late goes where it would have gone in time; a correction stays behind all that it knew
_IN_TIME = """
SELECT batch_id, moment, kind, clock FROM batch
ORDER BY CASE kind WHEN 'edit' THEN MAX(moment) OVER (ORDER BY batch_id) ELSE moment END, batch_id
"""
_STORIES = "SELECT doc_id, story_id FROM membership WHERE from_batch <= ?1 AND IFNULL(to_batch, ?1 + 1) > ?1"


@contextmanager
def rebuilt(connection: sqlite3.Connection, batch: int = ALL_BATCHES) -> Iterator[tuple[sqlite3.Connection, list[str]]]:
    """Yield a copy of a store whose stories are made anew, batch by batch, and the corrections that it cannot follow.

    The batches are in the order of their moments, so that it does not matter in which order an archive was imported.
    The corrections that hold are made again where they were made. Articles whose texts were deleted stay with those of
    their story. A story takes over the id of an earlier one that gives most of its own documents to it, and more than
    any other does; ids are those of the stories after a batch.
    """
    with closing(copied(connection)) as copy:
        with transaction(copy):
            copy.execute("PRAGMA defer_foreign_keys = ON")
            copy.execute(_UNPLACED)
            for table in _CLUSTERING:
                copy.execute(f"DELETE FROM {table}")
            stays = "'settings', 'confirmed', 'retention', 'n_edits'"
            copy.execute(f"DELETE FROM meta WHERE key NOT IN ({stays})")
            write_meta(copy, models=with_model({}, 1))
            lost = _place_again(connection, copy)
            _keep_ids(connection, copy, batch)
        yield copy, lost


def _place_again(former: sqlite3.Connection, copy: sqlite3.Connection) -> list[str]:
    """Place the documents of a store into its copy; return the corrections that this cannot follow."""
    lost = []
    clusterer = Clusterer(settings_of(former), copy)
    corrections = {row[0]: row[1:] for row in former.execute("SELECT * FROM correction")}
    rows = former.execute(
        "SELECT doc_key, story_id, title, plain(text), text_hash FROM document JOIN membership USING (doc_id)"
        " WHERE to_batch IS NULL AND number IS NOT NULL"
    )
    # articles whose texts were deleted
    mates = {key: story for key, story, title, text, full_hash in rows if text_hash(title, text) != full_hash}
    rows = former.execute(
        "SELECT batch_id, doc_id FROM document WHERE batch_id IS NOT NULL ORDER BY batch_id, published, doc_key"
    )
    documents = {batch: [document for _, document in group] for batch, group in groupby(rows, key=itemgetter(0))}
    order = former.execute(_IN_TIME).fetchall()
    numbers = {batch: number for number, (batch, *_) in enumerate(order, 1)}
    for batch, moment, kind, clock in LOOPS.over(order):
        result = BatchResult()
        *values, undone = corrections.get(batch, (None,))
        correction = Correction.of_row(*values) if values else None
        if correction is not None and undone is None:
            try:
                apply(copy, clusterer, correction, result)
            except InputError as error:
                lost.append(f"{correction.verb} in batch {batch:,}: {error}")
        elif kind != "edit":
            articles = [
                Article(*former.execute(_ARTICLE, (document,)).fetchone()) for document in documents.get(batch, ())
            ]
            result = clusterer.run_batch(articles, moment, is_sure=moment == clock, mates=mates)
        write_batch(copy, clusterer, result, moment, kind)
        if correction is not None:
            keep(copy, numbers[batch], correction, numbers.get(undone))
            clusterer.bonds = bonds_of(copy)
    return lost


def _keep_ids(former: sqlite3.Connection, copy: sqlite3.Connection, at: int) -> None:
    """Give the new stories the ids of those that they go on from; one of an id that was another's gets a new one."""
    before, after = (dict(one.execute(_STORIES, (batch,))) for one, batch in ((former, at), (copy, ALL_BATCHES)))
    sizes = Counter(before.values())
    shared = Counter((before[document], after[document]) for document in after if document in before)
    founders = {name: fields for name, *fields in former.execute("SELECT story_id, founder, born FROM story")}
    heirs: dict[str, str] = {}
    for (name, new), count in sorted(shared.items(), key=lambda pair: (-pair[1], pair[0])):
        if new not in heirs and 2 * count > sizes[name]:
            heirs[new] = name
    in_use, names = {*founders, *heirs.values()}, {}
    for name, founder, born in copy.execute("SELECT story_id, founder, born FROM story ORDER BY story_id").fetchall():
        names[name] = heirs.get(name, name)
        if name in heirs:
            copy.execute("UPDATE story SET founder = ?, born = ? WHERE story_id = ?", (*founders[heirs[name]], name))
        elif name in in_use and (name in heirs.values() or name in sizes):
            while names[name] in in_use:
                names[name] = story_id(founder, attempt=born)
                born -= names[name] in in_use
            copy.execute("UPDATE story SET born = ? WHERE story_id = ?", (born, name))
            in_use.add(names[name])
    copy.execute("CREATE TEMPORARY TABLE renamed (former TEXT PRIMARY KEY, name TEXT)")
    copy.executemany("INSERT INTO renamed VALUES (?, '~' || ?)", [pair for pair in names.items() if pair[0] != pair[1]])
    for table, column in _IDS:  # two may change their names with one another
        copy.execute(
            f"UPDATE {table} SET {column} = (SELECT name FROM renamed WHERE former = {column})"
            f" WHERE {column} IN (SELECT former FROM renamed)"
        )
    for table, column in _IDS:
        copy.execute(f"UPDATE {table} SET {column} = SUBSTR({column}, 2) WHERE {column} LIKE '~%'")
    copy.execute("DROP TABLE renamed")
