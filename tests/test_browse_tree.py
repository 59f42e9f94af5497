"""The meta-documents kept with a run: read back as they were, and made again when they are damaged or stale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from doccluster.artifacts import browse_tree
from doccluster.artifacts.browse_tree import load_browse_tree, save_browse_tree
from doccluster.artifacts.run_folder import save_run
from doccluster.pipeline import browsing, run_pipeline
from doccluster.pipeline.browsing import open_browser
from doccluster.retrieval import build_meta_documents
from doccluster.validation import unit_rows


@pytest.fixture
def made(tmp_path):
    table = np.random.default_rng(0).random((300, 40)) * (np.random.default_rng(1).random((300, 40)) < 0.2)
    table[:, 0] += 0.1
    rows = unit_rows(sparse.csr_array(table.astype(np.float32)), warn=False)
    (tmp_path / "model").mkdir()
    return tmp_path, rows, build_meta_documents(rows, leaf=20)


def test_a_tree_is_read_back_as_it_was(made):
    folder, rows, tree = made
    assert save_browse_tree(tree, folder, rows, 0)
    kept = load_browse_tree(folder, rows, 0)
    for name in ("order", "first", "last", "weights"):
        assert np.array_equal(getattr(kept, name), getattr(tree, name))
    assert all(np.array_equal(one, other) for one, other in zip(kept.children, tree.children, strict=True))
    assert (kept.directions != tree.directions).nnz == 0


def test_a_tree_of_other_vectors_another_seed_or_an_earlier_version_is_not_used(made, monkeypatch):
    folder, rows, tree = made
    assert load_browse_tree(folder, rows, 0) is None
    save_browse_tree(tree, folder, rows, 0)
    assert load_browse_tree(folder, rows, 1) is None
    assert load_browse_tree(folder, rows[::-1], 0) is None
    monkeypatch.setattr(browse_tree, "VERSION", 2)
    assert load_browse_tree(folder, rows, 0) is None


@pytest.mark.parametrize("name", ["order", "children", "first", "indices", "weights"])
def test_a_damaged_tree_is_not_used(made, name):
    folder, rows, tree = made
    save_browse_tree(tree, folder, rows, 0)
    path = folder / "model" / "browse.npz"
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays[name] = arrays[name][:-1] if name == "weights" else np.full_like(arrays[name], 10**6)
    np.savez(path, **arrays)
    assert load_browse_tree(folder, rows, 0) is None
    path.write_bytes(b"PK")
    assert load_browse_tree(folder, rows, 0) is None


def test_a_folder_that_cannot_be_written_keeps_nothing(made, tmp_path):
    _, rows, tree = made
    assert not save_browse_tree(tree, tmp_path / "absent", rows, 0)


def test_the_browser_of_a_run_makes_its_tree_once(tmp_path, monkeypatch):
    texts = [
        f"{thing} number {place % 7} word{place % 11}" for place in range(30) for thing in ("bread", "boat", "goal")
    ]
    save_run(run_pipeline(texts, n_clusters=3, quality="fast"), tmp_path / "run")
    monkeypatch.setattr(browsing, "DOCUMENTS_UP_TO", 20)
    built = []
    plain = browsing.build_meta_documents

    def counted(*given, **more):
        built.append(1)
        return plain(*given, **more)

    monkeypatch.setattr(browsing, "build_meta_documents", counted)
    first = open_browser(tmp_path / "run", n_clusters=3)
    again = open_browser(tmp_path / "run", n_clusters=3)
    assert built == [1]
    assert (tmp_path / "run" / "model" / "browse.npz").is_file()
    assert [card.members.tolist() for card in first.cards] == [card.members.tolist() for card in again.cards]
    open_browser(tmp_path / "run", n_clusters=3, seed=1)
    assert built == [1, 1]
