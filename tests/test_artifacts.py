"""A run folder: everything comes back as it went in, and no cell runs in a spreadsheet."""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from doccluster.base.json_values import read_as
from doccluster.base.paths import new_folder
from doccluster.base.text_table import csv_text, storable, write_csv, write_csv_rows
from doccluster.corpus.document import Corpus
from doccluster.errors import InputError, SchemaError
from doccluster.pipeline.main_line import run_pipeline
from doccluster.results.run_folder import labels_checksum, load_run, save_run
from doccluster.results.run_model import load_model
from doccluster.results.storage import (
    pack_matrix,
    read_arrays,
    read_json,
    unpack_matrix,
    write_arrays,
    write_json,
)
from doccluster.vectors import read_matrix

TINY = pathlib.Path(__file__).resolve().parent.parent / "corpora" / "samples" / "tiny"


@pytest.fixture(scope="module")
def run():
    return run_pipeline(TINY, n_clusters=3, truth="class", language="english", command="doccluster run tiny")


@pytest.fixture(scope="module")
def loaded(run, tmp_path_factory):
    return load_run(save_run(run, tmp_path_factory.mktemp("saved") / "run"))


def same(left, right):
    """Compare two values of a run deeply; nan equals nan."""
    if isinstance(left, np.ndarray):
        np.testing.assert_array_equal(left, right)
    elif sparse.issparse(left):
        assert left.shape == right.shape
        assert abs(left - right).sum() == 0
    elif isinstance(left, float) and math.isnan(left):
        assert math.isnan(right)
    else:
        assert left == right


def test_the_vectors_of_a_run_are_a_matrix_file_with_ids_and_terms(run, tmp_path):
    folder = save_run(run, tmp_path / "run")
    read, classes = read_matrix(folder / "model" / "vectors.npz")
    assert abs(read.matrix - run.vectors.matrix).max() == 0
    assert read.ids == run.documents.ids
    assert list(read.terms) == list(run.vectors.terms)
    assert list(read.display_terms) == list(run.vectors.display_terms)
    assert classes is None


def test_vectors_without_names_are_read_too(run, tmp_path):
    write_arrays(tmp_path / "vectors.npz", pack_matrix(run.vectors.matrix))
    read, _ = read_matrix(tmp_path / "vectors.npz", weighting="none")
    assert abs(read.matrix - run.vectors.matrix).max() == 0


def test_a_loaded_run_offers_the_same_documents(run, loaded):
    for name in ("documents", "empty_documents"):
        before, after = getattr(run, name), getattr(loaded, name)
        for field in dataclasses.fields(before):
            same(getattr(before, field.name), getattr(after, field.name))


@pytest.mark.parametrize(
    "name", ["centroids", "similarity", "runner_up", "runner_up_similarity", "margin", "clusters", "skipped", "truth"]
)
def test_a_loaded_run_offers_the_same_values(run, loaded, name):
    same(getattr(run, name), getattr(loaded, name))


def test_a_loaded_run_has_the_same_vectors_partition_and_record(run, loaded):
    same(run.vectors.matrix, loaded.vectors.matrix)
    same(run.vectors.terms, loaded.vectors.terms)
    same(run.vectors.display_terms, loaded.vectors.display_terms)
    same(run.partition.labels, loaded.partition.labels)
    assert loaded.partition.names == run.partition.names
    assert loaded.provenance == run.provenance
    assert loaded.notes == run.notes
    assert json.loads(json.dumps(dict(run.parameters))) == loaded.parameters
    assert labels_checksum(run) == labels_checksum(loaded)


def test_a_loaded_run_has_the_same_scores_to_the_last_bit(run, loaded):
    assert len(run.evaluation.scores) == len(loaded.evaluation.scores) > 20
    for before, after in zip(run.evaluation.scores, loaded.evaluation.scores, strict=True):
        for field in dataclasses.fields(before):
            if field.name == "parameters":
                assert dict(before.parameters) == dict(after.parameters)
            else:
                same(getattr(before, field.name), getattr(after, field.name))
    assert loaded.evaluation.coverage == run.evaluation.coverage
    assert loaded.evaluation.classes == run.evaluation.classes


def test_scores_of_documents_with_several_classes_come_back_though_more_classes_take_part(tmp_path):
    texts = ["wheat rain harvest", "wheat rain field", "oil crude barrel", "oil crude price", "oil wheat trade tax"]
    corpus = Corpus(
        ids=tuple("abcde"),
        texts=tuple(texts),
        labels={"topics": (("grain",), ("grain",), ("crude",), ("crude",), ("crude", "trade"))},
    )
    made = run_pipeline(corpus, n_clusters=2, truth="topics", language="none", vectorizer={"min_df": 1})
    (score,) = (one for one in made.evaluation.scores if one.name == "nccg")
    assert score.per_class.size > len(made.evaluation.classes["topics"])
    (again,) = (one for one in load_run(save_run(made, tmp_path / "run")).evaluation.scores if one.name == "nccg")
    np.testing.assert_array_equal(again.per_class, score.per_class)


def test_a_loaded_vectorizer_gives_the_same_rows_for_new_texts(run, loaded):
    texts = ["a harbour full of herring boats", "nothing of this", "the oven, the bread and the baker"]
    same(run.vectorizer.transform(texts), loaded.vectorizer.transform(texts))


def test_a_saved_run_saved_again_is_the_same_folder(run, loaded, tmp_path):
    first, second = save_run(run, tmp_path / "first"), save_run(loaded, tmp_path / "second")
    for path in sorted(first.rglob("*.csv")) + sorted(first.rglob("*.json")):
        assert path.read_bytes() == (second / path.relative_to(first)).read_bytes(), path.name


def test_model_and_run_folder_name_the_same_model(run, tmp_path):
    folder = save_run(run, tmp_path / "run")
    for place in (folder, folder / "model", str(folder)):
        model = load_model(place)
        same(model.centroids, run.centroids)
        assert model.labels == tuple(cluster.label for cluster in run.clusters)


@pytest.mark.parametrize("name", ["model.json", "centroids.npz", "vectorizer.npz"])
def test_every_way_of_cutting_a_model_file_short_is_told_as_a_schema_error(run, tmp_path, name):
    folder = save_run(run, tmp_path / "run") / "model"
    whole = (folder / name).read_bytes()
    for length in np.linspace(0, len(whole) - 3, 25).astype(int):
        (folder / name).write_bytes(whole[:length])
        with pytest.raises(SchemaError) as error:
            load_model(folder)
        assert name in str(error.value)
        assert "\n" not in str(error.value)


def test_a_changed_byte_in_an_array_file_is_noticed(run, tmp_path):
    folder = save_run(run, tmp_path / "run") / "model"
    whole = bytearray((folder / "centroids.npz").read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    (folder / "centroids.npz").write_bytes(bytes(whole))
    with pytest.raises(SchemaError, match="damaged"):
        load_model(folder)


@pytest.mark.parametrize("name", ["run.json", "model/model.json", "model/documents.json"])
def test_a_run_of_an_older_version_is_not_called_damaged(run, tmp_path, name):
    folder = save_run(run, tmp_path / "run")
    content = json.loads((folder / name).read_text(encoding="utf-8"))
    left_out = next(key for key in content if key not in ("schema", "labels"))
    del content[left_out]
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(SchemaError, match=r"is of an older version of doccluster") as caught:
        load_run(folder)
    assert left_out in str(caught.value)
    assert "damaged" not in str(caught.value)


def test_a_run_whose_measure_has_another_name_now_opens(run, tmp_path):
    """Runs of 1.0.0rc1 misspell Banfield."""
    path = save_run(run, tmp_path / "run") / "model" / "evaluation.json"
    text = path.read_text(encoding="utf-8")
    assert text.count('"banfield_raftery"') == 1
    path.write_text(text.replace('"banfield_raftery"', '"banfeld_raftery"'), encoding="utf-8")
    names = [score.name for score in load_run(tmp_path / "run").evaluation.scores]
    assert names == [score.name for score in run.evaluation.scores]
    path.write_text(text.replace('"banfield_raftery"', '"banfolk"'), encoding="utf-8")
    with pytest.raises(SchemaError, match="a measure this version of doccluster does not know"):
        load_run(tmp_path / "run")


def test_files_of_different_runs_do_not_mix(run, tmp_path):
    other = run_pipeline(TINY, n_clusters=2, language="english")
    folder, foreign = save_run(run, tmp_path / "run"), save_run(other, tmp_path / "other")
    (folder / "model" / "centroids.npz").write_bytes((foreign / "model" / "centroids.npz").read_bytes())
    with pytest.raises(SchemaError, match="centroids"):
        load_run(folder)


def test_cells_that_a_spreadsheet_would_run_are_marked(tmp_path):
    frame = pd.DataFrame(
        {"title": ["=1+1", "+1+1", "-1", "@x", "\t=1", "a=b", ""], "value": [-1.5, np.nan, 1, 2, 3, 4, 5]}
    )
    write_csv(frame, tmp_path / "cells.csv")
    text = (tmp_path / "cells.csv").read_bytes().decode("utf-8")
    back = pd.read_csv(tmp_path / "cells.csv", keep_default_na=False, dtype=str)
    assert back["title"].tolist() == ["'=1+1", "'+1+1", "-1", "'@x", "'\t=1", "a=b", ""]
    assert back["value"].tolist()[:2] == ["-1.5", ""]
    assert "\r" not in text


def test_titles_with_quotes_newlines_and_lone_surrogates_survive(tmp_path):
    titles = ['say "hi", twice', "two\nlines", "caf\udce9", "東京"]
    text = csv_text(pd.DataFrame({"title": [*map(storable, titles)]}))
    (tmp_path / "t.csv").write_text(text, encoding="utf-8", newline="")
    back = pd.read_csv(tmp_path / "t.csv")["title"].tolist()
    assert back == ['say "hi", twice', "two\nlines", "caf\\udce9", "東京"]


def test_iterators_are_written_as_lists_with_an_item_on_each_line(tmp_path):
    lists = {
        "names": ["a", 'b\n"x"', "é", "", "\u2028"],
        "classes": [["x", "y"], [], ["z"], ["w"]],
        "numbers": [1, -2, 3],
        "mixed": [None, 0.1, True, "a"],
        "none": [],
    }
    others = {"also": {"empty": {}, "3": [], "list": [1, [2, {"deep": None}]]}, "text": "=1"}
    write_json(tmp_path / "x.json", {"lists": {name: iter(items) for name, items in lists.items()}, **others})
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"schema": 1, "lists": lists, **others}
    assert '\n  "classes": [\n   ["x", "y"],\n   [],\n' in text
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "y.json", {"value": float("nan")})


def test_json_with_lone_surrogates_comes_back_as_it_was(tmp_path):
    write_json(tmp_path / "x.json", {"name": "caf\udce9 東京"})
    assert read_json(tmp_path / "x.json")["name"] == "caf\udce9 東京"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": "one"}', '{"no": 1}', "[" * 100_000, "\x00"])
def test_json_that_is_not_ours_is_a_schema_error(tmp_path, content):
    (tmp_path / "x.json").write_text(content, encoding="utf-8")
    with pytest.raises(SchemaError, match=r"x\.json"):
        read_json(tmp_path / "x.json")


def test_what_is_wrong_in_a_part_that_may_be_left_out_is_said_with_its_place():
    with pytest.raises(ValueError, match=r"^lengths\[1\] is 'x', expected a whole number$"):
        read_as(tuple[int, ...] | None, [1, "x"], "lengths")
    with pytest.raises(ValueError, match=r"^lengths is a list of 2, expected a list$"):  # which of the two is not known
        read_as(tuple[int, ...] | tuple[str, ...], [1, "x"], "lengths")


def test_bytes_that_are_not_utf_8_are_a_schema_error(tmp_path):
    (tmp_path / "x.json").write_bytes(b'{"schema": 1, "name": "\xff"}')
    with pytest.raises(SchemaError, match="damaged"):
        read_json(tmp_path / "x.json")


def test_arrays_of_python_objects_are_never_written_nor_read(tmp_path):
    objects = np.array([{"a": 1}], dtype=object)
    with pytest.raises(TypeError, match="pickle"):
        write_arrays(tmp_path / "x.npz", {"x": objects})
    np.savez(tmp_path / "y.npz", x=objects)
    with pytest.raises(SchemaError):
        read_arrays(tmp_path / "y.npz")


def test_a_bare_npy_file_under_the_name_of_an_archive_is_a_schema_error(tmp_path):
    with (tmp_path / "x.npz").open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(SchemaError):
        read_arrays(tmp_path / "x.npz")


def test_indices_that_point_outside_a_matrix_are_noticed(tmp_path):
    arrays = pack_matrix(sparse.csr_array(np.eye(3)))
    arrays["indices"] = arrays["indices"] + 7
    with pytest.raises(SchemaError, match="damaged"):
        unpack_matrix(arrays, tmp_path / "x.npz")


def test_dense_matrices_are_packed_as_they_are(tmp_path):
    dense = np.arange(6, dtype=np.float32).reshape(2, 3)
    write_arrays(tmp_path / "x.npz", pack_matrix(dense))
    same(unpack_matrix(read_arrays(tmp_path / "x.npz"), tmp_path), dense)


def test_a_folder_appears_only_when_it_is_whole(tmp_path):
    def write_half():
        with new_folder(tmp_path / "out", overwrite=False) as partial:
            (partial / "half.txt").write_text("half", encoding="utf-8")
            raise RuntimeError("something else went wrong")

    with pytest.raises(RuntimeError, match="something else"):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_has_the_permissions_of_any_new_folder(tmp_path):
    with new_folder(tmp_path / "out", overwrite=False):
        pass
    (tmp_path / "plain").mkdir()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_an_empty_folder_may_be_filled_and_a_link_to_one_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    try:
        (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    except OSError:
        pytest.skip("this system makes no links")
    with new_folder(tmp_path / "link", overwrite=False) as partial:
        (partial / "run.json").write_text("{}", encoding="utf-8")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "run.json").is_file()


def test_parents_of_the_output_are_made(run, tmp_path):
    save_run(run, tmp_path / "a" / "b" / "out")
    assert (tmp_path / "a" / "b" / "out" / "run.json").is_file()


def test_a_folder_that_is_no_run_says_what_is_missing(tmp_path):
    with pytest.raises(InputError, match=r"holds no model\.json"):
        load_run(tmp_path)
    with pytest.raises(InputError, match="is not there"):
        load_run(tmp_path / "nowhere")


def test_a_table_by_columns_is_the_one_written_cell_by_cell(tmp_path):
    columns = {
        "text": ["plain", "", "=1+1", "a,b", 'says "no"', "-", "two\nlines"],
        "odd": ["é", "\x07bell", "\udc80", "+1", "", "\tx", "@"],
        "whole": [1, None, True, -3, 0, None, 2],
        "number": [0.1, float("nan"), None, -1e-9, 3, float("inf"), 2.0],
        "mixed": ["x", None, 1.5, float("nan"), "=x", 2, np.float64(3)],
        "empty": [None] * 7,
    }
    write_csv_rows(tuple(columns), zip(*columns.values(), strict=True), tmp_path / "by_cells.csv")
    assert csv_text(columns) == (tmp_path / "by_cells.csv").read_text(encoding="utf-8")
