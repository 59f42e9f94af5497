"""`explain RUN_DIR`: what a cluster is about, why a document is where it is, or two clusters side by side."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from doccluster.cli.console import plain, print_json, say
from doccluster.errors import InputError

if TYPE_CHECKING:
    from doccluster.labeling import ClusterDescription, Placement, Term
    from doccluster.record import Run

N_REASONS = 5
N_NEAREST = 3  # documents, by meaning
BY_COUNTS, BY_ROWS = "how often its words occur", "more than its similarity"


def explain_cluster(folder: str, wanted: str | None, as_json: bool) -> None:
    """Print what is said of a cluster (`wanted` is its number), of a document (its id), or list the clusters (None).

    Raises InputError if there is no such cluster or document.
    """
    from doccluster.artifacts.run_folder import load_run

    run = load_run(folder)
    if wanted is None:
        _print_all(run, as_json)
        return
    if wanted.isdecimal() and int(wanted) < run.n_clusters:
        content, lines = _one_cluster(run, run.clusters[int(wanted)])
    elif wanted in run.documents.ids:
        content, lines = _one_document(run, run.documents.ids.index(wanted))
    else:
        raise InputError(
            f"{folder} has no cluster and no document {wanted!r}",
            remedy=f"give a number from 0 to {run.n_clusters - 1}, or the id of a document",
        )
    if as_json:
        print_json(content)
        return
    for line in lines:
        say(line)


def _print_all(run: Run, as_json: bool) -> None:
    from doccluster.cli.run_summary import print_clusters
    from doccluster.overview import overview

    seen = overview(run)
    if not as_json:
        print_clusters(seen)
        return
    names = ("cluster", "size", "headline", "label")
    rows = [{name: getattr(one, name) for name in names} for one in seen[: run.n_clusters]]
    print_json({"clusters": rows, "n_other": run.n_other})


def _one_cluster(run: Run, one: ClusterDescription) -> tuple[dict[str, Any], list[str]]:
    from doccluster.artifacts.run_tables import LEADING_MEASURES, per_cluster_values
    from doccluster.labeling.placement import BORDERLINE_MARGIN
    from doccluster.overview import overview

    measures = {name: float(values[one.cluster]) for name, values in per_cluster_values(run).items()}
    content = asdict(one) | {"measures": measures}
    for document in (*content["representatives"], *content["borderline"]):
        document["id"] = run.documents.ids[document["row"]]
        document["title"] = run.documents.titles[document["row"]]
    seen = overview(run)[one.cluster]
    content["headline"] = seen.headline
    lines = [f"cluster {one.cluster}: {seen.headline}", f"  {one.label}"]
    lines += [f"  {one.size:,} of {run.n_documents:,} documents", f"  similarity {seen.similarity:.3f}"]
    if run.by_meaning is not None:
        own = run.partition.labels == one.cluster
        content["meaning"] = {"similarity": float(run.by_meaning.similarity[own].mean())}
        by_words, by_meaning = float(run.margin[own].mean()), float(run.by_meaning.margin[own].mean())
        lines[-1] += f" of words, {content['meaning']['similarity']:.3f} of meaning"
        by, than = ("meaning", "words") if by_meaning > by_words else ("words", "meaning")
        if run.n_clusters > 1:
            margins = f"the next cluster is less similar by {by_words:.3f} in words, {by_meaning:.3f} in meaning"
            lines.append(f"  together by {by} more than by {than}: {margins}")
    lines += [f"  {name} {measures[name]:.3f}" for name in LEADING_MEASURES if name in measures]
    lines += _terms("words its documents have in common (share of their similarity, documents)", one.descriptive)
    lines += _terms("words that set it apart (share of the distance to the others, documents)", one.discriminating)
    lines.append("most typical documents (similarity to the cluster, 0 to 1)")
    for shown in one.representatives:
        copies = f"   and {shown.n_copies:,} near-copies" if shown.n_copies else ""
        lines.append(f"  {shown.similarity:.3f}  {_name(run, shown.row)}{copies}")
    if one.borderline:
        lines.append("could as well be in another cluster (how much more similar to this one, the other one)")
    else:
        lines.append(f"all are more similar to it than to any other cluster, by at least {BORDERLINE_MARGIN}")
    for near in one.borderline:
        other = run.clusters[near.runner_up].label
        lines.append(f"  {near.margin:+.3f}  {near.runner_up} ({other})  {_name(run, near.row)}")
    return content, lines


def _one_document(run: Run, row: int) -> tuple[dict[str, Any], list[str]]:
    own, next_best = int(run.partition.labels[row]), int(run.runner_up[row])
    content: dict[str, Any] = {"id": run.documents.ids[row], "title": run.documents.titles[row]}
    lines = [_name(run, row)]
    content["other"] = is_other = bool(run.shown_labels[row] == run.n_clusters)
    belongs = "is in"
    if is_other:
        from doccluster.labeling.placement import similarity_without

        content["without"] = without = float(similarity_without(run.partition.labels, run.similarity)[row])
        lines.append(f"  fits no cluster (Other): without it {own} is less like it ({without:.3f}) than {next_best} is")
        belongs = "the nearest with it is"
    for role, cluster, cosine in (
        ("cluster", own, run.similarity[row]),
        ("runner_up", next_best, run.runner_up_similarity[row]),
    ):
        if cluster < 0:
            continue
        reasons = _reasons(run, row, cluster)
        content[role] = {
            "cluster": cluster,
            "label": run.clusters[cluster].label,
            "similarity": float(cosine),
            "terms": [asdict(reason) for reason in reasons],
        }
        word = belongs if role == "cluster" else "the next is"
        lines.append(f"  {word} {cluster} ({run.clusters[cluster].label}), similarity {cosine:.3f}, by these words")
        lines += [f"    {reason.contribution:.3f}  {plain(reason.term)}" for reason in reasons[:N_REASONS]]
    if run.by_meaning is not None and run.vectors.meaning is not None:
        content["meaning"], told = _by_meaning(run, row, run.by_meaning, run.vectors.meaning.rows)
        lines += told
    if run.rule is not None and run.margin[row] < 0:
        lines.append(f"  it is in {own} by {BY_COUNTS if run.rule.on_counts else BY_ROWS}; {next_best} is more similar")
    return content, lines


def _by_meaning(run: Run, row: int, placed: Placement, rows: Any) -> tuple[dict[str, Any], list[str]]:
    """Return how near a document is to its cluster by meaning, and the documents of it that mean the most like it."""
    members = run.members(int(run.partition.labels[row]))
    others = members[members != row]
    cosines = rows[others] @ rows[row]
    nearest = np.argsort(-cosines, kind="stable")[:N_NEAREST]
    near = [(run.documents.ids[others[place]], float(cosines[place])) for place in nearest.tolist()]
    content = {
        "similarity": float(placed.similarity[row]),
        "margin": float(placed.margin[row]),
        "nearest": [{"id": name, "similarity": cosine} for name, cosine in near],
    }
    lines = [f"  by meaning its similarity is {placed.similarity[row]:.3f}, nearest are"]
    lines += [f"    {cosines[place]:.3f}  {_name(run, int(others[place]))}" for place in nearest.tolist()]
    by, than = ("meaning", "words") if placed.margin[row] > run.margin[row] else ("words", "meaning")
    if run.n_clusters > 1:
        margins = f"its margin is {run.margin[row]:+.3f} by words, {placed.margin[row]:+.3f} by meaning"
        lines.append(f"  it is there by {by} more than by {than}: {margins}")
    return content, lines


def _reasons(run: Run, row: int, cluster: int) -> Any:
    from doccluster.labeling import explain_membership

    vectors = run.vectors
    names = vectors.display_terms if vectors.display_terms is not None else vectors.terms
    return explain_membership(vectors.matrix, row, run.centroids, cluster, names=names)


def _terms(heading: str, terms: tuple[Term, ...]) -> list[str]:
    if not terms:
        return []
    return [heading, *(f"  {term.share:6.1%}  {term.support:>6,}  {plain(term.term)}" for term in terms)]


def _name(run: Run, row: int) -> str:
    name = run.documents.name(row)
    own_id = run.documents.ids[row]
    return own_id if name == own_id else f"{own_id}  {name}"


def compare_clusters(folder: str, first: str, second: str, as_json: bool) -> None:
    """Print what two clusters share, what separates them, and the documents between them.

    Raises InputError if one of them is not there, or both are the same.
    """
    from doccluster.artifacts.run_folder import load_run
    from doccluster.labeling import contrast_clusters

    run = load_run(folder)
    one, other = (_number(name, run, folder) for name in (first, second))
    if one == other:
        raise InputError(f"{first} and {second} are the same cluster", remedy="give two")
    found = contrast_clusters(run.vectors, run.partition, run.centroids, one, other)
    if as_json:
        content: dict[str, Any] = asdict(found)
        for document in content["between"]:
            document["id"] = run.documents.ids[document["row"]]
            document["title"] = run.documents.titles[document["row"]]
        print_json({"clusters": [{"cluster": k, "label": run.clusters[k].label} for k in (one, other)], **content})
        return
    labels = [f"{k} ({run.clusters[k].label})" for k in (one, other)]
    say(f"clusters {labels[0]} and {labels[1]}")
    say(f"  {run.clusters[one].size:,} and {run.clusters[other].size:,} documents; cosine {found.similarity:.3f}")
    for heading, terms in (
        ("they share (share of the cosine)", found.shared),
        (f"more in {labels[0]} (share of the squared distance)", found.first_only),
        (f"more in {labels[1]} (share of the squared distance)", found.second_only),
    ):
        say(heading if terms else f"{heading}: no term")
        for term in terms:
            say(f"  {term.share:6.1%}  {plain(term.term)}")
    say("documents between them (margin, cluster)")
    for document in found.between:
        say(f"  {document.margin:+.3f}  {document.cluster}  {run.documents.name(document.row)}")


def _number(name: str, run: Run, folder: str) -> int:
    if not name.isdecimal() or int(name) >= run.n_clusters:
        raise InputError(f"{folder} has no cluster {name!r}", remedy=f"give numbers from 0 to {run.n_clusters - 1}")
    return int(name)
