"""Kill -9 at any moment leaves a whole result or none, and the next run leaves nothing behind."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import doccluster
from doccluster.base.paths import LOCK, check_output, new_file, new_files, new_folder, unfinished_folder
from doccluster.pipeline.main_line import run_pipeline
from doccluster.results.run_folder import load_run

ROOT = pathlib.Path(__file__).resolve().parents[2]
TINY = ROOT / "corpora" / "samples" / "tiny"

pytest.importorskip("fcntl", reason="there are no locks of this kind on this system")


def hidden(folder):
    return sorted(entry.name for entry in folder.iterdir() if entry.name.startswith("."))


def leave(final, *, with_lock=True):
    """Make what a process that was killed has left beside `final`."""
    final.parent.mkdir(exist_ok=True)
    folder = final.parent / f".{final.name}.partial-{len(hidden(final.parent))}"
    (folder / "new" / final.name).mkdir(parents=True)
    (folder / "new" / final.name / "half.csv").write_text("half", encoding="utf-8")
    if with_lock:
        (folder / LOCK).touch()
    return folder


def test_what_dead_processes_left_is_removed_and_nothing_else(tmp_path):
    out = tmp_path / "out"
    leave(out)
    (tmp_path / ".out.partial-empty").mkdir()
    unlocked = leave(out, with_lock=False)
    for name in ("other", "report.html", "with.partial-in.it"):
        leave(tmp_path / name)
    mine = tmp_path / ".out.partial-notes"
    mine.write_text("a file of the user's", encoding="utf-8")
    with new_folder(out, overwrite=False) as partial:
        (partial / "run.json").write_text("{}", encoding="utf-8")
    assert hidden(tmp_path) == sorted([unlocked.name, mine.name])
    assert (out / "run.json").is_file()


def test_what_was_left_in_a_run_goes_with_the_next_run_there(tmp_path):
    out = tmp_path / "out"
    for _ in range(2):
        with new_folder(out, overwrite=True) as partial:
            (partial / "run.json").write_text("{}", encoding="utf-8")
        assert hidden(out) == []
        leave(out / "report.html")


@pytest.mark.parametrize("name", ["old", "Old", "new", "older", "lock"])
def test_a_folder_may_have_any_name_and_be_written_again(tmp_path, name):
    for number in ("1", "2"):
        with new_folder(tmp_path / name, overwrite=True) as partial:
            (partial / "run.json").write_text(number, encoding="utf-8")
        (tmp_path / name / "mine.txt").touch()
    assert (tmp_path / name / "run.json").read_text(encoding="utf-8") == "2"
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted([name, "mine.txt", "run.json"])


def test_a_link_in_what_was_left_moves_nothing_from_where_it_leads(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "mine.txt").write_text("mine", encoding="utf-8")
    left = leave(tmp_path / "here" / "out")
    shutil.rmtree(left / "new" / "out")
    (left / "new" / "out").symlink_to(home, target_is_directory=True)
    (left / "new" / "old").mkdir()
    check_output(tmp_path / "here" / "other", overwrite=False)
    assert [path.name for path in home.iterdir()] == ["mine.txt"]
    assert list((tmp_path / "here").iterdir()) == []


def test_what_a_living_process_writes_stays(tmp_path):
    script = (
        "import pathlib, sys, time\nfrom doccluster.base.paths import unfinished_folder\n"
        "with unfinished_folder(pathlib.Path(sys.argv[1])):\n    print('ready', flush=True)\n    time.sleep(300)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as living:
        try:
            assert living.stdout.readline() == "ready\n"
            for name in ("out", "other"):
                with unfinished_folder(tmp_path / name):
                    assert len(hidden(tmp_path)) == 2
            assert len(hidden(tmp_path)) == 1
        finally:
            living.kill()
        living.wait()
        with unfinished_folder(tmp_path / "out"):
            assert len(hidden(tmp_path)) == 1
        assert hidden(tmp_path) == []


def test_a_run_that_was_moved_away_when_the_process_died_comes_back(tmp_path):
    out = tmp_path / "out"
    left = leave(out)
    (left / "new" / "old").mkdir()
    (left / "new" / "old" / "run.json").write_text("{}", encoding="utf-8")
    (left / "new" / "out" / "notes.txt").write_text("mine, moved already", encoding="utf-8")
    (left / "new" / "out" / "run.json").write_text("half", encoding="utf-8")
    check_output(out, overwrite=True)
    assert (out / "run.json").read_text(encoding="utf-8") == "{}"
    assert (out / "notes.txt").read_text(encoding="utf-8") == "mine, moved already"
    assert hidden(tmp_path) == []


def write_and_fail(path):
    with new_file(path) as written:
        written.write_text("half", encoding="utf-8")
        raise KeyError


def test_a_file_that_fails_leaves_nothing(tmp_path):
    (tmp_path / "report.html").write_text("before", encoding="utf-8")
    with pytest.raises(KeyError):
        write_and_fail(tmp_path / "report.html")
    assert hidden(tmp_path) == []
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "before"


def write_files_and_fail(folder):
    with new_files(folder) as beside:
        (beside / "a.csv").write_text("half", encoding="utf-8")
        raise KeyError


def test_files_of_a_folder_come_together_or_not_at_all(tmp_path):
    folder = tmp_path / "tables"
    with pytest.raises(KeyError):
        write_files_and_fail(folder)
    assert list(tmp_path.iterdir()) == [], "nor is the folder left"
    folder.mkdir()
    for name in ("a.csv", "mine.txt"):
        (folder / name).write_text("before", encoding="utf-8")
    with pytest.raises(KeyError):
        write_files_and_fail(folder)
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == {
        "a.csv": "before",
        "mine.txt": "before",
    }
    with new_files(folder) as beside:
        (beside / "a.csv").write_text("after", encoding="utf-8")
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == {
        "a.csv": "after",
        "mine.txt": "before",
    }


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        reader = pool.submit(pipe.read_text, encoding="utf-8")
        with new_file(pipe) as written:
            written.write_text("all of it", encoding="utf-8")
        assert reader.result(timeout=60) == "all of it"
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


FULL = """
import resource, signal, sys, warnings
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
warnings.simplefilter("ignore")
sys.dont_write_bytecode = True  # it would be cut at the limit, and no later process could read it
from doccluster.cli.main import main
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # as a disk that is full is met: after some bytes
main(sys.argv[2:])
"""
NEWSROOM = ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"


@pytest.mark.parametrize(
    ("limit", "command"),
    [
        (2000, ["search", "harbour", str(NEWSROOM), "-o", "hits.html"]),
        (300, ["prevalence", "RUN", "--by", "month", "-o", "shares.svg"]),
        (300, ["choose-k", str(NEWSROOM), "--k", "2-3", "-o", "chosen"]),
        (8000, ["vectorize", str(NEWSROOM), "-o", "x.npz"]),
    ],
)
def test_a_full_disk_leaves_nothing_half_and_is_named(tmp_path, copies, dated_run, limit, command):
    place = tmp_path / "here"
    place.mkdir()
    words = [str(dated_run) if word == "RUN" else word for word in command]
    ended = copies.run(FULL, limit, *words, cwd=place)
    assert ended.returncode == 2, ended.stderr
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("doccluster: the ")
    assert command[-1] in last
    assert "File too large" in last
    assert list(place.iterdir()) == []


@pytest.fixture(scope="module")
def dated_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dated") / "run"
    doccluster.run(NEWSROOM, n_clusters=4, output=folder, report=False, levels="none")
    return folder


KILLED = """
import os, pathlib, random, signal, sys, time
{prepare}
draw = random.Random(0)
for _ in range(25):
    child = os.fork()
    if child == 0:
        while True:
            {work}
    time.sleep(draw.uniform(0, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    {check}
"""


def kill_often(copies, tmp_path, **parts):
    """Let a process fork children that write again and again, kill each at a random moment, and check what is there."""
    done = copies.run(KILLED.format(**parts), tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_run_killed_at_any_moment_is_whole_or_not_there(copies, tmp_path):
    run_pipeline(TINY, n_clusters=3, output=tmp_path / "first", report=False, measures=["silhouette"])
    kill_often(
        copies,
        tmp_path,
        prepare="from doccluster.base.paths import check_output\n"
        "from doccluster.results.run_folder import load_run, save_run\n"
        "place = pathlib.Path(sys.argv[1])\nrun = load_run(place / 'first')\n"
        "save_run(run, place / 'out')\n(place / 'out' / 'notes.txt').write_text('mine')",
        work="save_run(run, place / 'out', overwrite=True)",
        check="check_output(place / 'out', overwrite=True); load_run(place / 'out'); "
        "assert (place / 'out' / 'notes.txt').read_text() == 'mine'",
    )
    assert load_run(tmp_path / "out").n_documents == 9
    check_output(tmp_path / "out", overwrite=True)
    assert hidden(tmp_path) == []


def test_a_made_corpus_killed_at_any_moment_is_whole_or_not_there(copies, tmp_path):
    kill_often(
        copies,
        tmp_path,
        prepare="from doccluster.synthetic import make_sparse_vmf\n"
        "from doccluster.lab.synthetic.files import write_vectors\n"
        "from doccluster.vectors import read_matrix\nplace = pathlib.Path(sys.argv[1]) / 'x.npz'\n"
        "made = make_sparse_vmf(60, 2000, 3, random_state=0)",
        work="write_vectors(place, made)",
        check="assert not place.exists() or read_matrix(place)[0].n_documents == 60",
    )
    with unfinished_folder(tmp_path / "x.npz"):
        pass
    assert hidden(tmp_path) == []
