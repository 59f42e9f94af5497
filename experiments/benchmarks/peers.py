"""Other programs that cluster rows which need not all be in memory, over the rows of a file; each in its own process.

Each function reads the same unit rows, in the form that its program reads fastest, starts the clock, clusters, stops
it, and writes a label for each row. All are held to one thread. Peers are imported where they are installed.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import pathlib
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from threadpoolctl import threadpool_limits

from experiments.benchmarks.harness import start_clock
from experiments.benchmarks.process_watch import process_memory

N_BLOCKS = 8
SPARK_MEMORY = "4g"
EPOCHS, BATCH = 3, 1024  # of MiniBatchKMeans

Labels = npt.NDArray[np.int32]


def installed_version(package: str) -> str | None:
    """Return the version of a peer; None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def write_rows(matrix: Any, folder: pathlib.Path) -> pathlib.Path:
    """Write unit rows, and return their file."""
    sparse.save_npz(folder / "rows.npz", sparse.csr_array(matrix), compressed=False)
    return folder / "rows.npz"


def read_rows(path: str) -> Any:
    """Return the unit rows."""
    return sparse.csr_array(sparse.load_npz(path))


def labels_file(path: str | pathlib.Path, function: str) -> pathlib.Path:
    """Return where the labels lie that a function of this module found."""
    return pathlib.Path(path).with_name(f"labels-{function}.npy")


def cluster_blocks_on_disk(path: str, n_clusters: int) -> dict[str, float]:
    """Cluster by our spherical k-means over blocks on disk, of which nothing is kept between iterations."""
    from doccluster.clustering.k_means.spherical import SphericalParameters
    from doccluster.distributed import FilePlace, cluster_blocks

    parameters = SphericalParameters(n_clusters, init="subsample", n_init=1, random_state=0, n_threads=1)
    with tempfile.TemporaryDirectory() as folder:
        blocks = blocks_of(read_rows(path), N_BLOCKS, folder)
        with _measured(path, "cluster_blocks_on_disk") as (figures, keep):
            keep(cluster_blocks(FilePlace(folder), blocks, parameters, keep_bytes=0).labels)
    return figures


def cluster_mini_batches(path: str, n_clusters: int) -> dict[str, float]:
    """Cluster by scikit-learn's MiniBatchKMeans, fed from blocks on disk by partial fits."""
    from sklearn.cluster import MiniBatchKMeans

    with tempfile.TemporaryDirectory() as folder:
        blocks = blocks_of(read_rows(path), N_BLOCKS, folder)
        with _measured(path, "cluster_mini_batches") as (figures, keep):
            model = MiniBatchKMeans(n_clusters, random_state=0, n_init=1)
            for block in blocks * EPOCHS:
                for first in range(0, block.n_rows, BATCH):
                    model.partial_fit(block.matrix[first : first + BATCH])
            keep(np.concatenate([model.predict(block.matrix) for block in blocks]))
    return figures


def cluster_with_spark(path: str, n_clusters: int) -> dict[str, float]:
    """Cluster by the KMeans of Spark's MLlib, by the cosine, on one core of this machine; rows come from Parquet.

    Its processor seconds are those of the Java process, what it compiles and collects included.
    """
    import psutil
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql import SparkSession
    from pyspark.sql.types import LongType, StructField, StructType

    with tempfile.TemporaryDirectory() as folder:
        write_vectors(read_rows(path), f"{folder}/rows")
        options = {
            "spark.driver.memory": SPARK_MEMORY,
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
        }
        builder = SparkSession.builder.master("local[1]")
        for name, value in options.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        try:
            spark.sparkContext.setLogLevel("ERROR")
            schema = StructType([StructField("row", LongType()), StructField("features", VectorUDT())])
            rows = spark.read.schema(schema).parquet(f"{folder}/rows")
            java = psutil.Process().children(recursive=True)
            held = held_by(java)[1]
            with _measured(path, "cluster_with_spark", processes=java) as (figures, keep):
                model = KMeans(k=n_clusters, distanceMeasure="cosine", seed=1).fit(rows)
                model.transform(rows).select("row", "prediction").write.parquet(f"{folder}/found")
                keep(read_predictions(f"{folder}/found"))
            peak = held_by(java)[0]
            figures |= {"peak_bytes": float(peak), "peak_bytes_beyond_data": float(peak - held)}
            figures["iterations"] = float(model.summary.numIter)
        finally:
            spark.stop()
    return figures


def cluster_with_dask_ml(path: str, n_clusters: int) -> dict[str, float]:
    """Cluster by the KMeans of dask-ml, which takes dense rows alone, in one thread."""
    import dask
    from dask import array
    from dask_ml.cluster import KMeans

    rows = array.from_array(dense_rows(read_rows(path)), chunks=(2_500, -1))
    with dask.config.set(scheduler="synchronous"), _measured(path, "cluster_with_dask_ml") as (figures, keep):
        model = KMeans(n_clusters, random_state=0)
        model.fit(rows)
        keep(np.asarray(model.labels_.compute()))
    return {**figures, "iterations": float(model.n_iter_)}


@contextmanager
def _measured(
    path: str, function: str, processes: list[Any] | None = None
) -> Iterator[tuple[dict[str, float], Callable[[Labels], None]]]:
    """Yield figures, which get the processor seconds of this process, or of others, and what keeps labels."""

    def spent() -> float:
        if processes is None:
            return time.process_time()
        return sum(times.user + times.system for times in (process.cpu_times() for process in processes))

    figures: dict[str, float] = {}
    with threadpool_limits(1):
        start_clock()
        began, clock = spent(), time.perf_counter()
        yield figures, lambda labels: np.save(labels_file(path, function), labels)
        figures["processor_seconds"] = spent() - began
        figures["seconds"] = time.perf_counter() - clock


def held_by(processes: list[Any]) -> tuple[int, int]:
    """Return the bytes that processes held at most so far, and those that they hold now."""
    found = [one for one in (process_memory(process.pid) for process in processes) if one is not None]
    return sum(most for most, _ in found), sum(now for _, now in found)


def blocks_of(matrix: Any, n_blocks: int, folder: str) -> list[Any]:
    """Return rows in blocks on disk."""
    from doccluster.distributed import write_block

    edges = np.linspace(0, matrix.shape[0], n_blocks + 1).astype(int)
    return [
        write_block(f"{folder}/block-{first}", matrix[first:last], first=int(first))
        for first, last in itertools.pairwise(edges)
    ]


def write_vectors(matrix: Any, folder: str) -> None:
    """Write rows as Parquet files in the form of Spark's sparse vectors, one file for each block."""
    import pyarrow
    from pyarrow import parquet

    pathlib.Path(folder).mkdir(parents=True)
    edges = np.linspace(0, matrix.shape[0], N_BLOCKS + 1).astype(int)
    for first, last in itertools.pairwise(edges):
        part = matrix[first:last]
        starts, n_rows = part.indptr.astype(np.int32), int(last - first)
        fields = {
            "type": pyarrow.array(np.zeros(n_rows, np.int8)),  # sparse
            "size": pyarrow.array(np.full(n_rows, part.shape[1], np.int32)),
            "indices": pyarrow.ListArray.from_arrays(starts, part.indices.astype(np.int32)),
            "values": pyarrow.ListArray.from_arrays(starts, part.data.astype(np.float64)),
        }
        vectors = pyarrow.StructArray.from_arrays(list(fields.values()), names=list(fields))
        table = pyarrow.table({"row": np.arange(first, last, dtype=np.int64), "features": vectors})
        parquet.write_table(table, f"{folder}/part-{first:09d}.parquet")


def read_predictions(folder: str) -> Labels:
    """Return the labels that Spark wrote, in the order of the rows."""
    from pyarrow import parquet

    found = parquet.read_table(folder, columns=["row", "prediction"])
    labels = np.empty(found.num_rows, np.int32)
    labels[found["row"].to_numpy()] = found["prediction"].to_numpy()
    return labels


def dense_rows(matrix: Any) -> npt.NDArray[np.float32]:
    """Return rows in full: of a few thousand columns alone."""
    rows = np.zeros(matrix.shape, np.float32)
    entries = matrix.tocoo()
    rows[entries.row, entries.col] = entries.data
    return rows


def of_frequent_terms(matrix: Any, n_terms: int) -> Any:
    """Return the columns that most rows have, rows scaled to unit length again; those without any are left out."""
    frequent = np.sort(np.argsort(-np.bincount(matrix.indices, minlength=matrix.shape[1]), kind="stable")[:n_terms])
    few = sparse.csr_array(sparse.csc_array(matrix)[:, frequent])
    few = few[np.flatnonzero(np.diff(few.indptr))]
    lengths = np.sqrt(np.add.reduceat(few.data.astype(np.float64) ** 2, few.indptr[:-1]))
    few.data = (few.data / np.repeat(lengths, np.diff(few.indptr))).astype(np.float32)
    return few


def mean_cosine(matrix: Any, labels: Labels, n_clusters: int) -> float:
    """Return the mean cosine of unit rows to the centroid of their cluster: the lengths of the sums by cluster."""
    own = np.asarray(labels)
    members = sparse.csr_array((np.ones(own.size), (own, np.arange(own.size))), shape=(n_clusters, own.size))
    total = members @ matrix.astype(np.float64)
    return float(np.sqrt(total.multiply(total).sum(axis=1)).sum() / own.size)
