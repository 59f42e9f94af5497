"""An option's value is checked before anything is read."""

from __future__ import annotations

import pytest


TEXTS = ["inspect", "vectorize", "run", "choose-k", "compare", "assign"]
BAD = [
    *[(verb, "--threads", "-1") for verb in ("run", "cluster", "assign", "vectorize", "choose-k", "compare", "rerun")],
    *[("run", option, "0") for option in ("--n-init", "--max-iter", "--max-features", "--threads")],
    *[(verb, option, "many") for verb in ("run", "cluster") for option in ("--n-init", "--max-iter", "--threads")],
    *[(verb, "--max-memory", "lots") for verb in ("run", "cluster")],
    *[(verb, "--max-expanded-size", "lots") for verb in TEXTS],
    *[(verb, "--max-members", "0") for verb in TEXTS],
    *[(verb, "--max-archive-depth", "-2") for verb in TEXTS],
    *[(verb, "--max-document-length", "0") for verb in TEXTS],
    ("run", "--min-df", "0"),
    ("run", "--min-df", "1.5"),
    ("vectorize", "--max-df", "-1"),
    ("run", "--ngrams", "2-1"),
    ("choose-k", "--k", "0-4"),
    ("choose-k", "--penalty", "-1"),
    ("run", "--weighting", "zzz"),
    ("cluster", "--weighting", "zzz"),
    ("vectorize", "--stemming", "klingon"),
    ("vectorize", "--language", "klingon"),
    ("run", "--token-pattern", "(a)(b)"),
    ("run", "--measures", "purty"),
    ("compare", "--measures", "purty"),
    ("evaluate", "--measures", "purty"),
    ("compare", "--algorithm", "k-medoids"),
    ("compare", "--algorithm", "kmeans:starts=3"),
    ("run", "-k", "0"),
    ("cluster", "-k", "many"),
]


@pytest.mark.parametrize(("verb", "option", "value"), BAD)
def test_a_bad_value_is_refused_before_the_source_is_looked_at(doccluster, tmp_path, verb, option, value):
    output = () if verb in ("inspect", "evaluate") else ("-o", tmp_path / "out.npz")
    sources = ("nowhere", "nowhere") if verb == "assign" else ("nowhere",)
    done = doccluster(verb, *sources, *output, option, value)
    assert done.code == 2
    assert option in done.err
    assert "nowhere" not in done.err
    assert "Traceback" not in done.err
    assert "None" not in done.err


def test_a_number_of_threads_that_is_none_says_what_is_expected(doccluster, tiny):
    done = doccluster("run", tiny, "-o", "out", "--threads", "-1")
    assert "Invalid value for '--threads': '-1' is not a whole number of at least 1." in done.err
