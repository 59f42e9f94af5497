"""The first run on a machine compiles in two processes: itself from the start of the line on, a second from its end.

`doccluster warm-up` does the same with all that is compiled.

Both keep the code in the same folder, and what one has compiled the other loads; so they meet in the middle, after
little more than half of the time. The second ends with the first, whatever becomes of that.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from doccluster.blocks import resolve_threads
from doccluster.kernels.code_cache import cache_folders, make_folder

SEVERAL = 2  # processors; on one, two processes would take turns


def is_first_run() -> bool:
    """Return whether nothing was compiled on this machine yet and what is compiled now can be kept."""
    folders = cache_folders()
    has_code = any(True for folder in folders for _ in folder.rglob("*.nbi"))
    return not has_code and any(make_folder(folder) for folder in folders)


@contextmanager
def compiling_ahead(n_threads: int | None = None, *, tasks: str = "AHEAD") -> Iterator[None]:
    """Let a second process compile what comes last, if this is the first run and two threads are allowed.

    tasks: the name of the list in `warming` that the second process goes through.
    """
    if resolve_threads(n_threads) < SEVERAL or not is_first_run():
        yield
        return
    helper = _start(tasks)
    try:
        yield
    finally:
        if helper is not None:
            helper.terminate()
            helper.communicate()


def command(tasks: str = "AHEAD") -> list[str]:
    """Return the command of the second process, which imports from where this one does."""
    task = "from doccluster.pipeline.warming import compile_until_parent_ends as task; task(sys.argv[1])"
    return [sys.executable, "-P", "-c", f"import sys; sys.path[:] = sys.argv[2:]; {task}", tasks, *sys.path]


def _start(tasks: str) -> subprocess.Popen[bytes] | None:
    nothing = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            command(tasks), stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, start_new_session=True
        )
    except OSError:  # without a second process the run only takes longer
        return None
