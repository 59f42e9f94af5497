"""What a cluster is about, why a document is where it is, or two clusters side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from doccluster.base.arrays import Matrix
from doccluster.errors import InputError
from doccluster.labeling import ClusterDescription, Placement, Term, contrast_clusters, explain_membership
from doccluster.labeling.placement import similarity_without
from doccluster.results.overview import overview
from doccluster.results.record import Run
from doccluster.results.run_folder import load_run
from doccluster.results.run_tables import LEADING_MEASURES, per_cluster_values
from doccluster.results.tree import Node, place_of_cluster
from doccluster.results.views import Explanation

N_REASONS = 5
N_NEAREST = 3  # documents, by meaning
TOGETHER = "words that hold it together (share of its similarity; documents with the word)"
TYPICAL = "most typical documents (similarity to the cluster)"
BY_COUNTS, BY_ROWS = "how often its words occur", "more than its similarity"


def explain(
    source: Run | str | Path,
    cluster: int | str | None = None,
    other: int | str | None = None,
    *,
    depth: int | None = None,
) -> Explanation:
    """Say what a cluster is about, why a document is where it is, or what separates two clusters.

    Parameters
    ----------
    source : Run, or path of a run folder
    cluster : int or str, optional
        The number of a cluster, "section:3" for one of another level, or the id of a document, as text; without it all
        clusters are listed, from the coarsest level down.
    other : int, optional
        The number of a second cluster: what the two share, what separates them, and the documents between them.
    depth : int, optional
        How many levels are listed, from the coarsest; by default down to the clusters of the run.

    Raises
    ------
    InputError
        If there is no such cluster or document, or both clusters are the same.
    """
    run = load_run(source)
    if cluster is None:
        return _tree(run, depth) if len(run.levels) > 1 else _all_clusters(run)
    if other is not None:
        return Explanation(*_two_clusters(run, _number(cluster, run), _number(other, run)))
    name = str(cluster)
    place = place_of_cluster(run.levels, len(run.around.coarser), name)
    if place is not None:
        return Explanation(*_one_node(run, *place))
    is_number = not isinstance(cluster, str)
    if name in run.documents.ids and not is_number:
        return Explanation(*_one_document(run, run.documents.ids.index(name)))
    of_a_level = f"a larger one as {run.levels[0].name}:0, " if run.around.coarser else ""
    an_id = f"{name!r} for the document of this id" if name in run.documents.ids else "the id of a document"
    raise InputError(
        f"the run has no cluster {name}" if is_number else f"the run has no cluster and no document {name!r}",
        remedy=f"give a number from 0 to {run.n_clusters - 1}, {of_a_level}or {an_id}",
    )


def _all_clusters(run: Run) -> Explanation:
    shown = overview(run)[: run.n_clusters]
    names = ("cluster", "size", "headline", "label")
    content = {
        "clusters": [{name: getattr(summary, name) for name in names} for summary in shown],
        "n_other": run.n_other,
    }
    lines = [f"{summary.cluster:>7}  {summary.size:>6,}  {summary.headline}  ({summary.label})" for summary in shown]
    return Explanation(content, (f"{run.n_clusters:,} clusters: number, documents, headline (label)", *lines))


def _tree(run: Run, depth: int | None) -> Explanation:
    """List the clusters of the levels, each below what it is part of."""
    n_levels = min(depth or len(run.around.coarser) + 1, len(run.levels))

    def content_of(node: Node, n_below: int) -> dict[str, object]:
        parts = [content_of(child, n_below - 1) for child in node.children] if n_below else []
        return {**_named(node.level, node.cluster), "size": node.cluster.size, "parts": parts}

    def lines_of(part: Mapping[str, Any], indent: str) -> list[str]:
        below = [line for child in part["parts"] for line in lines_of(child, indent + "  ")]
        return [f"{indent}{part['level']} {part['cluster']}  {part['size']:,}  {part['label']}", *below]

    tree = [content_of(node, n_levels - 1) for node in run.tree]
    numbers = ", ".join(f"{level.n_clusters:,} {level.plural}" for level in run.levels)
    lines = [line for part in tree for line in lines_of(part, "  ")]
    return Explanation({"tree": tree, "n_other": run.n_other}, (f"{numbers}: number, documents, label", *lines))


def _named(level: str, cluster: ClusterDescription) -> dict[str, object]:
    return {"level": level, "cluster": cluster.cluster, "label": cluster.label}


def _one_node(run: Run, place: int, number: int) -> tuple[dict[str, object], tuple[str, ...]]:
    """Say what a cluster of any level is about, what it is part of, and what its parts are."""
    level = run.levels[place]
    if place == len(run.around.coarser):
        return _one_cluster(run, run.clusters[number])
    cluster, facts = level.clusters[number], overview(run, level)[number]
    content = asdict(cluster) | {"level": level.name, "headline": facts.headline}
    around, lines_around = _around(run, place, number)
    lines = [f"{level.name} {number}: {cluster.label}", f"  {facts.headline}"]
    lines += [f"  {cluster.size:,} of {run.n_documents:,} documents", *lines_around]
    lines += _terms(TOGETHER, cluster.descriptive)
    lines.append(TYPICAL)
    lines += [f"  {shown.similarity:.3f}  {_name(run, shown.row)}" for shown in cluster.representatives]
    return content | around, tuple(lines)


def _around(run: Run, place: int, number: int) -> tuple[dict[str, object], list[str]]:
    """Return the wholes that a cluster is part of, the coarsest level first, and its parts on the next level."""
    level = run.levels[place]
    path = [_named(above.name, above.clusters[level.parents_on(above)[number]]) for above in run.levels[:place]]
    parts: list[dict[str, object]] = []
    if place + 1 < len(run.levels):
        below = run.levels[place + 1]
        numbers = np.flatnonzero(below.parents_on(level) == number).tolist()
        parts = [_named(below.name, below.clusters[part]) | {"size": below.clusters[part].size} for part in numbers]
    lines = [f"  in {part['level']} {part['cluster']} ({part['label']})" for part in path]
    lines += [f"  {part['level']} {part['cluster']}  {part['size']:,}  {part['label']}" for part in parts]
    return {"path": path, "parts": parts}, lines


def _one_cluster(run: Run, cluster: ClusterDescription) -> tuple[dict[str, object], tuple[str, ...]]:
    measures = {name: float(values[cluster.cluster]) for name, values in per_cluster_values(run).items()}
    content = asdict(cluster) | {"measures": measures}
    for document in (*content["representatives"], *content["borderline"]):
        document |= _names_of(run, document["row"])
    in_overview = overview(run)[cluster.cluster]
    content["headline"] = in_overview.headline
    number, label, headline = f"cluster {cluster.cluster}", cluster.label, in_overview.headline
    lines = [number if label == number else f"{number}: {headline}"]  # it is also the label where there are no words
    lines += [f"  {label}"] * (label not in (number, headline))
    lines += [f"  {cluster.size:,} of {run.n_documents:,} documents", f"  similarity {in_overview.similarity:.3f}"]
    around, lines_around = _around(run, len(run.around.coarser), cluster.cluster)
    content |= around
    if run.by_meaning is not None:
        is_member = run.partition.labels == cluster.cluster
        content["meaning"] = {"similarity": float(run.by_meaning.similarity[is_member].mean())}
        by_words, by_meaning = float(run.margin[is_member].mean()), float(run.by_meaning.margin[is_member].mean())
        lines[-1] += f" of words, {content['meaning']['similarity']:.3f} of meaning"
        by, than = ("meaning", "words") if by_meaning > by_words else ("words", "meaning")
        if run.n_clusters > 1:
            margins = f"mean margin {by_words:.3f} by words, {by_meaning:.3f} by meaning"
            lines.append(f"  held together by {by} more than by {than}: {margins}")
    lines += [f"  {name} {measures[name]:.3f}" for name in LEADING_MEASURES if name in measures]
    lines += lines_around
    lines += _terms(TOGETHER, cluster.descriptive)
    lines += _terms("words that set it apart (share of its distance to the others; documents)", cluster.discriminating)
    lines.append(TYPICAL)
    for shown in cluster.representatives:
        noun = "near-copy" if shown.n_copies == 1 else "near-copies"
        copies = f"   and {shown.n_copies:,} {noun}" if shown.n_copies else ""
        lines.append(f"  {shown.similarity:.3f}  {_name(run, shown.row)}{copies}")
    if cluster.borderline:
        lines.append("close to another cluster (margin, the other cluster)")
    elif run.n_clusters > 1:
        smallest = float(run.margin[run.partition.labels == cluster.cluster].min())
        lines.append(f"every document is nearest to this cluster (smallest margin {smallest:.3f})")
    for near in cluster.borderline:
        runner_up = run.clusters[near.runner_up].label
        lines.append(f"  {near.margin:+.3f}  {near.runner_up} ({runner_up})  {_name(run, near.row)}")
    return content, tuple(lines)


def _one_document(run: Run, row: int) -> tuple[dict[str, object], tuple[str, ...]]:
    home, next_best = int(run.partition.labels[row]), int(run.runner_up[row])
    content: dict[str, Any] = dict(_names_of(run, row))
    lines = [_name(run, row)]
    if len(run.levels) > 1:
        content["path"] = [_named(level.name, level.clusters[level.labels[row]]) for level in run.levels]
        lines += [f"  {part['level']} {part['cluster']}: {part['label']}" for part in content["path"]]
    content["other"] = is_other = bool(run.shown_labels[row] == run.n_clusters)
    belongs = "cluster"
    names = run.vectors.terms if run.vectors.display_terms is None else run.vectors.display_terms
    if is_other:
        content["without"] = without = float(similarity_without(run.partition.labels, run.similarity)[row])
        lines.append(f"  fits no cluster (Other): without it, {home} is less similar ({without:.3f}) than {next_best}")
        belongs = "nearest cluster"
    for role, cluster, cosine in (
        ("cluster", home, run.similarity[row]),
        ("runner_up", next_best, run.runner_up_similarity[row]),
    ):
        if cluster < 0:
            continue
        reasons = explain_membership(run.vectors.matrix, row, run.centroids, cluster, names=names)
        content[role] = {
            "cluster": cluster,
            "label": run.clusters[cluster].label,
            "similarity": float(cosine),
            "terms": [asdict(reason) for reason in reasons],
        }
        word = belongs if role == "cluster" else "next cluster"
        lines.append(f"  {word} {cluster} ({run.clusters[cluster].label}): similarity {cosine:.3f}, made up of")
        lines += [f"    {reason.contribution:.3f}  {reason.term}" for reason in reasons[:N_REASONS]]
    if run.by_meaning is not None and run.vectors.meaning is not None:
        content["meaning"], lines_on_meaning = _by_meaning(run, row, run.by_meaning, run.vectors.meaning.rows)
        lines += lines_on_meaning
    if run.rule is not None and run.margin[row] < 0:
        lines.append(
            f"  it is in {home} by {BY_COUNTS if run.rule.on_counts else BY_ROWS}; {next_best} is more similar"
        )
    return content, tuple(lines)


def _by_meaning(run: Run, row: int, placed: Placement, rows: Matrix) -> tuple[dict[str, object], list[str]]:
    """Return how near a document is to its cluster by meaning, and the documents of it that mean the most like it."""
    members = run.members(int(run.partition.labels[row]))
    neighbours = members[members != row]
    cosines = rows[neighbours] @ rows[row]
    nearest = np.argsort(-cosines, kind="stable")[:N_NEAREST]
    near = [(run.documents.ids[neighbours[place]], float(cosines[place])) for place in nearest.tolist()]
    content = {
        "similarity": float(placed.similarity[row]),
        "margin": float(placed.margin[row]),
        "nearest": [{"id": name, "similarity": cosine} for name, cosine in near],
    }
    lines = [f"  by meaning: similarity {placed.similarity[row]:.3f}, nearest documents"]
    lines += [f"    {cosines[place]:.3f}  {_name(run, int(neighbours[place]))}" for place in nearest.tolist()]
    by, than = ("meaning", "words") if placed.margin[row] > run.margin[row] else ("words", "meaning")
    if run.n_clusters > 1:
        margins = f"margin {run.margin[row]:+.3f} by words, {placed.margin[row]:+.3f} by meaning"
        lines.append(f"  {by} decides more than {than}: {margins}")
    return content, lines


def _terms(heading: str, terms: tuple[Term, ...]) -> list[str]:
    if not terms:
        return []
    return [heading, *(f"  {term.share:6.1%}  {term.support:>6,}  {term.term}" for term in terms)]


def _names_of(run: Run, row: int) -> dict[str, str]:
    return {"id": run.documents.ids[row], "title": run.documents.titles[row]}


def _name(run: Run, row: int) -> str:
    name = run.documents.name(row)
    own_id = run.documents.ids[row]
    return own_id if name == own_id else f"{own_id}  {name}"


def _two_clusters(run: Run, first: int, second: int) -> tuple[dict[str, object], tuple[str, ...]]:
    if first == second:
        raise InputError(f"{first} and {second} are the same cluster", remedy="give two")
    contrast = contrast_clusters(run.vectors, run.partition, run.centroids, first, second)
    content: dict[str, Any] = asdict(contrast)
    for document in content["between"]:
        document |= _names_of(run, document["row"])
    content = {"clusters": [{"cluster": k, "label": run.clusters[k].label} for k in (first, second)], **content}
    labels = [f"{k} ({run.clusters[k].label})" for k in (first, second)]
    sizes = f"{run.clusters[first].size:,} and {run.clusters[second].size:,} documents"
    lines = [f"clusters {labels[0]} and {labels[1]}", f"  {sizes}; cosine {contrast.similarity:.3f}"]
    for heading, terms in (
        ("they share (share of the cosine)", contrast.shared),
        (f"more in {labels[0]} (share of the squared distance)", contrast.first_only),
        (f"more in {labels[1]} (share of the squared distance)", contrast.second_only),
    ):
        lines.append(heading if terms else f"{heading}: no term")
        lines += [f"  {term.share:6.1%}  {term.term}" for term in terms]
    floor = math.floor(10 * contrast.between[0].margin) / 10
    lines.append(f"nearest to the border (margin, cluster){f'; none is below {floor}' if floor > 0 else ''}")
    lines += [f"  {near.margin:+.3f}  {near.cluster}  {run.documents.name(near.row)}" for near in contrast.between]
    return content, tuple(lines)


def _number(cluster: int | str, run: Run) -> int:
    name = str(cluster)
    if not name.isdecimal() or int(name) >= run.n_clusters:
        raise InputError(f"the run has no cluster {name!r}", remedy=f"give numbers from 0 to {run.n_clusters - 1}")
    return int(name)
