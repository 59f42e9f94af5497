"""Peers over the same rows: what each is given, and that labels of all are judged alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from experiments.benchmarks import harness, made_text, peers, scale_out
from experiments.benchmarks.harness import Session, read_results

N_GROUPS = 3


@pytest.fixture(scope="module")
def grouped():
    """Unit rows in three groups that share no column."""
    rng = np.random.default_rng(5)
    rows = np.zeros((240, 30))
    for row in range(240):
        rows[row, 10 * (row % N_GROUPS) : 10 * (row % N_GROUPS) + 10] = rng.random(10) + 0.2
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return sparse.csr_array(rows.astype(np.float32))


@pytest.mark.parametrize("program", ["cluster_blocks_on_disk", "cluster_mini_batches", "cluster_with_dask_ml"])
def test_each_program_writes_a_label_for_each_row(program, grouped, tmp_path):
    if program == "cluster_with_dask_ml":
        pytest.importorskip("dask_ml")
    figures = getattr(peers, program)(str(peers.write_rows(grouped, tmp_path)), N_GROUPS)
    labels = np.load(peers.labels_file(tmp_path / "rows.npz", program))
    assert [len(set(labels[group::N_GROUPS])) for group in range(N_GROUPS)] == [1, 1, 1]
    assert set(labels) == set(range(N_GROUPS))
    assert figures["processor_seconds"] > 0


def test_rows_for_spark_hold_the_entries_of_the_matrix(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    matrix = sparse.random_array((50, 12), density=0.3, format="csr", dtype=np.float32, rng=np.random.default_rng(1))
    peers.write_vectors(matrix, str(tmp_path / "rows"))
    table = parquet.read_table(tmp_path / "rows")
    assert table.schema.field("features").type == pyarrow.struct(  # Spark's schema of its vectors
        {
            "type": pyarrow.int8(),
            "size": pyarrow.int32(),
            "indices": pyarrow.list_(pyarrow.int32()),
            "values": pyarrow.list_(pyarrow.float64()),
        }
    )
    read = np.zeros(matrix.shape)
    for row, vector in zip(table["row"].to_pylist(), table["features"].to_pylist(), strict=True):
        assert (vector["type"], vector["size"]) == (0, 12)
        read[row, vector["indices"]] = vector["values"]
    np.testing.assert_array_equal(read, matrix.toarray())


def test_labels_of_spark_are_put_in_the_order_of_the_rows(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    labels = np.array([2, 0, 1, 1, 0, 2, 2], np.int32)
    shuffled = np.random.default_rng(2).permutation(labels.size)
    (tmp_path / "found").mkdir()
    for part, rows in enumerate(np.array_split(shuffled, 2)):
        table = pyarrow.table({"row": rows, "prediction": labels[rows]})
        parquet.write_table(table, tmp_path / "found" / f"part-{part}.parquet")
    np.testing.assert_array_equal(peers.read_predictions(str(tmp_path / "found")), labels)


def test_the_frequent_columns_are_kept_and_rows_have_unit_length_again():
    matrix = np.array([[3, 0, 4, 0], [1, 0, 0, 2], [0, 5, 0, 0], [2, 0, 2, 0]], dtype=np.float32)
    few = peers.of_frequent_terms(sparse.csr_array(matrix), 2)  # of columns 0 and 2; the third row has neither
    expected = [[0.6, 0.8], [1, 0], [2**-0.5, 2**-0.5]]
    np.testing.assert_allclose(peers.dense_rows(few), expected, rtol=1e-6)


def test_the_mean_cosine_is_that_of_each_row_and_the_mean_of_its_cluster(grouped):
    labels = np.random.default_rng(3).integers(N_GROUPS, size=grouped.shape[0])
    rows = grouped.toarray().astype(np.float64)
    cosines = []
    for row, label in zip(rows, labels, strict=True):
        centroid = rows[labels == label].mean(axis=0)
        cosines.append(row @ centroid / np.linalg.norm(centroid))
    assert peers.mean_cosine(grouped, labels, N_GROUPS) == pytest.approx(np.mean(cosines), rel=1e-9)


def test_a_peer_that_is_not_installed_is_named_and_the_others_are_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(made_text, "CACHE", tmp_path / "texts")
    monkeypatch.setattr(scale_out, "FEW", 60)
    monkeypatch.setattr(peers, "installed_version", lambda package: None)
    asked = []

    def measured(function, arguments):
        asked.append(function.split(":")[1])
        n_rows = peers.read_rows(arguments["path"]).shape[0]
        np.save(peers.labels_file(arguments["path"], asked[-1]), np.zeros(n_rows, np.int32))
        return {"seconds": 1.0, "processor_seconds": 2.0}

    monkeypatch.setattr(harness, "measure_process", measured)
    said = []
    session = Session("peers", tmp_path / "some.csv", quick=True, say=said.append)
    scale_out.peers_over_sparse_rows.run(session)
    assert asked == ["cluster_blocks_on_disk", "cluster_mini_batches"]
    assert any("pip install pyspark" in line for line in said)
    cosines = {
        line["contender"]: line["value"] for line in read_results(session.path) if line["figure"] == "mean_cosine"
    }
    assert set(cosines) == {"doccluster", "MiniBatchKMeans"}
    assert len(set(cosines.values())) == 1
