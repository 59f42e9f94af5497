"""Targets: matrices whose parts do not fit, in memory and in files, given to everything that takes a matrix.

A matrix in memory is a few numbers of two or four bytes (its format, types, shape and lengths) and its arrays as they
lie in memory, so that what damages a file damages row starts, columns and values too.
"""

from __future__ import annotations

import gzip
import io
import warnings
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from doccluster.errors import DocclusterError, InputError
from tests.fuzz.campaign import Target, scratch_folder

Use = Callable[[Any], Any]

N_ROWS, N_COLUMNS = 18, 12
LABELS = np.arange(N_ROWS) % 3
_HEADER = np.dtype([("kind", "u1", 4), ("shape", "<i4", 2), ("lengths", "<u2", 3)])
_FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil")
_INDEX_TYPES = ("int32", "int64", "uint32", "int16", "float64")
_VALUE_TYPES = ("float32", "float64", "int64", "float16", "bool", "complex128", "int8")


def good_matrix(dtype: str = "float64") -> sparse.csr_array:
    """Return rows of three kinds, the first of them in the columns 0 to 3."""
    draw = np.random.default_rng(3)
    dense = draw.integers(0, 3, (N_ROWS, N_COLUMNS)) * (np.arange(N_COLUMNS) // 4 == LABELS[:, None])
    dense[np.arange(N_ROWS), 4 * LABELS] = 1
    return sparse.csr_array(dense.astype(dtype))


def _as_format(dtype: str, format: str) -> Any:
    matrix = good_matrix(dtype)
    return matrix.tobsr((2, 3)) if format == "bsr" else matrix.asformat(format)


# --- in memory ------------------------------------------------------------------------------------------------------


def packed(matrix: Any, use: int) -> bytes:
    """Return a sparse matrix as bytes that `unpacked` understands; `use` says what is done with it."""
    parts = _parts(matrix)
    types = _INDEX_TYPES.index(parts[1].dtype.name), _VALUE_TYPES.index(parts[0].dtype.name)
    header = np.zeros((), _HEADER)
    header["kind"] = _FORMATS.index(matrix.format), *types, use
    header["shape"], header["lengths"] = matrix.shape, [part.size for part in parts]
    return header.tobytes() + b"".join(part.tobytes() for part in parts)


def unpacked(data: bytes) -> tuple[Any, int]:
    """Return what the bytes say, however wrong, and what to do with it."""
    data = data.ljust(_HEADER.itemsize, b"\0")
    header = np.frombuffer(data, _HEADER, 1)[0]
    kind = [int(number) for number in header["kind"]]
    index_type, value_type = _INDEX_TYPES[kind[1] % len(_INDEX_TYPES)], _VALUE_TYPES[kind[2] % len(_VALUE_TYPES)]
    parts, begin = [], _HEADER.itemsize
    for length, dtype in zip(header["lengths"], (value_type, index_type, index_type), strict=True):
        size = int(length) * np.dtype(dtype).itemsize
        here = data[begin : begin + size]
        begin += size
        parts.append(np.frombuffer(here[: len(here) // np.dtype(dtype).itemsize * np.dtype(dtype).itemsize], dtype))
    shape = [abs(int(size)) for size in header["shape"]]
    return _with_parts(_FORMATS[kind[0] % len(_FORMATS)], shape, [part.copy() for part in parts]), kind[3]


def _parts(matrix: Any) -> list[Any]:
    if matrix.format == "coo":
        return [matrix.data, matrix.row, matrix.col]
    if matrix.format == "dia":
        return [matrix.data.ravel(), matrix.offsets, matrix.offsets[:0]]
    if matrix.format == "lil":
        lists = [np.array([x for row in rows for x in row]) for rows in (matrix.data, matrix.rows)]
        return [*lists, np.array([len(row) for row in matrix.rows])]
    return [matrix.data.ravel(), matrix.indices, matrix.indptr]


def _with_parts(format: str, shape: list[int], parts: list[Any]) -> Any:
    """Return a small empty matrix whose parts were exchanged, as a program may do to one that scipy has checked."""
    values, first, second = parts
    if format in ("lil", "bsr", "dia"):  # these make memory for their shape
        shape = [min(size, 500) for size in shape]
    if format in ("csr", "csc", "bsr") and max(shape) > 100_000:
        matrix = getattr(sparse, f"{format}_array")((3, 3))
        matrix.resize((shape[0] % 100_000, shape[1]) if format == "csr" else (shape[0], shape[1] % 100_000))
    else:
        matrix = getattr(sparse, f"{format}_array")(tuple(shape))
    if format == "coo":
        matrix.coords, matrix.data = (first, second), values
    elif format == "dia":
        width = max(1, values.size // max(1, first.size))
        matrix.data, matrix.offsets = values[: values.size // width * width].reshape(-1, width), first
    elif format == "lil":
        ends = np.cumsum(np.abs(second[: shape[0]].astype(np.int64)) % 1000)
        matrix.rows = _object_array(np.split(first, ends)[: shape[0]])
        matrix.data = _object_array(np.split(values, ends)[: shape[0]])
    elif format == "bsr":
        matrix.data, matrix.indices, matrix.indptr = values[: values.size // 6 * 6].reshape(-1, 2, 3), first, second
    else:
        matrix.data, matrix.indices, matrix.indptr = values, first, second
    return matrix


def _object_array(lists: list[Any]) -> Any:
    found = np.empty(len(lists), object)
    for place, values in enumerate(lists):
        found[place] = values.tolist()
    return found


@cache
def uses() -> tuple[Use, ...]:
    """Return everything that takes a matrix, each as a function of one; fitted and imported once."""
    from doccluster import labeling, measures, selection, synthetic
    from doccluster.clustering import SphericalKMeans, VonMisesFisherMixture, assign_to_centroids
    from doccluster.geometry.partition import Partition
    from doccluster.vectors import DocumentVectors, write_matrix

    good = good_matrix()
    found = Partition.from_labels(LABELS)
    settings: dict[str, Any] = {"n_init": 1, "max_iter": 5, "random_state": 0, "n_threads": 1}
    means = SphericalKMeans(3, **settings).fit(good)
    mixture = VonMisesFisherMixture(3, n_init=1, max_iter=5, random_state=0, n_threads=1).fit(good)
    centroids = labeling.ClusterProfiles.from_partition(good, found).centroids
    kept = scratch_folder() / "kept.npz"

    def vectors(matrix: Any) -> DocumentVectors:
        return DocumentVectors(matrix, tuple(map(str, range(N_ROWS))))

    def judged(**options: Any) -> Use:
        return lambda matrix: measures.evaluate(LABELS, vectors=matrix, n_threads=1, **options)

    def few(function: Callable[..., Any], **options: Any) -> Use:
        return lambda matrix: function(matrix, random_state=0, **options)

    return (
        lambda matrix: SphericalKMeans(3, **settings).fit(matrix),
        lambda matrix: SphericalKMeans(3, refine=True, **settings).fit(matrix),
        lambda matrix: SphericalKMeans(N_ROWS, init=matrix, **settings).fit(good),
        lambda matrix: SphericalKMeans(3).plan_memory(matrix),
        means.predict,
        means.transform,
        means.score,
        lambda matrix: VonMisesFisherMixture(2, n_init=1, max_iter=3, random_state=0, n_threads=1).fit(matrix),
        mixture.predict,
        mixture.predict_proba,
        mixture.score_samples,
        lambda matrix: assign_to_centroids(matrix, good[:3], n_threads=1),
        lambda matrix: assign_to_centroids(good, matrix, n_threads=1),
        judged(),
        judged(metric="euclidean"),
        judged(measures=["silhouette", "dunn", "davies_bouldin", "gamma"], metric="sqeuclidean"),
        judged(truth=LABELS, measures=["silhouette", "purity", "c_index"]),
        lambda matrix: measures.score("silhouette", LABELS, vectors=matrix),
        few(selection.choose_k, ks=[2, 3], n_threads=1),
        lambda matrix: labeling.ClusterProfiles.from_partition(matrix, found),
        lambda matrix: labeling.describe_clusters(vectors(matrix), found, n_threads=1),
        lambda matrix: labeling.place_documents(matrix, found, centroids, n_threads=1),
        lambda matrix: labeling.representative_documents(matrix, found, np.ones(N_ROWS)),
        lambda matrix: labeling.explain_membership(matrix, 2, centroids, 2),
        lambda matrix: labeling.explain_membership(good, 2, matrix, 0),
        lambda matrix: synthetic.fit_corpus_model(vectors(matrix), 2, random_state=0, n_threads=1),
        lambda matrix: write_matrix(kept, vectors(matrix)),
    )


_KINDS = (("float64", "int32"), ("float32", "int64"), ("int64", "int32"))


def _samples_in_memory() -> list[bytes]:
    """Return good matrices of every format and type, with every use; all of it is done once, which compiles it."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, use in enumerate(uses()):
            for kind, (dtype, index_type) in enumerate(
                (("float64", "int32"), ("float32", "int64"), ("int64", "int32"))
            ):
                format = _FORMATS[(number + kind) % len(_FORMATS)] if kind else "csr"
                matrix = _as_format(dtype, format)
                if format == "csr":
                    matrix.indices, matrix.indptr = (a.astype(index_type) for a in (matrix.indices, matrix.indptr))
                data = packed(matrix, number)
                if kind < 2:
                    use(unpacked(data)[0])
                found.append(data)
    return found


def use_in_memory(data: bytes) -> str:
    """Do one thing with a matrix in memory; what comes back has to be usable, the matrix as it was."""
    matrix, chosen = unpacked(data)
    before = [part.tobytes() for part in _parts(matrix)]
    uses()[chosen % len(uses())](matrix)
    assert [part.tobytes() for part in _parts(matrix)] == before, "the caller's arrays were changed"
    return "used"


# --- in files -------------------------------------------------------------------------------------------------------


@cache
def _folder() -> Path:
    return scratch_folder()


def read_file(data: bytes, name: str) -> str:
    """Read bytes as a matrix file, and cluster what comes out of it."""
    from doccluster.clustering import SphericalKMeans
    from doccluster.vectors import read_matrix
    from doccluster.vectors.matrix_files import load_matrix_file

    path = _folder() / name
    path.write_bytes(data)
    draw = zlib.crc32(data)
    if draw % 5 == 0:
        as_it_stands = load_matrix_file(path).matrix
        assert len(as_it_stands.shape) == 2
        return "loaded"
    weighting = ("tfidf", "none", "bm25")[draw % 3]
    vectors, classes = read_matrix(path, weighting=weighting, drop_empty_columns=bool(draw & 16))
    assert len(vectors.ids) == vectors.n_documents
    assert classes is None or len(classes) == vectors.n_documents
    values = vectors.matrix.data if sparse.issparse(vectors.matrix) else vectors.matrix
    assert np.isfinite(values).all()
    try:
        SphericalKMeans(1, n_init=1, max_iter=2, random_state=0, n_threads=1).fit(vectors.matrix)
    except InputError:
        return "read, and empty"
    return "read"


def _written(write: Callable[[Any, Any], Any], *matrices: Any) -> list[bytes]:
    found = []
    for matrix in matrices:
        buffer = io.BytesIO()
        write(buffer, matrix)
        found.append(buffer.getvalue())
    return found


def _market() -> list[bytes]:
    square = sparse.coo_array(good_matrix()[:12] @ good_matrix()[:12].T)
    return [
        *_written(scipy_io.mmwrite, sparse.coo_array(good_matrix("int64")), sparse.coo_array(good_matrix())),
        *_written(lambda file, matrix: scipy_io.mmwrite(file, matrix, symmetry="symmetric"), square),
        *_written(lambda file, matrix: scipy_io.mmwrite(file, matrix, field="pattern"), square),
        *_written(scipy_io.mmwrite, good_matrix()[:4].toarray()),
    ]


def _scipy_npz() -> list[bytes]:
    formats = [_as_format(dtype, name) for name in ("csr", "csc", "coo", "bsr", "dia") for dtype in ("f8", "i4")]
    return [
        *_written(sparse.save_npz, *formats),
        *_written(lambda file, matrix: sparse.save_npz(file, matrix, compressed=False), *formats[:3]),
        *_written(lambda file, matrix: np.savez(file, x=matrix), good_matrix().toarray()),
    ]


def _own_npz() -> list[bytes]:
    from doccluster.vectors import DocumentVectors, vectorize
    from doccluster.vectors.document_vectors import matrix_arrays

    texts = vectorize(["two naïve cats", "one cat", "no dog and two cats"] * 4)
    dense = DocumentVectors(np.eye(4, dtype=np.float32), tuple("abcd"))
    arrays = [matrix_arrays(texts, classes=list("abcabcabcabc")), matrix_arrays(dense)]
    return [
        *_written(lambda file, these: np.savez(file, **these), *arrays),
        *_written(lambda file, these: np.savez_compressed(file, **these), *arrays),
    ]


def _npy() -> list[bytes]:
    dense = good_matrix().toarray()
    return _written(np.save, dense, np.asfortranarray(dense.astype("f4")), dense.astype(">i8"), dense.astype("?"))


def _cluto() -> list[bytes]:
    matrix = good_matrix("int64")
    lines = [
        " ".join(f"{column + 1} {value}" for column, value in zip(row.indices, row.data, strict=True))
        for row in (matrix[[number]] for number in range(N_ROWS))
    ]
    dense = "\n".join(" ".join(map(str, row)) for row in matrix.toarray())
    return [
        f"{N_ROWS} {N_COLUMNS} {matrix.nnz}\n{chr(10).join(lines)}\n".encode(),
        f"{N_ROWS} {N_COLUMNS}\n{dense}\n".encode(),
    ]


_ARRAY_TOKENS = (
    *(b"(18, 12)", b"(9223372036854775807,)", b"(-1, 2)", b"'<f8'", b"'|O'", b"'<U9'", b"'|V8'", b"True", b"(" * 300),
    *(b"'fortran_order'", b"'descr': [('a', '<f8')]", b"\x93NUMPY\x01\0", b"\x93NUMPY\x03\0", b"csr", b"bsr", b"dia"),
    *(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"indptr.npy", b"format.npy", b"shape.npy", b"1j", b"10**9", b"L,"),
)
_TEXT_TOKENS = (
    *(b"%%MatrixMarket", b"matrix", b"coordinate", b"array", b"real", b"complex", b"integer", b"pattern", b"general"),
    *(b"symmetric", b"skew-symmetric", b"hermitian", b"% comment\n", b"unsigned-integer", b"vector", b"2000000000 "),
    *(
        b"0 0 1\n",
        b"-1 1 1\n",
        b"19 13 1\n",
        b"1 1 nan\n",
        b"1 1 1e999\n",
        b"1 1\n",
        b"\n",
        b"\n\n",
        b" ",
        b"\t",
        b"\r",
    ),
)


def _file(name: str, ending: str, samples: Callable[[], list[bytes]], tokens: tuple[bytes, ...]) -> Target:
    def warm() -> list[bytes]:
        found = samples()
        for data in found:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    for more in range(6):  # other ends choose other ways
                        read_file(data + b"\n" * more if ending == ".mat" else data, f"warm{ending}")
            except DocclusterError:
                continue
        return found

    return Target(
        name, warm, lambda data: read_file(data, f"a{ending}"), tokens, in_place=ending in (".npy", ".npz"), apart=True
    )


MATRICES: tuple[Target, ...] = (
    Target("sparse", _samples_in_memory, use_in_memory, in_place=True, apart=True),
    _file("mtx", ".mtx", _market, _TEXT_TOKENS),
    _file("mtxgz", ".mtx.gz", lambda: [gzip.compress(each, mtime=0) for each in _market()], ()),
    _file("npz", ".npz", _scipy_npz, _ARRAY_TOKENS),
    _file("ownnpz", ".npz", _own_npz, _ARRAY_TOKENS),
    _file("npy", ".npy", _npy, _ARRAY_TOKENS),
    _file("mat", ".mat", _cluto, _TEXT_TOKENS),
)
