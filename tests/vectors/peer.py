"""The comparison with scikit-learn: same terms, same pattern of non-zeros, same values to the last bits."""

from __future__ import annotations

import gzip
import html
import re

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer as PeerVectorizer

from doccluster.vectors import TfidfVectorizer

# Both compute idf and products in the same order; the order of the sum of squares of a row of hundreds differs.
TOLERANCE = {np.float32: 3e-7, np.float64: 1e-13}


def assert_same_as_peer(documents, dtype=np.float32, n_threads=None, **parameters):
    """Fit both on `documents`, compare, and compare what both make of the documents read backwards."""
    peer = PeerVectorizer(dtype=dtype, **parameters)
    ours = TfidfVectorizer(dtype=dtype, n_threads=n_threads, **parameters)
    expected, found = peer.fit_transform(documents), ours.fit_transform(documents)
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert ours.vocabulary_ == peer.vocabulary_
    assert_same_matrix(found, expected, dtype)
    if parameters.get("use_idf", True):
        np.testing.assert_array_equal(ours.idf_, peer.idf_)
    turned = [document[::-1] for document in documents[:200]]
    assert_same_matrix(ours.transform(turned), peer.transform(turned), dtype)
    return found


def assert_same_matrix(found, expected, dtype):
    expected = expected.copy()
    expected.sort_indices()
    assert found.dtype == expected.dtype == dtype
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, rtol=TOLERANCE[dtype], atol=0)


def reuters_texts(folder, n_files=22):
    """Return the bodies of Reuters-21578 by a plain regular expression, independent of our reader."""
    texts = []
    for number in range(n_files):
        raw = gzip.decompress((folder / f"reut2-{number:03d}.sgm.gz").read_bytes()).decode("latin-1")
        texts += [html.unescape(body) for body in re.findall(r"<TEXT.*?>(.*?)</TEXT>", raw, flags=re.DOTALL)]
    return texts


def udhr_texts(archive):
    """Return the declaration of human rights in all languages of an nltk archive in UTF-8, one article a document."""
    import zipfile

    texts = []
    with zipfile.ZipFile(archive) as entries:
        for name in sorted(entries.namelist()):
            if name.endswith(".txt"):
                texts += entries.read(name).decode("utf-8", "replace").split("\n\n")
    return texts
