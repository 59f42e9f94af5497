"""`doccluster generate` from the shell: files that the readers take, a record, one sentence for each mistake."""

from __future__ import annotations

import json
import tomllib

import pytest

from doccluster.cli.main import main
from doccluster.corpus import read_corpus
from doccluster.vectors import read_matrix


def run(capsys, *arguments):
    """Return exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as stop:
        main(["generate", *map(str, arguments)])
    told = capsys.readouterr()
    return stop.value.code, told.out, told.err


SMALL = {
    "vmf": ["-n", "60", "-d", "12", "-k", "3", "--kappa", "10,20,30", "--separation", "0.1"],
    "sparse-vmf": ["-n", "60", "-d", "3000", "-k", "3", "--terms-per-document", "40"],
    "sharma": ["-k", "3", "--scale", "2"],
}


@pytest.mark.parametrize(("kind", "name"), [("vmf", "a.npz"), ("sparse-vmf", "a.npz"), ("sharma", "a.npz")])
def test_vectors_from_the_shell_have_a_truth_and_a_record(tmp_path, capsys, kind, name):
    code, out, err = run(capsys, kind, *SMALL[kind], "-o", tmp_path / name, "--seed", "4")
    assert (code, err) == (0, "")
    assert str(tmp_path / name) in out
    vectors, classes = read_matrix(tmp_path / name)
    assert set(classes) == {"0", "1", "2"}
    record = tomllib.loads((tmp_path / "corpus.toml").read_text())[name]
    assert record["kind"] == kind
    assert record["random_state"] == 4
    assert record["n_documents"] == vectors.n_documents
    first = (tmp_path / name).read_bytes()
    assert run(capsys, kind, *SMALL[kind], "-o", tmp_path / name, "--seed", "4")[0] == 2
    threads = [] if kind == "sharma" else ["--threads", "3"]
    code, _, _ = run(capsys, kind, *SMALL[kind], "-o", tmp_path / name, "--seed", "4", "--overwrite", *threads)
    assert code == 0
    assert (tmp_path / name).read_bytes() == first


@pytest.mark.filterwarnings("ignore:.*is taken as weighted already")
def test_vmf_writes_blocks_and_mtx_is_refused_for_dense_rows(tmp_path, capsys):
    assert run(capsys, "vmf", *SMALL["vmf"], "-o", tmp_path / "a.npy")[0] == 0
    vectors, classes = read_matrix(tmp_path / "a.npy")
    assert (vectors.n_documents, len(classes)) == (60, 60)
    code, _, err = run(capsys, "vmf", *SMALL["vmf"], "-o", tmp_path / "a.mtx")
    assert code == 2
    assert "does not end in .npy" in err


def test_documents_from_the_shell(tmp_path, capsys):
    code, out, _ = run(capsys, "zipf", "-n", "300", "-k", "4", "-o", tmp_path / "a.jsonl.gz", "--json")
    assert code == 0
    told = json.loads(out)
    assert told["files"] == [str(tmp_path / "a.jsonl.gz"), str(tmp_path / "corpus.toml")]
    assert told["parameters"]["n_topics"] == 4
    corpus = read_corpus(tmp_path / "a.jsonl.gz")
    assert len(corpus) == 300
    assert {label for labels in corpus.labels["topic"] for label in labels} <= {f"topic-{i}" for i in range(1, 5)}


def test_twin_of_texts_and_of_a_matrix(tmp_path, capsys):
    assert run(capsys, "zipf", "-n", "300", "-k", "4", "-o", tmp_path / "a.jsonl")[0] == 0
    assert run(capsys, "like", tmp_path / "a.jsonl", "-k", "4", "-o", tmp_path / "twin.npz")[0] == 0
    vectors, classes = read_matrix(tmp_path / "twin.npz")
    assert vectors.n_documents == len(classes) == 300
    assert vectors.terms is not None
    twin_of_twin = ["like", tmp_path / "twin.npz", "-k", "4", "-n", "50", "-o", tmp_path / "b.npz", "--json"]
    code, out, _ = run(capsys, *twin_of_twin)
    assert code == 0
    assert json.loads(out)["parameters"]["n_documents"] == 50
    record = tomllib.loads((tmp_path / "corpus.toml").read_text())
    assert record["twin.npz"]["source"] == [str(tmp_path / "a.jsonl")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["vmf", "--kappa", "-3"], "--kappa -3.0 is not a concentration"),
        (["vmf", "--kappa", "nan"], "--kappa nan is not a concentration"),
        (["vmf", "--kappa", "inf"], "--kappa inf is not a concentration"),
        (["vmf", "--kappa", "many"], "is not a number"),
        (["vmf", "-n", "3", "-k", "5"], "-k 5 exceeds the number of documents (3)"),
        (["vmf", "-k", "2", "--weights", "0.4,0.4"], "sums to 0.8"),
        (["vmf", "-d", "3", "-k", "5", "--separation", "0.2"], "need 5 dimensions"),
        (["sparse-vmf", "--mean-resultant-length", "0.9"], "cannot be reached"),
        (["sharma", "--alpha", "1"], "next to no value"),
        (["vmf", "-k", "3", "--kappa", "1,2"], "kappa has 2 numbers for 3 clusters"),
        (["vmf", "-k", "3", "--weights", "1"], "weights has 1 number for 3 clusters"),
        (["sparse-vmf", "--separation", "1"], "--separation 1 leaves them no weight"),
        (["sparse-vmf", "--separation", "0"], "--separation 0 needs --background 0"),
        (["sparse-vmf", "--background", "0"], "a separation above 0 needs a background above 0"),
        (["zipf", "--overlap", "2"], "--overlap 2.0 is out of range"),
        (["zipf", "-n", "5", "-k", "9"], "-k 9 exceeds the 5 document(s); choose -k <= 5"),
    ],
)
def test_mistakes_are_one_sentence_and_leave_nothing(tmp_path, capsys, arguments, words):
    ending = ".jsonl" if arguments[0] == "zipf" else ".npz"
    code, out, err = run(capsys, *arguments, "-o", tmp_path / f"a{ending}")
    assert (code, out) == (2, "")
    assert words in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("vmf", "a.mtx", "does not end in .npy or .npz"),
        ("sparse-vmf", "a.npy", "does not end in .npz or .mtx"),
        ("sharma", ".npz", "does not end in .npz or .mtx"),
        ("zipf", "a.json", "does not end in .jsonl or .jsonl.gz"),
        ("vmf", "folder.npy", "is a folder"),
    ],
)
def test_a_name_that_cannot_be_written_is_refused_before_anything_is_made(tmp_path, capsys, kind, name, words):
    (tmp_path / "folder.npy").mkdir()
    code, _, err = run(capsys, kind, "-n" if kind != "sharma" else "--scale", "1000000", "-o", tmp_path / name)
    assert code == 2
    assert words in err
    assert [path.name for path in tmp_path.iterdir()] == ["folder.npy"]


def test_a_twin_of_fewer_documents_than_clusters_is_refused(tmp_path, capsys):
    run(capsys, "zipf", "-n", "60", "-k", "3", "-o", tmp_path / "a.jsonl")
    code, _, err = run(capsys, "like", tmp_path / "a.jsonl", "-k", "3", "-n", "2", "-o", tmp_path / "b.npz")
    assert code == 2
    assert "-n 2 is below the 3 clusters" in err
    assert not (tmp_path / "b.npz").exists()


def test_a_kind_that_works_in_one_thread_takes_no_number_of_them(tmp_path, capsys):
    code, _, err = run(capsys, "sharma", "-o", tmp_path / "made", "--threads", "2")
    assert code == 2
    assert "No such option" in err


def test_long_documents_have_known_shares_beside_them(tmp_path, capsys):
    code, out, err = run(capsys, "long-documents", "-n", "5", "-k", "3", "--words", "300", "-o", tmp_path / "a.jsonl")
    assert (code, err) == (0, "")
    assert "5 documents, 3 topics" in out
    corpus = read_corpus(tmp_path / "a.jsonl")
    header, *rows = [line.split(",") for line in (tmp_path / "a-shares.csv").read_text().splitlines()]
    assert header == ["id", "words", "topic_0", "topic_1", "topic_2"]
    assert [row[0] for row in rows] == list(corpus.ids)
    assert [int(row[1]) for row in rows] == [len(text.split()) for text in corpus.texts]
    assert all(sum(map(float, row[2:])) == pytest.approx(1, abs=1e-3) for row in rows)
    before = (tmp_path / "a.jsonl").read_bytes()
    run(capsys, "long-documents", "-n", "5", "-k", "3", "--words", "300", "-o", tmp_path / "a.jsonl", "--overwrite")
    assert (tmp_path / "a.jsonl").read_bytes() == before
