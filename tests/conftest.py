"""What all tests share: where the real corpora and reference values lie when they are beside the checkout."""

from __future__ import annotations

import pathlib

import pytest
from hypothesis import settings

# how long an example takes is no matter of the tests; a busy machine takes longer
settings.register_profile("any speed", deadline=None)
settings.load_profile("any speed")


def stable_id(value: object) -> str:
    """Return the id of a test case that is the same in every process: no addresses, and no sets in their own order."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {stable_id(item)}" for key, item in value.items()) + "}"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(repr, value))) + "}"
    return getattr(value, "__name__", str(value))


ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def real_corpora() -> pathlib.Path:
    """The folder of real corpora; tests that use it are skipped where it is absent."""
    folder = SHARED / "corpora"
    if not folder.is_dir():
        pytest.skip("the real corpora are not beside this checkout (../shared/corpora)")
    return folder


@pytest.fixture(scope="session")
def oracle() -> pathlib.Path:
    """The folder of reference values: numbers found by enumerating every pair, matching and permutation."""
    return ROOT / "tests" / "golden" / "reference"
