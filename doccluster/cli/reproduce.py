"""The verb `reproduce`: runs the experiments of the source checkout this package is installed from."""

from __future__ import annotations

import difflib
import subprocess
import sys
from pathlib import Path

import click

from doccluster.cli.benchmark import find_checkout
from doccluster.cli.console import say
from doccluster.cli.verb import Verb
from doccluster.errors import InputError

SOURCES = (
    "iir-16",
    "strehl",
    "zaki-meira-17",
    "sharma",
    "dhillon-modha",
    "retrieval",
)  # as experiments.reproduction has them


@click.command("reproduce", cls=Verb)
@click.argument("names", nargs=-1, required=True, metavar="NAME...|all")
@click.option("-o", "--output", metavar="DIR", help="A folder for tables and figures, in DIR/NAME; none by default.")
@click.option("--quick", is_flag=True, help="Leave out what takes minutes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def reproduce_command(names: tuple[str, ...], output: str | None, quick: bool, as_json: bool) -> None:
    """Print every number of a source next to ours: iir-16, strehl, zaki-meira-17, sharma, dhillon-modha, or all.

    retrieval prints its tables too: search with and without clusters, on Cranfield and CISI. Nothing is written unless
    you name a folder.
    """
    from doccluster.artifacts import check_folder

    _check_names(names)
    flags = [flag for flag, given in {"--quick": quick, "--json": as_json}.items() if given]
    if output is not None:
        check_folder(Path(output))
        flags.append(f"--output={Path(output).resolve()}")
    finished = subprocess.run([sys.executable, "-m", "experiments", *names, *flags], cwd=find_checkout())
    if finished.returncode:
        raise click.exceptions.Exit(finished.returncode)
    if output is not None and not as_json:
        say(f"  tables and figures: {output}")


def _check_names(names: tuple[str, ...]) -> None:
    """Raise InputError, with the nearest name, if a source is not known."""
    known = (*SOURCES, "all")
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}? There are" if near else "choose one of"
            raise InputError(f"there is no source {name!r} to reproduce", remedy=f"{hint} {', '.join(known)}")
