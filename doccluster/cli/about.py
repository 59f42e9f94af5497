"""`algorithms`, `cite` and `warm-up`: what there is to cluster by, what to cite, and compiling everything now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from doccluster.cli.console import json_option, print_json, progress_shown, say
from doccluster.cli.output import write_out
from doccluster.cli.verb import Verb

if TYPE_CHECKING:
    from doccluster.clustering.algorithms import Algorithm


@click.command("algorithms", cls=Verb)
@json_option
def algorithms_command(as_json: bool) -> None:
    """List the algorithms: the names for --algorithm, what each works on, and its options."""
    from doccluster.clustering.algorithms import ALGORITHMS

    if as_json:
        print_json([_record(algorithm) for algorithm in ALGORITHMS.values()])
        return
    for algorithm in ALGORITHMS.values():
        say(f"{algorithm.name}: {algorithm.title}")
        say(f"  criterion       {algorithm.criterion}")
        say(f"  works on        {algorithm.needs}")
        say(f"  new documents   {algorithm.predicts}")
        say(f"  options         {', '.join(algorithm.options)}")
        say()


def _record(algorithm: Algorithm) -> dict[str, Any]:
    told = {name: getattr(algorithm, name) for name in ("name", "title", "criterion", "metric", "needs", "predicts")}
    return told | {"options": list(algorithm.options)}


@click.command("cite", cls=Verb)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--text", "as_text", is_flag=True, help="Print one line for each work instead of BibTeX.")
def cite_command(names: tuple[str, ...], as_text: bool) -> None:
    """Print the references of measures and methods (spherical-k-means, vmf, bm25, gap, wilcoxon ...), or of everything.

    A DOI is printed where it is certain; --text says where none is known.
    """
    from doccluster.bibliography import bibtex, cite, plain_text

    write_out((plain_text if as_text else bibtex)(cite(names)))


@click.command("warm-up", cls=Verb)
@json_option
def warm_up_command(as_json: bool) -> None:
    """Compile everything that is compiled once on a machine, for images and servers.

    Without it each function is compiled when a command first needs it. The code is kept in the folder that
    NUMBA_CACHE_DIR names, or next to the package, or in your cache folder.
    """
    from doccluster.pipeline.warming import warm_up

    with progress_shown(quiet=as_json) as progress:
        done = warm_up(progress)
    if as_json:
        print_json({"n_compiled": done.n_compiled, "seconds": done.seconds, "folders": list(done.folders)})
    elif done.n_compiled:
        folders = ", ".join(done.folders) or "no folder"
        say(f"compiled {done.n_compiled} functions in {done.seconds:.0f} s; kept in {folders}")
    else:
        say(f"nothing to compile; all is kept in {', '.join(done.folders)}")
