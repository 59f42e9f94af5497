"""What a run was asked for is one value: all that a run takes can be written down, and is read again as it was."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest

import doccluster
from doccluster.corpus import read_corpus
from doccluster.corpus.reader_options import ReadOptions, SourceParameters
from doccluster.errors import InputError, SchemaError
from doccluster.pipeline.main_line import make_run, run_pipeline
from doccluster.pipeline.repeating import repeat_run
from doccluster.pipeline.run_arguments import RunWork
from doccluster.pipeline.run_settings import RunSettings, recorded_run
from doccluster.vectors import read_matrix

TEXTS = ["oil and gas prices rise", "crude oil prices", "wheat harvest rain", "rain delays the wheat harvest"]


def names(kind):
    return {one.name for one in dataclasses.fields(kind)}


def arguments(function, *but):
    return set(inspect.signature(function).parameters) - set(but)


def test_every_argument_of_the_readers_can_be_written_down():
    of_texts = arguments(read_corpus, "source", "progress")
    of_matrices = arguments(read_matrix, "path", "weighting", "dtype", "drop_empty_columns")
    of_runs = {"keep_boilerplate", "parts"}  # what outlets repeat is left out after reading, and then documents are cut
    assert names(SourceParameters) == of_texts | of_matrices | of_runs


def test_the_signature_of_the_reader_is_that_of_its_parameters():
    signature = inspect.signature(read_corpus).parameters
    for one in dataclasses.fields(ReadOptions):
        assert signature[one.name].default == one.default
        assert signature[one.name].annotation == one.type


def test_every_argument_of_a_run_is_a_setting_or_says_only_where_results_go():
    # a quality only names an algorithm, and parts are an argument of reading
    work = {one.name for one in dataclasses.fields(RunWork)}
    assert {"source"} | names(RunSettings) | work == arguments(run_pipeline, "quality", "parts")


OWN_DEFAULTS = {  # where no quality is named; where each source has classes, and files of labels beside them
    ("run", "algorithm"),
    *(("compare", name) for name in ("n_clusters", "labels")),
}


@pytest.mark.parametrize("name", ["run", "choose_k", "compare", "assign", "inspect", "search"])
def test_functions_share_the_settings_of_a_run_with_their_defaults_and_words(name):
    function, defaults = getattr(doccluster, name), {one.name: one.default for one in dataclasses.fields(RunSettings)}
    shared = {
        argument.name: argument.default
        for argument in inspect.signature(function).parameters.values()
        if argument.name in defaults and (name, argument.name) not in OWN_DEFAULTS
    }
    assert "reader" in shared
    assert shared == {argument: defaults[argument] for argument in shared}
    described = {
        part for line in function.__doc__.splitlines() if line[:1].isalpha() for part in re.split(", | :", line)
    }
    assert described >= set(shared)


def test_settings_come_back_from_json_as_they_were():
    settings = RunSettings(
        n_clusters=7,
        fold_copies=True,
        truth=("topic", "story"),
        random_state=np.int64(3),
        reader={"format": "csv", "text_column": ("title", "text"), "labels_file": Path("x.csv"), "delimiter": None},
        language=("english", "german"),
        vectorizer={"ngram_range": (1, 2), "min_df": 0.01},
        algorithm="spherical-k-means",
        clustering={"n_init": 4, "refine": True},
        measures=("nmi",),
    )
    written = json.loads(json.dumps(settings.as_parameters([Path("a"), Path("b")])))
    asked = recorded_run({**written, "resolved": {"seed": 3}}, Path("run.json"))
    assert asked.sources == ("a", "b")
    assert asked.directory == str(Path.cwd())
    assert asked.settings.as_parameters([Path("a"), Path("b")]) == written
    assert asked.settings.n_clusters == 7
    assert asked.settings.truth_columns == ("topic", "story")
    assert asked.settings.clustering == {"n_init": 4, "refine": True}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 2.5}, "n_clusters"),
        ({"output": "x"}, "'output', which is not known"),
        ({"reader": {"progress": "x"}}, "'progress', which is not known"),
        ({"reader": ["format"]}, "reader"),
        ({"vectorizer": {"min_df": "many"}}, "vectorizer.min_df"),
        ({"vectorizer": {"token_pattern": r"(\w+)+!"}}, "pattern"),
        ({"clustering": {"random_state": 3}}, "no option 'random_state'"),
        ({"clustering": {"init": [[1.0]]}}, "clustering.init is neither text nor a number"),
        ({"algorithm": "k-means", "clustering": {"refine": True}}, "no option 'refine'"),
        ({"algorithm": "k-median"}, "no algorithm 'k-median'"),
        ({"source": ["a\0b"]}, "not text"),
    ],
)
def test_parameters_that_no_run_has_are_told_as_damage(parameters, message):
    with pytest.raises(SchemaError, match=message):
        recorded_run(parameters, Path("run.json"))


def test_a_run_from_before_the_algorithm_was_written_down_was_spherical_k_means():
    asked = recorded_run({"source": ["x"], "directory": "/", "n_clusters": 3}, Path("run.json"))
    assert asked.settings.algorithm == "spherical-k-means"


def test_a_run_and_its_settings_give_the_same_labels():
    direct = run_pipeline(TEXTS, n_clusters=2, language="english", random_state=5, algorithm="spherical-k-means")
    settings = RunSettings(n_clusters=2, language="english", random_state=5)
    assert np.array_equal(make_run(TEXTS, settings).partition.labels, direct.partition.labels)


def test_an_empty_name_is_no_source_here_or_in_a_record(tmp_path):
    with pytest.raises(InputError, match="the source is an empty name"):
        read_corpus("")
    text = tmp_path / "texts.txt"
    text.write_text("\n\n".join(TEXTS), encoding="utf-8")
    make_run(text, RunSettings(n_clusters=2), RunWork(output=tmp_path / "run"))
    record = tmp_path / "run" / "run.json"
    content = json.loads(record.read_text(encoding="utf-8"))
    content["parameters"]["source"].append("")
    record.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match="an empty name cannot be a file"):
        repeat_run(record)


def test_a_run_is_repeated_with_the_columns_that_it_read(tmp_path):
    rows = [
        {
            "description": text,
            "articleBody": f"{text} And the budget of the council.",
            "publishedAt": "2026-03-01",
            "journal": "A",
        }
        for text in TEXTS
    ]
    path, output = tmp_path / "a.jsonl", tmp_path / "run"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    chosen = {"text_column": "description", "date_column": "", "source_column": ""}
    run = make_run(path, RunSettings(n_clusters=2, reader=chosen), RunWork(output=output))
    content = json.loads((output / "run.json").read_text(encoding="utf-8"))
    content["parameters"]["reader"] = {}  # as 1.0.0 left it, which knew no other names
    (output / "run.json").write_text(json.dumps(content), encoding="utf-8")
    repetition = repeat_run(output)
    assert repetition.same_labels
    assert repetition.differences == ()
    assert repetition.run.parameters["resolved"]["text_columns"] == ["description"]
    assert not any([*repetition.run.documents.dates, *repetition.run.documents.sources])
    assert run.provenance.checksum == repetition.run.provenance.checksum
    # without a record the further names decide
    assert doccluster.run(path, n_clusters=2).parameters["resolved"]["text_columns"] == ["articleBody"]
