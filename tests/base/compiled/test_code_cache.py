"""Kept machine code is run, so it is loaded only where it is ours; what cannot be read is compiled anew, quietly."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import numba
import pytest

from doccluster.base import compiled
from doccluster.base.compiled import is_ours, users_folder

needs_rights = pytest.mark.skipif(os.name == "nt", reason="Windows keeps no rights in the mode of a file")

KERNELS = """
from doccluster.base.compiled import jit

@jit
def doubled(value):
    return 2 * value

@jit
def quadrupled(value):
    return doubled(doubled(value))
"""
FULL = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
USE = "import use_of_a_test as u\nprint(u.quadrupled(3), *u.quadrupled.stats.cache_hits.values())"


# A process that has loaded numba, compiled once and waits: each use is made in a copy (fork) of it, which has compiled
# none of the kernels.
TEMPLATE = """
import json, os, sys, traceback
import numba
import doccluster.base.compiled
numba.njit(lambda value: 2 * value)(3)
for line in sys.stdin:
    code, home, environment = json.loads(line)
    ends = [os.pipe(), os.pipe()]
    child = os.fork()
    if child == 0:
        for number, (_, end) in enumerate(ends, start=1):
            os.dup2(end, number)
        os.environ.clear()
        os.environ.update(environment)
        numba.config.reload_config()
        sys.dont_write_bytecode = True
        sys.path.insert(0, home)
        status = 1
        try:
            exec(code, {})
            sys.stdout.flush()
            status = 0
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    for _, end in ends:
        os.close(end)
    said = [os.fdopen(begin).read() for begin, _ in ends]
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), *said]), flush=True)
"""


@pytest.fixture(scope="module")
def template():
    if not hasattr(os, "fork"):
        pytest.skip("processes cannot be copied on this system")
    with subprocess.Popen(
        [sys.executable, "-c", TEMPLATE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        yield process
        process.stdin.close()


class Kernels:
    """Two kernels in a folder of their own, used by new processes."""

    def __init__(self, folder, template):
        self.home = folder
        self.module = folder / "use_of_a_test.py"
        self.module.write_text(KERNELS)
        self.cache = folder / "__pycache__"
        self.template = template

    def use(self, before="", *, says="", **environment):
        """Return what a process prints that calls the kernels; it has to end well and say no more than that."""
        clean = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
        clean |= {"XDG_CACHE_HOME": str(self.home / "of_user"), **environment}
        print(json.dumps([f"{before}\n{USE}", str(self.home), clean]), file=self.template.stdin, flush=True)
        status, printed, warned = json.loads(self.template.stdout.readline())
        assert status == 0, warned
        assert says in warned if says else warned == ""
        return printed.split()

    def kept(self, end):
        return sorted(self.cache.glob(f"*{end}"))


@pytest.fixture
def kernels(tmp_path, template):
    return Kernels(tmp_path, template)


def test_a_second_process_loads_what_the_first_compiled(kernels):
    assert kernels.use() == ["12"]
    assert kernels.use() == ["12", "1"]


class Raising:
    """A pickle that raises what it is told to when it is loaded."""

    def __init__(self, function, *arguments):
        self.called = function, arguments

    def __reduce__(self):
        return self.called


def test_files_that_are_cut_or_of_a_version_before_are_compiled_anew(kernels):
    kernels.use()
    files = [*kernels.kept(".nbi"), *kernels.kept(".nbc")]
    assert len(files) == 4
    version = pickle.dumps(numba.__version__)  # an index begins with it, and is read on if it is that of now
    damages = [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: b"\x80\x04" + content[:40],
        lambda content: pickle.dumps("another"),
        lambda content: version + b"cdoccluster.base.gone\nName\n.",  # the class of an argument had another home
        lambda content: version + b"cdoccluster.errors\nGone\n.",
        lambda content: version + pickle.dumps(Raising(os.mkdir, str(kernels.home))),
    ]
    for damage in damages:
        for file in files:
            file.write_bytes(damage(file.read_bytes()))
        assert kernels.use() == ["12"]
        assert kernels.use() == ["12", "1"]


def test_a_cut_file_on_a_full_disk_is_compiled_in_each_process(kernels):
    kernels.use()
    for file in kernels.kept(".nbc"):
        file.write_bytes(b"")
    assert kernels.use(FULL) == ["12"]


def test_a_folder_in_the_place_of_a_file_is_left_alone(kernels):
    kernels.use()
    file = kernels.kept(".nbi")[-1]
    file.unlink()
    file.mkdir()
    assert kernels.use()[0] == "12"
    assert file.is_dir()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on the size of files")
def test_on_a_full_disk_kernels_are_compiled_in_each_process(kernels):
    assert kernels.use(FULL) == ["12"]
    assert not [file for file in kernels.cache.iterdir() if file.stat().st_size]
    kernels.use()
    tight = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))"  # the index fits, code does not
    for file in kernels.kept(".nbc"):
        file.unlink()
    assert kernels.use(tight) == ["12"]
    assert kernels.use() == ["12"]
    assert kernels.use() == ["12", "1"]


class Planted:
    """A pickle that leaves a trace when it is loaded."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


@needs_rights
@pytest.mark.parametrize("chosen", [False, True])
def test_nothing_is_loaded_from_a_folder_that_others_can_write_to(kernels, chosen):
    environment = {"NUMBA_CACHE_DIR": str(kernels.home / "chosen")} if chosen else {}
    kernels.use(**environment)
    (folder,) = {file.parent for file in kernels.home.rglob("*.nbi")}
    trace = kernels.home / "trace"
    for file in [*folder.glob("*.nbi"), *folder.glob("*.nbc")]:
        file.write_bytes(pickle.dumps(Planted(trace)))
    folder.chmod(0o777)
    assert kernels.use(**environment) == ["12"]
    assert not trace.exists()
    assert kernels.use(**environment) == ["12", "1"], "the user's own folder is used instead"
    assert list((kernels.home / "of_user" / "doccluster").rglob("*.nbc"))
    folder.chmod(0o755)
    for file in folder.glob("*.nb?"):
        file.chmod(0o666)
    assert kernels.use(**environment) == ["12", "1"]
    assert not trace.exists()


@needs_rights
def test_without_any_safe_folder_kernels_are_compiled_in_each_process(kernels):
    kernels.use()
    kernels.cache.chmod(0o777)
    (kernels.home / "of_user").write_text("a file where the folder should be")
    assert kernels.use(says="compiled code cannot be kept") == ["12"]


@needs_rights
def test_what_only_the_user_can_write_to_is_ours(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    for mode, expected in ((0o600, True), (0o755, True), (0o757, False), (0o666, False), (0o777, False)):
        file.chmod(mode)
        assert is_ours(file) is expected, oct(mode)
    assert not is_ours(tmp_path / "none")


@needs_rights
def test_the_users_folder_is_made_for_the_user_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new"))
    folder = tmp_path / "new" / "doccluster"
    assert users_folder() == str(folder)
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)
    assert users_folder() == ""


@needs_rights
def test_a_group_of_others_is_not_the_user_but_the_users_own_is(tmp_path, monkeypatch):
    import grp
    import pwd

    user = pwd.getpwuid(os.geteuid())
    tmp_path.chmod(0o770)
    groups = {
        (user.pw_name, ()): True,
        (user.pw_name, (user.pw_name,)): True,
        (user.pw_name, ("somebody",)): False,
        ("staff", ()): False,
    }
    for (name, members), expected in groups.items():
        compiled._is_own_group.cache_clear()
        monkeypatch.setattr(grp, "getgrgid", lambda number, n=name, m=members: grp.struct_group((n, "x", number, [*m])))
        assert is_ours(tmp_path) is expected, (name, members)
    compiled._is_own_group.cache_clear()


@needs_rights
def test_what_belongs_to_another_user_is_not_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 12345)
    assert is_ours(tmp_path) is (tmp_path.stat().st_uid == 0)


def test_a_user_without_a_home_has_no_folder_of_their_own(monkeypatch):
    from pathlib import Path

    def homeless(self):
        raise RuntimeError("Could not determine home directory.")

    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    assert users_folder() == ""
