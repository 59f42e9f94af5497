"""Matrices that lie about themselves: one sentence each, from every door, and never the end of the process."""

from __future__ import annotations

import dataclasses
import gzip
import importlib
import inspect
import io
import pkgutil
import zipfile

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

import doccluster
from doccluster import Partition
from doccluster.base.sparse_structure import checked_csr
from doccluster.base.validation import check_matrix
from doccluster.clustering import SphericalKMeans
from doccluster.errors import InputError, MemoryLimitError, NotNumeric
from doccluster.labeling import describe_clusters, explain_membership
from doccluster.measures import evaluate
from doccluster.vectors import DocumentVectors, read_matrix
from tests.hostile_calls import DAMAGES

# Parameters that are matrices, and how they are annotated; records only keep what they are given.
MATRICES = {
    *("X", "matrix", "rows", "counts", "vectors", "documents", "centroids"),
    *("graph", "query", "reference", "leaders", "given", "corpora"),
}
ANYTHING = ("Any", "Any | None", "object", "object | None", str(inspect.Parameter.empty))
CARRIERS = ("csr_array", "CsrArray", "Matrix", "DocumentVectors", "LabelledCorpus")


@pytest.fixture
def good():
    draw = np.random.default_rng(0)
    dense = draw.integers(1, 4, (18, 12)) * (draw.random((18, 12)) < 0.5)
    dense[:, 0] = 1
    return sparse.csr_array(dense / np.linalg.norm(dense, axis=1, keepdims=True))


def public_calls():
    """Yield the name of every public call that takes a matrix, with the parameter."""
    for package in pkgutil.iter_modules(doccluster.__path__):
        home = importlib.import_module(f"doccluster.{package.name}")
        for name in getattr(home, "__all__", ()):
            for called, function in _callables(name, getattr(home, name)):
                for parameter in inspect.signature(function).parameters.values():
                    kind = str(parameter.annotation)
                    if parameter.name in MATRICES and (kind in ANYTHING or any(one in kind for one in CARRIERS)):
                        yield f"{called}({parameter.name})"


def _callables(name, value):
    if not inspect.isclass(value):
        return [(name, value)] if callable(value) else []
    methods = [] if dataclasses.is_dataclass(value) else [(name, value)]
    for own in dir(value):
        found = inspect.getattr_static(value, own)
        found = getattr(found, "fn", getattr(found, "__func__", found))  # `available_if` and class methods
        if not own.startswith("_") and inspect.isfunction(found):
            methods.append((f"{name}.{own}", found))
    return methods


@pytest.fixture(scope="module")
def hostile_calls(copies):
    """Return the lines of all calls with all damages, and those that ended the process that made them."""
    lines, signals, code = [], [], 1
    while code and len(signals) < 20:
        first = lines[-1].split("\t")[0] if lines else "0"
        found = copies.run("import runpy; runpy.run_module('tests.hostile_calls', run_name='__main__')", first)
        assert found.returncode <= 0, found.stderr[-900:]
        lines += found.stdout.splitlines()
        code = found.returncode
        if code:
            signals.append(f"{lines[-1]} (signal {-code})")
    return lines, signals


def test_no_damaged_matrix_in_any_public_call_ends_the_process(hostile_calls):
    lines, signals = hostile_calls
    assert signals == []
    assert [line for line in lines if not line[0].isdigit()] == []  # taken, or refused without a sentence
    made = [tuple(line.split("\t")[1:]) for line in lines]
    names = {name for name, _ in made}
    assert len(made) == len(set(made)) == len(names) * len(DAMAGES) > 2000


def test_every_public_call_that_takes_a_matrix_is_made_with_damaged_ones(hostile_calls):
    made = {line.split("\t")[1].partition(",")[0] for line in hostile_calls[0]}
    public = set(public_calls())
    assert public - made == set()
    held = {"SphericalKMeans(init)", "DocumentClustering.fit(letters)", "DocumentVectors.take(rows)"}  # beside one
    beneath = {"agglomerate(rows)", "rank_label_terms(rows)"}
    assert made - public == held | beneath  # doors that the package itself uses


def test_exotic_matrices_get_a_sentence(good):
    doors = [SphericalKMeans(2).fit, lambda X: evaluate([0, 1, 1], vectors=X, measures=["silhouette"])]
    strange = {
        "1 dimension": [sparse.coo_array([1.0, 0.0, 2.0]), np.ones(3), [1.0, 2.0, 3.0]],
        "3 dimension": [np.ones((3, 2, 2)), [[[1.0]], [[2.0]], [[3.0]]]],
        "0 dimension": [5.0, {1: 2}, object()],
        "masked": [np.ma.masked_equal(np.eye(3), 0)],
        "inhomogeneous": [[[1.0], [1.0, 2.0], [3.0]]],
        "holds text": [["a text", "another", "third"], np.array([["1", "2"], ["3", "4"]]), "a text"],
        "not numeric": [
            np.array([[object()], [1.0], [2.0]], dtype=object),
            np.array([["x"], [1.0], [2]], dtype=object),
        ],
        "too large": [np.array([[10**400], [1], [2]], dtype=object)],
        "NaN or infinity": [np.array([[np.longdouble("1e4000")], [1], [2]])],
        "complex": [np.eye(3) * 1j],
    }
    if hasattr(sparse.coo_array([1.0]), "coords") and _has_dimensions(3):
        strange["3 dimension"].append(sparse.coo_array(np.ones((3, 2, 2))))
    for message, matrices in strange.items():
        for matrix in matrices:
            for door in doors:
                with pytest.raises(InputError, match=message):
                    door(matrix)
    with pytest.raises(NotNumeric):
        SphericalKMeans(2).fit(["a text"])


def _has_dimensions(number):
    try:
        return sparse.coo_array(np.ones((2,) * number)).ndim == number
    except (TypeError, ValueError):
        return False


@pytest.mark.parametrize("format", ["csc", "coo", "bsr", "dia", "lil", "dok"])
def test_every_sparse_format_means_the_same(good, format):
    expected = SphericalKMeans(3, random_state=0).fit_predict(good)
    given = good.asformat(format)
    np.testing.assert_array_equal(SphericalKMeans(3, random_state=0).fit_predict(given), expected)
    old = getattr(sparse, f"{format}_matrix")(given)
    np.testing.assert_array_equal(SphericalKMeans(3, random_state=0).fit_predict(old), expected)


@pytest.mark.parametrize("index_type", [np.int8, np.uint16, np.uint32, np.int64, np.uint64])
def test_columns_of_any_whole_number_are_read(good, index_type):
    given = good.copy()
    given.indices, given.indptr = given.indices.astype(index_type), given.indptr.astype(index_type)
    found = check_matrix(given)
    assert found.indices.dtype in (np.int32, np.int64)
    np.testing.assert_array_equal(found.toarray(), good.toarray())
    assert given.indices.dtype == index_type


def test_values_beyond_the_last_row_start_belong_to_no_row(good):
    longer = good.copy()
    longer.data = np.append(good.data, [np.nan, 9.0])
    longer.indices = np.append(good.indices, np.array([-4, 10**6], good.indices.dtype))
    np.testing.assert_array_equal(check_matrix(longer).toarray(), good.toarray())
    assert longer.data.size == good.data.size + 2


def test_what_scipy_remembers_of_a_matrix_is_not_believed(good):
    assert good.has_canonical_format
    expected = good.toarray()
    start, stop = good.indptr[2:4]
    good.indices[start:stop] = good.indices[start:stop][::-1].copy()
    good.data[start:stop] = good.data[start:stop][::-1].copy()
    found = check_matrix(good)
    assert np.all(np.diff(found.indices[start:stop]) > 0)
    np.testing.assert_array_equal(found.toarray(), expected)


def test_the_blocks_of_a_long_matrix_meet_without_a_gap(monkeypatch):
    draw = np.random.default_rng(5)
    for part in (1, 2, 3, 7, 64):
        monkeypatch.setattr("doccluster.base.sparse_structure._AT_ONCE", part)
        for _ in range(40):
            rows = sparse.random_array((9, 6), density=0.4, random_state=draw.integers(2**31), format="csr")
            rows.sort_indices()
            place = draw.integers(max(rows.nnz - 1, 1))
            if draw.random() < 0.5 and rows.nnz > 1:
                rows.indices[[place, place + 1]] = rows.indices[[place + 1, place]]
            lines = [rows.indices[a:b] for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]
            assert checked_csr(rows)[1] == all(np.all(np.diff(line) > 0) for line in lines)


def test_sums_of_repeated_columns_that_overflow_are_refused():
    rows = sparse.csr_array((np.array([1e308, 1e308, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    with pytest.raises(InputError, match="NaN or infinity"):
        check_matrix(rows)


def test_more_columns_than_can_be_numbered_or_counted_are_refused(monkeypatch):
    wide = sparse.csr_array((np.ones(2), np.array([0, 2**40]), np.array([0, 1, 2])), shape=(2, 2**40 + 1))
    with pytest.raises(InputError, match="columns, more than"):
        SphericalKMeans(2).fit(wide)
    monkeypatch.setattr("doccluster.base.sparse_structure._memory_of_machine", lambda: 10**9)
    wide = sparse.csr_array((np.ones(2), np.array([0, 5]), np.array([0, 1, 2])), shape=(2, 2**26))
    with pytest.raises(MemoryLimitError, match="67,108,864 columns"):
        check_matrix(wide)


def test_labels_that_are_no_partition_are_refused():
    for labels, names in (([0, 2], ("a", "b")), ([0, 0], ("a", "b")), ([-1, 0], ("a",)), ([], ()), ([0.5], ("a",))):
        with pytest.raises(InputError, match="of a partition"):
            Partition(np.array(labels), names)


def test_partitions_of_other_documents_are_refused(good):
    other = Partition.from_labels([0, 1])
    with pytest.raises(InputError, match="2 labels, vectors has 18 rows"):
        describe_clusters(_vectors(good), other)
    for row, cluster in ((99, 0), (-1, 0), (0, 99)):
        with pytest.raises(InputError, match="there is no"):
            explain_membership(good, row, good, cluster)


def _vectors(matrix):
    return DocumentVectors(matrix, tuple(map(str, range(matrix.shape[0]))))


# --- files: what is announced is compared with what the file can hold, before memory is asked for -------------------

MTX = "%%MatrixMarket matrix"
ANNOUNCED = {
    "values.mtx": f"{MTX} coordinate real general\n3 3 1000000000000\n1 1 1\n",
    "rows.mtx": f"{MTX} coordinate real general\n4000000000 3 1\n1 1 1\n",
    "columns.mtx": f"{MTX} coordinate real general\n3 4000000000 1\n1 1 1\n",
    "dense.mtx": f"{MTX} array real general\n100000 1000000\n1\n",
    "symmetric.mtx": f"{MTX} array real symmetric\n300000 300000\n1\n",
    "too_long.mtx": f"{MTX} coordinate real general\n{'9' * 400} 3 1\n1 1 1\n",
    "negative.mtx": f"{MTX} coordinate real general\n-3 3 1\n1 1 1\n",
    "beyond.mtx": f"{MTX} coordinate real general\n3 3 2\n1 1 1\n4 9 1\n",
    "zero.mtx": f"{MTX} coordinate real general\n3 3 2\n1 1 1\n0 0 1\n",
    "blank_end.mtx": f"{MTX} coordinate real general\n8 2 5\n1 1 5 ",
    "zero_byte.mtx": f"{MTX} coordinate real general\n8 2 5\n1 1 1\0\n",
    "columns.mat": "2 9000000000 2\n1 1\n1 1\n",
    "documents.mat": f"{'9' * 300} 3 2\n1 1\n1 1\n",
}


def test_text_that_announces_more_than_it_holds_is_refused(copies, tmp_path):
    paths = []
    for name, text in ANNOUNCED.items():
        paths += [tmp_path / name, tmp_path / f"{name}.gz"]
        paths[-2].write_text(text)
        paths[-1].write_bytes(gzip.compress(text.encode()))
    # the reader is machine code: a process of its own, with less memory than is announced
    code = (
        "import resource, sys\nfrom doccluster.vectors import read_matrix\nfrom doccluster.errors import InputError\n"
        "if sys.platform == 'linux':\n"
        "    used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (used + 2**29,) * 2)\n"
        f"for path in {list(map(str, paths))!r}:\n"
        "    try:\n        read_matrix(path)\n    except InputError as error:\n        print(error, flush=True)\n"
    )
    found = copies.run(code)
    assert found.returncode == 0, (found.returncode, found.stdout[-300:], found.stderr[-600:])
    for path, line in zip(paths, found.stdout.splitlines(), strict=True):
        assert str(path) in line
        assert len(line) < 400
        assert "fits in memory" not in line


def test_a_matrix_market_file_may_end_without_an_end_of_line(tmp_path):
    path = tmp_path / "short.mtx"
    path.write_text(f"{MTX} coordinate integer general\n2 2 2\n1 1 5\n2 2 7")
    vectors, _ = read_matrix(path, weighting="none")
    np.testing.assert_array_equal(vectors.matrix.toarray(), np.eye(2))
    packed = tmp_path / "short.mtx.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    np.testing.assert_array_equal(read_matrix(packed, weighting="none")[0].matrix.toarray(), np.eye(2))


def _npy(header, body=b"\0" * 64):
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


HEADERS = {
    "eight tebibytes": "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776, 1), }\n",
    "beyond 64 bits": f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({'9' * 30}, 4), }}\n",
    "a negative size": "{'descr': '<f8', 'fortran_order': False, 'shape': (-2, -4), }\n",
    "an open bracket": "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4",
    "many brackets": "(" * 5000,
    "minus signs": "-" * 9000 + "1",
    "a null": "{'descr': '<f8',\0 }\n",
    "python 2": "{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 400L), }\n",
    "objects": "{'descr': '|O', 'fortran_order': False, 'shape': (2, 4), }\n",
    "records": "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (8, 1), }\n",
    "text": "{'descr': '<U4', 'fortran_order': False, 'shape': (2, 2), }\n",
    "no type": "{'descr': '<q9', 'fortran_order': False, 'shape': (2, 4), }\n",
    "one value too many": "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }\n",
    "one value too few": "{'descr': '<f8', 'fortran_order': False, 'shape': (7, 1), }\n",
}


@pytest.mark.parametrize("header", HEADERS)
def test_arrays_with_a_header_that_cannot_be_are_refused(tmp_path, header):
    content = _npy(HEADERS[header])
    alone = tmp_path / "alone.npy"
    alone.write_bytes(content)
    packed = tmp_path / "packed.npz"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x.npy", content)
    own = tmp_path / "own.npz"
    whole = io.BytesIO()
    np.savez(
        whole, doccluster_schema=np.int64(1), indices=np.array([0]), indptr=np.array([0, 1]), shape=np.array([1, 2])
    )
    with zipfile.ZipFile(whole, "a") as archive:
        archive.writestr("data.npy", content)
    own.write_bytes(whole.getvalue())
    for path in (alone, packed, own):
        with pytest.raises(InputError) as raised:
            read_matrix(path)
        assert str(path) in str(raised.value)
        assert len(str(raised.value)) < 600


def test_a_plain_array_is_still_read(tmp_path):
    for order in ("C", "F"):
        np.save(tmp_path / "plain.npy", np.array([[1, 2], [3, 4]], order=order))
        assert read_matrix(tmp_path / "plain.npy", weighting="none")[0].matrix.shape == (2, 2)


def test_archives_that_cannot_be_are_refused(tmp_path, good):
    whole = io.BytesIO()
    sparse.save_npz(whole, good)
    content = whole.getvalue()
    place = content.rindex(b"PK\x01\x02")
    damages = {
        "encrypted": (8, b"\x01\x00"),
        "a way of packing": (10, b"\x63\x00"),
        "eight gibibytes": (24, b"\xff\xff\xff\xfe"),
    }
    for name, (offset, new) in damages.items():
        damaged = bytearray(content)
        damaged[place + offset : place + offset + len(new)] = new
        path = tmp_path / f"{name}.npz"
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"\.npz"):
            read_matrix(path)


@pytest.mark.parametrize("own", [False, True])
def test_npz_parts_that_do_not_fit_are_refused(tmp_path, good, own):
    parts = {"data": good.data, "indices": good.indices, "indptr": good.indptr, "shape": np.array(good.shape)}
    extra = {"doccluster_schema": np.int64(1)} if own else {"format": np.array(b"csr")}
    negative = good.indptr.copy()
    negative[-1] = -1
    changes = {
        "a negative last row start": {"indptr": negative},
        "a column beyond": {"indices": np.where(good.indices == 11, 10**6, good.indices)},
        "two billion rows": {"shape": np.array([2 * 10**9, 12])},
        "two billion columns": {"shape": np.array([18, 2 * 10**9])},
        "a shape of fractions": {"shape": np.array([18.5, 12.0])},
        "one size": {"shape": np.array([18])},
        "text": {"data": np.full(good.nnz, "x")},
        "a table": {"indices": good.indices.reshape(-1, 1)},
    }
    path = tmp_path / "parts.npz"
    for change in changes.values():
        np.savez(path, **{**extra, **parts, **change})
        with pytest.raises(InputError):
            read_matrix(path)
    np.savez(path, **extra, **parts)
    assert read_matrix(path, weighting="none")[0].n_documents == 18


def test_euclidean_evaluation_of_a_damaged_file_is_refused(tmp_path):
    from click.testing import CliRunner

    from doccluster.cli.main import commands

    (tmp_path / "x.mtx").write_text(ANNOUNCED["beyond.mtx"])
    (tmp_path / "labels.txt").write_text("a\nb\nc\n")
    arguments = [
        "evaluate",
        str(tmp_path / "labels.txt"),
        "--vectors",
        str(tmp_path / "x.mtx"),
        "--metric",
        "euclidean",
    ]
    found = CliRunner().invoke(commands, arguments)
    assert isinstance(found.exception, InputError)
    assert "out of bounds" in str(found.exception)


def test_written_matrices_of_other_programs_are_still_read(tmp_path, good):
    for name in ("csr", "csc", "coo", "bsr", "dia"):
        sparse.save_npz(tmp_path / "x.npz", good.asformat(name))
        found, _ = read_matrix(tmp_path / "x.npz", weighting="none")
        np.testing.assert_allclose(found.matrix.toarray() > 0, good.toarray() > 0)
    square = good[:12] @ good[:12].T
    scipy_io.mmwrite(tmp_path / "x.mtx", square, symmetry="symmetric")
    assert read_matrix(tmp_path / "x.mtx", weighting="none")[0].matrix.shape == (12, 12)
