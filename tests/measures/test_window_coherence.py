"""C_v, C_NPMI and C_UCI: gensim's values, every window counted one by one, and what a run says of its clusters."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from doccluster import get_measure, load_sample, run
from doccluster.errors import InputError
from doccluster.measures.topics import EPSILON, window_coherence

GENSIM = json.loads((Path(__file__).parents[1] / "golden" / "reference" / "gensim_coherence.json").read_text("utf-8"))


@pytest.mark.parametrize("key", GENSIM["values"])
def test_values_are_those_of_gensim_where_no_word_comes_twice(key):
    measure, _, window = key.partition("/")
    texts = [text.split() for text in GENSIM["texts"]]
    assert all(len(set(tokens)) == len(tokens) for tokens in texts)
    size = None if window == "default" else int(window)
    values = window_coherence(GENSIM["topics"], texts, measure=measure, window=size)
    assert values == pytest.approx(GENSIM["values"][key], abs=1e-12)


def naive(topics, texts, size):
    windows = [set(text[at : at + size]) for text in texts for at in range(max(1, len(text) - size + 1)) if text]

    def share(*words):
        return sum(all(word in window for word in words) for window in windows) / len(windows)

    values = []
    for words in topics:
        pairs = itertools.permutations(words, 2)
        npmi = [
            math.log((share(a, b) + EPSILON) / (share(a) * share(b))) / -math.log(share(a, b) + EPSILON)
            for a, b in pairs
        ]
        values.append(np.mean(npmi))
    return values


@pytest.mark.parametrize("size", [1, 3, 7, 500])
def test_every_window_counts_once_where_words_come_again(size):
    rng = np.random.default_rng(size)
    texts = [list(rng.choice(list("abcdefghij"), int(n))) for n in rng.integers(0, 60, size=25)]
    topics = ["abc", "defg", "aj"]
    values = window_coherence(topics, texts, measure="c_npmi", window=size)
    assert values == pytest.approx(naive(topics, texts, size))


def test_long_texts_are_counted_in_pieces(monkeypatch):
    tokens = list(np.random.default_rng(0).choice(list("abcdefgh"), 500))
    whole = window_coherence(["abc", "dh"], [tokens])
    monkeypatch.setattr("doccluster.measures.topics.WINDOWS_AT_A_TIME", 7)
    assert window_coherence(["abc", "dh"], [tokens]).tolist() == whole.tolist()


def test_words_that_never_occur_are_left_out():
    texts = [["a", "b"], ["a", "c"]]
    with_absent, without = window_coherence([["a", "b", "zzz"], ["a", "b"]], texts)
    assert with_absent == without
    assert math.isnan(window_coherence([["a", "zzz"]], texts)[0])
    with pytest.raises(InputError, match="no texts"):
        window_coherence([["a", "b"]], [[]])
    with pytest.raises(InputError, match="c_npmi"):
        window_coherence([["a", "b"]], texts, measure="c_x")


def test_a_run_of_clear_clusters_is_more_coherent_than_one_of_shuffled_labels(tmp_path):
    sample = load_sample()
    good = run(sample, n_clusters=12, report=False)
    shuffled = np.random.default_rng(0).permutation(good.labels_)
    poor = run(sample, labels=shuffled.tolist(), report=False)
    for measure in ("c_v", "c_npmi"):
        assert good.topic_coherence(measure).mean() > poor.topic_coherence(measure).mean() + 0.05
    assert good.topic_coherence(reference=sample).tolist() == good.topic_coherence().tolist()
    assert good.topic_coherence(reference=["rain in the north"] * 3).shape == (12,)


def test_measures_counted_in_windows_and_in_documents_name_each_other():
    with pytest.raises(InputError, match=r"'npmi' is counted in documents.*ask `doccluster.score` for it"):
        window_coherence([["rye", "oven"]], [["rye", "oven"]], measure="npmi")
    with pytest.raises(InputError, match=r"counted in windows of the texts: ask a run for topic_coherence\('c_v'\)"):
        get_measure("c_v")
