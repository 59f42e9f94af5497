"""The verb `benchmark`: runs `experiments.benchmarks` of the source checkout this package is installed from."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import click

from doccluster.cli.verb import Verb
from doccluster.errors import InputError


@click.command("benchmark", cls=Verb)
@click.argument("modules", nargs=-1)
@click.option("--only", multiple=True, metavar="ROW", help="Only this row of the table (may be repeated).")
@click.option("--quick", is_flag=True, help="Small data and one round, to see that it works.")
@click.option("--list", "list_rows", is_flag=True, help="List the rows and stop.")
@click.option("--again", is_flag=True, help="Measure again what was measured before.")
def benchmark_command(
    modules: tuple[str, ...], only: tuple[str, ...], quick: bool, list_rows: bool, again: bool
) -> None:
    """Time doccluster and its peers in the same run; an interrupted run continues where it stopped.

    Figures go to experiments/benchmarks/results.

    MODULES are files of experiments/benchmarks, all of them by default.
    """
    flags = {"--quick": quick, "--list": list_rows, "--again": again}
    arguments = [*modules, *(f"--only={name}" for name in only), *(flag for flag, given in flags.items() if given)]
    finished = subprocess.run([sys.executable, "-m", "experiments.benchmarks", *arguments], cwd=find_checkout())
    if finished.returncode:
        raise click.exceptions.Exit(finished.returncode)


def find_checkout() -> pathlib.Path:
    """Return the root of the source checkout: where this package lies, or the current folder or one above it.

    Raises
    ------
    InputError
        If there is none: an installed package does not carry the benchmarks.
    """
    here = pathlib.Path.cwd()
    for folder in (pathlib.Path(__file__).resolve().parents[2], here, *here.parents):
        if (folder / "experiments" / "benchmarks" / "__main__.py").is_file():
            return folder
    raise InputError(
        "benchmarks and experiments are part of the source checkout, not of the installed package",
        remedy="run this inside one",
    )
