"""The reference page of the command line, made from the commands themselves."""

from __future__ import annotations

import click

from doccluster.cli.main import COMMANDS, commands

INTRODUCTION = """\
# The command line

<!-- made from the commands by `make docs`; do not edit -->

`doccluster VERB --help` prints the same. Text is for people; `--json` prints one JSON document for programs. Long work
shows its progress on standard error, and only on a terminal. An error is one sentence on standard error. Before or
after any verb, `--quiet` (`-q`) leaves out progress and notes, and `--timings` prints the seconds of each stage at the
end.

| exit code | means |
|---|---|
| 0 | done |
| 1 | `rerun`: some labels differ; `diff`: some clusters differ; `stream check`: the store is not sound |
| 2 | the command or its input cannot be used, or standard output is full; the sentence says what to do |
| 3 | nothing usable is left: no document, or none with a term |
| 130 | interrupted by Ctrl-C; what was best so far is saved |
| 141 | the program that reads standard output has stopped, as `head` does; nothing is printed |

Standard output and standard error may have any encoding: characters it lacks are written as an ASCII stand-in
(`^` for an arrow up) or as an escape (`\\u043f`), and tables are drawn in ASCII. Files and JSON stay whole.

What a run writes: [files](files.md).
"""


def cli_page() -> str:
    """Return the page: every verb with its arguments and options."""
    lines = [INTRODUCTION, "| verb | |", "|---|---|"]
    lines += [f"| [`{verb}`](#{verb}) | {text} |" for verb, (_, text) in COMMANDS.items()]
    lines.append("")
    context = click.Context(commands, info_name="doccluster")
    for verb in COMMANDS:
        command = commands.get_command(context, verb)
        assert command is not None
        lines += _command(verb, command, level=2)
    return "\n".join(lines).rstrip() + "\n"


def _command(name: str, command: click.Command, *, level: int) -> list[str]:
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    usage = " ".join([f"doccluster {name}", *(_argument(argument) for argument in arguments)])
    lines = [f"{'#' * level} {name}", "", f"`{usage}`", "", *_paragraphs(command), ""]
    if options:
        lines += ["| option | |", "|---|---|", *(_row(option) for option in options), ""]
    if isinstance(command, click.Group):
        for sub in sorted(command.commands):
            lines += _command(f"{name} {sub}", command.commands[sub], level=level + 1)
    return lines


def _argument(argument: click.Argument) -> str:
    shown = argument.metavar or (argument.name or "").upper()
    return shown if argument.required or shown.startswith("[") else f"[{shown}]"


def _paragraphs(command: click.Command) -> list[str]:
    text = (command.help or "").replace("\b", "").strip()
    return [" ".join(line.split()) for line in text.split("\n\n") for line in (line, "")][:-1]


def _row(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {_value(option)}"
    notes = " Required." if option.required else ""
    notes += " May be repeated." if option.multiple and "may be repeated" not in (option.help or "") else ""
    default = option.default
    if isinstance(default, str | int | float | tuple) and not option.is_flag and default not in (None, (), ""):
        notes += f" Default: {', '.join(map(str, default)) if isinstance(default, tuple) else default}."
    text = " ".join((option.help or "").split())
    return f"| {names}{_cell(value)} | {_cell(text + notes)} |"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _value(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return " or ".join(map(str, option.type.choices))
    return {"integer": "N", "integer range": "N", "float": "X", "float range": "X"}.get(option.type.name, "VALUE")
