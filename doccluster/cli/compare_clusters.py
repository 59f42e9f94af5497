"""`explain RUN_DIR 3 7`: two clusters of a finished run side by side."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from doccluster.cli.console import plain, print_json, say
from doccluster.errors import InputError

if TYPE_CHECKING:
    from doccluster.record import Run


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
