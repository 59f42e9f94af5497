"""Loops that are loaded without their compiler: kept in a file, compiled anew when it does not fit, never misread."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest

from doccluster.errors import DocclusterWarning
from doccluster.kernels import machine_code, text_loops
from doccluster.kernels.code_cache import cache_folders
from doccluster.kernels.compile_clock import CLOCK
from doccluster.kernels.machine_code import LoopLibrary, read_code, write_code

SUMS = """
from doccluster.kernels.jit import jit

@jit
def weighted_sum(values, table, factor):
    total = 0
    for row in range(values.size):
        for column in range(table.shape[1]):
            total += values[row] * table[row, column] * factor
    return total

@jit
def needs_memory(values):
    return sorted([1, values[0]])[0]


@jit
def sum_of_pair(pair, factor):
    return (pair.values.sum() + pair.more) * factor
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of kernels of its own, and an empty folder for machine code."""
    folder = tmp_path / "kernels_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "sums.py").write_text(SUMS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of_user"))
    yield folder
    for name in [name for name in sys.modules if name.startswith("kernels_of_a_test")]:
        del sys.modules[name]


def sums(place="sums.weighted_sum", signature="int32[:] int64[:,:2] int64"):
    library = LoopLibrary("test", package="kernels_of_a_test", sources=("sums",))
    return library.loop(place, signature, returns=True)


def test_a_loop_gives_what_its_source_gives_and_is_kept(package, monkeypatch):
    values, table = np.array([1, 2], dtype=np.int32), np.array([[1, 2], [3, 4]])
    assert sums()(values, table, 10) == 170
    assert len(list((package.parent / "code" / "doccluster").glob("test-*.loops"))) == 1
    monkeypatch.setitem(sys.modules, "doccluster.kernels.compilation", None)  # there is no compiler any more
    assert sums()(values, table, 10) == 170


class Pair(NamedTuple):
    more: int
    values: np.ndarray


def test_a_loop_takes_a_named_tuple_as_one_argument(package):
    library = LoopLibrary("test", package="kernels_of_a_test", sources=("sums",))
    loop = library.loop("sums.sum_of_pair", (Pair, "int64 int32[:]"), "int64", returns=True)
    assert loop(Pair(5, np.arange(4, dtype=np.int32)), 2) == 22


def test_a_damaged_file_and_a_changed_source_are_compiled_anew(package):
    values, table = np.ones(1, dtype=np.int32), np.ones((1, 2), dtype=np.int64)
    sums()(values, table, 1)
    (kept,) = (package.parent / "code" / "doccluster").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1])
    assert sums()(values, table, 1) == 2
    assert read_code(kept) is not None
    (package / "sums.py").write_text(SUMS + "\n# changed\n")
    assert sums()(values, table, 1) == 2
    assert len(list((package.parent / "code" / "doccluster").iterdir())) == 2


def test_where_nothing_can_be_kept_loops_are_compiled_in_each_process(package, monkeypatch, tmp_path):
    blocked = tmp_path / "a_file"
    blocked.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(CLOCK, "has_warned", False)
    assert not write_code(blocked / "test.loops", b"code")
    with pytest.warns(DocclusterWarning, match="cannot be kept"):
        assert sums()(np.ones(1, dtype=np.int32), np.ones((1, 2), dtype=np.int64), 3) == 6


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no rights in the mode of a file")
def test_code_that_others_could_have_written_is_not_loaded(package, monkeypatch):
    values, table = np.ones(1, dtype=np.int32), np.ones((1, 2), dtype=np.int64)
    sums()(values, table, 1)
    (kept,) = (package.parent / "code" / "doccluster").iterdir()
    for path, mode in ((kept, 0o666), (kept.parent, 0o777)):
        path.chmod(mode)
        assert read_code(kept) is None
        path.chmod(0o700)
    assert read_code(kept) is not None
    kept.parent.chmod(0o777)
    assert sums()(values, table, 1) == 2
    assert [file.name for file in (package.parent / "of_user" / "doccluster").iterdir()] == [kept.name]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on the size of files")
def test_on_a_full_disk_code_is_not_kept_and_nothing_is_left(tmp_path):
    code = (
        "import resource\nfrom pathlib import Path\nfrom doccluster.kernels.machine_code import write_code\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5, 5))\n"
        f"assert not write_code(Path({str(tmp_path)!r}) / 'code' / 'a.loops', b'much machine code')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert list((tmp_path / "code").iterdir()) == []


def test_without_a_chosen_folder_code_lies_beside_the_package_or_with_the_user(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    beside, of_user = cache_folders()
    assert beside.parent.name == "kernels"
    assert of_user == tmp_path / "doccluster"


def test_arrays_of_another_kind_are_refused_before_they_are_read():
    columns, numbers = np.zeros(4, dtype=np.int32), (np.zeros(1, dtype=np.int32),) * 3
    with pytest.raises(TypeError, match="drop_columns got int64"):
        text_loops.drop_columns(columns.astype(np.int64), *numbers)
    with pytest.raises(TypeError, match="not what it was compiled for"):
        text_loops.drop_columns(columns[::2], *numbers)
    with pytest.raises(TypeError, match="shape"):
        text_loops.fill_slots(columns, np.zeros((2, 3), dtype=np.uint64), 0)
    with pytest.raises(ValueError, match="argument"):
        text_loops.drop_columns(columns)


def test_a_loop_that_does_not_stand_alone_is_refused(package):
    with pytest.raises(RuntimeError, match="do not stand alone"):
        sums("sums.needs_memory", "int64[:]")(np.ones(1, dtype=np.int64))


def test_vectorizing_loads_neither_the_compiler_nor_scikit_learn():
    text_loops.drop_columns(*(np.zeros(1, dtype=np.int32),) * 4)  # compiled, if it was not yet
    code = (
        "import sys\nfrom doccluster.vectors import TfidfVectorizer\n"
        "assert TfidfVectorizer().fit_transform(['two naïve', 'words']).shape == (2, 3)\n"
        "print(sorted({m.split('.')[0] for m in sys.modules}))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("numba", "sklearn", "pandas"):
        assert f"'{heavy}'" not in loaded


def test_the_file_name_stands_for_the_processor(monkeypatch):
    library = LoopLibrary("test", package="doccluster.kernels", sources=("tokens",))
    before = library._key()
    monkeypatch.setattr(machine_code, "_processor", lambda: ("another", "+nothing"))
    assert library._key() != before


def test_threads_that_come_first_at_once_share_one_library(package):
    loop = sums()
    values, table = np.arange(100, dtype=np.int32), np.ones((100, 2), dtype=np.int64)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda factor: loop(values, table, factor), range(8)))
    assert found == [2 * 4950 * factor for factor in range(8)]
    assert len(list((package.parent / "code" / "doccluster").iterdir())) == 1
