"""`warm-up`: compile everything now, so that no later command does."""

from __future__ import annotations

import click

from doccluster.cli.console import json_option, print_json, progress_shown, say
from doccluster.cli.verb import Verb


@click.command("warm-up", cls=Verb)
@json_option
def warm_up_command(as_json: bool) -> None:
    """Compile everything that is compiled once on a machine, for images and servers.

    Without it each function is compiled when a command first needs it. The code is kept in the folder that
    NUMBA_CACHE_DIR names, or next to the package, or in your cache folder.
    """
    from doccluster.pipeline import warm_up

    with progress_shown(quiet=as_json) as progress:
        done = warm_up(progress)
    if as_json:
        print_json({"n_compiled": done.n_compiled, "seconds": done.seconds, "folders": list(done.folders)})
    elif done.n_compiled:
        folders = ", ".join(done.folders) or "no folder"
        say(f"compiled {done.n_compiled} functions in {done.seconds:.0f} s; kept in {folders}")
    else:
        say(f"nothing to compile; all is kept in {', '.join(done.folders)}")
