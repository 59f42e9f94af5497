"""`label`, `merge` and `undo`: names of clusters by people and models, merges, and how they are taken back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from doccluster.cli.console import json_option, print_json, progress_shown, say, stage_shown
from doccluster.cli.output import write_error
from doccluster.cli.verb import Verb

if TYPE_CHECKING:
    from doccluster.labeling.profiles import Namer
    from doccluster.pipeline.editing import Edited


@click.command("label", cls=Verb)
@click.argument("folder", metavar="RUN_DIR")
@click.argument("cluster", type=int, required=False)
@click.argument("name", required=False)
@click.option(
    "--with",
    "command",
    metavar="COMMAND",
    help="Name all clusters by a program, which reads a line of JSON for each and answers with one.",
)
@click.option(
    "--with-server",
    "url",
    metavar="URL",
    help="Name all clusters by a model behind chat completions (Ollama, llama.cpp, vLLM, LM Studio, ...). A key comes "
    "from the environment variable DOCCLUSTER_API_KEY.",
)
@click.option("--model", metavar="NAME", help="The model on the server, or the one that the program asks.")
@click.option(
    "--send-texts-to", metavar="HOST", help="Allow texts of documents to go to this host, which is another machine."
)
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="How long the answer for a cluster may take.",
)
@json_option
def label_command(
    folder: str,
    cluster: int | None,
    name: str | None,
    command: str | None,
    url: str | None,
    model: str | None,
    send_texts_to: str | None,
    seconds: float,
    as_json: bool,
) -> None:
    """Give a cluster of a run a name, or let a program or a model name all of them.

    Tables, model and report are written again, and documents that `assign` puts into a cluster later show its name too.
    """
    n_ways = sum(way is not None for way in (cluster, command, url))
    if n_ways != 1 or (cluster is None) != (name is None):
        raise click.UsageError("give CLUSTER and NAME, --with COMMAND, or --with-server URL.")
    if (url is None and send_texts_to) or (url and not model) or (model and cluster is not None):
        raise click.UsageError("--with-server needs --model NAME, which --with may have; --send-texts-to goes with it.")
    if cluster is not None:
        from doccluster.pipeline.editing import Edit, edit_run

        with stage_shown("write", quiet=as_json):
            edited = edit_run(folder, Edit("label", (cluster,), name))
        _print(edited, f"cluster {cluster} is now called {name}", as_json)
    elif command is not None:
        from doccluster.pipeline.model_names import ProgramNamer

        with closing(ProgramNamer(command, model=model, seconds=seconds)) as program:
            _name_all(folder, program, as_json)
    else:
        from doccluster.pipeline.chat_server import ServerNamer

        server = ServerNamer(str(url), model=str(model), send_texts_to=send_texts_to, seconds=seconds)
        if not server.is_here:
            from doccluster.pipeline.model_names import texts_in_words
            from doccluster.results.run_folder import load_run

            write_error(f"to {server.host} go the {texts_in_words(load_run(folder))}")
        _name_all(folder, server, as_json)


def _name_all(folder: str, namer: Namer, as_json: bool) -> None:
    """Let a model name all clusters, and print how many it named."""
    from doccluster.cli._run_summary import print_largest
    from doccluster.pipeline.editing import name_by_model
    from doccluster.results.overview import overview

    with progress_shown(quiet=as_json) as progress:
        run, naming = name_by_model(folder, namer, progress=progress)
    if as_json:
        print_json({"done": naming.note, "clusters": [vars(node) for node in naming.nodes], "n_left": naming.n_left})
    else:
        say(naming.note)
        say()
        print_largest(run, overview(run), Path(folder))
    if naming.n_left:
        raise KeyboardInterrupt


@click.command("merge", cls=Verb)
@click.argument("folder", metavar="RUN_DIR")
@click.argument("clusters", nargs=-1, required=True, type=int, metavar="CLUSTER...")
@json_option
def merge_command(folder: str, clusters: tuple[int, ...], as_json: bool) -> None:
    """Merge several clusters of a run into one; clusters are numbered by size again, and everything is written again.

    A name that you gave to one of them stays. Scores are computed again for the new clusters.
    """
    from doccluster.pipeline.editing import Edit, edit_run

    with stage_shown("write", quiet=as_json):
        edited = edit_run(folder, Edit("merge", clusters))
    _print(edited, f"clusters {' and '.join(map(str, clusters))} are now one", as_json)


@click.command("undo", cls=Verb)
@click.argument("folder", metavar="RUN_DIR")
@json_option
def undo_command(folder: str, as_json: bool) -> None:
    """Take back the last label or merge of a run, or the names of a model; call it again for the one before."""
    from doccluster.pipeline.editing import undo_edit

    with stage_shown("write", quiet=as_json):
        edited = undo_edit(folder)
    edit, naming = edited.edit, edited.edit.naming
    what = " ".join([edit.verb, *map(str, edit.clusters)]) if naming is None else f"names by {naming.model}"
    _print(edited, f"undone: {what}", as_json)


def _print(edited: Edited, sentence: str, as_json: bool) -> None:
    """Print what was done, and the clusters that it changed."""
    from doccluster.cli._run_summary import print_clusters
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
