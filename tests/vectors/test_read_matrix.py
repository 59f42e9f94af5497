from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import io, sparse
from sklearn.feature_extraction.text import TfidfTransformer

from doccluster.errors import DocclusterWarning, InputError, SchemaError
from doccluster.vectors import DocumentVectors, read_matrix, vectorize, write_matrix

COUNTS = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [0, 3, 1, 0]])
SPARSE = "3 4 4\n1 2 3 1\n\n2 3 3 1\n"
SETS = {  # documents, terms, non-zeros, classes
    "tr11": (414, 6429, 116613, 9),
    "tr12": (313, 5804, 85640, 8),
    "tr23": (204, 5832, 78609, 6),
    "re0": (1504, 2886, 77808, 13),
    "k1b": (2340, 21839, 349792, 6),
    "hitech": (2301, 126321, 346881, 6),
    "la1": (3204, 31472, 484024, 6),
}


@pytest.fixture
def cluto(tmp_path):
    path = tmp_path / "small.mat"
    path.write_text(SPARSE)
    return path


@pytest.mark.parametrize("written", ["1_000", "١٢", "１２"])
@pytest.mark.parametrize("content", ["3 4 4\n1 2 3 {}\n\n2 3 3 1\n", "2 2\n1 {}\n3 4\n"])
def test_what_only_python_reads_as_a_number_is_none_in_a_matrix(written, content, tmp_path):
    (tmp_path / "a.mat").write_text(content.format(written), encoding="utf-8")
    with pytest.raises(InputError, match=rf"line 2 holds '{written}', expected a number"):
        read_matrix(tmp_path / "a.mat")


@pytest.mark.real
@pytest.mark.parametrize("name", SETS)
def test_cluto_sets_have_their_published_sizes(real_corpora, name):
    vectors, classes = read_matrix(real_corpora / "cluto_matrices" / name / f"{name}.mat")
    assert (*vectors.matrix.shape, vectors.matrix.nnz, len(set(classes))) == SETS[name]
    assert vectors.matrix.dtype == np.float32
    lengths = np.sqrt(vectors.matrix.power(2).sum(axis=1))
    np.testing.assert_allclose(lengths[~vectors.is_empty], 1, rtol=1e-5)


@pytest.mark.real
def test_empty_columns_of_a_shared_vocabulary_can_be_dropped(real_corpora):
    path = real_corpora / "cluto_matrices" / "hitech" / "hitech.mat"
    whole, _ = read_matrix(path)
    small, _ = read_matrix(path, drop_empty_columns=True)
    assert small.matrix.nnz == whole.matrix.nnz
    assert small.n_terms < whole.n_terms
    np.testing.assert_array_equal(small.matrix.data, whole.matrix.data)


@pytest.mark.real
def test_clutos_own_file_brings_its_terms_and_class_names(real_corpora):
    vectors, classes = read_matrix(real_corpora / "cluto_matrices" / "re0_original_cluto" / "re0.mat")
    assert vectors.terms[:3].tolist() == ["depart", "sloane", "sudden"]
    assert classes[:3] == ["housing", "money", "trade"]
    ours, _ = read_matrix(real_corpora / "cluto_matrices" / "re0" / "re0.mat")
    np.testing.assert_array_equal(vectors.matrix.data, ours.matrix.data)


def test_counts_are_weighted_like_text(cluto):
    vectors, classes = read_matrix(cluto)
    expected = TfidfTransformer().fit_transform(sparse.csr_array(COUNTS, dtype=np.float32))
    np.testing.assert_allclose(vectors.matrix.toarray(), expected.toarray(), rtol=3e-7)
    assert vectors.ids == ("1", "2", "3")
    assert vectors.empty_ids == ("2",)
    assert classes is None


@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz", ".npz", ".npy", ".mat", ".mat.gz", ".dense.npz"])
def test_every_format_holds_the_same_counts(tmp_path, suffix):
    path = tmp_path / f"matrix{suffix}"
    if suffix.startswith(".mtx"):
        plain = tmp_path / "matrix.mtx"
        io.mmwrite(plain, sparse.coo_array(COUNTS))
        if suffix.endswith(".gz"):
            path.write_bytes(gzip.compress(plain.read_bytes()))
    elif suffix == ".npz":
        sparse.save_npz(path, sparse.csc_array(COUNTS))
    elif suffix == ".npy":
        np.save(path, COUNTS)
    elif suffix == ".dense.npz":
        np.savez(path, counts=COUNTS)
    elif suffix == ".mat":
        path.write_text("3 4\n2 0 1 0\n0 0 0 0\n0 3 1 0\n")
    else:
        path.write_bytes(gzip.compress(SPARSE.encode()))
    vectors, _ = read_matrix(path, weighting="none")
    matrix = vectors.matrix.toarray() if sparse.issparse(vectors.matrix) else vectors.matrix
    lengths = np.array([np.sqrt(5), 1, np.sqrt(10)])
    np.testing.assert_allclose(matrix, COUNTS / lengths[:, None], rtol=1e-6)
    weighted, _ = read_matrix(path)
    expected = TfidfTransformer().fit_transform(sparse.csr_array(COUNTS, dtype=np.float32))
    np.testing.assert_allclose(weighted.matrix.toarray(), expected.toarray(), rtol=3e-7)


def test_names_beside_the_matrix_are_found(cluto):
    cluto.with_suffix(".rclass").write_text("a\nb\na\n")
    cluto.with_name("small.mat.clabel").write_text("w\nx\ny\nz\n")
    cluto.with_suffix(".rlabel").write_text("first\nsecond\nthird\n")
    vectors, classes = read_matrix(cluto)
    assert classes == ["a", "b", "a"]
    assert vectors.terms.tolist() == ["w", "x", "y", "z"]
    assert vectors.ids == ("first", "second", "third")
    small, _ = read_matrix(cluto, drop_empty_columns=True)
    assert small.terms.tolist() == ["w", "x", "y"]


def test_names_can_be_given(cluto, tmp_path):
    (tmp_path / "truth.txt").write_text("p\nq\nr")
    vectors, classes = read_matrix(cluto, classes=tmp_path / "truth.txt", terms=["w", "x", "y", "z"])
    assert classes == ["p", "q", "r"]
    assert vectors.terms.tolist() == ["w", "x", "y", "z"]


def test_names_that_do_not_fit_are_refused(cluto, tmp_path):
    with pytest.raises(InputError, match=r"2 terms.*needs 4"):
        read_matrix(cluto, terms=["w", "x"])
    with pytest.raises(InputError, match="does not exist"):
        read_matrix(cluto, classes=tmp_path / "missing")
    cluto.with_suffix(".rclass").write_text("a\n")
    with pytest.raises(InputError, match=r"1 classes.*needs 3"):
        read_matrix(cluto)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "zero bytes"),
        ("\n", "begins with"),
        ("word\n", "begins with"),
        ("3 4 4 9\n", "begins with"),
        ("3 4 4\n1 2 3 1\n", "truncated"),
        ("3 4 4\n1 2\n\n2 3 3 1\n7 7\n", "truncated"),
        ("3 4 5\n1 2 3 1\n\n2 3 3 1\n", "announces 5 non-zeros but holds 4"),
        ("3 4 4\n1 2 3\n\n2 3 3 1\n", "line 2 has an odd number"),
        ("3 4 4\n1 2 3 1\n\n2 3 9 1\n", "line 4 names term 9"),
        ("3 4 4\n1 2 3 1\n\n0 3 3 1\n", "line 4 names term 0"),
        ("3 4 4\n1 2 3 1\n\n1.5 3 3 1\n", "line 4 names term 1.5"),
        ("3 4 4\n1 2 3 one\n\n2 3 3 1\n", "line 2 holds 'one'"),
        ("3 4 4\n1 2 3 nan\n\n2 3 3 1\n", "NaN"),
        ("3 4 4\n1 2 3 -1\n\n2 3 3 1\n", "negative counts"),
        ("2 2\n1 2\n1\n", "line 3 has 1 values"),
        ("0 4 0\n", "empty"),
        ("1 0 0\n\n", "empty"),
    ],
)
def test_damaged_cluto_files_are_refused_with_the_line(tmp_path, text, message):
    path = tmp_path / "bad.mat"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_matrix(path)


@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz", ".npz", ".npy"])
def test_other_damaged_files_are_refused(tmp_path, suffix):
    path = tmp_path / f"bad{suffix}"
    for content in (b"", b"nonsense", b"%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1\n"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"bad\."):
            read_matrix(path)


def test_a_truncated_npz_is_refused(tmp_path):
    path = tmp_path / "cut.npz"
    sparse.save_npz(path, sparse.random_array((50, 50), density=0.2, random_state=0, format="csr"))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match="truncated or damaged"):
        read_matrix(path)


def test_missing_files_folders_and_unknown_formats_are_refused(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_matrix(tmp_path / "none.mat")
    with pytest.raises(InputError, match="folder"):
        read_matrix(tmp_path)
    (tmp_path / "table.xyz").write_text("1")
    with pytest.raises(InputError, match="no known format"):
        read_matrix(tmp_path / "table.xyz")
    np.savez(tmp_path / "two.npz", a=np.ones((2, 2)), b=np.ones((2, 2)))
    with pytest.raises(InputError, match="a, b"):
        read_matrix(tmp_path / "two.npz")


def test_a_matrix_of_fractions_is_weighted_already(tmp_path):
    path = tmp_path / "weights.npz"
    sparse.save_npz(path, sparse.csr_array([[0.6, 0.8], [0.0, 1.0]]))
    with pytest.warns(DocclusterWarning, match="weighted already"):
        vectors, _ = read_matrix(path)
    np.testing.assert_allclose(vectors.matrix.toarray(), [[0.6, 0.8], [0, 1]], rtol=1e-7)
    quiet, _ = read_matrix(path, weighting="none")
    np.testing.assert_array_equal(quiet.matrix.toarray(), vectors.matrix.toarray())


@pytest.mark.parametrize("weighting", ["bm25", "ltc", "nnc"])
def test_other_weightings_apply_to_counts(cluto, weighting):
    vectors, _ = read_matrix(cluto, weighting=weighting)
    np.testing.assert_allclose(np.sqrt(vectors.matrix.power(2).sum(axis=1)), [1, 0, 1], rtol=1e-6)


def test_an_unknown_weighting_is_refused(cluto):
    with pytest.raises(InputError, match="weighting"):
        read_matrix(cluto, weighting="heavy")


def test_written_vectors_come_back_as_they_were(tmp_path):
    vectors = vectorize(["two naïve cats", "", "one cat"], stemming="english")
    path = tmp_path / "vectors.npz"
    write_matrix(path, vectors, classes=["a", "", "b"])
    back, classes = read_matrix(path)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(back.matrix, name), getattr(vectors.matrix, name))
    assert back.ids == vectors.ids
    assert back.terms.tolist() == vectors.terms.tolist()
    assert back.display_terms.tolist() == vectors.display_terms.tolist()
    assert classes == ["a", "", "b"]


def test_dense_vectors_are_written_too(tmp_path):
    vectors = DocumentVectors(np.eye(3, dtype=np.float32), ("a", "b", "c"))
    write_matrix(tmp_path / "dense.npz", vectors)
    back, classes = read_matrix(tmp_path / "dense.npz")
    np.testing.assert_array_equal(back.matrix, vectors.matrix)
    assert back.terms is None
    assert classes is None


def test_what_cannot_be_written_or_read_is_refused(tmp_path):
    vectors = vectorize(["two cats", "one cat"])
    with pytest.raises(InputError, match=r"\.npz"):
        write_matrix(tmp_path / "vectors.mat", vectors)
    with pytest.raises(InputError, match="3 classes"):
        write_matrix(tmp_path / "vectors.npz", vectors, classes=["a", "b", "c"])
    np.savez(tmp_path / "newer.npz", doccluster_schema=np.int64(99))
    with pytest.raises(SchemaError, match="schema 99"):
        read_matrix(tmp_path / "newer.npz")
    arrays = {"data": np.ones(2), "indices": np.array([0, 9]), "indptr": np.array([0, 2]), "shape": np.array([1, 3])}
    np.savez(tmp_path / "odd.npz", doccluster_schema=np.int64(1), **arrays)
    with pytest.raises(InputError, match="damaged"):
        read_matrix(tmp_path / "odd.npz")
