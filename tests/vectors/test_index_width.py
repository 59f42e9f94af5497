"""Matrices we hand out have 32-bit indices where they suffice, since scikit-learn's estimators take no others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from doccluster.vectors import read_matrix


@pytest.mark.parametrize("name", ["counts.mat", "counts.npz"])
def test_scikit_learn_clusters_what_was_read(tmp_path, name):
    counts = sparse.csr_array(np.array([[1, 0, 2], [0, 3, 0], [1, 1, 0]], dtype=np.float64))
    wide = sparse.csr_array((counts.data, counts.indices.astype(np.int64), counts.indptr.astype(np.int64)))
    if name.endswith("npz"):
        sparse.save_npz(tmp_path / name, wide)
    else:
        (tmp_path / name).write_text("3 3 5\n1 1 3 2\n2 3\n1 1 2 1\n")
    matrix = read_matrix(tmp_path / name)[0].matrix
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    assert KMeans(2, n_init=1, random_state=0).fit(matrix).labels_.shape == (3,)
