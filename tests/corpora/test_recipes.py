"""The recipes of the well-known corpora: right copies become canonical, wrong ones are refused with what differs."""

from __future__ import annotations

import contextlib
import functools
import http.server
import importlib
import json
import pathlib
import tarfile
import threading

import pytest

from corpora import prepare_corpus
from doccluster.corpus import read_corpus

ROOT = pathlib.Path(__file__).resolve().parents[2] / "corpora"
RECIPES = ["20newsgroups", "reuters21578", "cluto"]


def run(recipe: str, *arguments: object) -> int:
    module = importlib.import_module(f"corpora.{recipe}.prepare")
    return prepare_corpus.main(ROOT / recipe, module.prepare, [str(one) for one in arguments])


@contextlib.contextmanager
def served(folder: pathlib.Path):
    """Serve a folder on a free port of this machine, and give its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_says_where_the_corpus_is_from_and_what_it_may_be_used_for(recipe):
    stated = prepare_corpus.load_recipe(ROOT / recipe)
    assert {"name", "source", "licence", "citation", "language", "about"} <= stated.keys()
    assert all(len(checksum) == 64 for checksum in stated.get("sha256", {}).values())


def newsgroups(folder: pathlib.Path) -> pathlib.Path:
    for number, place in enumerate(["20news-bydate-train/sci.space", "20news-bydate-test/sci.med"]):
        (folder / place).mkdir(parents=True)
        message = f"From: a@example.org\nSubject: s{number}\n\n> quoted\nOwn words {number}.\n"
        (folder / place / str(number)).write_text(message)
    return folder


def test_a_copy_with_other_counts_is_refused_unless_changes_are_accepted(tmp_path, capsys):
    copy = newsgroups(tmp_path / "copy")
    assert run("20newsgroups", copy, "-o", tmp_path / "out") == 2
    assert "documents: 2, expected 18,828" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert run("20newsgroups", copy, "-o", tmp_path / "out", "--accept-changes") == 0
    written = (tmp_path / "out" / "20newsgroups-stripped.jsonl").read_text()
    stripped = [json.loads(line) for line in written.splitlines()]
    assert [(row["class"], row["split"], row["text"]) for row in stripped] == [
        (["sci.med"], "test", "Own words 1."),
        (["sci.space"], "train", "Own words 0."),
    ]


def test_a_copy_is_fetched_when_its_address_is_given(tmp_path, capsys):
    site = tmp_path / "site"
    site.mkdir()
    with tarfile.open(site / "20news.tar.gz", "w:gz") as archive:
        archive.add(newsgroups(tmp_path / "copy"), "20news")
    with served(site) as address:
        out = tmp_path / "out"
        assert run("20newsgroups", "--fetch", f"{address}/20news.tar.gz", "-o", out, "--accept-changes") == 0
        assert run("20newsgroups", "--fetch", f"{address}/none.tar.gz", "-o", tmp_path / "no") == 2
    assert "404" in capsys.readouterr().err
    assert len(read_corpus(out / "20newsgroups.jsonl")) == 2
    assert list((tmp_path / "no").iterdir()) == []


def test_only_web_addresses_are_fetched_and_not_without_end(tmp_path, monkeypatch):
    (tmp_path / "big").write_bytes(bytes(5000))
    with pytest.raises(prepare_corpus.RecipeError, match="not an http"):
        prepare_corpus.fetch((tmp_path / "big").as_uri(), tmp_path / "out")
    monkeypatch.setattr(prepare_corpus, "LARGEST_DOWNLOAD", 1000)
    with served(tmp_path) as address, pytest.raises(prepare_corpus.RecipeError, match="more than 1,000 bytes"):
        prepare_corpus.fetch(f"{address}/big", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_copy_that_is_missing_or_named_twice_is_refused(tmp_path, capsys):
    assert run("cluto", tmp_path / "nothing", "-o", tmp_path / "out") == 2
    assert "does not exist" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        run("cluto", "-o", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    assert run("cluto", tmp_path / "empty", "-o", tmp_path / "out") == 2
    assert "holds none of tr11" in capsys.readouterr().err


@pytest.mark.real
def test_reuters_becomes_json_lines_that_read_back(real_corpora, tmp_path, capsys):
    assert run("reuters21578", real_corpora / "reuters21578", "-o", tmp_path) == 0
    assert "21,577 documents" in capsys.readouterr().out
    corpus = read_corpus(tmp_path / "reuters21578.jsonl")
    assert len(corpus) == 21_577
    assert sum(len(labels) == 1 for labels in corpus.labels["topics"]) == 9_494
    assert corpus.metadata["date"][0] == "1987-02-26T15:01:01"
    assert corpus.ids[:2] == ("1", "2")


@pytest.mark.real
def test_a_changed_file_of_reuters_is_refused(real_corpora, tmp_path, capsys):
    copy = tmp_path / "copy"
    copy.mkdir()
    whole = (real_corpora / "reuters21578" / "reut2-021.sgm.gz").read_bytes()
    (copy / "reut2-021.sgm.gz").write_bytes(whole)
    assert run("reuters21578", copy, "-o", tmp_path / "out") == 2
    assert "reut2-000.sgm is missing" in capsys.readouterr().err


@pytest.mark.real
def test_the_sets_of_cluto_are_checked_and_written(real_corpora, tmp_path, capsys):
    assert run("cluto", real_corpora / "cluto_matrices", "-o", tmp_path) == 0
    assert "changed" not in capsys.readouterr().out
    names = {path.stem for path in tmp_path.glob("*.npz")}
    assert names == {"tr11", "tr12", "tr23", "re0", "k1b", "hitech", "la1"}
    original = tmp_path / "original"
    assert run("cluto", real_corpora / "cluto_matrices" / "re0_original_cluto", "-o", original) == 0
    assert "changed: re0.mat is written differently" in capsys.readouterr().out
