"""`demo`: the first minute of a stranger, on articles that come with the package."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import click

from doccluster.cli.console import say
from doccluster.cli.run import run_command
from doccluster.cli.verb import Verb


@click.command("demo", cls=Verb)
@click.option(
    "-o", "--output", default="doccluster-demo", show_default=True, metavar="DIR", help="The folder to write."
)
@click.pass_context
def demo_command(ctx: click.Context, output: str) -> None:
    """Cluster 176 articles that come with doccluster into 32 stories, and write the report.

    The folder is written again if it holds an earlier run. The first time takes longer, since functions are compiled.
    """
    from doccluster.corpus.sample import sample_path

    sample = sample_path()
    words = [str(sample), "--output", output, "--clusters", "32", "--truth", "story", "--seed", "7"]
    say(f"$ doccluster run {shlex.join(words)}")
    run_command.main([*words, "--overwrite"], prog_name="doccluster run", standalone_mode=False, obj=ctx.obj)
    shutil.copyfile(sample, Path(output) / sample.name)
    say()
    say(f"Open {Path(output) / 'report.html'} in a browser.")
    say(f"The articles are in {Path(output) / sample.name}.")
    say("Your own documents: doccluster run FOLDER --output out")
