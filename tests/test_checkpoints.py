"""A run that was killed goes on from its checkpoint, to the labels of a run that nothing disturbed."""

from __future__ import annotations

import pathlib
import signal
import textwrap

import numpy as np
import pytest

from doccluster.base.paths import CHECKPOINT, MARK
from doccluster.errors import InputError
from doccluster.pipeline.main_line import RunInterrupted, run_pipeline

NEWSROOM = pathlib.Path(__file__).resolve().parent.parent / "corpora" / "samples" / "newsroom"
ALGORITHMS = [f"{name}:n_init=2,init=random,tol=0.0" for name in ("spherical-k-means", "smoothed")]
SETTINGS = {"n_clusters": 6, "report": False, "language": "english", "levels": "none", "algorithm": ALGORITHMS[0]}
KILLED = """
    import os, pathlib, signal
    from doccluster.pipeline.main_line import run_pipeline

    seen = []

    def progress(stage, done, total=None):
        seen.append(done)
        if stage == "cluster" and done == 3 and seen.count(3) == {start}:
            os.kill(os.getpid(), signal.SIGKILL)

    run_pipeline(pathlib.Path({source!r}), output={output!r}, checkpoint={every}, progress=progress, **{settings!r})
"""


@pytest.fixture(scope="module", params=ALGORITHMS, ids=["spherical k-means", "smoothed"])
def settings(request):
    return {**SETTINGS, "algorithm": request.param}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, settings):
    folder = tmp_path_factory.mktemp("undisturbed")
    run_pipeline(NEWSROOM, output=folder / "run", **settings)
    return folder / "run"


def test_a_run_that_was_killed_goes_on_to_the_same_labels(undisturbed, settings, copies, tmp_path):
    told = {"source": str(NEWSROOM), "output": str(tmp_path / "run"), "settings": settings}
    code = textwrap.dedent(KILLED).format(start=2, every=2, **told)
    ended = copies.run(code, TMPDIR=tmp_path)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert [path.name for path in (tmp_path / "run").iterdir()] == [CHECKPOINT]
    with np.load(tmp_path / "run" / CHECKPOINT) as kept:
        assert "begun_labels" in kept
    with pytest.raises(InputError, match=r"already exists.*checkpoint"):
        run_pipeline(NEWSROOM, output=tmp_path / "run", **settings)
    with pytest.raises(InputError, match="of other documents, or of a run with other options"):
        run_pipeline(NEWSROOM, output=tmp_path / "run", checkpoint=10, **{**settings, "random_state": 1})
    iterations = []
    run_pipeline(
        NEWSROOM,
        output=tmp_path / "run",
        checkpoint=10,
        progress=lambda stage, done, total=None: iterations.append(done) if stage == "cluster" else None,
        **settings,
    )
    assert not (tmp_path / "run" / CHECKPOINT).exists()
    assert next(number for number in iterations if number) == 3  # the start under way did not begin again
    for name in ("assignments.csv", "scores.csv", "clusters.csv", "model/centroids.npz", "model/partition.npz"):
        assert (tmp_path / "run" / name).read_bytes() == (undisturbed / name).read_bytes(), name


def test_a_run_that_a_person_stopped_keeps_the_best_so_far_and_goes_on_later(undisturbed, settings, tmp_path):
    def stop(stage, done, total=None):
        if stage == "cluster" and done == 2:
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted) as stopped:
        run_pipeline(NEWSROOM, output=tmp_path / "run", checkpoint=1, progress=stop, **settings)
    assert stopped.value.run.n_documents > 100
    assert {MARK, "assignments.csv", CHECKPOINT} <= {path.name for path in (tmp_path / "run").iterdir()}
    run_pipeline(NEWSROOM, output=tmp_path / "run", checkpoint=10, **settings)
    assert (tmp_path / "run" / "assignments.csv").read_bytes() == (undisturbed / "assignments.csv").read_bytes()
    assert not (tmp_path / "run" / CHECKPOINT).exists()


def test_a_damaged_checkpoint_is_told_in_a_sentence_and_overwritten_when_asked(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / CHECKPOINT).write_bytes(b"PK\x03\x04 no longer whole")
    few = NEWSROOM.parent / "tiny"
    with pytest.raises(InputError, match="is damaged"):
        run_pipeline(few, output=tmp_path / "run", checkpoint=10, **SETTINGS)
    run_pipeline(few, output=tmp_path / "run", checkpoint=5, overwrite=True, **SETTINGS)
    assert (tmp_path / "run" / MARK).is_file()


def test_checkpoints_need_a_folder_for_the_run():
    with pytest.raises(InputError, match="lie in the folder of the run"):
        run_pipeline(NEWSROOM, checkpoint=5, **SETTINGS)
