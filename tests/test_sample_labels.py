"""What the defaults find in the sample stays, and so do the records of versions that knew other settings."""

from __future__ import annotations

import json

import doccluster
from tests.conftest import ROOT
from tests.golden.sample_labels import KEPT, sample_labels

TINY = ROOT / "corpora" / "samples" / "tiny"


def test_the_labels_of_the_sample_stay_those_of_the_version():
    assert sample_labels() == json.loads(KEPT.read_text(encoding="utf-8"))


def test_a_record_that_names_the_version_of_its_defaults_can_be_repeated(tmp_path):
    run = doccluster.run(TINY, n_clusters=3, output=tmp_path / "run", report=False)
    record = tmp_path / "run" / "run.json"
    written = json.loads(record.read_text(encoding="utf-8"))
    written["parameters"]["compatible"] = "1.0"
    record.write_text(json.dumps(written), encoding="utf-8")
    again = doccluster.rerun(tmp_path / "run", output=tmp_path / "again")
    assert again.run.partition.labels.tolist() == run.partition.labels.tolist()
