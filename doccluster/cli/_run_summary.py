"""The screen of a finished run, and its JSON; the table of clusters that every verb prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from doccluster.base.progress import COMPILING
from doccluster.base.text_table import Column
from doccluster.cli.console import plain, print_table, say, say_below, say_fact, say_items
from doccluster.clustering.algorithms import SPHERICAL, STARTS, get_algorithm
from doccluster.report.wording import counted, month_words, span_words
from doccluster.results.document_table import NO_TERMS
from doccluster.results.overview import Overview, doubt, overview
from doccluster.results.run_tables import levels_columns, per_cluster_values

if TYPE_CHECKING:
    from doccluster.results.record import Run
    from doccluster.results.shares import DocumentParts

WIDEST_HEADLINE = 80
SHOWN_SECONDS = 0.05  # of compiling
FILES = (
    *("report.html", "assignments.csv", "shares.csv", "clusters.csv", "levels.csv", "scores.csv", "skipped.csv"),
    *("model", "run.json"),
)
WIDEST_NAME = 24  # of a document, beside its shares
MAX_DOCUMENTS = 10  # whose shares are on the screen
MAX_SHOWN = 40  # clusters on the screen; all are in clusters.csv
SILHOUETTE = "how much nearer documents are to their own cluster, -1 to 1"
HEADLINES = ("silhouette", "objective", "purity", "nmi", "adjusted_rand", "pair_f")


def print_clusters(clusters: Sequence[Overview], headings: Mapping[int, str] | None = None) -> None:
    """Print two lines for each cluster, its name and what is beneath; headings stand before some of them.

    On a narrow terminal names get shorter, then similarity goes, then outlets, then dates; sizes stay.
    """
    years = {day.year for cluster in clusters for day in (cluster.first, cluster.last) if day is not None}
    # a column that says the same of all clusters says nothing
    several_outlets = len({name for cluster in clusters for name, _ in cluster.outlets}) > 1

    is_named_by_title = all(cluster.name == cluster.headline for cluster in clusters if not isnan(cluster.similarity))
    title = "headline, label" if is_named_by_title else "label, headline"
    n_outlets = [f"{len(cluster.outlets):,}" if several_outlets and cluster.outlets else "" for cluster in clusters]
    print_table(
        [
            Column("cluster", ["" if isnan(cluster.similarity) else str(cluster.cluster) for cluster in clusters]),
            Column("size", [f"{cluster.size:,}" for cluster in clusters]),
            Column(
                "documents", ["" if cluster.n_documents is None else f"{cluster.n_documents:,}" for cluster in clusters]
            ),
            Column(
                title,
                list(map(_lines, clusters)),
                "left",
                fit="cut" if is_named_by_title else "cut all",
                widest=WIDEST_HEADLINE,
            ),
            Column("dates", [_dates(cluster, with_year=len(years) > 1) for cluster in clusters], "left", leaves=1),
            Column("outlets", n_outlets, leaves=2),
            Column(
                "similarity",
                ["" if isnan(cluster.similarity) else f"{cluster.similarity:.2f}" for cluster in clusters],
                leaves=3,
            ),
        ],
        headings=headings,
    )


def print_largest(run: Run, overviews: Sequence[Overview], output: Path | None) -> None:
    """Print the largest clusters, beneath the sections (or topics) that they are part of where there are such."""
    levels, k = run.levels, run.n_clusters
    top, shown = levels[0], levels[len(run.around.coarser)]
    parents = shown.parents_on(top)
    each = max(2, MAX_SHOWN // top.n_clusters)
    clusters: list[Overview] = []
    headings = {}
    for whole in top.clusters if run.around.coarser else ():
        headings[len(clusters)] = f"{top.name} {whole.cluster}, {whole.size:,} {rows_of(run)}: {plain(whole.label)}"
        clusters += [overviews[number] for number in np.flatnonzero(parents == whole.cluster)[:each].tolist()]
    clusters = clusters or list(overviews[: min(k, MAX_SHOWN)])
    n_shown = len(clusters)
    if headings and run.n_other:
        headings[n_shown] = ""
    print_clusters([*clusters, *overviews[k:]], headings)  # Other, where there is such, stands behind the clusters
    if k > n_shown:
        where = "" if output is None else f"; all are in {output / 'clusters.csv'}"
        of_each = f", at most {each} of a {top.name}" if headings else ""
        say_below(f"the {n_shown} largest of {k:,} clusters{of_each}{where}", 2)


def _lines(cluster: Overview) -> str:
    beneath = "; ".join(filter(None, (plain(cluster.beneath), plain(cluster.remark))))
    return "\n".join(filter(None, (plain(cluster.name), beneath)))


def rows_of(run: Run) -> str:
    """Return the name of the rows of a run: documents, or parts of them."""
    return "documents" if run.parts is None else "parts"


def shares_in_words(parts: DocumentParts, document: int) -> str:
    """Return the largest shares of a document in words: "40 % in 3, 12 % in 0"."""
    beside = {parts.n_clusters: "in Other", parts.n_clusters + 1: "in none"}
    shares = parts.largest_shares(document)
    return ", ".join(f"{100 * share:.0f} % {beside.get(column, f'in {column}')}" for column, share in shares)


def print_shares(run: Run, output: Path | None) -> None:
    """Print the largest shares of the first documents of a run in parts."""
    parts = run.parts
    if parts is None:
        return
    shown = range(min(len(parts.ids), MAX_DOCUMENTS))
    print_table(
        [
            Column("document", [plain(parts.ids[place]) for place in shown], "left", fit="cut", widest=WIDEST_NAME),
            Column("words", [f"{parts.n_words[place]:,}" for place in shown]),
            Column(
                "largest shares (in cluster)", [shares_in_words(parts, place) for place in shown], "left", fit="cut"
            ),
        ]
    )
    if len(parts.ids) > len(shown):
        where = "" if output is None else f"; all are in {output / 'shares.csv'}"
        say_below(f"the first {len(shown)} of {len(parts.ids):,} documents{where}", 2)
    say()


def _dates(cluster: Overview, *, with_year: bool) -> str:
    if cluster.first is None or cluster.last is None:
        return ""
    if cluster.first.year != cluster.last.year and cluster.period != "year":
        return f"{month_words(cluster.first)} – {month_words(cluster.last)}"
    words = span_words(cluster.first, cluster.last, cluster.period)
    # all of one year: the first line says which
    return words if with_year or cluster.period == "year" else words.replace(f" {cluster.first.year}", "")


def print_run(run: Run, output: Path | None) -> None:
    """Print the first screen: what was read, vectorized and clustered, the largest clusters, scores, and files."""
    compiling = run.provenance.timings.get(COMPILING, 0.0)
    if compiling >= SHOWN_SECONDS:
        say_fact("compile", f"once for this machine, {compiling:.1f} s")
    overviews = overview(run)
    n_read = run.n_documents + len(run.empty_documents)
    resolved = run.parameters.get("resolved", {})
    columns = ", ".join(resolved.get("text_columns", ()))
    facts = "; ".join(filter(None, (resolved.get("division"), columns and f"text: {columns}")))
    text = f" ({facts})" if facts else ""
    what = f"{n_read:,} documents" if run.parts is None else f"{len(run.parts.ids):,} documents in {n_read:,} parts"
    say_fact("read", f"{what}{text}{_where_and_when(run, overviews)}{_skipped(run, output)}")
    # the density of the matrix counts what is stored and not zero
    matrix, n_empty = run.vectors.matrix, len(run.empty_documents)
    n_stored = int(np.count_nonzero(matrix) if isinstance(matrix, np.ndarray) else matrix.nnz)
    empty = f"   ({n_empty:,} without a term have no cluster)" if n_empty else ""
    say_fact("vectorize", terms_told(run.n_documents, run.vectors.n_terms, n_stored, rows_of(run)[:-1]) + empty)
    say_analysis(run.parameters.get("resolved", {}).get("analysis", {}))
    say_fact("cluster", _method(run))
    for note in run.notes:
        say_fact("", note)
    stability = run.parameters.get("resolved", {}).get("stability")
    if stability is not None:
        say_fact("", f"The starts agree at {stability:.2f} (mean adjusted Rand; 1 = the same clusters).")
    say()
    print_largest(run, overviews, output)
    say()
    print_shares(run, output)
    for name in HEADLINES:
        for score in (score for score in run.evaluation.scores if score.name == name):
            against = f" against {score.truth}" if score.truth else ""
            notes = [score.note, SILHOUETTE if name == "silhouette" and score.status == "computed" else ""]
            note = "".join(f"   {remark}" for remark in notes if remark)
            value = "" if isnan(score.value) else f"{score.value:.3f}"
            say(f"  {name}{against}  {'not computed' if score.status == 'skipped' else value}{note}")
    if output is not None:
        say_items(files_of(output))


def terms_told(n_documents: int, n_terms: int, n_entries: int, row: str = "document") -> str:
    """Return in words how many terms documents have, or parts of them.

    >>> terms_told(9, 1069, 91)
    '1,069 terms, 10.1 in a document on average'
    """
    return f"{n_terms:,} terms, {n_entries / n_documents:,.1f} in a {row} on average"


def say_analysis(lines: Mapping[str, str]) -> None:
    """Print which languages and scripts the texts are in, and what was done about them."""
    for name, line in lines.items():
        say_fact(name, line)


def run_as_json(run: Run, output: Path | None) -> dict[str, object]:
    """Return the screen of `print_run`, and all scores, as plain values."""
    values = per_cluster_values(run)
    overviews = overview(run)
    levels = levels_columns(run) if len(run.levels) > 1 else {}
    return {
        "output": None if output is None else str(output),
        "files": [] if output is None else files_of(output),
        "interrupted": run.provenance.interrupted,
        "n_documents": run.n_documents,
        **({} if run.parts is None else {"n_whole_documents": len(run.parts.ids)}),
        "n_empty": len(run.empty_documents),
        # a document that was only renamed has been read
        "n_skipped": sum(not skipped.is_renamed for skipped in run.skipped),
        "n_terms": run.vectors.n_terms,
        "n_clusters": run.n_clusters,
        "n_other": run.n_other,
        "analysis": run.parameters.get("resolved", {}).get("analysis", {}),
        "division": run.parameters.get("resolved", {}).get("division", ""),
        "text_columns": run.parameters.get("resolved", {}).get("text_columns", []),
        "seed": run.provenance.seed,
        "stability": run.parameters.get("resolved", {}).get("stability"),
        "timings": dict(run.provenance.timings),
        "notes": list(run.notes),
        "clusters": [
            {
                "cluster": cluster.cluster,
                "size": cluster.size,
                "name": facts.name,
                "headline": facts.headline,
                "label": cluster.label,
                "first": facts.iso(facts.first),
                "last": facts.iso(facts.last),
                "similarity": facts.similarity,
                "outlets": dict(facts.outlets),
                "n_copies": facts.n_copies,
                "terms": list(cluster.terms),
                "measures": {name: values[name][cluster.cluster] for name in values},
            }
            for cluster, facts in zip(run.clusters, overviews, strict=False)
        ],
        "levels": [dict(zip(levels, row, strict=True)) for row in zip(*levels.values(), strict=True)],
        "scores": run.evaluation.to_dict()["scores"],
    }


def files_of(output: Path) -> list[str]:
    """Return the files of a run folder that are there, the report first."""
    return [f"{output / name}{'/' if name == 'model' else ''}" for name in FILES if (output / name).exists()]


def _skipped(run: Run, output: Path | None) -> str:
    # skipped.csv lists the renamed ones too, but they are kept, and those without terms, which were read
    reasons = Counter(item.reason for item in run.skipped if not item.is_renamed and item.reason != NO_TERMS)
    n_renamed = sum(item.is_renamed for item in run.skipped)
    sentences = []
    if reasons:
        counts = ", ".join(f"{count:,} {reason.replace('-', ' ')}" for reason, count in reasons.most_common())
        sentences.append(f"{reasons.total():,} skipped: {counts}")
    if n_renamed:
        sentences.append(f"{n_renamed:,} kept under a new id")
    where = "" if output is None else " -> skipped.csv"
    return f"   ({'; '.join(sentences)}{where})" if sentences else ""


def _method(run: Run) -> str:
    resolved, seconds = run.parameters.get("resolved", {}), run.provenance.timings.get("cluster", 0.0)
    if resolved.get("stories"):
        return f"{counted(run.n_clusters, 'story', 'stories')}: the most similar articles joined first, {seconds:.1f} s"
    if resolved.get("labels_from") is not None:
        return f"{counted(run.n_clusters, 'cluster')}: {run.method}"
    algorithm = get_algorithm(run.parameters.get("algorithm", SPHERICAL))
    starts = (run.parameters.get("clustering") or {}).get("n_init") or STARTS
    details = f", best of {starts} starts" if "n_init" in algorithm.options else ""
    started = resolved.get("started_from")
    details = f", started from the {started} in the data" if started else details
    return (
        f"{counted(run.n_clusters, 'cluster')}: {algorithm.title}{details}, seed {run.provenance.seed}, {seconds:.1f} s"
    )


def _where_and_when(run: Run, clusters: Sequence[Overview]) -> str:
    """Return the days and the number of outlets of all documents, as far as they say and can be believed."""
    firsts, lasts = (
        sorted(filter(None, days))
        for days in zip(*((cluster.first, cluster.last) for cluster in clusters), strict=True)
    )
    outlets = {name for cluster in clusters for name, _ in cluster.outlets}
    when = f", {span_words(firsts[0], lasts[-1], clusters[0].period)}" if firsts else ""
    doubtful = sum(count for text, count in Counter(filter(None, run.documents.dates)).items() if doubt(text))
    when += f" ({doubtful:,} {'date' if doubtful == 1 else 'dates'} not believed)" if doubtful else ""
    return when + (f", {len(outlets):,} outlets" if len(outlets) > 1 else "")
