"""The entry point: finds the module of a command, and turns errors into one sentence and an exit code."""

from __future__ import annotations

import gc
import importlib
import io
import sys
import time
from typing import Any

import click

from doccluster.base.package import __version__
from doccluster.cli.output import (
    CLOSED,
    OutputFailed,
    drop,
    output_guarded,
    prepare_streams,
    settle_errors,
    write_error,
)
from doccluster.cli.verb import COMMON, about_verb
from doccluster.errors import DocclusterError, InputError, worded

_BEGAN = [time.perf_counter()]
# imports make many objects that stay; to look for garbage among them so often took a twentieth of a short run
SELDOM = (50_000, 20, 50)

# The verbs, in the order of `doccluster --help`: module, function and the one line that describes each.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("doccluster.cli.run", "Cluster the articles that come with doccluster: a first look."),
    "run": ("doccluster.cli.run", "Read, vectorize, cluster, evaluate and report in one command."),
    "inspect": ("doccluster.cli.steps", "Describe what is in a source, without clustering it."),
    "vectorize": ("doccluster.cli.steps", "Turn documents into a matrix file."),
    "cluster": ("doccluster.cli.steps", "Cluster a matrix file."),
    "assign": ("doccluster.cli.steps", "Assign new documents to the clusters of a run."),
    "algorithms": ("doccluster.cli.steps", "List the algorithms."),
    "evaluate": ("doccluster.cli.evaluation", "Evaluate labels against a truth, vectors, or both."),
    "measures": ("doccluster.cli.evaluation", "List the measures."),
    "explain": ("doccluster.cli.evaluation", "Explain a measure, or a cluster of a run."),
    "prevalence": ("doccluster.cli.evaluation", "Show how common each cluster is by party, source or month."),
    "choose-k": ("doccluster.cli.choose_command", "Find how many clusters the data support."),
    "tendency": ("doccluster.lab.tendency_command", "Test whether there are clusters at all."),
    "compare": ("doccluster.lab.compare_command", "Compare algorithms over seeds and corpora."),
    "benchmark": ("doccluster.lab.compare_command", "Compare algorithms on standard made corpora."),
    "validate": ("doccluster.lab.validate_command", "Let people judge the clusters of a run, and score their answers."),
    "generate": ("doccluster.lab.generate", "Make a synthetic corpus with a known truth."),
    "stream": ("doccluster.streams.stream_command", "Follow news: articles in, living stories out."),
    "diff": ("doccluster.streams.diff_command", "Say what happened to clusters: two stores, moments or runs."),
    "report": ("doccluster.cli.run", "Write the report of a finished run again."),
    "rerun": ("doccluster.cli.run", "Repeat a run from its run.json and report what differs."),
    "search": ("doccluster.retrieval.search_commands", "Find documents, or read search results, in groups."),
    "browse": ("doccluster.retrieval.search_commands", "Browse a collection: scatter, gather, scatter again."),
    "label": ("doccluster.cli.edit_commands", "Give clusters of a run names, yours or those of a model."),
    "merge": ("doccluster.cli.edit_commands", "Merge several clusters of a run into one."),
    "undo": ("doccluster.cli.edit_commands", "Take back the last label, merge or names of a run."),
    "reproduce": ("doccluster.cli.reproduction", "Print the numbers of papers and books beside ours."),
    "cite": ("doccluster.cli.evaluation", "Print what to cite for measures and methods."),
}


class LazyCommands(click.Group):
    """A group that imports a command's module only when that command is called."""

    def make_context(self, *arguments: Any, **keywords: Any) -> click.Context:
        with output_guarded():  # --help and --version print here
            return super().make_context(*arguments, **keywords)

    def invoke(self, ctx: click.Context) -> Any:
        with output_guarded():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        command = getattr(module, cmd_name.replace("-", "_") + "_command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(about_verb(args[0], list(COMMANDS)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]}, params=COMMON)
@click.version_option(__version__, prog_name="doccluster")
def commands() -> None:
    """Cluster text documents, and say how good the clustering is."""


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; exit 0, 2 for wrong usage or input, 3 when nothing is usable, 130 when interrupted."""
    prepare_streams()
    gc.set_threshold(*SELDOM)
    began = _BEGAN.pop() if _BEGAN else time.perf_counter()  # the first call began when this module was imported
    try:
        # click returns the code of an Exit here, instead of raising it, and what a command returns: always None
        sys.exit(commands.main(args=arguments, prog_name="doccluster", standalone_mode=False, obj=began) or 0)
    except click.ClickException as error:
        error.show(file=(message := io.StringIO()))
        write_error(worded(message.getvalue()).rstrip("\n"))
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as stopped:
        # click raises an Abort of its own in place of what says more
        reason = stopped.__context__ or stopped if isinstance(stopped, click.Abort) else stopped
        write_error("; ".join(["interrupted", *map(str, reason.args)]))
        sys.exit(130)
    except DocclusterError as error:
        from doccluster.cli.console import plain

        write_error(f"doccluster: {plain(str(error))}")
        sys.exit(error.exit_code)
    except OutputFailed as failure:
        drop(sys.stdout)
        if failure.is_closed:  # as when the reader is head and has seen enough
            sys.exit(CLOSED)
        write_error(f"doccluster: {failure}")
        sys.exit(InputError.exit_code)
    finally:
        settle_errors()
