"""`algorithms`: what documents can be clustered by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from doccluster.cli.console import json_option, print_json, say
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
