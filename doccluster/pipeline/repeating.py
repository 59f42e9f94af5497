"""A run gone back to by its run.json: repeated, with the same labels or what differs, and the texts it was made of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.base.paths import BEFORE_EDITS, usable_path
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress, silent
from doccluster.base.text_table import safe_cell
from doccluster.clustering.algorithms import QUALITIES
from doccluster.corpus import Corpus
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.errors import Argument, InputError
from doccluster.pipeline.editing import read_edits
from doccluster.pipeline.known_topics import Topic, ancestors
from doccluster.pipeline.main_line import make_run
from doccluster.pipeline.run_settings import RecordedRun, RunSettings, encoder_from, recorded_run, recorded_sources
from doccluster.pipeline.source_meaning import column_named, read_documents
from doccluster.results.record import Run
from doccluster.results.run_folder import RunRecord, labels_checksum, load_run
from doccluster.results.storage import read_record

COUNTS = ("n_documents", "n_terms", "n_clusters")


@dataclass(frozen=True, eq=False, repr=False)
class Repetition(ShortRepr):
    """A run made again: whether every document has the same label, and in sentences what is not as it was.

    `corrections` are the topics that names and merges were kept as.
    """

    run: Run
    same_labels: bool
    differences: tuple[str, ...]
    corrections: tuple[Topic, ...] = ()


def repeat_run(
    record: str | Path,
    *,
    source: object = None,
    keep_corrections: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    n_threads: int | None = None,
    command: str | None = None,
    progress: Progress = silent,
) -> Repetition:
    """Return the run that a run.json (or the folder it lies in) describes, made again and compared.

    Parameters
    ----------
    record : path of a run folder or its run.json
    source : path, paths, Corpus, DataFrame or texts, optional
        Where the documents are now. By default where the run found them, else beside the record.
    keep_corrections : bool
        Start from the names and merges made by `label` and `merge`: each such cluster is a topic, with its documents as
        examples. The run is then compared with the corrected one.
    output, overwrite, n_threads, command, progress
        As for `run`.

    Raises
    ------
    InputError
        If the source was not a file (texts in memory, standard input) or is no longer there; if corrections should be
        kept, and there are none, or no topics can grow in such a run.
    SchemaError
        If run.json is damaged or from a newer version.
    """
    if isinstance(record, Run):
        raise InputError("a run in memory has no record", remedy="write it with output=, and give that folder")
    path = usable_path(record)
    folder = path if path.is_dir() else path.parent
    path = path / "run.json" if path.is_dir() else path
    path = path if keep_corrections else _as_made(path)
    then = read_record(path, RunRecord)
    recorded = recorded_run(then.parameters, path)
    resolved = then.parameters.get("resolved") or {}
    settings = _with_files_found(recorded, path, resolved)
    settings = replace(settings, random_state=then.provenance.seed, n_threads=n_threads)
    corrections: dict[Topic, frozenset[str]] = {}
    if keep_corrections:
        ids = None if source is None else read_documents(source, settings, silent, wants_texts=False).documents.ids
        corrections = _corrections(folder, settings.topics or (), ids)
        if settings.labels is not None or settings.algorithm != QUALITIES["default"]:
            raise InputError(
                f"{path} is of given labels or another algorithm, and names and merges are kept by the default one",
                remedy=("leave out ", Argument("keep_corrections")),
            )
        if resolved.get("stories"):
            settings = replace(settings, granularity="stories")
        settings = replace(settings, topics=_with_corrections(settings.topics or (), corrections))
    run = make_run(
        recorded_sources(recorded, path) if source is None else source,
        settings,
        output=output,
        overwrite=overwrite,
        command=command,
        encoded_in=folder,
        progress=progress,
    )
    same = labels_checksum(run) == then.labels_checksum
    n_moved = None if same else _n_moved(run, path.parent)
    # a corrected cluster may get another number among those of its size
    same = same or (keep_corrections and n_moved == 0 and run.n_documents == then.counts.n_documents)
    return Repetition(run, same, tuple(_differences(then, run, same, n_moved)), tuple(corrections))


def _as_made(record: Path) -> Path:
    """Return the run.json of a run before an editor merged its clusters."""
    before = record.parent / BEFORE_EDITS / "run.json"
    return before if before.is_file() else record


def _with_files_found(recorded: RecordedRun, path: Path, resolved: Mapping[str, Any]) -> RunSettings:
    """Return the settings of a record with its files where they are now: they may have moved together with it.

    Raises InputError if embeddings or labels were in memory.
    """
    settings = recorded.settings
    for what, is_lost in (
        ("embeddings", settings.embeddings is settings.encoder is None and resolved.get("meaning")),
        ("labels", settings.labels is None and resolved.get("labels_from")),
    ):
        if is_lost:
            raise InputError(
                f"{path} is of a run on {what} in memory, which cannot be read again",
                remedy="call doccluster.run again",
            )
    if settings.embeddings is not None:
        place = str(recorded.found(settings.embeddings))
        settings = settings if column_named(place) else replace(settings, embeddings=place)
    elif settings.encoder is not None:
        settings = replace(settings, encoder=encoder_from(recorded.directory, settings.encoder))
    if settings.labels is not None:
        settings = replace(settings, labels=str(recorded.found(settings.labels)))
    return settings


def _corrections(folder: Path, topics: Sequence[Topic], ids: Collection[str] | None) -> dict[Topic, frozenset[str]]:
    """Return the clusters of a run folder that an editor named or merged as topics, with documents as examples.

    With each come the names of the topics that it replaces. `topics` are those of the run; a corrected cluster of one
    of them keeps its parent. `ids` are the documents that are still there, where these are not those of the run.
    """
    edits = [edit for edit in read_edits(folder).edits if edit.naming is None]  # those of people
    if not edits:
        raise InputError(f"{folder} has no names or merges to keep", remedy="make them with label and merge")
    names = {edit.label for edit in edits if edit.verb == "label"}
    before, after = load_run(folder / BEFORE_EDITS), load_run(folder)
    parents = {topic.name: topic.parent for topic in topics}
    remaining = set(after.documents.ids if ids is None else ids)
    is_shown = np.ones(after.n_documents, bool) if after.is_other is None else ~after.is_other
    corrections: dict[Topic, frozenset[str]] = {}
    for cluster in after.clusters:
        rows = np.flatnonzero(after.partition.labels == cluster.cluster)
        parts = np.unique(before.partition.labels[rows])
        examples = [after.documents.ids[row] for row in rows[is_shown[rows]].tolist()]
        examples = [example for example in examples if example in remaining]
        if not examples or (parts.size == 1 and cluster.name not in names):
            continue
        name = cluster.name or cluster.label
        former = {name, *(before.clusters[part].name for part in parts.tolist())} & parents.keys()
        outermost = min(sorted(former), key=lambda topic: len(ancestors(topic, parents)), default=None)
        parent = None if outermost is None else parents[outermost]
        corrections[Topic(name, (), tuple(examples), parent)] = frozenset(former)
    if not corrections:
        raise InputError("no document of the corrected clusters is in the source", remedy="leave out the corrections")
    return corrections


def _with_corrections(topics: Sequence[Topic], corrections: Mapping[Topic, frozenset[str]]) -> tuple[Topic, ...]:
    """Return topics of which some are replaced by corrected ones; parts of what is replaced stay its parts."""
    names = {name: topic.name for topic, replaced in corrections.items() for name in replaced}
    both = [*(topic for topic in topics if topic.name not in names), *corrections]
    parents = [None if topic.parent is None else names.get(topic.parent, topic.parent) for topic in both]
    return tuple(
        replace(topic, parent=None if parent == topic.name else parent)
        for topic, parent in zip(both, parents, strict=True)
    )


def _differences(then: RunRecord, run: Run, same: bool, n_moved: int | None) -> Iterator[str]:
    provenance = then.provenance
    if provenance.checksum != run.provenance.checksum:
        yield "the data are not the same: their checksums differ"
    before, now = (
        (parameters.get("resolved") or {}).get("meaning") for parameters in (then.parameters, run.parameters)
    )
    if before != now:
        yield "the embeddings are not the same"
    if provenance.interrupted:
        yield "the first run was interrupted"
    for name, version in provenance.versions.items():
        if (now := run.provenance.versions.get(name)) != version:
            yield f"{name} was {version}, is {now}"
    sizes = (run.n_documents, run.vectors.n_terms, run.n_clusters)
    for name, value in zip(COUNTS, sizes, strict=True):
        if (before := getattr(then.counts, name)) != value:
            yield f"{name.removeprefix('n_')}: {before:,} then, {value:,} now"
    if not same:
        moved = f"{n_moved or 0:,} of {run.n_documents:,} documents are in another cluster"
        yield "the labels differ" if n_moved is None else moved


def _n_moved(run: Run, folder: Path) -> int | None:
    """Return how many documents are not in the cluster that matches theirs of then; None where that was not kept."""
    path = folder / "assignments.csv"
    if not path.is_file():
        return None
    then = pd.read_csv(path, dtype=str, keep_default_na=False).set_index("id")["cluster"]
    now = pd.Series(run.partition.labels.astype(str), index=[safe_cell(name) for name in run.documents.ids])
    both = then[then != ""].to_frame("then").join(now.rename("now"), how="inner")
    stays = pd.Series(True, index=both.index)
    for number, match in (("then", "now"), ("now", "then")):
        most = both.groupby(number)[match].agg(lambda numbers: numbers.mode()[0])
        stays &= both[number].map(most) == both[match]
    return int((~stays).sum())


def texts_of_run(folder: str | Path, run: Run) -> Sequence[str]:
    """Return the text of each document of a run, in its order; the errors are those of `corpus_of_run`."""
    return PickedTexts(corpus_of_run(run, folder).texts, run.documents.positions)


def corpus_of_run(run: Run, folder: str | Path = ".") -> Corpus:
    """Return the documents of a run, read again from where it found them, else from beside its folder.

    Raises InputError if the run was not made of files, if these are gone or have changed, or if they hold no texts.
    """
    path = _as_made(Path(folder) / "run.json")
    recorded = recorded_run(run.parameters, path)
    documents_read = read_documents(recorded_sources(recorded, path), recorded.settings, silent, wants_texts=True)
    assert documents_read.corpus is not None  # it was looked for
    if documents_read.checksum != run.provenance.checksum:
        raise InputError(
            "the documents have changed since the run: their checksums differ", remedy="make the run again"
        )
    return documents_read.corpus
