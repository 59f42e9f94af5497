"""Every measure and method can be cited, and what is printed is BibTeX."""

from __future__ import annotations

import pathlib
import re

import pytest

import doccluster
from doccluster.clustering.algorithms import ALGORITHMS
from doccluster.errors import InputError
from doccluster.measures import list_measures
from doccluster.measures.bibliography import bibtex, cite, method_names, plain_text, read_references, references_of

ROOT = pathlib.Path(__file__).resolve().parents[1]


def test_every_year_and_name_in_the_source_of_a_measure_has_a_reference():
    for record in list_measures():
        found = references_of(record.name)
        assert found, record.name
        years = set(re.findall(r"\b(?:1[89]|20)\d\d\b", record.source))
        assert years <= {reference.year for reference in found}, record.name


def test_every_algorithm_that_can_be_compared_can_be_cited():
    assert set(ALGORITHMS) <= set(method_names())
    assert all(references_of(name) for name in method_names())


def test_every_work_is_cited_by_something_and_has_a_key_of_its_own():
    keys = [reference.key for reference in read_references()]
    assert len(keys) == len(set(keys))
    assert {reference.key for reference in cite()} == {"doccluster", *keys}


def test_an_entry_is_bibtex_that_any_program_reads():
    for reference in cite():
        entry = reference.bibtex
        assert entry.isascii()
        assert entry.count("{") == entry.count("}"), entry
        assert re.match(r"@(article|book|inproceedings|phdthesis|techreport|misc)\{[a-z]+\d*,\n", entry)
        assert "author = " in entry
        assert "title = " in entry
        assert reference.doi == "" or re.fullmatch(r"10\.\d{4,5}/[\x21-\x7e]+", reference.doi)
        assert len(reference.text.splitlines()) == 1
        assert ("doi:" in reference.text) != ("No DOI" in reference.text), entry


def test_letters_with_accents_become_latex():
    entry = bibtex(cite(["variation_of_information", "kulczynski"]))
    assert r"Meil{\u{a}}" in entry
    assert r"Kulczy{\'{n}}ski, Stanis{\l}aw" in entry


def test_names_of_others_and_several_names_are_cited_once(doccluster_command):
    assert cite(["fowlkes_mallows_score"]) == cite(["fmi", "fowlkes_mallows"])
    done = doccluster_command("cite", "spherical-kmeans", "nmi_max", "skm_objective")
    assert re.findall(r"^@\w+\{(\w+),", done, re.MULTILINE)[:2] == ["dhillon2001", "vinh2010"]
    assert done.count("@article{dhillon2001,") == 1
    assert doccluster_command("cite", "bm25", "--text") == plain_text(cite(["bm25"]))
    assert doccluster_command("cite") == (ROOT / "docs" / "reference" / "references.bib").read_text(encoding="utf-8")


@pytest.fixture
def doccluster_command(capsys):
    from doccluster.cli.main import main

    def call(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(list(arguments))
        assert stopped.value.code in (0, None)
        return capsys.readouterr().out

    return call


def test_what_nothing_is_known_of_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="did you mean spherical-k-means"):
        cite(["spherical-k-mean"])
    with pytest.raises(InputError, match="`doccluster measures` lists them"):
        cite(["xyz"])


def test_the_citation_file_and_the_changelog_have_the_version_of_the_package_and_one_date():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    version = re.search(r"^version: (.+)$", citation, re.MULTILINE)
    date = re.search(r'^date-released: "(\d{4}-\d\d-\d\d)"$', citation, re.MULTILINE)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## (\d\S*) - (\S+)$", changes, re.MULTILINE)
    assert (version[1], date[1]) == heading.groups()
    # between two releases the package is ahead of the one that is cited
    if ".dev" in doccluster.__version__:
        assert re.search(r"^## (.+)$", changes, re.MULTILINE)[1] == "Unreleased"
    else:
        assert version[1] == doccluster.__version__
