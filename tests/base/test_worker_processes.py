"""Worker processes: they do what they are handed, take nothing with them, and no result depends on them."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from doccluster.base.worker_processes import LOST, begin, in_shares, n_shares
from doccluster.base.worker_processes import worker_processes as with_workers
from doccluster.errors import DocclusterWarning, InputError


def refuse():
    raise InputError("the rye is wet", remedy="dry it")


def test_work_is_shared_among_this_process_and_workers():
    with with_workers(3):
        assert [n_shares(4_999), n_shares(5_000)] == [1, 3]
        here, *workers = in_shares(os.getpid, [(), (), ()])
        doubled = begin(np.multiply, np.arange(100_000), 2)()
        with pytest.raises(InputError, match="the rye is wet; dry it"):
            begin(refuse)()
    assert here == os.getpid()
    assert here not in workers
    assert np.array_equal(doubled, np.arange(0, 200_000, 2))


def test_one_thread_and_few_documents_start_no_process():
    with with_workers(1):
        assert begin(os.getpid)() == os.getpid()
        assert n_shares(1_000_000) == 1
    with with_workers(2):
        assert begin(os.getpid, n_documents=4_999)() == os.getpid()
    assert begin(os.getpid)() == os.getpid()  # nor what is called beside a run


def test_a_worker_that_is_ended_is_a_sentence_and_its_work_is_done_here():
    with with_workers(2):
        killed = begin(in_this_process_or_die, os.getpid())
        with pytest.warns(DocclusterWarning, match="worker process could not start, or was ended"):
            assert killed() == "here"
        assert begin(in_this_process_or_die, os.getpid())() == "here"  # said once, and no other worker is started


def in_this_process_or_die(own):
    if os.getpid() != own:
        os._exit(9)
    return "here"


@pytest.mark.parametrize("broken", ["frozen", "executable"])
def test_where_no_worker_can_start_the_work_is_done_here(monkeypatch, broken):
    if broken == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    else:
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with with_workers(2), pytest.warns(DocclusterWarning, match=LOST[:40]):
        assert begin(os.getpid)() == os.getpid()


def test_ctrl_c_ends_workers_that_are_at_work():
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), with_workers(2):
        interrupt(begin(time.sleep, 60))
    assert time.monotonic() - began < 30


def interrupt(_):
    time.sleep(0.2)  # the worker has begun
    raise KeyboardInterrupt


@pytest.mark.skipif(sys.platform == "win32", reason="a process is looked up as POSIX does")
def test_a_script_without_a_main_guard_has_workers_which_end_when_it_is_killed(tmp_path):
    script = tmp_path / "no_guard.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, signal
            from doccluster.base.worker_processes import begin, worker_processes
            with worker_processes(2):
                print(begin(os.getpid)(), flush=True)
                os.kill(os.getpid(), signal.SIGTERM)
            """
        )
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path)
    worker = int(done.stdout)
    assert done.returncode != 0
    for _ in range(100):
        if not is_running(worker):
            break
        time.sleep(0.1)
    assert not is_running(worker)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")  # one that has ended stays in the list until it is asked for
    return not status.exists() or " Z " not in status.read_text()


def test_a_worker_imports_nothing_from_the_folder_that_it_starts_in(tmp_path, monkeypatch):
    (tmp_path / "joblib.py").write_text("raise SystemExit('a stranger is in here')")
    (tmp_path / "json.py").write_text("raise SystemExit('a stranger is in here')")
    monkeypatch.chdir(tmp_path)
    with with_workers(2):
        assert begin(os.getpid)() != os.getpid()
