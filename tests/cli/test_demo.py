"""`doccluster demo` works where nothing but the package is, and its sample stays small."""

from __future__ import annotations

import tomllib
import zlib

import pytest

from doccluster.corpus import reading
from doccluster.errors import InputError
from tests.conftest import ROOT


def test_demo_clusters_the_sample_and_says_where_to_look(doccluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = doccluster("demo")
    assert (done.code, done.err) == (0, "")
    assert "176 documents" in done.out
    assert done.out.splitlines()[-3:-1] == [
        "Open doccluster-demo/report.html in a browser.",
        "The articles are in doccluster-demo/articles.jsonl.",
    ]
    assert len((tmp_path / "doccluster-demo" / "articles.jsonl").read_text(encoding="utf-8").splitlines()) == 176
    assert doccluster("demo").code == 0  # over its own folder
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine", encoding="utf-8")
    assert doccluster("demo", "--output", "other").code == 2
    assert (tmp_path / "other" / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_the_sample_goes_into_the_wheel_and_is_small():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    ((source, target),) = wheel["wheel"]["sources"].items()
    assert target == "doccluster/samples"
    assert reading.sample_path() == ROOT / source / "articles.jsonl"
    assert f"{source}/articles.jsonl" in wheel["wheel"]["only-include"]
    assert len(zlib.compress(reading.sample_path().read_bytes())) < 100_000


def test_a_package_without_its_sample_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(reading, "_PACKAGE", tmp_path)
    with pytest.raises(InputError, match="install doccluster again"):
        reading.load_sample()
