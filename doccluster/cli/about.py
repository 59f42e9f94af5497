"""`algorithms` and `cite`: what you can cluster by, and what to cite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from doccluster.cli.console import json_option, print_json, say
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
    record = {name: getattr(algorithm, name) for name in ("name", "title", "criterion", "metric", "needs", "predicts")}
    return record | {"options": list(algorithm.options)}


@click.command("cite", cls=Verb)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--text", "as_text", is_flag=True, help="Print one line for each work instead of BibTeX.")
def cite_command(names: tuple[str, ...], as_text: bool) -> None:
    """Print the references of measures and methods (spherical-k-means, vmf, bm25, gap, wilcoxon ...), or of everything.

    A DOI is printed where it is certain; --text says where none is known.
    """
    from doccluster.measures.bibliography import bibtex, cite, plain_text

    write_out((plain_text if as_text else bibtex)(cite(names)))
