"""What public functions return can be pickled and copied; a score is a number; progress=True prints the stages."""

from __future__ import annotations

import copy
import dataclasses
import io
import json
import math
import pickle
import statistics
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest

import doccluster
from doccluster.errors import DocclusterWarning, InputError, MissingDependency, NothingUsable
from doccluster.pipeline.model_names import RunInterrupted

TEXTS = ["boats land herring", "herring at the pier", "dough in the oven", "bread and dough"] * 5
HITS = [{"title": text, "snippet": f"{text} today"} for text in TEXTS]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("public")
    (folder / "texts.txt").write_text("\n".join(TEXTS))
    return doccluster.run(folder / "texts.txt", n_clusters=2, output=folder / "run")


@pytest.fixture(scope="module")
def values(run, tmp_path_factory):
    """What each public name makes, by the name; a module or an alias of another name is None."""
    rows = doccluster.TfidfVectorizer().fit_transform(TEXTS)
    folder = run.parameters["source"][0].removesuffix("texts.txt")
    matrix = tmp_path_factory.mktemp("matrix") / "rows.npy"
    np.save(matrix, np.eye(3))
    sheets = tmp_path_factory.mktemp("asked") / "sheets"
    news = doccluster.run(doccluster.load_sample()[:40], n_clusters=4, report=False)
    news.validation(sheets, n_coders=1, tests=["names"])
    path = sheets / "coder-1" / "sheet.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",\n", ",a\n"), encoding="utf-8")
    return {
        "Corpus": doccluster.Corpus(ids=("a",), texts=("boats",)),
        "DocumentClustering": doccluster.DocumentClustering(2).fit(rows),
        "DocumentVectors": doccluster.DocumentVectors(rows, tuple(map(str, range(len(TEXTS))))),
        "InlineReport": doccluster.InlineReport("<p>page</p>"),
        "Partition": run.partition,
        "SphericalKMeans": doccluster.SphericalKMeans(2, progress=True),
        "StoryStream": doccluster.StoryStream().tables(),
        "TfidfVectorizer": doccluster.TfidfVectorizer(stemming="english").fit(TEXTS),
        "Topic": doccluster.Topic("sea", ("boats",)),
        "VonMisesFisherMixture": doccluster.VonMisesFisherMixture(2),
        "__version__": doccluster.__version__,
        "assign": doccluster.assign(run, TEXTS),
        "browse": doccluster.browse(run),
        "choose_k": doccluster.choose_k(TEXTS),
        "cluster_search_results": doccluster.cluster_search_results(HITS),
        "compare": doccluster.compare(f"{folder}texts.txt", n_clusters=2, algorithms=["spherical-k-means"], seeds=1),
        "diff": None,  # of the stores of streams, files
        "errors": None,
        "evaluate": doccluster.evaluate([0, 0, 1, 1], truth=["a", "a", "a", "b"], vectors=np.eye(4)),
        "explain": doccluster.explain(run, 0),
        "get_measure": doccluster.get_measure("i1"),
        "inspect": doccluster.inspect(TEXTS),
        "label": doccluster.label(run, 0, "Sea"),
        "list_measures": doccluster.list_measures(),
        "load_run": doccluster.load_run(f"{folder}run"),
        "load_sample": doccluster.load_sample(),
        "make_scorer": doccluster.make_scorer("silhouette"),
        "merge": doccluster.merge(run, 0, 1),
        "plots": None,
        "read_corpus": doccluster.read_corpus(HITS),
        "read_matrix": doccluster.read_matrix(matrix),
        "rerun": doccluster.rerun(f"{folder}run"),
        "run": run,
        "score_validation": doccluster.score_validation(news, sheets),
        "score": doccluster.score("nmi", [0, 0, 1, 1], truth=["a", "a", "a", "b"]),
        "search": doccluster.search("herring", run),
        "tendency": doccluster.tendency(run.vectors),
        "undo": None,  # a run again, as `label` returns
        "vectorize": doccluster.vectorize(TEXTS, letters=True),
        "write_report": None,  # a path
    }


def test_the_walk_knows_every_public_name(values):
    assert sorted(values) == sorted(doccluster.__all__)


@pytest.mark.filterwarnings("ignore::doccluster.errors.DocclusterWarning")
def test_every_public_value_can_be_pickled_and_copied(values):
    for name, value in values.items():
        for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert type(again) is type(value), name
            if type(value).__repr__ is not object.__repr__:
                assert repr(again) == repr(value), name


def test_a_run_is_sent_by_joblib_and_scores_keep_their_measures(run):
    file = io.BytesIO()
    joblib.dump(run, file)
    file.seek(0)
    again = joblib.load(file)
    assert again.predict(TEXTS[:4]).tolist() == run.predict(TEXTS[:4]).tolist()
    score = again.evaluation["silhouette"]
    assert score == run.evaluation["silhouette"]
    assert score.measure is doccluster.get_measure("silhouette")


def test_a_measure_is_itself_after_a_copy_and_one_of_your_own_is_a_record_like_it():
    for measure in doccluster.list_measures():
        assert pickle.loads(pickle.dumps(measure)) is copy.deepcopy(measure) is measure
    own = dataclasses.replace(doccluster.get_measure("purity"), name="own")
    assert pickle.loads(pickle.dumps(own)).name == "own"


def test_errors_keep_their_parts_in_another_process(run):
    for error in (
        InputError("is not a share", argument="tol", received=-1, expected="a number >= 0"),
        NothingUsable("no document is left"),
        MissingDependency("maps need matplotlib", remedy="install it"),
        RunInterrupted(run),
        DocclusterWarning("left out"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))


def test_an_open_stream_says_that_it_cannot_be_copied():
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(InputError, match="a stream is an open store"):
            attempt(doccluster.StoryStream())


def test_a_score_is_a_number():
    score = doccluster.score("nmi", [0, 0, 1, 1], truth=["a", "a", "a", "b"])
    other = doccluster.score("rand", [0, 1, 0, 1], truth=[0, 0, 1, 1])
    value = score.value
    assert isinstance(score, float)
    assert (f"{score:.3f}", f"{score:6.1%}", round(score, 2)) == ("0.344", " 34.4%", 0.34)
    assert score == value
    assert score > 0.3
    assert max(score, other) == max(value, other.value)
    assert sum([score, other]) == value + other.value
    mean = (value + other.value) / 2
    assert np.mean([score, other]) == mean
    assert statistics.mean([score, other]) == pytest.approx(mean)
    assert pd.DataFrame({"nmi": [score, other]})["nmi"].mean() == mean
    assert json.loads(json.dumps({"nmi": score, "all": [other]})) == {"nmi": value, "all": [other.value]}
    assert str(score) == repr(score) == f"{score}" == "Score(nmi=0.343711, truth='truth')"


def test_a_score_without_a_value_is_nan_and_one_of_zero_keeps_its_notes():
    undefined = doccluster.score("silhouette", [0, 0, 0], vectors=np.eye(3))
    assert math.isnan(undefined)
    assert not undefined.is_defined
    assert json.dumps(undefined) == "NaN"
    table = str(doccluster.evaluate([0, 1, 0, 1, 0], truth=[0, 0, 1, 1, None], measures=["ari", "homogeneity"]))
    assert "on 4 of 5 documents" in table


def test_progress_can_be_true_false_or_none(capsys):
    rows = doccluster.TfidfVectorizer().fit_transform(TEXTS)
    calls = {
        "read": lambda progress: doccluster.run(TEXTS, n_clusters=2, quality="fast", progress=progress),
        "judge": lambda progress: doccluster.evaluate([0, 1] * 10, vectors=rows, progress=progress),
        "tendency": lambda progress: doccluster.tendency(rows, progress=progress),
        "seed": lambda progress: doccluster.SphericalKMeans(2, progress=progress).fit(rows),
        "neighbours": lambda progress: doccluster.DocumentClustering(2).set_params(progress=progress).fit(rows),
    }
    for stage, call in calls.items():
        call(True)
        assert stage in capsys.readouterr().err
        for silent in (False, None):
            call(silent)
            assert capsys.readouterr().err == ""
        with pytest.raises(InputError, match="progress=5 is not known"):
            call(5)


def test_a_pickled_evaluation_is_read_by_a_process_that_has_imported_nothing(tmp_path):
    path = tmp_path / "evaluation.pickle"
    path.write_bytes(pickle.dumps(doccluster.evaluate([0, 0, 1, 1], vectors=np.eye(4), measures=["h1"])))
    program = f"import pickle; print(pickle.loads(open({str(path)!r}, 'rb').read())['h1'].measure.title)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "Criterion H1\n"
