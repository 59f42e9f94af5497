"""`label`, `merge` and `undo`: an editor's names and merges in the folder of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from doccluster.cli.console import json_option, print_json, say
from doccluster.cli.verb import Verb

if TYPE_CHECKING:
    from doccluster.pipeline.editing import Edited


@click.command("label", cls=Verb, short_help="Give a cluster of a run a name.")
@click.argument("folder", metavar="RUN_DIR")
@click.argument("cluster", type=int)
@click.argument("name")
@json_option
def label_command(folder: str, cluster: int, name: str, as_json: bool) -> None:
    """Give a cluster of a run a name; its tables, its model and its report are written again with it.

    Documents that `assign` puts into the cluster later show that name too.
    """
    from doccluster.pipeline.editing import Edit, edit_run

    _print(edit_run(folder, Edit("label", (cluster,), name)), f"cluster {cluster} is now called {name}", as_json)


@click.command("merge", cls=Verb, short_help="Merge several clusters of a run into one.")
@click.argument("folder", metavar="RUN_DIR")
@click.argument("clusters", nargs=-1, required=True, type=int, metavar="CLUSTER...")
@json_option
def merge_command(folder: str, clusters: tuple[int, ...], as_json: bool) -> None:
    """Merge several clusters of a run into one; clusters are numbered by size again, and everything is written again.

    A name that you gave to one of them stays. Scores are computed again for the new clusters.
    """
    from doccluster.pipeline.editing import Edit, edit_run

    numbers = " and ".join(map(str, clusters))
    _print(edit_run(folder, Edit("merge", clusters)), f"clusters {numbers} are now one", as_json)


@click.command("undo", cls=Verb, short_help="Take back the last label or merge of a run.")
@click.argument("folder", metavar="RUN_DIR")
@json_option
def undo_command(folder: str, as_json: bool) -> None:
    """Take back the last label or merge of a run; call it again for the one before."""
    from doccluster.pipeline.editing import undo_edit

    edited = undo_edit(folder)
    _print(edited, f"undone: {edited.edit.verb} {' '.join(map(str, edited.edit.clusters))}", as_json)


def _print(edited: Edited, sentence: str, as_json: bool) -> None:
    """Print what was done, and the clusters that it changed."""
    from doccluster.cli.run_summary import print_clusters
    from doccluster.results.overview import overview

    if as_json:
        changed = [edited.run.clusters[number] for number in edited.clusters]
        rows = [{"cluster": cluster.cluster, "size": cluster.size, "label": cluster.label} for cluster in changed]
        print_json({"done": sentence, "clusters": rows})
        return
    say(sentence)
    say()
    overviews = overview(edited.run)
    print_clusters([overviews[number] for number in edited.clusters])
