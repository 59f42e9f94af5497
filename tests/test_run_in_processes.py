"""A run of many documents shares its work with processes: the same bytes of all its files, however many there are."""

import json
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


GERMAN = "Der Rat der Stadt hat am Abend über die Brücke und das Wasser im Fluss gesprochen, und es war nicht leicht."
ENGLISH = "The council of the town spoke about the bridge and the water in the river, and that was not easy for them."


def test_rows_that_workers_read_count_on_from_those_before(tmp_path, monkeypatch):
    """Lines of labels count empty documents too, and the language of all texts says what is the month of a date."""
    for number in range(10):
        day, text = "03/04/2026", ENGLISH if number < 3 else GERMAN
        rows = [{"text": "" if row == number % 5 else f"{text} {number} {row}", "date": day} for row in range(6)]
        (tmp_path / f"{number}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "labels").write_text("\n".join(f"line {line}" for line in range(60)), encoding="utf-8")
    files = sorted(tmp_path.glob("*.jsonl"))
    monkeypatch.setattr(worker_processes, "MIN_DOCUMENTS", 1)
    found = []
    for n_threads in (1, 3):
        with worker_processes.worker_processes(n_threads):
            assert worker_processes.n_shares(60) == n_threads
            corpus = doccluster.read_corpus(files, labels_file=tmp_path / "labels")
        found.append([corpus.ids, corpus.texts, corpus.labels, corpus.column("date"), corpus.skipped])
    assert found[1] == found[0]
    expected = [f"line {line}" for line in range(60) if line % 6 != line // 6 % 5]
    assert [label for ((label,),) in zip(*found[0][2].values(), strict=True)] == expected
    assert set(found[0][3]) == {"2026-04-03"}
    rows = [{"text": f"{ENGLISH} {row}", "date": "25/04/2026" if row == 29 else "03/04/2026"} for row in range(30)]
    for number in range(3):  # the one date that tells days from months stands in the last file
        lines = map(json.dumps, rows[10 * number : 10 * number + 10])
        (tmp_path / f"day-{number}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with worker_processes.worker_processes(3):
        corpus = doccluster.read_corpus(sorted(tmp_path.glob("day-*.jsonl")))
    assert set(corpus.column("date")) == {"2026-04-03", "2026-04-25"}
