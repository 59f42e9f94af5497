"""Programs in processes of their own that begin as copies (forks) of one that has loaded everything.

To start Python, load its libraries and the compiled code takes more than a second of processor time; a copy takes some
hundredths. It is for programs that are killed, interrupted or run into a limit: how they begin is no matter of a test.
``python -m tests.copied_process`` is the process that is copied. It reads a program from each line of its input; its
output has two lines for each, the number of the process and how that ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


class Copy:
    """A program that runs in a copy; `pid` is the number of its process."""

    def __init__(self, server: subprocess.Popen[str], folder: str, pid: int) -> None:
        self._server, self._folder, self.pid = server, folder, pid

    def ended(self) -> subprocess.CompletedProcess[str]:
        """Wait for its end, and return what `subprocess.run` would."""
        code = int(self._server.stdout.readline())
        printed = [Path(self._folder, name).read_text(encoding="utf-8") for name in ("out", "err")]
        return subprocess.CompletedProcess([], code, *printed)


class Copies:
    """The process that is copied, begun when it is first needed; one copy runs at a time."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None
        self._folder = tempfile.TemporaryDirectory()

    def start(self, program: str, *arguments: object, cwd: Path = ROOT, **environment: object) -> Copy:
        """Begin a program, in a folder, with more in its environment than this process has."""
        if not hasattr(os, "fork"):
            import pytest  # the process that is copied does without it

            pytest.skip("there are no copies of processes on this system")
        if self._server is None:
            command = [sys.executable, "-m", __name__]
            self._server = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
            )
        variables = {**os.environ, "PYTHONPATH": str(ROOT), **{name: str(one) for name, one in environment.items()}}
        task = {"program": program, "arguments": [*map(str, arguments)], "cwd": str(cwd), "environment": variables}
        self._server.stdin.write(json.dumps({**task, "folder": self._folder.name}) + "\n")
        self._server.stdin.flush()
        return Copy(self._server, self._folder.name, int(self._server.stdout.readline()))

    def run(self, program: str, *arguments: object, **where: Any) -> subprocess.CompletedProcess[str]:
        """Run a program to its end; where there are no copies, in a new process."""
        if not hasattr(os, "fork"):
            command = [sys.executable, "-c", program, *map(str, arguments)]
            return subprocess.run(command, cwd=where.get("cwd", ROOT), capture_output=True, encoding="utf-8")
        return self.start(program, *arguments, **where).ended()

    def end(self) -> None:
        """End the process."""
        if self._server is not None:
            self._server.communicate()
        self._folder.cleanup()


def load() -> None:
    """Load what most programs would have to load."""
    import doccluster
    from doccluster.cli.main import commands
    from doccluster.streams import StoryStream

    few = doccluster.load_sample()[:40]
    with tempfile.TemporaryDirectory() as folder:
        doccluster.run(few, n_clusters=4, levels="none", output=f"{folder}/run")
    with StoryStream() as stream:
        stream.replay(few)
    commands.get_command(None, "run")


def become(task: dict[str, Any]) -> int:
    """Run a program as a new process would, and return its exit code."""
    os.chdir(task["cwd"])
    os.environ.clear()
    os.environ.update(task["environment"])
    tempfile.tempdir = None
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in enumerate(("out", "err"), 1):
        os.dup2(os.open(Path(task["folder"], name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = ["-c", *task["arguments"]]
    try:
        exec(compile(task["program"], "<program>", "exec"), {"__name__": "__main__"})
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:  # noqa: BLE001  what is left is told as Python tells it
        traceback.print_exc()
        return 1
    return 0


def serve() -> None:
    """Read programs until there are no more, and run each in a copy."""
    asked, told = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    load()
    for line in asked:
        child = os.fork()
        if child == 0:
            code = become(json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        print(child, file=told, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=told, flush=True)


if __name__ == "__main__":
    serve()
