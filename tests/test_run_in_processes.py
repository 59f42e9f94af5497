"""A run of many documents shares its work with processes: the same bytes of all its files, however many there are."""

import re
import threading

import pytest

import doccluster
from doccluster.base import worker_processes
from doccluster.corpus.reading import sample_path
from doccluster.report import plane

TOLD = re.compile(rb"<script[^>]*>.*?</script>", re.DOTALL)  # what the page says of time and memory stands outside


def files_of(folder):
    """The bytes of each file that a run wrote, without what says when, where and with how many threads it ran."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    del files["run.json"]
    files["model/model.json"] = re.sub(rb'"n_threads": \d+', b"", files["model/model.json"])
    files["report.html"] = b"".join(TOLD.findall(files["report.html"]))
    return files


@pytest.fixture(scope="module")
def folder_of_texts(tmp_path_factory):
    """The sample without dates, in several files: topics are found in it, not stories."""
    folder = tmp_path_factory.mktemp("texts")
    texts = doccluster.load_sample().texts
    for start in range(0, len(texts), 30):
        (folder / f"{start:03}.txt").write_text("\n".join(" ".join(t.split()) for t in texts[start : start + 30]))
    return folder


@pytest.mark.parametrize("kind", ["stories", "topics"])
def test_all_files_of_a_run_are_the_same_bytes_for_any_number_of_workers(kind, folder_of_texts, tmp_path, monkeypatch):
    source, options = (sample_path(), {}) if kind == "stories" else (folder_of_texts, {"reader": {"format": "lines"}})
    tasks = []
    begin = worker_processes.Workers.begin

    def watched(workers, function, arguments):
        future = begin(workers, function, arguments)
        if future is not None:
            tasks.append(function.__name__)
        return future

    drawn_in = []
    place = plane.placed_rows

    def watched_place(*arguments, **options):
        drawn_in.append(threading.current_thread().name)
        return place(*arguments, **options)

    monkeypatch.setattr(plane, "placed_rows", watched_place)
    monkeypatch.setattr(worker_processes, "MIN_DOCUMENTS", 100)
    monkeypatch.setattr(worker_processes.Workers, "begin", watched)
    files = {}
    for n_threads in (3, 1) if kind == "stories" else (2, 1):
        output = tmp_path / str(n_threads)
        doccluster.run(source, output=output, with_texts=True, n_threads=n_threads, **options)
        files[n_threads] = files_of(output)
        if n_threads > 1:
            n_tasks = len(tasks)
    assert len(tasks) == n_tasks > 0  # one thread starts none
    first = "counted_words" if kind == "stories" else "read_share"
    assert {first, "count_forms", "words_and_places"} <= set(tasks)
    assert drawn_in.pop() == threading.main_thread().name  # of the last run, which has one thread
    assert all(name.startswith("doccluster") for name in drawn_in)
    for n_threads in set(files) - {1}:
        assert [name for name in files[1] if files[n_threads].get(name) != files[1][name]] == []
        assert files[n_threads].keys() == files[1].keys()
