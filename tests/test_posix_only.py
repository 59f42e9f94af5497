"""What only some systems have is not needed: the main line, a stream and the demo run with it taken away.

`docs/explanation/systems.md` lists each such call with what guards it; the list is compared with the sources here.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys

from tests.conftest import ROOT

MODULES = ("fcntl", "resource", "termios", "pwd", "grp")
CALLS = {
    "os": (
        *("fork", "forkpty", "killpg", "sched_getaffinity", "sysconf", "link", "set_blocking", "getuid"),
        *("O_NONBLOCK", "O_NOFOLLOW", "getrusage"),
    ),
    "signal": ("SIGKILL", "SIGALRM", "SIGPROF", "setitimer", "alarm", "pthread_kill"),
}
# begins every interpreter of the test, also those that doccluster starts
WITHOUT = f"""
import os, signal, sys
os.supports_dir_fd.clear()  # so that Python's own shutil removes a folder as it does on Windows
import joblib  # imports asyncio and psutil; what those are on Unix asks os.sysconf as it is imported
for name in {MODULES!r}:
    sys.modules[name] = None  # an import of it is an ImportError
for module, names in {CALLS!r}.items():
    for name in names:
        sys.modules[module].__dict__.pop(name, None)
"""
LINE = """
import os, signal, doccluster
assert not hasattr(os, "fork") and not hasattr(signal, "SIGKILL")
run = doccluster.run(doccluster.load_sample()[:60], n_clusters=4, output="out", overwrite=True)
assert doccluster.assign("out", ["the ferry was late"])["cluster"].notna().all()
"""
# one process does all of it, one after the other: to load what they share takes longer
COMMANDS = [
    ["demo"],
    ["stream", "replay", str(ROOT / "corpora/samples/newsroom/feeds"), "--store", "news.db"],
    ["run", str(ROOT / "corpora/samples/tiny"), "-o", "blocks", "-k", "3", "--scratch", "scratch"],
]
TYPED = f"""
import sys, warnings
with warnings.catch_warnings():
    warnings.simplefilter("error")
    exec({LINE!r})
for stream in (sys.stdout, sys.stderr):
    print("a run is made and used", file=stream, flush=True)
from doccluster.cli.main import main
for words in {COMMANDS!r}:
    try:
        main(words)
    except SystemExit as ended:
        print(words[0], "ends with", ended.code, flush=True)
"""


def elsewhere(folder, *arguments):
    """Run an interpreter on a system without the calls, in a folder of its own."""
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "site"), str(ROOT)])}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=500,
    )


def test_a_run_and_commands_work_without_calls_of_posix(tmp_path):
    done = elsewhere(tmp_path, "-c", TYPED)
    assert done.returncode == 0, done.stderr
    for printed in (done.stdout, done.stderr):
        assert printed.startswith("a run is made and used\n"), "nothing is printed where nobody asks"
    ends = [line for line in done.stdout.splitlines() if " ends with " in line]
    assert ends == [f"{words[0]} ends with 0" for words in COMMANDS], done.stderr
    assert "Traceback" not in done.stderr


def used_in(path):
    """Return which modules and calls of one kind of system a source file uses."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in MODULES)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module, name = node.value.id, node.attr
            if name in CALLS.get(module, ()) or (module, name) in (("os", "kill"), ("os", "geteuid")):
                yield f"{module}.{name}"
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "get_context":
            yield "get_context"


def test_every_such_call_is_on_the_page_of_systems():
    page = (ROOT / "docs/explanation/systems.md").read_text(encoding="utf-8")
    missing = {}
    for path in (ROOT / "doccluster").rglob("*.py"):
        name = path.relative_to(ROOT / "doccluster").as_posix()
        for used in sorted(set(used_in(path))):
            if name not in page or used.removeprefix("os.").removeprefix("signal.") not in page:
                missing.setdefault(name, []).append(used)
    assert missing == {}
