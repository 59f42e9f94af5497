"""The verb `reproduce`: runs the experiments of the source checkout this package is installed from."""

from __future__ import annotations

import subprocess
import sys

import click

from doccluster.cli.benchmark import find_checkout
from doccluster.cli.verb import Verb


@click.command("reproduce", cls=Verb)
@click.argument("names", nargs=-1, required=True, metavar="NAME...|all")
@click.option("--quick", is_flag=True, help="Leave out what takes minutes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def reproduce_command(names: tuple[str, ...], quick: bool, as_json: bool) -> None:
    """Print every printed number of a source beside ours: iir-16, strehl, zaki-meira-17, sharma, dhillon-modha, or all.

    Tables and figures go to experiments/NAME/results.
    """
    flags = [flag for flag, given in {"--quick": quick, "--json": as_json}.items() if given]
    finished = subprocess.run([sys.executable, "-m", "experiments", *names, *flags], cwd=find_checkout())
    if finished.returncode:
        raise click.exceptions.Exit(finished.returncode)
