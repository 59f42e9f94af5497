"""Console blocks of a page are typed, one after another, in a folder of their own; what they show has to be printed.

A line that begins with `$ ` is typed into a shell. What follows is what it prints: a line `...` stands for any lines,
`...` inside a line for any text, and widths of columns do not matter. `python -m tests.console_blocks PAGE` prints all
that a page's commands print.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import chdir, suppress
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from doccluster.cli.main import main
from tests.golden.screens import captured

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 80
block = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Typed(NamedTuple):
    """A command of a page, and the lines that it shows below."""

    command: str
    shown: list[str]


def typed_in(text: str) -> list[Typed]:
    """Return the commands of all console blocks of a page, in their order."""
    found: list[Typed] = []
    for part in block.findall(text):
        for line in part.splitlines():
            if line.startswith("$ "):
                found.append(Typed(line[2:], []))
            else:
                found[-1].shown.append(line)
    return found


def printed_by(command: str, folder: Path) -> list[str]:
    """Return the output and the errors of a command, 80 columns wide; doccluster itself runs in this process."""
    if typed := re.fullmatch(r"doccluster ([^|>]+?)(?: > (\S+))?", command):
        width = mock.patch.dict(os.environ, {"COLUMNS": str(WIDTH)})
        with chdir(folder), width, captured("", io.TextIOWrapper) as read, suppress(SystemExit):
            main(shlex.split(typed[1]))
        out, err = read()
        if typed[2]:
            (folder / typed[2]).write_text(out, encoding="utf-8")
        return ["" if typed[2] else out, err]
    own = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    surroundings = {**os.environ, "COLUMNS": str(WIDTH), "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT), "PATH": own}
    called = re.sub(r"^doccluster ", f'"{sys.executable}" -m doccluster ', command)
    done = subprocess.run(
        called, shell=True, cwd=folder, env=surroundings, capture_output=True, text=True, encoding="utf-8", timeout=600
    )
    return [done.stdout, done.stderr]


def pattern_of(shown: list[str]) -> re.Pattern[str]:
    """Return what the shown lines allow.

    >>> bool(pattern_of(["a  b", "...", "c ... e"]).fullmatch("a b\\nx\\ny\\nc d e\\n"))
    True
    """
    lines = [
        r"(?:.*\n)*?" if line == "..." else r".*?".join(re.escape(part) for part in _plain(line).split("...")) + r"\n"
        for line in shown
    ]
    return re.compile("".join(lines))


def _plain(text: str) -> str:
    return re.sub(r"─+", "─", re.sub(r"[ \t]+", " ", text)).strip(" ")


def wrong_in(page: Path, folder: Path) -> list[str]:
    """Return, for each command that prints something else than its page shows, all that it prints."""
    wrong = []
    for command, shown in typed_in(page.read_text(encoding="utf-8")):
        printed = printed_by(command, folder)
        pattern = pattern_of([line for line in shown if line.strip()])
        in_order, reversed_order = "".join(printed), "".join(reversed(printed))  # a page shows errors where they come
        if not any(pattern.fullmatch(_without_blanks(text)) for text in (in_order, reversed_order)):
            wrong.append(f"$ {command}\n{in_order}")
    return wrong


def _without_blanks(text: str) -> str:
    return "".join(f"{_plain(line)}\n" for line in text.splitlines() if line.strip())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for typed in typed_in(Path(sys.argv[1]).read_text(encoding="utf-8")):
            sys.stdout.write(f"$ {typed.command}\n{''.join(printed_by(typed.command, Path(name)))}")
