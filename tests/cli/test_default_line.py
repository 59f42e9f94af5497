"""The main line without options: every other sample whole, and a cut of each real corpus beside the checkout."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "corpora" / "samples"


def cut_of_feeds(corpora, folder):
    """Every thirtieth feed: good ones and broken ones, in many encodings, with many copies."""
    files = sorted(path for path in (corpora / "feeds_feedparser").rglob("*") if path.suffix == ".xml")
    for number, path in enumerate(files[::60]):
        shutil.copyfile(path, folder / f"{number}-{path.name}")
    return folder


def cut_of_itn(corpora, folder):
    records = json.loads((corpora / "itn_news_stream" / "corpus.json").read_bytes())
    path = folder / "corpus.json"
    path.write_text(json.dumps(dict(itertools.islice(records.items(), 40))), encoding="utf-8")
    return path


def cut_of_languages(corpora, folder):
    with zipfile.ZipFile(corpora / "languages_encodings" / "udhr2.zip") as archive:
        names = [name for name in archive.namelist() if name.endswith(".txt")][::40]
        archive.extractall(folder, names)
    return folder


def cut_of_titles(corpora, folder):
    whole = corpora / "stackoverflow_titles" / "rawText" / "title_StackOverflow.txt"
    path = folder / "titles.txt"
    with whole.open("rb") as lines:
        path.write_bytes(b"".join(itertools.islice(lines, 100)))
    return path


def cut_of_reuters(corpora, folder):
    first = min((corpora / "reuters21578").glob("reut2-*.sgm.gz"))
    documents = gzip.decompress(first.read_bytes()).split(b"</REUTERS>")
    path = folder / "reut2-000.sgm"
    path.write_bytes(b"</REUTERS>".join(documents[:60]) + b"</REUTERS>\n")
    return path


def cut_of_newsgroups(corpora, folder):
    path = folder / "newsgroups.tar"
    with (
        lzma.open(corpora / "newsgroups20" / "20news-18828.tar.xz") as packed,
        tarfile.open(fileobj=packed) as whole,
        tarfile.open(path, "w") as cut,
    ):
        messages = (member for member in whole if member.isfile())
        for member in itertools.islice(messages, 0, 2_400, 40):  # of three groups; the rest is not unpacked
            cut.addfile(member, whole.extractfile(member))
    return path


def cut_of_basil(corpora, folder):
    path = folder / "basil.jsonl"
    with gzip.open(corpora / "news_stories_basil" / "basil_2010_2014.jsonl.gz") as lines:
        path.write_bytes(b"".join(itertools.islice(lines, 40)))
    return path


def smallest_cluto_matrix(corpora, folder):
    return corpora / "cluto_matrices" / "tr23" / "tr23.mat"


def run_without_options(source, output, *, locale="C.UTF-8"):
    """Return the exit code of a process of ``doccluster run SOURCE -o OUTPUT``, and what it said."""
    command = [sys.executable, "-m", "doccluster", "run", str(source), "-o", str(output)]
    environment = {**os.environ, "LC_ALL": locale, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, env=environment, timeout=600)
    return done.returncode, done.stderr.decode("utf-8", "replace")


def assert_complete(code, told, output):
    """Assert that a run ended well, said nothing twice, and gave every document that has terms a cluster."""
    assert code == 0, told
    assert "Traceback" not in told
    warnings = [line for line in told.splitlines() if line.startswith("warning:")]
    assert len(warnings) == len(set(warnings)), warnings
    with (output / "clusters.csv").open(encoding="utf-8", newline="") as lines:
        sizes = [int(row["size"]) for row in csv.DictReader(lines)]
    with (output / "assignments.csv").open(encoding="utf-8", newline="") as lines:
        placed = sum(row["cluster"] != "" for row in csv.DictReader(lines))
    assert sizes
    assert sum(sizes) == placed
    assert (output / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("sample", ["newsroom/feeds", "newsroom/folder", "tiny"])
def test_every_other_sample_runs_without_options(doccluster, sample, tmp_path):
    done = doccluster("run", SAMPLES / sample, "-o", tmp_path / "run")
    assert_complete(done.code, done.err, tmp_path / "run")


def test_articles_run_without_options_and_a_locale_without_utf_8_changes_no_cluster(doccluster, tmp_path):
    here, in_c, source = tmp_path / "here", tmp_path / "in c", tmp_path / "articles.jsonl"
    lines = (SAMPLES / "newsroom" / "articles.jsonl").read_bytes().splitlines(keepends=True)
    source.write_bytes(b"".join(lines[::3]))
    done = doccluster("run", source, "-o", here)
    assert_complete(done.code, done.err, here)
    assert_complete(*run_without_options(source, in_c, locale="C"), in_c)
    same = [(folder / "assignments.csv").read_bytes() for folder in (here, in_c)]
    assert same[0] == same[1]


@pytest.mark.real
@pytest.mark.parametrize(
    "cut",
    [
        cut_of_feeds,
        cut_of_itn,
        cut_of_languages,
        cut_of_titles,
        cut_of_reuters,
        cut_of_newsgroups,
        cut_of_basil,
        smallest_cluto_matrix,
    ],
)
def test_a_cut_of_every_real_corpus_runs_without_options(doccluster, cut, real_corpora, tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    done = doccluster("run", cut(real_corpora, folder), "-o", tmp_path / "run")
    assert_complete(done.code, done.err, tmp_path / "run")
