"""Run -> plain data: everything the page says, decided here, so that the templates only lay it out."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from doccluster.base.package import __version__
from doccluster.labeling.placement import BORDERLINE_MARGIN
from doccluster.measures import Score
from doccluster.measures.registry import Measure
from doccluster.measures.scores import HEADINGS, by_measure, families_of, truth_of
from doccluster.report.quality import (
    ClusterRow,
    Confusion,
    PairTable,
    cluster_rows,
    confusion,
    data_card,
)
from doccluster.report.quality import pair_table as pair_table_of
from doccluster.report.story_cards import HEADLINE_LENGTH, StoryCard, StorySection, sections_of, stories_of
from doccluster.report.wording import counted, decimal, one_line, span_words
from doccluster.results.overview import OTHER, Overview, as_date, overview
from doccluster.results.record import Provenance, Run

MAX_STRIPS = 200  # documents in parts that the page shows


@dataclass(frozen=True, eq=False)
class Summary:
    """All that the page says of one run."""

    title: str
    source: str
    sentence: str
    citation: str
    notes: tuple[str, ...]
    facts: tuple[tuple[str, str, str], ...]  # figures of the head of the page: name, value, and what it means
    n_documents: int
    n_clusters: int
    borderline_margin: float
    noun: tuple[str, str]  # what a cluster is called, one and several: "story" where the rule of stories made them
    stories: tuple[StoryCard, ...]
    sections: tuple[StorySection, ...]
    names: dict[int, str]
    data: dict[str, Any]
    clusters: tuple[ClusterRow, ...]
    adherence: PairTable | None
    separation: PairTable | None
    confusions: tuple[Confusion, ...]
    families: tuple[ScoreFamily, ...]
    provenance: Provenance
    started: str
    parameters: tuple[tuple[str, str], ...]
    row: str = "document"  # what is clustered
    strips: Sequence[dict[str, Any]] = ()  # of a run in parts
    n_hidden_documents: int = 0

    @property
    def n_hidden_stories(self) -> int:
        """How many clusters have no card."""
        return self.n_clusters - sum(not story.is_other for story in self.stories)

    @property
    def has_outlets(self) -> bool:
        """Whether any document says who published it."""
        return any(story.n_outlets for story in self.stories)

    @property
    def has_dates(self) -> bool:
        """Whether any document has a date."""
        return any(story.first for story in self.stories)


def strips_of(run: Run) -> list[dict[str, Any]]:
    """Return the first documents of a run in parts: name, words, largest shares, and stretches that are in one cluster.

    None of whole documents. The cluster of what is in Other or in none is None.
    """
    parts = run.parts
    if parts is None:
        return []
    k, labels = run.n_clusters, [*(one_line(cluster.label, 60) for cluster in run.clusters), OTHER, "no known words"]

    def placed(column: int, **facts: object) -> dict[str, object]:
        hue = round((column * 137.508 + 200) % 360)  # as the map has it
        return {"cluster": column if column < k else None, "label": labels[column], "hue": hue, **facts}

    strips = []
    edges = np.searchsorted(parts.document_of, np.arange(min(len(parts.ids), MAX_STRIPS) + 1)).tolist()
    for document, (first, end) in enumerate(itertools.pairwise(edges)):
        shown, stretches = parts.shown[first:end], []
        starts = np.flatnonzero(np.diff(shown, prepend=-1)).tolist()
        for start, stop in itertools.pairwise([*starts, shown.size]):
            numbers = f"part {stop}" if stop == start + 1 else f"parts {start + 1} to {stop}"
            n_words = int(parts.words[first + start : first + stop].sum())
            stretches.append(placed(int(shown[start]), numbers=numbers, n_words=n_words))
        shares = [placed(column, percent=f"{100 * share:.0f}") for column, share in parts.largest_shares(document)]
        facts = {"name": one_line(parts.ids[document], 80), "n_words": int(parts.n_words[document])}
        strips.append({**facts, "shares": shares, "stretches": stretches})
    return strips


def summarize(run: Run) -> Summary:
    """Return all that the report says of a run."""
    overviews, strips = overview(run), strips_of(run)
    stories = stories_of(run, overviews)
    source = _source(run)
    noun = ("story", "stories") if run.shows_stories else ("cluster", "clusters")
    return Summary(
        title=f"{run.size_told} in {counted(run.n_clusters, *noun)}",
        source=source,
        sentence=_sentence(run, stories, source, noun),
        citation=_citation(run, source),
        notes=tuple(one_line(note, MAX_NOTE) for note in run.notes),
        facts=_facts(run, overviews, noun),
        n_documents=run.n_documents,
        n_clusters=run.n_clusters,
        borderline_margin=BORDERLINE_MARGIN,
        noun=noun,
        stories=stories,
        sections=sections_of(run, stories),
        names={
            facts.cluster: one_line(facts.name, HEADLINE_LENGTH) or f"Cluster {facts.cluster}" for facts in overviews
        },
        data=data_card(run),
        clusters=cluster_rows(run),
        adherence=pair_table_of(run, "adherence"),
        separation=pair_table_of(run, "ics"),
        confusions=tuple(filter(None, (confusion(run, column) for column in run.truth))),
        families=score_families(run),
        provenance=run.provenance,
        started=_started(run.provenance.started),
        parameters=_parameters(run),
        row="document" if run.parts is None else "part",
        strips=strips,
        n_hidden_documents=0 if run.parts is None else len(run.parts.ids) - len(strips),
    )


def _source(run: Run) -> str:
    """Return the names of what was read, without the folders they lie in."""
    source = run.parameters.get("source")
    paths = source if isinstance(source, list | tuple) else [source] if source else []
    names = [PurePath(str(path)).name or str(path) for path in paths]
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} more"]
    return one_line(", ".join(names), 120)


def _sentence(run: Run, stories: tuple[StoryCard, ...], source: str, noun: tuple[str, str]) -> str:
    start = run.size_told + (f" from {source}" if source else "")
    days = [day for story in stories for day in (story.first, story.last) if day is not None]
    dated = f", dated {span_words(min(days), max(days), stories[0].period).replace(' – ', ' to ')}," if days else ""
    if run.n_clusters == 1:
        return f"{start}{dated} {'form' if run.n_documents > 1 else 'forms'} one {noun[0]}."
    sizes = run.shown_sizes[: run.n_clusters]
    smallest, largest = int(sizes.min()), int(sizes.max())
    between = (
        f"{smallest:,} each"
        if smallest == largest
        else f"{smallest:,} to {largest:,} {'documents' if run.parts is None else 'parts'}"
    )
    remainder = f"; {run.n_other:,} {'fits' if run.n_other == 1 else 'fit'} no {noun[0]}" if run.n_other else ""
    return f"{start}{dated} fall into {run.n_clusters:,} {noun[1]} of {between}{remainder}."


def _citation(run: Run, source: str) -> str:
    """Return a citation for the clusters of a run: documents, algorithm, seed and checksum."""
    origin = run.provenance
    software = f"doccluster {origin.versions.get('doccluster', __version__)}"
    how = ", ".join(filter(None, (run.method, f"seed {origin.seed}")))
    data = f" Data: SHA-256 {origin.checksum[:16]}." if origin.checksum else ""
    day = f", {origin.started[:10]}" if origin.started else ""
    n, k = run.size_told, counted(run.n_clusters, "cluster")
    return one_line(f"{software} ({how}): {n}{f' of {source}' if source else ''} in {k}{day}.{data}", 400)


MAX_VALUE = 2_000  # characters of an argument; the prompt for names of clusters is about 750
MAX_NOTE = 800  # characters: three levels of clusters with a name each are about 500
MAX_TRUTHS = 2  # truth columns in the head of the page
_HEADLINES = (
    ("silhouette", "Silhouette", "how much nearer documents are to their own cluster than to the next, −1 to 1"),
    ("nmi", "NMI", "agreement with {}, 0 to 1"),
    ("adjusted_rand", "Adjusted Rand", "agreement with {}, 0 by chance, at most 1"),
)


def _facts(run: Run, overviews: Sequence[Overview], noun: tuple[str, str]) -> tuple[tuple[str, str, str], ...]:
    facts = [("Documents", f"{run.n_documents:,}", "")]
    if run.parts is not None:
        facts = [("Documents", f"{len(run.parts.ids):,}", ""), ("Parts", f"{run.n_documents:,}", "of these documents")]
    facts += [(noun[1].capitalize(), f"{run.n_clusters:,}", "")]
    n_outlets = len({name for facts_of_cluster in overviews for name, _ in facts_of_cluster.outlets})
    n_copies = 0 if run.copy_of is None else int(np.count_nonzero(run.copy_of != np.arange(run.n_documents)))
    if n_outlets > 1:
        facts.append(("Outlets", f"{n_outlets:,}", ""))
    if n_copies:
        facts.append(("Near-copies", f"{n_copies:,}", "near-copies of an earlier document"))
    tightness = f"how alike the documents of a {noun[0]} are, 0 to 1"
    facts.append(("Similarity", decimal(float(run.similarity.mean())), tightness))
    for name, title, meaning in _HEADLINES:
        scores = [score for score in run.evaluation.scores if score.name == name and not math.isnan(score.value)]
        for score in scores[:MAX_TRUTHS]:
            truth = one_line(score.truth or "the truth", 40)
            facts.append((title, decimal(score.value, 2), meaning.format(truth)))
    return tuple(facts)


def _started(moment: str) -> str:
    if as_date(moment) and len(moment) > 10:
        moment = moment[:19].replace("T", " ") + " UTC"
    return one_line(moment, 40)


def _parameters(run: Run) -> tuple[tuple[str, str], ...]:
    """Return the arguments of the run that were given, and below them what those left open came to."""
    rows = []
    for name, value in run.parameters.items():
        if isinstance(value, dict):
            rows += [(f"{name}.{inner}", _as_text(item)) for inner, item in value.items()]
        elif value is not None:
            rows.append((name, _as_text(value)))
    return tuple((one_line(name, 80), one_line(text, MAX_VALUE)) for name, text in rows)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


BETTER = {"higher": "higher is better", "lower": "lower is better", "none": "no better direction"}
EXPLAINED = {
    "external": "How well the clusters agree with labels that came with the documents.",
    "internal": "How tight and how well separated the clusters are, computed from the document vectors alone.",
    "intrinsic": "What each cluster is like, and how it relates to the others.",
    "topic": "How well the top terms of the clusters go together.",
}


@dataclass(frozen=True)
class ScoreFamily:
    """The measures of one family; `columns` are the truth columns, or one column called "value"."""

    key: str
    heading: str
    explained: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Measure, list[Score | None], str], ...]  # a value or none for each column, and a note

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the measures that were not computed, but would be if they were asked for."""
        return tuple(
            measure.name
            for measure, scores, _ in self.rows
            if any(score is not None and score.is_skipped for score in scores)
        )


def score_families(run: Run) -> tuple[ScoreFamily, ...]:
    """Return all scores of a run, by family."""
    truths = truth_of(run.evaluation)
    families = []
    for key, scores in families_of(run.evaluation):
        columns: list[str | None] = [*truths] if key == "external" else [None]
        rows = tuple((first.measure, cells, _note(cells)) for first, cells in by_measure(scores, columns))
        names = tuple(one_line(str(column), 60) if column else "value" for column in columns)
        families.append(ScoreFamily(key, HEADINGS[key], EXPLAINED[key], names, rows))
    return tuple(families)


def _note(scores: list[Score | None]) -> str:
    notes = dict.fromkeys(note for score in scores if score is not None for note in score.notes)
    return one_line("; ".join(notes), 400)


def gauge(score: Score) -> float | None:
    """Return where a value lies in the range of its measure, 0 to 1; None without bounds or a better direction."""
    low, high = score.measure.bounds
    if low is None or high is None or score.measure.direction == "none" or not math.isfinite(score.value):
        return None
    return min(1.0, max(0.0, (score.value - low) / (high - low)))
