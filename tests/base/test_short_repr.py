"""No value shows its data: a repr is a line or three, whatever it holds."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import numpy as np
import pytest

import doccluster
from doccluster.base.plain_values import MAX_CHARACTERS, cut, short
from doccluster.pipeline.choosing import choose_clusters
from doccluster.pipeline.inspecting import inspect_source
from doccluster.pipeline.main_line import run_pipeline
from doccluster.pipeline.sources import read_source
from doccluster.pipeline.vectorizing import vectorize_texts
from doccluster.selection import LabelledCorpus
from doccluster.synthetic import make_vmf_mixture

N = 400
WORDS = ("harbour", "boat", "herring", "pier", "flour", "oven", "dough", "bread", "pear", "apple", "orchard", "tree")


def held_data() -> dict[str, object]:
    rng = np.random.default_rng(0)
    groups = [WORDS[start : start + 4] for start in (0, 4, 8)]
    texts = [" ".join(rng.choice(groups[row % 3], 9)) + f" number{row % 50}" for row in range(N)]
    run = run_pipeline(texts, n_clusters=3, language="none", levels="none")
    corpus = doccluster.read_corpus(texts)
    choice = choose_clusters(corpus, ks=[4, 5], random_state=0)
    labelled = LabelledCorpus("made", run.vectors.matrix, run.partition.labels.tolist(), 3)
    found = [
        *(corpus, corpus[0], run, run.documents, run.vectors, run.partition, run.evaluation, run.provenance),
        *(run.clusters[0], run.evaluation.scores[0], run.evaluation.scores[0].measure),
        *(choice, choice.recommendation),
        *(labelled, inspect_source(corpus), read_source(corpus, reader={})),
        vectorize_texts(corpus, language="none", options={}, n_threads=1),
    ]
    return {type(value).__name__: value for value in found}


@pytest.fixture(scope="module")
def values() -> dict[str, object]:
    return held_data()


@pytest.mark.parametrize(
    "name",
    [
        *("Corpus", "Document", "Run", "DocumentTable", "DocumentVectors", "Partition", "Evaluation", "Provenance"),
        *("ClusterDescription", "Score", "Measure", "Choice", "Recommendation"),
        *("LabelledCorpus", "Inspection", "SourceDocuments", "Vectorization"),
    ],
)
def test_a_value_is_shown_in_one_to_three_lines(values, name):
    shown = repr(values[name])
    assert shown.startswith(f"{name}(")
    assert len(shown) <= MAX_CHARACTERS
    assert "\n" not in shown


def test_the_main_values_say_what_they_hold(values):
    assert repr(values["Corpus"]) == f"Corpus({N} documents: 1, 2, 3, ...)"
    assert repr(values["Run"]).startswith(f"Run({N} documents in 3 clusters, 62 terms, seed 0: ")
    assert repr(values["Partition"]) == f"Partition({N} documents in 3 clusters of 134, 133, 133)"
    assert "400 x 62 float32, sparse" in repr(values["DocumentVectors"])
    assert repr(values["Choice"]).startswith(f"Choice({N} documents: 4 clusters, the best of your numbers; ")
    assert repr(values["Inspection"]) == f"Inspection({N} documents)"
    hits = [{"title": f"{word} {n}"} for n in range(6) for word in ("harbour boats", "rye bread")]
    found = doccluster.cluster_search_results(hits, query="news")
    assert repr(found).startswith(f"GroupedHits('news': 12 hits in {len(found.groups)} groups: ")
    assert found.groups[0].label in repr(found)


def test_long_names_do_not_make_a_repr_long():
    corpus = doccluster.Corpus(ids=tuple("x" * 5_000 + str(n) for n in range(9)), texts=("text",) * 9)
    assert len(repr(corpus)) <= MAX_CHARACTERS


def test_no_public_record_of_data_has_the_repr_that_prints_it():
    """The repr that dataclasses make prints every part; records of a few numbers may keep it."""
    data = ("NDArray", "DataFrame", "csr_array", "Floats", "Ints", "Names", "tuple[str", "matrix")
    wrong = set()
    for module in pkgutil.walk_packages(doccluster.__path__, "doccluster."):
        if not module.ispkg or ".cli" in module.name or ".report" in module.name:
            continue
        package = importlib.import_module(module.name)
        for name in getattr(package, "__all__", ()):
            kind = getattr(package, name)
            if isinstance(kind, type) and dataclasses.is_dataclass(kind) and hasattr(kind.__repr__, "__wrapped__"):
                types = [str(part.type) for part in dataclasses.fields(kind)]
                if any(word in text for text in types for word in data):
                    wrong.add(name)
    assert wrong <= {"LabelColumn", "Reference"}  # ten classes and their counts, the names of a few authors


def test_parts_are_named_in_a_few_words():
    assert short(np.zeros((3, 1000))) == "<ndarray 3 x 1,000>"
    assert short({str(n): n for n in range(10)}) == "<10 entries>"
    assert len(short("long " * 1000)) < 50


def test_a_synthetic_set_is_short_too():
    made = make_vmf_mixture(60, 20, 3, kappa=50.0, random_state=0)
    assert len(repr(made)) <= MAX_CHARACTERS
    assert repr(made.vectors) == "DocumentVectors(60 x 20 float32, dense)"


def test_a_text_of_just_the_length_is_whole():
    assert cut("x" * MAX_CHARACTERS) == "x" * MAX_CHARACTERS
    assert cut("x" * (MAX_CHARACTERS + 1)) == "x" * (MAX_CHARACTERS - 2) + "…)"
    assert len(short("y" * 500)) == len(short("y" * 501))
    longest = max(n for n in range(500) if "…" not in short("y" * n))
    assert len(short("y" * 500)) == longest + len("''")
