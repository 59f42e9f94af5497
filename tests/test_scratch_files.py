"""Arrays as files: threads that read them at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Lock

import numpy as np
import pytest

from doccluster.base import blocks
from doccluster.base.blocks import open_array, write_array


def test_threads_read_headers_one_after_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # two threads within numpy's reader of headers end some versions of Python 3.11 and 3.12 in a SystemError
    write_array(tmp_path / "values.npy", np.arange(5))
    inside, most, count = 0, 0, Lock()
    together = Barrier(2)
    load = np.load

    def watched(*given: object, **options: object) -> object:
        nonlocal inside, most
        with count:
            inside += 1
            most = max(most, inside)
        try:
            together.wait(0.02)  # a second thread has time to come in
        except BrokenBarrierError:
            together.reset()
        found = load(*given, **options)  # type: ignore[call-overload]
        with count:
            inside -= 1
        return found

    monkeypatch.setattr(blocks.np, "load", watched)
    with ThreadPoolExecutor(4) as pool:
        arrays = list(pool.map(open_array, [tmp_path / "values.npy"] * 8))
    assert most == 1
    assert all(array.tolist() == [0, 1, 2, 3, 4] for array in arrays)
