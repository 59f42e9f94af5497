"""Names by a function that people choose: parents first, checked, kept by digest, and taken back without a trace."""

from __future__ import annotations

import json

import pytest

import doccluster
from doccluster.errors import InputError
from doccluster.pipeline.model_names import RunInterrupted
from tests.conftest import ROOT

TINY = ROOT / "corpora" / "samples" / "tiny"
SMALL = {"n_clusters": 3, "language": "english", "levels": "none"}


class Recorder:
    """A namer that keeps what it was asked; `answer` gets the request and its number."""

    def __init__(self, answer, **facts):
        self.asked, self._answer = [], answer
        for name, value in facts.items():
            setattr(self, name, value)

    def __call__(self, request):
        self.asked.append(request)
        return self._answer(request, len(self.asked) - 1)


def by_terms(request, _):
    return f"About {request.level} {request.terms[0]} {request.terms[1]}"


@pytest.fixture(scope="module")
def run():
    return doccluster.run(doccluster.load_sample(), n_clusters=32)


@pytest.fixture(scope="module")
def small():
    return doccluster.run(TINY, **SMALL)


def test_all_levels_are_named_and_parents_first(run):
    namer = Recorder(by_terms)
    named = run.rename_with(namer)
    assert [request.level for request in namer.asked] == ["section"] * 6 + ["topic"] * 32
    assert all(cluster.name == cluster.label for level in named.levels for cluster in level.clusters)
    assert {cluster.named_by for level in named.levels for cluster in level.clusters} == {
        "tests.test_model_names.Recorder"
    }
    assert all(cluster.name == "" for cluster in run.clusters), "a run in memory stays as it is"
    sections, topics = named.levels
    parents = topics.parents_on(sections)
    for request in namer.asked[6:]:
        assert request.parent == sections.clusters[parents[request.cluster]].name
        n_parts = int((parents == parents[request.cluster]).sum())
        assert len(request.siblings) == n_parts - 1
    last = max(number for number in range(32) if parents[number] == parents[0])
    assert topics.clusters[0].name in namer.asked[6 + last].siblings
    assert namer.asked[0].titles[0] in run.documents.titles
    assert all(len(text) <= 300 for request in namer.asked for text in request.excerpts)
    assert named.notes[-1] == "Named by tests.test_model_names.Recorder: 38 of 38 clusters."


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda _: "", "whose answer is empty"),
        (lambda _: "two\nlines", "whose answer has more than one line"),
        (lambda _: "x" * 61, "whose answer has more than 60 characters"),
        (lambda _: "<img src=x onerror=alert(1)>", "whose answer has markup or an address"),
        (lambda _: "\x1b[2J", "whose answer has control characters"),
        (lambda _: None, "for which the function returned NoneType, not str"),
        (lambda _: 1 / 0, "for which the function raised ZeroDivisionError: division by zero"),
    ],
)
def test_an_answer_that_cannot_be_a_name_leaves_the_label_and_is_said(small, answer, reason):
    namer = Recorder(lambda request, number: answer(request) if number == 1 else f"Name {'abc'[number]}")
    named = small.rename_with(namer)
    assert [cluster.name for cluster in named.clusters] == ["Name a", "", "Name c"]
    assert named.clusters[1] == small.clusters[1]
    assert named.notes[-1].endswith(f"2 of 3 clusters; the others keep their labels: 1 {reason}.")


def test_a_name_is_given_once(small):
    named = small.rename_with(Recorder(lambda *_: "The same"))
    assert [cluster.name for cluster in named.clusters] == ["The same", "", ""]
    assert "2 whose answer is the name of another cluster" in named.notes[-1]


def test_a_namer_that_names_nothing_is_refused_and_not_asked_to_the_end(run):
    namer = Recorder(lambda *_: 1 / 0)
    with pytest.raises(
        InputError,
        match=r"0 of 38 clusters; .*: 3 for which the function raised ZeroDivisionError.*; 35 not",
    ):
        run.rename_with(namer)
    assert len(namer.asked) == 3
    with pytest.raises(InputError, match="namer='llama' is not a function; give a function"):
        doccluster.run(["a text"], namer="llama")


def test_what_a_person_named_stays(small):
    by_hand = small.rename(1, "Mine")
    namer = Recorder(by_terms)
    named = by_hand.rename_with(namer)
    assert [request.cluster for request in namer.asked] == [0, 2]
    assert "Mine" in namer.asked[0].siblings
    assert (named.clusters[1].name, named.clusters[1].named_by) == ("Mine", "")
    by_hand_later = named.rename(0, "Also mine")
    assert (by_hand_later.clusters[0].name, by_hand_later.clusters[0].named_by) == ("Also mine", "")
    merged = named.merge(0, 1)
    assert [(cluster.name, cluster.named_by) for cluster in merged.clusters if cluster.name == "Mine"] == [("Mine", "")]


def test_a_run_names_keeps_and_takes_back(tmp_path):
    folder = tmp_path / "run"
    namer = Recorder(by_terms, model="tiny-1", prompt="Name it.")
    how = {**SMALL, "output": folder, "namer": namer}
    run = doccluster.run(TINY, **how)
    assert len(namer.asked) == 3
    assert [cluster.named_by for cluster in doccluster.load_run(folder).clusters] == ["tiny-1"] * 3
    assert doccluster.load_run(folder).parameters == json.loads(json.dumps(run.parameters))
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    (naming,) = record["parameters"]["resolved"]["names"]
    assert (naming["model"], naming["prompt"], naming["n_named"]) == ("tiny-1", "Name it.", 3)
    assert naming["date"].endswith("+00:00")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("named by <bdi>tiny-1</bdi>") == 3
    assert "&#34;prompt&#34;: &#34;Name it.&#34;" in page
    # the same run, and the same names after they were taken back: nothing is asked again
    again = doccluster.run(TINY, **how, overwrite=True)
    assert [cluster.name for cluster in again.clusters] == [cluster.name for cluster in run.clusters]
    unnamed = doccluster.undo(folder)
    assert [cluster.name for cluster in unnamed.clusters] == [""] * 3
    assert not (folder / "edits.json").exists()
    assert "names" not in json.loads((folder / "run.json").read_text(encoding="utf-8"))["parameters"]["resolved"]
    assert "tiny-1" not in (folder / "report.html").read_text(encoding="utf-8")
    assert [cluster.name for cluster in doccluster.label(folder, namer).clusters] == [c.name for c in run.clusters]
    assert doccluster.rerun(folder, output=tmp_path / "again").same_labels
    doccluster.label(tmp_path / "again", namer)
    assert len(namer.asked) == 3
    # another model, or another prompt, is another answer
    doccluster.label(folder, Recorder(by_terms, model="tiny-1", prompt="Name it well."))
    other = Recorder(lambda request, number: f"Other {request.terms[0]}", model="tiny-2")
    assert doccluster.label(folder, other).clusters[0].named_by == "tiny-2"
    assert len(other.asked) == 3
    assert doccluster.undo(folder).clusters[0].named_by == "tiny-1"


def test_names_are_in_what_is_assigned_later(tmp_path):
    run = doccluster.run(TINY, **SMALL, output=tmp_path / "run", report=False, namer=Recorder(by_terms))
    labels = doccluster.assign(tmp_path / "run", TINY)["label"]
    assert set(labels) == {cluster.name for cluster in run.clusters}


def test_a_function_without_a_model_is_asked_each_time(tmp_path):
    namer = Recorder(by_terms)
    doccluster.run(TINY, **SMALL, output=tmp_path / "run", report=False, namer=namer)
    doccluster.label(tmp_path / "run", namer)
    assert len(namer.asked) == 6


def stopped_at(number):
    def answer(request, n_before):
        if n_before == number:
            raise KeyboardInterrupt
        return by_terms(request, n_before)

    return answer


def test_ctrl_c_keeps_the_names_so_far(small, tmp_path):
    with pytest.raises(RunInterrupted) as in_memory:
        small.rename_with(Recorder(stopped_at(1)))
    assert [bool(cluster.name) for cluster in in_memory.value.run.clusters] == [True, False, False]
    namer = Recorder(stopped_at(2), model="tiny-1")
    with pytest.raises(RunInterrupted) as stopped:
        doccluster.run(TINY, **SMALL, output=tmp_path / "run", report=False, namer=namer)
    assert [bool(cluster.name) for cluster in stopped.value.run.clusters] == [True, True, False]
    kept = doccluster.load_run(tmp_path / "run")
    assert [cluster.name for cluster in kept.clusters] == [cluster.name for cluster in stopped.value.run.clusters]
    assert "2 of 3 clusters; the others keep their labels: 1 not asked about, since it was stopped." in kept.notes[-1]
    rest = Recorder(by_terms, model="tiny-1")
    assert all(cluster.name for cluster in doccluster.label(tmp_path / "run", rest).clusters)
    assert len(rest.asked) == 1
    before = (tmp_path / "run" / "run.json").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        doccluster.label(tmp_path / "run", Recorder(stopped_at(0), model="tiny-2"))
    assert (tmp_path / "run" / "run.json").read_bytes() == before


def test_a_list_of_names_from_elsewhere_is_checked(tmp_path):
    doccluster.run(TINY, **SMALL, output=tmp_path / "run", report=False, namer=Recorder(by_terms))
    edits = tmp_path / "run" / "edits.json"
    good = edits.read_text(encoding="utf-8")
    for right, wrong, told in (
        ("About cluster", "<b>", "cannot be a name: it has markup"),
        ('"level": "cluster"', '"level": "planet"', "there is no planet 0"),
        ('"nodes": [', '"nodes": [7, ', "edits.json is damaged"),
    ):
        assert right in good
        edits.write_text(good.replace(right, wrong, 1), encoding="utf-8")
        with pytest.raises(InputError, match=told):
            doccluster.merge(tmp_path / "run", 0, 1)
