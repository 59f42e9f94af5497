"""The verb `version`, for those who do not think of --version."""

from __future__ import annotations

import click

from doccluster import __version__
from doccluster.cli.console import say
from doccluster.cli.verb import Verb


@click.command("version", cls=Verb)
def version_command() -> None:
    """Print the version, as --version does."""
    say(f"doccluster, version {__version__}")
