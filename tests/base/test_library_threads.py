"""The threads of native libraries: as many as a piece of work may have, and afterwards as before."""

from __future__ import annotations

import sys
import types

import numpy.linalg  # noqa: F401  brings in BLAS
from threadpoolctl import ThreadpoolController

from doccluster.base import blocks
from doccluster.base.blocks import library_threads


def test_libraries_have_the_threads_that_are_asked_for_and_get_their_own_back():
    def of_blas():
        return [library["num_threads"] for library in ThreadpoolController().info() if library["user_api"] == "blas"]

    with library_threads(3, "blas"):
        before = of_blas()
        with library_threads(1, "blas"):
            assert before
            assert set(of_blas()) == {1}
        assert of_blas() == before == [3] * len(before)


def test_libraries_are_looked_for_again_only_where_modules_were_imported(monkeypatch):
    searches = []

    def search():
        searches.append(len(sys.modules))
        return ThreadpoolController()

    monkeypatch.setattr(blocks, "ThreadpoolController", search)
    blocks._libraries.cache_clear()
    for _ in range(3):
        with library_threads(1, "blas"):
            pass
    assert len(searches) == 1
    monkeypatch.setitem(sys.modules, "brings_a_library", types.ModuleType("brings_a_library"))
    with library_threads(1, "blas"):
        assert len(searches) == 2
