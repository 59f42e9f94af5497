"""A run in blocks writes what a run in one process writes, byte for byte, on one machine and on a cluster."""

from __future__ import annotations

import gzip
import json
import pathlib
import shutil

import numpy as np
import pandas as pd
import pytest
from scipy.io import mmwrite

from doccluster.base.place import FilePlace
from doccluster.base.text_table import csv_text, write_csv_parts
from doccluster.cli.main import main
from doccluster.corpus import read_corpus
from doccluster.corpus.named_files import Files
from doccluster.corpus.parts import FilesInParts
from doccluster.distributed.text_vectors import learn_terms, write_rows
from doccluster.errors import InputError
from doccluster.pipeline.assigning import assign_documents
from doccluster.pipeline.block_runs import MEMORY_PER_BYTE, text_bytes
from doccluster.pipeline.main_line import run_pipeline
from doccluster.pipeline.repeating import repeat_run
from doccluster.results.run_folder import load_run
from doccluster.results.run_tables import assignments_columns, assignments_parts
from doccluster.vectors import TfidfVectorizer, vectorize, write_matrix

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "corpora" / "samples"
NEWSROOM = SAMPLES / "newsroom" / "folder"  # the fixture below puts a part of it in its place
THE_SAME = (
    *("assignments.csv", "clusters.csv", "scores.csv", "skipped.csv"),
    *("model/clusters.json", "model/documents.json", "model/partition.npz", "model/vectors.npz"),
    *("model/vectorizer.npz", "model/centroids.npz"),
)


@pytest.fixture(scope="module", autouse=True)
def _part_of_the_sample(tmp_path_factory):
    """Let every test take five of the eight classes: a cluster of workers takes as long as there are documents."""
    folder = tmp_path_factory.mktemp("sample") / "folder"
    for name in ("economy", "science", "sport", "technology", "transport"):
        shutil.copytree(NEWSROOM / name, folder / name)
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(globals(), "NEWSROOM", folder)
        yield


def run_newsroom(output, source=None, **options):
    source = source or NEWSROOM
    settings = {"n_clusters": 6, "algorithm": "spherical-k-means:n_init=2", "truth": "class", **options}
    return run_pipeline(source, output=output, report=False, levels="none", **settings)  # in blocks there are none


def assert_same_files(found, expected, but=()):
    for name in THE_SAME:
        if name not in but:
            assert (found / name).read_bytes() == (expected / name).read_bytes(), name


@pytest.fixture(scope="module")
def in_one_process(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "one"
    run_newsroom(folder)
    return folder


def test_blocks_on_disk_give_the_same_files(in_one_process, tmp_path):
    told = []
    run = run_newsroom(tmp_path / "run", scratch=tmp_path / "scratch", announce=told.append)
    assert_same_files(tmp_path / "run", in_one_process)
    assert run.provenance.checksum == load_run(in_one_process).provenance.checksum
    assert "are read once, into blocks in" in told[0]
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.fixture(scope="module")
def with_repeated_lines(tmp_path_factory):
    """Articles of two outlets that repeat a line of their own."""
    path = tmp_path_factory.mktemp("repeated") / "articles.jsonl"
    subjects = "ferry harbour tide pier", "wheat harvest rain field"
    lines = "Subscribe to our harbour letter for field notes.", "Photos by the rain desk, all tides reserved."
    records = [
        {
            "id": f"a{row}",
            "source": f"outlet {row % 2}",
            "text": f"Report {row}: {subjects[row // 2 % 2]} again and {'rain' if row % 3 else 'pier'} number {row}."
            f"\n{lines[row % 2]}",
        }
        for row in range(40)
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def test_a_run_in_blocks_leaves_out_repeated_lines_as_one_in_memory_does(with_repeated_lines, tmp_path, monkeypatch):
    monkeypatch.setattr("doccluster.corpus.stored_texts.BLOCK_CHARACTERS", 500)
    settings = {"n_clusters": 4, "algorithm": "spherical-k-means", "report": False}
    in_memory = run_pipeline(with_repeated_lines, output=tmp_path / "memory", **settings)
    assert len(in_memory.parameters["resolved"]["boilerplate"]) == 2
    run_pipeline(with_repeated_lines, output=tmp_path / "blocks", scratch=tmp_path / "scratch", **settings)
    assert_same_files(tmp_path / "blocks", tmp_path / "memory")
    keeping = {"reader": {"keep_boilerplate": True}}
    whole = run_pipeline(with_repeated_lines, scratch=tmp_path / "scratch", **settings, **keeping)
    assert whole.vectors.n_terms > in_memory.vectors.n_terms
    assert list((tmp_path / "scratch").iterdir()) == []


def test_an_older_run_in_blocks_is_repeated_with_the_lines_that_it_kept(with_repeated_lines, tmp_path):
    settings = {"n_clusters": 4, "algorithm": "spherical-k-means", "report": False}
    run_pipeline(with_repeated_lines, output=tmp_path / "run", reader={"keep_boilerplate": True}, **settings)
    path = tmp_path / "run" / "run.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["parameters"]["reader"] = None  # such a run kept no mark of it
    path.write_text(json.dumps(record), encoding="utf-8")
    again = repeat_run(tmp_path / "run", output=tmp_path / "again")
    assert again.differences == ()
    assert_same_files(tmp_path / "again", tmp_path / "run")


def test_new_documents_are_assigned_alike_in_blocks(with_repeated_lines, tmp_path):
    settings = {"n_clusters": 4, "algorithm": "spherical-k-means", "report": False}
    run_pipeline(with_repeated_lines, output=tmp_path / "run", scratch=tmp_path / "scratch", **settings)
    expected = assign_documents(tmp_path / "run", with_repeated_lines, scratch=tmp_path / "scratch")
    pd.testing.assert_frame_equal(assign_documents(tmp_path / "run", with_repeated_lines), expected)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", protocol="tcp://"
    ) as cluster:
        yield cluster


def test_workers_of_a_cluster_give_the_same_files(in_one_process, tmp_path, cluster):
    told = []
    with cluster.get_client() as client:
        run_newsroom(tmp_path / "run", scheduler=client, scratch=tmp_path / "scratch", announce=told.append)
    assert_same_files(tmp_path / "run", in_one_process)
    stages = [sentence for sentence in told if "3 worker threads; " in sentence and "came back" in sentence]
    assert [sentence.split(":")[0] for sentence in stages] == ["read", "vectorize", "cluster", "label", "judge"]
    assert all("documents a second" in sentence for sentence in stages[1:])


def test_two_worker_processes_give_reuters_the_same_files(real_corpora, tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr("doccluster.corpus.parts.PART_BYTES", 2**18)  # each file is a block
    files = []
    for whole in sorted((real_corpora / "reuters21578").glob("*.sgm.gz"))[::11]:
        documents = gzip.decompress(whole.read_bytes()).split(b"</REUTERS>")[:200]
        files.append(tmp_path / whole.name)
        files[-1].write_bytes(gzip.compress(b"</REUTERS>".join([*documents, b"\n"])))
    asked = {"quality": "default", "clustering": {"n_init": 1}, "n_clusters": 20, "truth": "topics", "report": False}
    asked |= {"levels": "none"}  # in blocks there are none
    run_pipeline(files, output=tmp_path / "one", **asked)
    told = []
    run_pipeline(files, output=tmp_path / "two", scheduler="local:2", announce=told.append, **asked)
    assert "2 worker threads" in told[-1]
    assert_same_files(tmp_path / "two", tmp_path / "one")


@pytest.fixture(scope="module")
def settled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("settled") / "run"
    run_newsroom(folder, quality="fast", algorithm=None, n_clusters=7)
    return folder


def test_new_documents_are_assigned_alike_on_workers_and_a_block_at_a_time(in_one_process, settled, tmp_path, cluster):
    new = tmp_path / "new.jsonl"
    texts = [
        "health board nurses and doctors",
        "",
        "qwxz",
        "the cable off the coast was severed",
        "sodium battery plant",
    ]
    new.write_text("".join(json.dumps({"text": text, "title": text[:9]}) + "\n" for text in texts), encoding="utf-8")
    for run in (in_one_process, settled):
        expected = assign_documents(run, [new, NEWSROOM])
        assert expected["cluster"].isna().sum() == 1
        pd.testing.assert_frame_equal(assign_documents(run, [new, NEWSROOM], scratch=tmp_path), expected)
        with cluster.get_client() as client:
            found = assign_documents(run, [new, NEWSROOM], scheduler=client, scratch=tmp_path)
        pd.testing.assert_frame_equal(found, expected)
    typed = ["assign", str(settled), str(new), "-o", str(tmp_path / "new.csv"), "--scratch", str(tmp_path / "scratch")]
    assert main_of(typed) == 0
    assert len((tmp_path / "new.csv").read_text(encoding="utf-8").splitlines()) == 5


def test_a_scheduler_is_found_by_its_address(tmp_path, cluster):
    typed = ["run", str(SAMPLES / "tiny"), "-k", "2", "--algorithm", "spherical-k-means", "--no-report"]
    where = ["--scheduler", cluster.scheduler_address, "--scratch", str(tmp_path / "scratch")]
    assert main_of([*typed, "-o", str(tmp_path / "typed"), *where]) == 0
    assert main_of([*typed, "-o", str(tmp_path / "one")]) == 0
    assert_same_files(tmp_path / "typed", tmp_path / "one")


@pytest.mark.usefixtures("starts_threads")
def test_scores_have_the_same_bytes_for_any_number_of_threads_and_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("doccluster.measures._distances.SECONDS_PER_PAIR", 10.0)
    few = {"n_clusters": 2, "algorithm": "spherical-k-means", "report": False}
    run_pipeline(SAMPLES / "tiny", output=tmp_path / "one", n_threads=1, **few)
    run_pipeline(SAMPLES / "tiny", output=tmp_path / "blocks", n_threads=3, scratch=tmp_path / "scratch", **few)
    scores = (tmp_path / "one" / "scores.csv").read_bytes()
    assert b"needs ~" in scores
    assert scores == (tmp_path / "blocks" / "scores.csv").read_bytes()


def test_what_is_shown_of_texts_on_disk_is_not_held_and_outlives_their_folder(in_one_process, tmp_path):
    run = run_newsroom(None, scratch=tmp_path)
    assert list(tmp_path.iterdir()) == []
    documents, expected = run.documents, load_run(in_one_process).documents
    assert not isinstance(documents.excerpts, tuple | list)
    assert list(documents.excerpts) == list(expected.excerpts)
    assert documents.excerpts[2:5] == list(expected.excerpts[2:5])
    np.testing.assert_array_equal(documents.lengths, expected.lengths)
    assert [documents.name(row) for row in range(50)] == [expected.name(row) for row in range(50)]
    some = documents.take(np.array([7, 3]))
    assert list(some.excerpts) == [expected.excerpts[7], expected.excerpts[3]]


def test_assignments_are_the_same_table_written_in_parts(tmp_path):
    texts = [f"oil prices and {'wheat' if n % 2 else 'rain'} report {n}" if n % 5 else "---" for n in range(23)]
    run = run_pipeline(texts, n_clusters=2, algorithm="spherical-k-means", language="english")
    assert len(run.empty_documents) == 5
    whole = csv_text(assignments_columns(run))
    assert [line.split(",")[0] for line in whole.splitlines()[1:]] == [str(n + 1) for n in range(23)]
    write_csv_parts(assignments_parts(run, n_rows=4), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == whole


def test_assignments_are_written_as_parquet_parts_that_say_what_the_csv_says(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    monkeypatch.setattr("doccluster.results.run_tables.write_parquet_parts.__kwdefaults__", {"n_rows": 50})
    run_newsroom(tmp_path / "run", scratch=tmp_path / "scratch", parquet=True)
    parts = sorted((tmp_path / "run" / "assignments").iterdir())
    assert [path.name for path in parts[:2]] == ["part-00000.parquet", "part-00001.parquet"]
    found = pd.concat([pq.read_table(path).to_pandas() for path in parts], ignore_index=True)
    expected = pd.read_csv(tmp_path / "run" / "assignments.csv", dtype={"id": str})
    assert len(found) == len(expected) > 50
    for name in ("id", "cluster", "similarity", "runner_up", "margin", "family", "other"):
        np.testing.assert_array_equal(found[name].to_numpy(), expected[name].to_numpy())


def main_of(arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code or 0


def test_settled_labels_are_the_same_and_new_documents_find_their_clusters(settled, tmp_path):
    run = run_newsroom(tmp_path / "run", quality="fast", algorithm=None, n_clusters=7, scratch=tmp_path)
    assert_same_files(tmp_path / "run", settled)
    assert (tmp_path / "run" / "model" / "rule.npz").read_bytes() == (settled / "model" / "rule.npz").read_bytes()
    assert run.rule is not None
    assigned = assign_documents(tmp_path / "run", NEWSROOM)
    known = dict(zip(run.documents.ids, run.partition.labels.tolist(), strict=True))
    same = [row.cluster == known[row.id] for row in assigned.itertuples() if row.id in known]
    assert np.mean(same) > 0.99
    assert main_of(["explain", str(tmp_path / "run"), "0"]) == 0
    assert main_of(["report", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / "report.html").is_file()


def test_texts_are_read_once_to_learn_terms_and_to_write_rows(tmp_path):
    (tmp_path / "texts").mkdir()
    place = FilePlace(tmp_path)
    source = FilesInParts(Files([NEWSROOM]), tmp_path / "texts", place.map)
    corpus, vectorizer = read_corpus(source), TfidfVectorizer(min_df=2)
    expected = TfidfVectorizer(min_df=2).fit_transform(list(corpus.texts))
    learn_terms(place, corpus.texts.blocks, vectorizer)
    shutil.rmtree(tmp_path / "texts")
    rows, counts, places = write_rows(place, corpus.texts.blocks, vectorizer)
    assert rows.data.tobytes() == expected.data.tobytes()
    assert counts.nnz == rows.nnz
    assert places.size == expected.shape[0]
    assert not (tmp_path / "counts").exists()


@pytest.fixture
def tables_made(monkeypatch):
    """The names of the functions that made tables in the scratch folder."""
    made, table = [], FilePlace.table

    def noted(self, function, *others):
        made.append(function.__name__)
        return table(self, function, *others)

    monkeypatch.setattr(FilePlace, "table", noted)
    return made


@pytest.mark.parametrize("exact_up_to", [20_000, 50])
def test_the_default_quality_is_the_same_in_blocks_however_divided(
    tmp_path, monkeypatch, cluster, tables_made, exact_up_to
):
    monkeypatch.setattr("doccluster.clustering.smoothed.document_spaces.EXACT_UP_TO", exact_up_to)
    asked = {"quality": "default", "algorithm": None, "clustering": {"n_init": 3}}
    run_newsroom(tmp_path / "one", **asked)
    assert not tables_made
    run = run_newsroom(tmp_path / "disk", scratch=tmp_path / "scratch", n_threads=2, **asked)
    assert [note.partition(",")[0] for note in run.notes] == ["Encodings guessed"]  # one article is cp1252
    assert {"products_of_rows", "turned_block", "moved_block", "block_side_by_side"} <= set(tables_made)
    assert ("nearest_centroids" in tables_made) == (exact_up_to == 50)
    monkeypatch.setattr("doccluster.corpus.parts.PART_BYTES", 2**15)
    for name in ("MIN_ENTRIES", "MAX_ENTRIES"):
        monkeypatch.setattr(f"doccluster.distributed.block_steps.{name}", 3_000)
    with cluster.get_client() as client:
        run_newsroom(tmp_path / "workers", scheduler=client, scratch=tmp_path / "scratch", **asked)
    for folder in ("disk", "workers"):
        assert_same_files(tmp_path / folder, tmp_path / "one")
    assert list((tmp_path / "scratch").iterdir()) == []


def places_of_letters(texts):
    """An encoder: where in a text the letters a to h are on average, and how often; other numbers for other texts."""
    found = np.zeros((len(texts), 16))
    for row, text in enumerate(texts):
        for at, letter in enumerate("abcdefgh"):
            found[row, at], found[row, 8 + at] = text.count(letter) / len(text), (text.find(letter) + 1) / len(text)
    return found


@pytest.fixture(scope="module")
def with_odd_ones(tmp_path_factory):
    """The sample with a document without a known word, and rows of meaning, of which one is zero."""
    folder = tmp_path_factory.mktemp("odd")
    corpus = read_corpus(SAMPLES / "newsroom" / "folder")
    texts = [*list(corpus.texts)[:110], "qwxzbed"]  # in fewer, a term of one document is a known one
    records = (json.dumps({"id": f"d{row}", "text": text}) for row, text in enumerate(texts))
    (folder / "articles.jsonl").write_text("\n".join(records), encoding="utf-8")
    rows = places_of_letters(texts)
    rows[3] = 0
    np.save(folder / "rows.npy", rows.astype(np.float32))
    return folder


@pytest.mark.parametrize(
    ("algorithm", "space", "exact_up_to"),
    [
        ("smoothed", "both", 10**6),
        ("smoothed", "both", 50),
        ("settled", "both", 10**6),
        ("spherical-k-means", "both", 10**6),
        ("smoothed", "words", 10**6),
    ],
)
def test_words_and_meaning_give_the_same_clusters_in_blocks(
    with_odd_ones, tmp_path, monkeypatch, tables_made, algorithm, space, exact_up_to
):
    for name in ("EXACT_UP_TO", "DENSE_EXACT_UP_TO"):
        monkeypatch.setattr(f"doccluster.clustering.smoothed.document_spaces.{name}", exact_up_to)
    monkeypatch.setattr("doccluster.clustering.smoothed.document_clusters.MEANT_COMPONENTS", 9)
    asked = {"n_clusters": 5, "random_state": 2, "report": False, "algorithm": algorithm, "space": space}
    asked |= {"clustering": {"n_init": 3}, "embeddings": with_odd_ones / "rows.npy"}
    source = with_odd_ones / "articles.jsonl"
    one = run_pipeline(source, output=tmp_path / "one", **asked)
    assert not tables_made
    monkeypatch.setattr("doccluster.corpus.parts.PART_BYTES", 2**15)
    run = run_pipeline(source, output=tmp_path / "two", scratch=tmp_path / "scratch", n_threads=2, **asked)
    assert "block_seen_from" in tables_made
    assert run.notes == one.notes
    assert (tmp_path / "two" / "assignments.csv").read_bytes() == (tmp_path / "one" / "assignments.csv").read_bytes()
    assert run.vectors.n_documents == 110 + (space != "words")
    assert np.array_equal(run.vectors.meaning.rows, one.vectors.meaning.rows)


@pytest.mark.parametrize("space", ["both", "meaning"])
def test_an_encoder_works_on_the_blocks_wherever_they_are(tmp_path, cluster, space):
    asked = {"algorithm": "smoothed", "space": space, "encoder": places_of_letters, "clustering": {"n_init": 3}}
    one = run_newsroom(tmp_path / "one", **asked)
    with cluster.get_client() as client:
        run_newsroom(tmp_path / "workers", scheduler=client, scratch=tmp_path / "scratch", **asked)
    run = run_newsroom(tmp_path / "disk", scratch=tmp_path / "scratch", n_threads=3, **asked)
    for name in ("disk", "workers"):
        assert_same_files(tmp_path / name, tmp_path / "one", but=("model/clusters.json",))
    assert run.parameters["resolved"]["meaning"] == one.parameters["resolved"]["meaning"]
    assert "meaning" in run.notes[0]
    new = tmp_path / "new.jsonl"
    new.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("nurses", "", "qwxzbed")), encoding="utf-8")
    asked = {"source": [new, NEWSROOM], "encoder": places_of_letters}
    expected = assign_documents(tmp_path / "one", **asked)
    with cluster.get_client() as client:
        found = assign_documents(tmp_path / "one", scheduler=client, scratch=tmp_path / "scratch", **asked)
    pd.testing.assert_frame_equal(found, expected)


def test_files_far_above_max_memory_are_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("doccluster.pipeline.block_runs.SMALL_SOURCE", 0)
    told, three_forms = [], SAMPLES / "newsroom"
    run_newsroom(tmp_path / "run", three_forms, clustering={"max_memory": "4M"}, announce=told.append)
    assert text_bytes(Files([three_forms])) * MEMORY_PER_BYTE > 4 * 2**20
    assert "into blocks" in told[0]
    told.clear()
    run_newsroom(tmp_path / "in-memory", three_forms, clustering={"max_memory": "1G"}, announce=told.append)
    assert told == []
    assert_same_files(tmp_path / "run", tmp_path / "in-memory")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"algorithm": "vmf"}, "does not work in blocks"),
        ({"clustering": {"refine": True}}, "moves single documents"),
        ({"apart_from": "class"}, "is not done in blocks"),
        ({"scheduler": "tcp://127.0.0.1:9", "scratch": None}, "folder that all of them see"),
        ({"scratch": __file__}, "no folder can be made"),
    ],
)
def test_what_blocks_cannot_do_is_told_before_any_work(tmp_path, wrong, said):
    with pytest.raises(InputError, match=said):
        run_newsroom(tmp_path / "run", **{"scratch": tmp_path, **wrong})
    assert not (tmp_path / "run").exists()


def test_texts_in_memory_have_no_blocks(tmp_path):
    with pytest.raises(InputError, match="only files of documents can be divided"):
        run_pipeline(["a text", "another one"], n_clusters=2, algorithm="settled", scratch=tmp_path)


def run_everywhere(source, tmp_path, monkeypatch, cluster, *, but=(), **settings):
    """Return a run in one process, after the same on disk and on three workers, if given, wrote the same files."""
    settings = {"report": False, "levels": "none", "clustering": {"n_init": 2}, **settings}  # in blocks are no levels
    expected = run_pipeline(source, output=tmp_path / "one", **settings)
    monkeypatch.setattr("doccluster.base.place.TAKEN_ROWS", 100)
    for name in ("MIN_ENTRIES", "MAX_ENTRIES"):
        monkeypatch.setattr(f"doccluster.distributed.block_steps.{name}", 3_000)
    monkeypatch.setattr("doccluster.clustering.mixtures.multinomial.FILE_ROWS", 100)
    run_pipeline(source, output=tmp_path / "disk", scratch=tmp_path / "scratch", n_threads=2, **settings)
    assert_same_files(tmp_path / "disk", tmp_path / "one", but=but)
    if cluster is not None:
        with cluster.get_client() as client:
            run_pipeline(
                source, output=tmp_path / "workers", scheduler=client, scratch=tmp_path / "scratch", **settings
            )
        assert_same_files(tmp_path / "workers", tmp_path / "one", but=but)
    assert list((tmp_path / "scratch").iterdir()) == []
    return expected


# workers take the same steps as the disk: once for each quality is enough to see that what they are given travels
@pytest.mark.parametrize(
    ("settings", "on_workers"),
    [
        ({"granularity": "topics"}, True),
        ({"granularity": "subtopics", "quality": "fast"}, True),
        ({"granularity": "topics", "algorithm": "spherical-k-means"}, False),
        ({"max_documents": 60}, False),
        ({}, False),
    ],
)
def test_the_number_of_clusters_is_chosen_alike(tmp_path, monkeypatch, cluster, settings, on_workers):
    source = tmp_path / "articles.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in list(read_corpus(NEWSROOM).texts)))
    limit = settings.pop("max_documents", None)
    if limit is not None:  # only a sample is looked at
        settings = {"granularity": "topics"}
        for module in ("pipeline.cluster_count", "selection.recommendation"):
            monkeypatch.setattr(f"doccluster.{module}.MAX_DOCUMENTS", limit)
    run = run_everywhere(source, tmp_path, monkeypatch, cluster if on_workers else None, **settings)
    assert run.partition.n_clusters > 1
    assert load_run(tmp_path / "disk").notes == run.notes


@pytest.mark.parametrize("quality", ["default", "fast"])
def test_near_copies_are_folded_alike(tmp_path, monkeypatch, cluster, quality):
    texts = list(read_corpus(NEWSROOM).texts)
    copies = [*texts[:60], *(text + " Agency." for text in texts[20:50]), *texts[5:15]]
    source = tmp_path / "articles.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in copies), encoding="utf-8")
    settings = {"n_clusters": 5, "quality": quality, "fold_copies": True}
    run = run_everywhere(source, tmp_path, monkeypatch, cluster, **settings)
    assert any("Near-copies were folded" in note for note in run.notes)
    labels = run.partition.labels
    assert np.array_equal(labels[run.copy_of], labels)
    assert np.count_nonzero(run.copy_of != np.arange(labels.size)) >= 35


@pytest.fixture(scope="module")
def matrices(tmp_path_factory):
    """The sample as ready matrices: counts, weighted rows with their terms, and dense rows, of which one is zero."""
    folder = tmp_path_factory.mktemp("matrices")
    vectors = vectorize(read_corpus(NEWSROOM), min_df=3)
    mmwrite(folder / "counts.mtx", vectors.counts)
    write_matrix(folder / "vectors.npz", vectors)
    dense = np.array(vectors.matrix[:, np.argsort(-vectors.matrix.sum(axis=0))[:40]].toarray(), np.float32)
    dense[7] = 0
    np.save(folder / "dense.npy", dense)
    return folder


@pytest.mark.parametrize(
    ("name", "settings", "on_workers"),  # once for each form
    [
        ("counts.mtx", {"n_clusters": 6}, False),
        ("counts.mtx", {"n_clusters": 6, "algorithm": "spherical-k-means"}, True),
        ("vectors.npz", {"n_clusters": 6, "quality": "fast", "fold_copies": True}, True),
        ("vectors.npz", {"granularity": "topics"}, False),
        ("dense.npy", {"n_clusters": 5, "vectorizer": {"weighting": "none"}}, True),
        ("dense.npy", {"n_clusters": 5, "algorithm": "spherical-k-means", "vectorizer": {"weighting": "none"}}, False),
    ],
)
def test_ready_matrices_are_clustered_alike(matrices, tmp_path, monkeypatch, cluster, name, settings, on_workers):
    but = ["model/vectorizer.npz"]  # a matrix has none
    asked = {"but": but, **settings}
    run = run_everywhere(matrices / name, tmp_path, monkeypatch, cluster if on_workers else None, **asked)
    assert run.partition.n_clusters > 1
    assert abs(load_run(tmp_path / "disk").centroids - run.centroids).max() == 0


def test_a_run_in_blocks_is_repeated_in_one_process(tmp_path, capsys):
    run_newsroom(tmp_path / "run", scratch=tmp_path)
    assert main_of(["rerun", str(tmp_path / "run" / "run.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["same_labels"] is True
