"""How stories came from one another: the threads and turns of the front page's picture, and who is kin to whom."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from doccluster.report.stream_page import LineageGraph, Thread, Turn
from doccluster.report.wording import MONTHS, counted, one_line
from doccluster.streams.article import Moment
from doccluster.streams.settings import DAY

MOST_THREADS = 30
MOST_ALONE = 12  # stories without a turn that are shown beside the others
HEADLINE = 220
THREAD_NAME = 64
MOST_TICKS = 8
_TURNS = """
SELECT moment, event, story_id, other_id FROM lineage
WHERE event IN ('merged', 'split', 'resumed') AND moment >= ? ORDER BY seq
"""
_KIN_WORDS = {"resumed": "Goes on from", "merged": "Has taken in", "split": "Was part of"}


def kin_of(connection: sqlite3.Connection, story: str, shown: Mapping[str, str]) -> tuple[tuple[str, str, str], ...]:
    """Return the stories that one came from or took in: words, an id if it is among those shown, a headline."""
    rows = connection.execute(
        "SELECT e.event, CASE WHEN e.story_id = ?1 THEN e.other_id ELSE e.story_id END, d.title, SUBSTR(d.text, 1, 400)"
        " FROM lineage e JOIN story s ON s.story_id = CASE WHEN e.story_id = ?1 THEN e.other_id ELSE e.story_id END"
        " LEFT JOIN document d ON d.number = s.lead"
        " WHERE (e.story_id = ?1 AND e.event IN ('resumed', 'merged')) OR (e.other_id = ?1 AND e.event = 'split')"
        " ORDER BY e.seq DESC LIMIT 3",
        (story,),
    ).fetchall()
    return tuple(
        (_KIN_WORDS[event], other if other in shown else "", one_line(title or text or other, HEADLINE))
        for event, other, title, text in rows
    )


def lineage_graph(
    connection: sqlite3.Connection, ranked: Sequence[str], period: tuple[Moment, Moment]
) -> LineageGraph | None:
    """Return the picture of what became of stories, None if there is no time in which anything could.

    Stories that came from one another stand together, the families of the highest-ranking open stories first; beside
    them are a few of the highest-ranking stories to which nothing has happened.

    Parameters
    ----------
    ranked : sequence of str
        The open stories of the page, the highest-ranking one first.
    period : (int, int)
        The first and the last moment of the picture.
    """
    first, now = period
    if now <= first or not ranked:
        return None
    turns = [tuple(row) for row in connection.execute(_TURNS, (first,))]
    rows = _rows(_families(turns, ranked), ranked)
    places = {story: place for place, story in enumerate(rows)}
    length = now - first

    def at(moment: Moment) -> float:
        return min(1.0, max(0.0, (moment - first) / length))

    ended = {other: moment for moment, event, _, other in turns if event == "merged"}
    shown = frozenset(ranked)
    threads = tuple(_thread(connection, story, period, ended.get(story), story in shown) for story in rows)
    return LineageGraph(
        threads=threads,
        turns=tuple(
            Turn(
                event, at(moment), *((places[one], places[other]) if event == "split" else (places[other], places[one]))
            )
            for moment, event, one, other in turns
            if one in places and other in places
        ),
        days=tuple((at(moment), words) for moment, words in _days(first, now)),
    )


def _families(turns: Sequence[tuple[Moment, str, str, str]], ranked: Sequence[str]) -> list[list[str]]:
    """Return the stories that are connected by turns, each family in the order in which its turns name them."""
    near: dict[str, dict[str, None]] = defaultdict(dict)
    for _, _, one, other in turns:
        near[one][other] = near[other][one] = None
    rank = {story: place for place, story in enumerate(ranked)}
    seen: set[str] = set()
    families = []
    for story in near:
        family, waiting = [], [story]
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                family.append(one)
                waiting += reversed(near[one])
        if family:
            families.append(family)
    return sorted(families, key=lambda family: min(rank.get(one, len(rank)) for one in family))


def _rows(families: Sequence[Sequence[str]], ranked: Sequence[str]) -> list[str]:
    """Return the stories of the picture from top to bottom."""
    rows: list[str] = []
    for family in families:
        if len(rows) + len(family) <= MOST_THREADS:
            rows += family
    alone = [story for story in ranked if story not in set(rows)]
    return rows + alone[: min(MOST_ALONE, MOST_THREADS - len(rows))]


def _thread(
    connection: sqlite3.Connection, story: str, period: tuple[Moment, Moment], merged: Moment | None, is_shown: bool
) -> Thread:
    first, now = period
    born, last, state, n_documents, title, text = connection.execute(
        "SELECT s.born, s.last, s.state, s.n_documents, d.title, SUBSTR(d.text, 1, 400) FROM story s"
        " LEFT JOIN document d ON d.number = s.lead WHERE s.story_id = ?",
        (story,),
    ).fetchone()
    end = now if state == "open" else last if merged is None else merged
    name = one_line(title or text or story, THREAD_NAME)
    told = {"open": "", "closed": ", ended", "merged": ", now part of another"}[state]
    return Thread(
        id=story if is_shown else "",
        name=name,
        told=f"{name}: {counted(n_documents, 'article')}{told}",
        begins=max(0.0, (born - first) / (now - first)),
        ends=min(1.0, max(0.0, (end - first) / (now - first), (born - first) / (now - first))),
        state=state,
        is_born=born >= first,
    )


def _days(first: Moment, now: Moment) -> list[tuple[Moment, str]]:
    """Return midnights within a time, in universal time, few enough to be read."""
    midnights = range(-(-first // DAY) * DAY, now + 1, DAY)
    step = -(-len(midnights) // MOST_TICKS) or 1
    found = []
    for moment in midnights[::step]:
        when = datetime.fromtimestamp(moment, UTC)
        found.append((moment, f"{when.day} {MONTHS[when.month - 1]}"))
    return found
