"""Names of clusters by a model that people choose: asked for from the top of the tree down, checked, kept by digest.

The model may be a function, a server (`chat_server`), or a program that reads a JSON line for each cluster.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from doccluster.base.checksums import checksum
from doccluster.base.paths import NAMES
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress
from doccluster.errors import InputError
from doccluster.labeling import ClusterDescription, NamingRequest
from doccluster.labeling.profiles import Namer, name_problem, plain_name
from doccluster.results.record import Run
from doccluster.results.run_folder import Writer
from doccluster.results.storage import read_record, write_json
from doccluster.results.tree import TreeLevel

MAX_TITLE_LETTERS = 200
MAX_EXCERPT_LETTERS = 300
MAX_SIBLINGS = 50
MAX_ANSWER_LETTERS = 300  # of an answer that is kept; a longer one cannot be a name anyway
MAX_UNANSWERED = 3  # one after the other, or the others are not asked about
MAX_LINE = 100_000  # bytes of the answer of a program
MOST_LINES = 8  # that wait to be looked at
ENDED = b""


class Unanswered(Exception):
    """A namer gave no answer; the message says why."""


class RunInterrupted(KeyboardInterrupt):
    """A person stopped the fit or the namer; `run` holds the best so far, already written where an output was named."""

    def __init__(self, run: Run) -> None:
        super().__init__("interrupted; the best so far was kept")
        self.run = run


@dataclass(frozen=True)
class NodeName:
    """The name that a model chose for a cluster of a level; without one the reason why it keeps its label."""

    level: str
    cluster: int
    name: str = ""
    reason: str = ""


@dataclass(frozen=True, repr=False)
class Naming(ShortRepr):
    """What came of asking a model for names."""

    model: str
    prompt: str
    date: str  # ISO 8601, UTC
    nodes: tuple[NodeName, ...]
    n_left: int = 0  # clusters that were not asked about any more, since a person stopped it

    @property
    def n_named(self) -> int:
        """How many clusters it named."""
        return sum(bool(node.name) for node in self.nodes)

    @property
    def note(self) -> str:
        """A sentence on how many clusters have such a name, and why others keep their labels."""
        counts = Counter(node.reason for node in self.nodes if node.reason)
        counts["not asked about, since it was stopped"] = self.n_left
        reasons = "; ".join(f"{count:,} {reason}" for reason, count in counts.items() if count)
        remainder = f"; the others keep their labels: {reasons}" if reasons else ""
        return f"Named by {self.model}: {self.n_named:,} of {len(self.nodes) + self.n_left:,} clusters{remainder}."


@dataclass(frozen=True)
class AnswersRecord:
    """What names.json holds: answers of models, by the digests of what they were asked."""

    answers: Mapping[str, str]


def read_answers(folder: str | Path | None) -> dict[str, str]:
    """Return the answers that a folder keeps, none where it keeps none. Raises SchemaError if they are damaged."""
    path = None if folder is None else Path(folder) / NAMES
    return {} if path is None or not path.is_file() else dict(read_record(path, AnswersRecord).answers)


def answers_writer(answers: Mapping[str, str]) -> dict[str, Writer]:
    """Return the writer of answers for `save_run`, where there are any."""
    return {NAMES: lambda _run, path: write_json(path, {"answers": answers})} if answers else {}


def ask_names(run: Run, namer: Namer, answers: dict[str, str], progress: Progress) -> Naming:
    """Return the names that a namer gives to the clusters of a run on all levels, parents first.

    Clusters that a person named are not asked about. A namer with an attribute `model` is not asked again what is among
    `answers`, to which new ones are added; `prompt` counts too. Ctrl-C ends the asking, and nothing else.
    """
    asking = _Asking(run, namer, answers)
    clusters = [(place, cluster) for place, level in enumerate(run.levels) for cluster in asked_about(level)]
    nodes: list[NodeName] = []
    with suppress(KeyboardInterrupt):
        for place, cluster in clusters:
            progress("name", len(nodes), len(clusters))
            nodes.append(asking.name(place, cluster))
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return Naming(asking.model, asking.prompt, date, tuple(nodes), len(clusters) - len(nodes))


def asked_about(level: TreeLevel) -> list[ClusterDescription]:
    """Return the clusters of a level that no person named."""
    return [cluster for cluster in level.clusters if cluster.named_by or not cluster.name]


class _Asking:
    """The levels of a run while their clusters get names."""

    def __init__(self, run: Run, namer: Namer, answers: dict[str, str]) -> None:
        self.run, self.namer, self.answers, self.n_unanswered = run, namer, answers, 0
        kind = namer if hasattr(namer, "__qualname__") else type(namer)
        self.model = str(getattr(namer, "model", f"{kind.__module__}.{kind.__qualname__}"))
        self.prompt = str(getattr(namer, "prompt", ""))
        self.names = [[cluster.label for cluster in level.clusters] for level in run.levels]
        self.parents = [level.parents_on(above) for above, level in itertools.pairwise(run.levels)]

    def name(self, place: int, cluster: ClusterDescription) -> NodeName:
        """Ask about a cluster of a level, and return its name or why it has none."""
        node, names = NodeName(self.run.levels[place].name, cluster.cluster), self.names[place]
        request = self.request(place, cluster)
        if not request.terms and not request.titles and not request.excerpts:
            return replace(node, reason="without words and texts")
        try:
            name = plain_name(self._answer(request))
        except Unanswered as error:
            return replace(node, reason=str(error))
        beside = [label for number, label in enumerate(names) if number != cluster.cluster]
        # an only part may be called as its parent is
        problem = name_problem(name, [*beside, request.parent] if request.siblings else beside)
        if problem:
            return replace(node, reason=f"whose answer {problem}")
        names[cluster.cluster] = name
        return replace(node, name=name)

    def request(self, place: int, cluster: ClusterDescription) -> NamingRequest:
        """Return the request for a name of a cluster."""
        documents, number, names = self.run.documents, cluster.cluster, self.names[place]
        rows = [shown.row for shown in cluster.representatives]
        parents = self.parents[place - 1].tolist() if place else [0] * len(names)
        siblings = [name for part, name in enumerate(names) if part != number and parents[part] == parents[number]]
        return NamingRequest.of(
            cluster,
            level=self.run.levels[place].name,
            titles=_lines((documents.titles[row] for row in rows), MAX_TITLE_LETTERS),
            excerpts=_lines((documents.excerpts[row] for row in rows), MAX_EXCERPT_LETTERS),
            parent=self.names[place - 1][parents[number]] if place else "",
            siblings=tuple(siblings[:MAX_SIBLINGS]),
        )

    def _answer(self, request: NamingRequest) -> str:
        """Return the answer to a request, remembered or new. Raises Unanswered where there is none."""
        # siblings do not count: a name that one of them gets later would else ask for all others again
        description = {name: value for name, value in request.content().items() if name != "siblings"}
        digest = checksum([json.dumps(description), self.model, self.prompt])
        if digest in self.answers and hasattr(self.namer, "model"):
            return self.answers[digest]
        if self.n_unanswered == MAX_UNANSWERED:
            raise Unanswered(f"not asked about, since {MAX_UNANSWERED} in a row got no answer")
        self.n_unanswered += 1
        try:
            answer = self.namer(request)
        except Unanswered:
            raise
        except Exception as error:  # a person's function may raise anything
            message = " ".join(f"{type(error).__name__}: {error}".split())[:MAX_ANSWER_LETTERS]
            raise Unanswered(f"for which the function raised {message}") from error
        if not isinstance(answer, str):
            raise Unanswered(f"for which the function returned {type(answer).__name__}, not str")
        self.n_unanswered = 0
        self.answers[digest] = answer.strip()[:MAX_ANSWER_LETTERS]
        return self.answers[digest]


def with_names(run: Run, naming: Naming) -> Run:
    """Return a run with the names of a model, its record among the resolved parameters, and a note.

    Raises InputError if a name is of a cluster that is not there, or cannot be one.
    """
    numbers = {level.name: level.n_clusters for level in run.levels}
    names = {(node.level, node.cluster): node.name for node in naming.nodes if node.name}
    for (level, number), name in names.items():
        if not 0 <= number < numbers.get(level, 0):
            raise InputError(f"there is no {level} {number} that could be called {name[:40]!r}")
        if problem := name_problem(name):
            raise InputError(f"{name[:40]!r} cannot be a name: it {problem}")

    def clusters_of(level: TreeLevel) -> tuple[ClusterDescription, ...]:
        chosen = (names.get((level.name, cluster.cluster)) for cluster in level.clusters)
        return tuple(
            replace(cluster, name=name, label=name, named_by=naming.model) if name else cluster
            for cluster, name in zip(level.clusters, chosen, strict=True)
        )

    around = run.around
    resolved = dict(run.parameters.get("resolved") or {})
    record = {name: value for name, value in asdict(naming).items() if isinstance(value, str)}
    resolved["names"] = [*(resolved.get("names") or ()), {**record, "n_named": naming.n_named}]
    return replace(
        run,
        clusters=clusters_of(run.levels[len(around.coarser)]),
        around=replace(
            around,
            coarser=tuple(replace(level, clusters=clusters_of(level)) for level in around.coarser),
            finer=tuple(replace(level, clusters=clusters_of(level)) for level in around.finer),
        ),
        parameters={**run.parameters, "resolved": resolved},
        notes=(*run.notes, naming.note),
    )


def texts_in_words(run: Run) -> str:
    """Return in words which texts of a run a namer gets."""
    clusters = [cluster for level in run.levels for cluster in asked_about(level)]
    n_documents = len({shown.row for cluster in clusters for shown in cluster.representatives})
    of_documents = f"of {n_documents:,} documents the title and the first {MAX_EXCERPT_LETTERS} characters"
    return f"words and names of {len(clusters):,} clusters, and {of_documents}"


def _lines(texts: Iterable[str], max_letters: int) -> tuple[str, ...]:
    """Return texts on one line each, cut, without those that are empty."""
    lines = (" ".join(text[: 4 * max_letters].encode("utf-8", "replace").decode().split()) for text in texts)
    return tuple(line[:max_letters] for line in lines if line)


class ProgramNamer:
    """Runs a command without a shell, and again where it has ended. Raises InputError if there is no such program."""

    prompt = ""

    def __init__(self, command: str, *, model: str | None = None, seconds: float = 60.0) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InputError(f"{command!r} is not a command: {error}", remedy="close its quotation marks") from error
        if not self._words or shutil.which(self._words[0]) is None:
            raise InputError(f"there is no program for {command!r}", remedy="give a command that names clusters")
        self.model, self._seconds = model or command, seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes] = queue.Queue(MOST_LINES)

    def __call__(self, request: NamingRequest) -> str:
        """Return the answer of the program. Raises Unanswered where it gives none in time, or one that is broken."""
        # shorter than what a pipe holds, so that a program that does not read blocks nothing
        line = json.dumps(request.content(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            answer = ENDED
            if self._process is not None and self._lines.empty():  # else it has ended, or says more than it was asked
                answer = self._ask(self._process, line)
            return _name_in(self._ask(self._start(), line) if answer == ENDED else answer)
        except Unanswered:
            self.close()  # what it says from now on would be taken for the next answer
            raise

    def close(self) -> None:
        """End the program, and what it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # a program may not hear of SIGTERM
        process.kill()
        process.wait()
        assert process.stdin is not None
        with suppress(OSError):  # what it has not read
            process.stdin.close()

    def _start(self) -> subprocess.Popen[bytes]:
        self.close()
        self._lines = queue.Queue(MOST_LINES)
        # in a session of its own: Ctrl-C stops the asking, which ends the program
        process = subprocess.Popen(self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        threading.Thread(target=_read, args=(process.stdout, self._lines), daemon=True).start()
        self._process = process
        return process

    def _ask(self, process: subprocess.Popen[bytes], line: bytes) -> bytes:
        """Return the next line of the program, empty if it has ended."""
        assert process.stdin is not None
        with suppress(OSError):  # it has ended: its output says so
            process.stdin.write(line)
            process.stdin.flush()
        try:
            return self._lines.get(timeout=self._seconds)
        except queue.Empty:
            raise Unanswered(f"that got no answer in {self._seconds:g} s") from None


def _read(stream: Any, lines: queue.Queue[bytes]) -> None:
    """Put into a queue what a program says, up to the end of a line; several that come at once stay together.

    Where the queue is full, since it says more than it is asked, nothing more is read.
    """
    text = b""
    with suppress(OSError, queue.Full), stream:
        while piece := stream.read1(MAX_LINE):
            text += piece
            if text.endswith(b"\n") or len(text) > MAX_LINE:
                lines.put_nowait(text)
                text = b""
        if text:
            lines.put_nowait(text)
        lines.put_nowait(ENDED)


def _name_in(line: bytes) -> str:
    """Return the name in an answer: a text, or an object with a name. Raises Unanswered if it is neither."""
    if line == ENDED:
        raise Unanswered("for which the program ended without an answer")
    answer: Any = None
    with suppress(ValueError, RecursionError):
        answer = json.loads(line)
    name = answer.get("name") if isinstance(answer, dict) else answer
    if not isinstance(name, str):
        raise Unanswered("whose answer is not a line of JSON with a name")
    return name
