"""The verb `cite`: what to cite for measures and methods."""

from __future__ import annotations

import click

from doccluster.cli.streams import write_out
from doccluster.cli.verb import Verb


@click.command("cite", cls=Verb)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option(
    "--format", "form", type=click.Choice(["bibtex", "text"]), default="bibtex", show_default=True, help="How to print."
)
def cite_command(names: tuple[str, ...], form: str) -> None:
    """Print the references of measures and methods (spherical-k-means, vmf, bm25, gap, wilcoxon ...), or of everything.

    A DOI is printed where it is certain; the text format says where none is known.
    """
    from doccluster.bibliography import bibtex, cite, plain_text

    write_out((bibtex if form == "bibtex" else plain_text)(cite(names)))
