"""No test of streams connects to another address than the loopback one; and stores that are made once."""

from __future__ import annotations

import pathlib
import shutil

import pytest

from doccluster.cli.main import main
from tests.streams.loopback import loopback_only

FEEDS = pathlib.Path(__file__).resolve().parents[2] / "corpora" / "samples" / "newsroom" / "feeds"


@pytest.fixture(autouse=True)
def _guarded():
    with loopback_only():
        yield


@pytest.fixture(scope="session")
def feeds_store(tmp_path_factory):
    """A store of the feeds of the sample; tests must not change it."""
    path = tmp_path_factory.mktemp("feeds") / "news.db"
    with pytest.raises(SystemExit) as stopped:
        main(["stream", "replay", str(FEEDS), "--store", str(path), "--batch", "6h"])
    assert not stopped.value.code
    return path


@pytest.fixture
def store(feeds_store, tmp_path):
    """A copy of that store, which the test may change."""
    return pathlib.Path(shutil.copyfile(feeds_store, tmp_path / "news.db"))
