"""Whether the code that is built by hand is used: it needs a version of llvmlite that it was tested with."""

from __future__ import annotations

import os

import llvmlite

TESTED_BELOW = (0, 51)  # later versions have no typed pointers, which the code is built with; see pyproject.toml
VARIABLE = "DOCCLUSTER_SIMD"  # "plain" chooses the twins; use it with a NUMBA_CACHE_DIR of its own


def is_tested(version: str) -> bool:
    """Return whether a version of llvmlite is one that the hand-built code was tested with."""
    major, minor, *_ = version.split(".")
    return (int(major), int(minor)) < TESTED_BELOW


def is_built_by_hand() -> bool:
    """Return whether this process uses the hand-built code rather than its plain twins."""
    return is_tested(llvmlite.__version__) and os.environ.get(VARIABLE) != "plain"
