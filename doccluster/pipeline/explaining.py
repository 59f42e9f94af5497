"""What a cluster is about, why a document is where it is, or two clusters side by side, as data.

`results/explanation.py` puts it into words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from doccluster.errors import InputError
from doccluster.labeling import ClusterDescription, contrast_clusters, explain_membership
from doccluster.labeling.placement import similarity_without
from doccluster.results.explanation import Explanation
from doccluster.results.overview import OTHER, overview
from doccluster.results.record import Run
from doccluster.results.run_folder import load_run
from doccluster.results.run_tables import LEADING_MEASURES, per_cluster_values
from doccluster.results.tree import Node, place_of_cluster

N_NEAREST = 3  # documents, by meaning


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
        return _two_clusters(run, _number(cluster, run), _number(other, run))
    name = str(cluster)
    place = place_of_cluster(run.levels, len(run.around.coarser), name)
    if place is not None:
        return _one_node(run, *place)
    is_number = not isinstance(cluster, str)
    if run.parts is not None and name in run.parts.ids and not is_number:
        return _document_in_parts(run, run.parts.ids.index(name))
    if name in run.documents.ids and not is_number:
        return _one_document(run, run.documents.ids.index(name))
    of_a_level = f"a larger one as {run.levels[0].name}:0, " if run.around.coarser else ""
    an_id = f"{name!r} for the document of this id" if name in run.documents.ids else "the id of a document"
    raise InputError(
        f"the run has no cluster {name}" if is_number else f"the run has no cluster and no document {name!r}",
        remedy=f"give a number from 0 to {run.n_clusters - 1}, {of_a_level}or {an_id}",
    )


def _all_clusters(run: Run) -> Explanation:
    names, overviews = ("cluster", "size", "name", "headline", "label"), overview(run)[: run.n_clusters]
    clusters = [{name: getattr(summary, name) for name in names} for summary in overviews]
    beside = {"beneath": [summary.beneath for summary in overviews]}
    return Explanation("clusters", {"clusters": clusters, "n_other": run.n_other}, beside)


def _tree(run: Run, depth: int | None) -> Explanation:
    """List the clusters of the levels, each below what it is part of."""
    n_levels = min(depth or len(run.around.coarser) + 1, len(run.levels))

    def content_of(node: Node, n_below: int) -> dict[str, object]:
        parts = [content_of(child, n_below - 1) for child in node.children] if n_below else []
        return {**_named(node.level, node.cluster), "size": node.cluster.size, "parts": parts}

    content = {"tree": [content_of(node, n_levels - 1) for node in run.tree], "n_other": run.n_other}
    return Explanation("tree", content, {"levels": [(level.n_clusters, level.plural) for level in run.levels]})


def _named(level: str, cluster: ClusterDescription) -> dict[str, object]:
    return {"level": level, "cluster": cluster.cluster, "label": cluster.label}


def _one_node(run: Run, place: int, number: int) -> Explanation:
    """Say what a cluster of any level is about, what it is part of, and what its parts are."""
    level = run.levels[place]
    if place == len(run.around.coarser):
        return _one_cluster(run, run.clusters[number])
    cluster = level.clusters[number]
    content = asdict(cluster) | {"level": level.name, "headline": overview(run, level)[number].headline}
    shown = _shown(run, (document.row for document in cluster.representatives))
    return Explanation("node", content | _around(run, place, number), {"n_documents": run.n_documents, "shown": shown})


def _around(run: Run, place: int, number: int) -> dict[str, object]:
    """Return the wholes that a cluster is part of, the coarsest level first, and its parts on the next level."""
    level = run.levels[place]
    path = [_named(above.name, above.clusters[level.parents_on(above)[number]]) for above in run.levels[:place]]
    parts: list[dict[str, object]] = []
    if place + 1 < len(run.levels):
        below = run.levels[place + 1]
        numbers = np.flatnonzero(below.parents_on(level) == number).tolist()
        parts = [_named(below.name, below.clusters[part]) | {"size": below.clusters[part].size} for part in numbers]
    return {"path": path, "parts": parts}


def _one_cluster(run: Run, cluster: ClusterDescription) -> Explanation:
    measures = {name: float(values[cluster.cluster]) for name, values in per_cluster_values(run).items()}
    content = asdict(cluster) | {"measures": measures}
    near = (*content["representatives"], *content["borderline"])
    for document in near:
        document |= _names_of(run, document["row"])
    in_overview = overview(run)[cluster.cluster]
    content["headline"] = in_overview.headline
    content |= _around(run, len(run.around.coarser), cluster.cluster)
    is_member = run.partition.labels == cluster.cluster
    beside: dict[str, object] = {
        "n_documents": run.n_documents,
        "rows": "documents" if run.parts is None else "parts",
        "of_documents": in_overview.n_documents,
        "remark": in_overview.remark,
        "n_clusters": run.n_clusters,
        "called": in_overview.name,
        "beneath": in_overview.beneath,
        "similarity": in_overview.similarity,
        "leading": [name for name in LEADING_MEASURES if name in measures],
        "smallest_margin": float(run.margin[is_member].min()),
        "labels": [other.label for other in run.clusters],
        "shown": _shown(run, (document["row"] for document in near)),
    }
    if run.by_meaning is not None:
        content["meaning"] = {"similarity": float(run.by_meaning.similarity[is_member].mean())}
        beside["margins"] = float(run.margin[is_member].mean()), float(run.by_meaning.margin[is_member].mean())
    return Explanation("cluster", content, beside)


def _one_document(run: Run, row: int) -> Explanation:
    home, next_best = int(run.partition.labels[row]), int(run.runner_up[row])
    content: dict[str, Any] = dict(_names_of(run, row))
    if len(run.levels) > 1:
        content["path"] = [_named(level.name, level.clusters[level.labels[row]]) for level in run.levels]
    content["other"] = bool(run.shown_labels[row] == run.n_clusters)
    if content["other"]:
        content["without"] = float(similarity_without(run.partition.labels, run.similarity)[row])
    names = run.vectors.terms if run.vectors.display_terms is None else run.vectors.display_terms
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
    rows = [row]
    if run.by_meaning is not None and run.vectors.meaning is not None:
        members = run.members(home)
        neighbours = members[members != row]
        cosines = run.vectors.meaning.rows[neighbours] @ run.vectors.meaning.rows[row]
        nearest = np.argsort(-cosines, kind="stable")[:N_NEAREST]
        rows += neighbours[nearest].tolist()
        content["meaning"] = {
            "similarity": float(run.by_meaning.similarity[row]),
            "margin": float(run.by_meaning.margin[row]),
            "nearest": [
                {"id": run.documents.ids[neighbours[place]], "similarity": float(cosines[place])}
                for place in nearest.tolist()
            ],
        }
    beside = {
        "shown": list(_shown(run, rows).values()),  # the document, then the nearest by meaning
        "margin": float(run.margin[row]),
        "by_counts": None if run.rule is None else run.rule.on_counts,
    }
    return Explanation("document", content, beside)


def _document_in_parts(run: Run, document: int) -> Explanation:
    """Say what share of a document is in which cluster, and where each of its parts is."""
    parts = run.parts
    assert parts is not None  # who calls has looked
    rows = np.flatnonzero(parts.document_of == document)
    names = [*(cluster.label for cluster in run.clusters), OTHER, ""]
    clusters: list[int | None] = [*range(run.n_clusters), None, None]
    shares = parts.shares[document]
    order = [column for column in np.argsort(-shares, kind="stable").tolist() if shares[column] > 0]
    content = {
        "id": parts.ids[document],
        "words": int(parts.n_words[document]),
        "shares": [
            {"cluster": clusters[place], "label": names[place], "share": float(shares[place])} for place in order
        ],
        "parts": [
            {
                "id": f"{parts.ids[document]}#{number}",
                "words": int(parts.words[row]),
                "cluster": clusters[parts.shown[row]],
            }
            for number, row in enumerate(rows.tolist(), 1)
        ],
    }
    return Explanation("document in parts", content)


def _names_of(run: Run, row: int) -> dict[str, str]:
    return {"id": run.documents.ids[row], "title": run.documents.titles[row]}


def _shown(run: Run, rows: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Return by its row the id of each document, and the name to show."""
    return {row: (run.documents.ids[row], run.documents.name(row)) for row in rows}


def _two_clusters(run: Run, first: int, second: int) -> Explanation:
    if first == second:
        raise InputError(f"{first} and {second} are the same cluster", remedy="give two")
    contrast = contrast_clusters(run.vectors, run.partition, run.centroids, first, second)
    content: dict[str, Any] = asdict(contrast)
    for document in content["between"]:
        document |= _names_of(run, document["row"])
    content = {"clusters": [{"cluster": k, "label": run.clusters[k].label} for k in (first, second)], **content}
    beside = {
        "sizes": [run.clusters[k].size for k in (first, second)],
        "shown": _shown(run, (document["row"] for document in content["between"])),
    }
    return Explanation("two clusters", content, beside)


def _number(cluster: int | str, run: Run) -> int:
    name = str(cluster)
    if not name.isdecimal() or int(name) >= run.n_clusters:
        raise InputError(f"the run has no cluster {name!r}", remedy=f"give numbers from 0 to {run.n_clusters - 1}")
    return int(name)
