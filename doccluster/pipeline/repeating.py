"""A run gone back to by its run.json: repeated, with the same labels or what differs, and the texts it was made of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.base.named_places import Announce, Record
from doccluster.base.parameter_fields import parameters_of
from doccluster.base.paths import BEFORE_EDITS, usable_path
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress, silent
from doccluster.base.text_table import safe_cell
from doccluster.clustering.algorithms import QUALITIES, get_algorithm
from doccluster.corpus import Corpus
from doccluster.corpus.reader_options import SourceParameters
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.errors import Argument, DocclusterError, InputError
from doccluster.pipeline.editing import read_edits
from doccluster.pipeline.known_topics import Topic, ancestors
from doccluster.pipeline.main_line import make_run
from doccluster.pipeline.run_arguments import RunWork
from doccluster.pipeline.run_settings import MAY_BE_IN_MEMORY, RecordedRun, RunSettings, recorded_run, recorded_sources
from doccluster.pipeline.source_meaning import column_named, read_documents
from doccluster.results.record import Run
from doccluster.results.run_folder import DocumentsRecord, RunRecord, labels_checksum, load_run
from doccluster.results.storage import read_record

FILES_OF_READER = ("labels_file", "classes", "terms")
LIMITS_OF_READER = ("max_expanded_size", "max_document_length")
COUNTS = ("n_documents", "n_terms", "n_clusters")


@dataclass(frozen=True, eq=False, repr=False)
class Repetition(ShortRepr):
    """A run made again: whether every document has the same label, and in sentences what is not as it was.

    `corrections` are the topics that names and merges were kept as, `output` is the folder that was written.
    """

    run: Run
    same_labels: bool
    differences: tuple[str, ...]
    corrections: tuple[Topic, ...] = ()
    output: Path | None = None


def repeat_run(
    record: str | Path,
    *,
    source: object = None,
    embeddings: object = None,
    encoder: object = None,
    labels: object = None,
    labels_file: str | Path | None = None,
    max_expanded_size: int | str | None = None,
    max_document_length: int | None = None,
    max_memory: int | str | None = None,
    keep_corrections: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    n_threads: int | None = None,
    command: str | None = None,
    announce: Announce | None = None,
    progress: Progress = silent,
) -> Repetition:
    """Return the run that a run.json (or the folder it lies in) describes, made again and compared.

    Parameters
    ----------
    record : path of a run folder or its run.json
    source : path, paths, Corpus, DataFrame or texts, optional
        Where the documents are now. By default where the run found them, else beside the record.
    embeddings, encoder, labels, labels_file, max_expanded_size, max_document_length, max_memory : optional
        In place of what the record names. Of a record an address, a path of another machine and an encoder that may run
        code are not taken, and a limit not where it is higher than the default.
    keep_corrections : bool
        Start from the names and merges made by `label` and `merge`: each such cluster is a topic, with its documents as
        examples. The run is then compared with the corrected one.
    output, overwrite, n_threads, command, progress
        As for `run`. Where documents, embeddings or labels are others than those of the record, nothing is written
        unless they are named here.
    announce : callable, optional
        Called with a sentence on each file that the record names, before it is read.

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
    named = {
        "source": source,
        "embeddings": embeddings,
        "encoder": encoder,
        "labels": labels,
        "labels_file": labels_file,
        "max_expanded_size": max_expanded_size,
        "max_document_length": max_document_length,
        "max_memory": max_memory,
    }
    anew = {argument: value for argument, value in named.items() if value is not None}
    documents, settings = _as_named(recorded, resolved, recorded.record(anew, announce))
    settings = replace(settings, random_state=then.provenance.seed, n_threads=n_threads)
    if resolved.get("text_columns"):
        settings = replace(settings, reader={**_columns_then(path.parent), **(settings.reader or {})})
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
        documents,
        settings,
        RunWork(output=output, overwrite=overwrite, command=command, progress=progress),
        may_write=lambda run: not _to_be_named(then, run, path, settings, anew),
        encoded_in=folder,
    )
    same = labels_checksum(run) == then.labels_checksum
    n_moved = None if same else _n_moved(run, path.parent)
    # a corrected cluster may get another number among those of its size
    same = same or (keep_corrections and n_moved == 0 and run.n_documents == then.counts.n_documents)
    differences, written = [*_differences(then, run, same, n_moved)], None if output is None else Path(output)
    lacking = None if written is None else _to_be_named(then, run, path, settings, anew)
    if lacking is not None:
        differences.append(f"nothing was written to {written}: name the {lacking} anew to write what differs")
        written = None
    return Repetition(run, same, tuple(differences), tuple(corrections), written)


def _as_made(record: Path) -> Path:
    """Return the run.json of a run before an editor merged its clusters."""
    before = record.parent / BEFORE_EDITS / "run.json"
    return before if before.is_file() else record


def _as_named(recorded: RecordedRun, resolved: Mapping[str, Any], record: Record) -> tuple[Any, RunSettings]:
    """Return the source and the settings as they may be used, with files where they are now."""
    settings, anew = recorded.settings, record.anew
    if {"embeddings", "encoder"} & anew.keys():
        settings = replace(settings, embeddings=None, encoder=None)
    for what, is_lost in (
        ("embeddings", settings.embeddings is settings.encoder is None and resolved.get("meaning")),
        ("labels", settings.labels is None and resolved.get("labels_from")),
    ):
        if is_lost and not {what, "encoder" if what == "embeddings" else what} & anew.keys():
            raise InputError(
                f"{record.path} is of a run on {what} in memory, which cannot be read again",
                remedy="call doccluster.run again",
            )
    source, reader = _source_and_reader(recorded, record, FILES_OF_READER)
    files = {name: record.take(name, getattr(settings, name)) for name in MAY_BE_IN_MEMORY}
    options, limit = get_algorithm(settings.algorithm).options, (settings.clustering or {}).get("max_memory")
    limit = record.take("max_memory", limit, usual=options["max_memory"].default if "max_memory" in options else None)
    record.check()
    if settings.embeddings is not None and column_named(files["embeddings"]):
        files["embeddings"] = settings.embeddings
    if limit is not None:
        settings = replace(settings, clustering={**(settings.clustering or {}), "max_memory": limit})
    return source, replace(settings, reader=reader or None, **files)


def _source_and_reader(recorded: RecordedRun, record: Record, files: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    """Return the source of a run, and how to read it, as they may be used; `files` are those to read beside it."""
    names = recorded_sources(recorded) if "source" not in record.anew else ()
    reader, usual = dict(recorded.settings.reader or {}), parameters_of(SourceParameters)
    source = record.take("source", names)
    for argument in (*FILES_OF_READER, *LIMITS_OF_READER):
        value = reader.pop(argument, None)
        if isinstance(value, tuple | list):  # the classes themselves
            reader[argument] = value
        elif argument not in FILES_OF_READER or argument in files:
            reader[argument] = record.take(argument, value, usual=usual[argument].default)
    return source, {name: value for name, value in reader.items() if value is not None}


def _to_be_named(then: RunRecord, run: Run, path: Path, settings: RunSettings, anew: Mapping[str, Any]) -> str | None:
    """Return the first argument whose files are not those that a record was made of, and that no person named.

    A record could name any file of this machine, and its contents would stand in what is written.
    """
    if "source" not in anew and then.provenance.checksum != run.provenance.checksum:
        return "source"
    argument = "encoder" if settings.embeddings is None else "embeddings"
    if run.vectors.meaning is not None and argument not in anew and not column_named(settings.embeddings):
        of_record = (then.parameters.get("resolved") or {}).get("meaning") or {}
        if of_record.get("digest") != run.vectors.meaning.digest:
            return argument
    # the checksum is of ids and texts, or of the numbers of a matrix, whose names lie beside it
    beside = {"labels": settings.labels, **{name: (settings.reader or {}).get(name) for name in FILES_OF_READER}}
    if run.vectorizer is None:
        beside["source"] = path
    to_compare = next((name for name, value in beside.items() if value is not None and name not in anew), None)
    if to_compare is None:
        return None
    try:
        before = load_run(path.parent)
    except InputError:  # nothing to compare with
        return to_compare
    names, names_before = (
        (list(made.documents.ids), dict(made.documents.labels), None if terms is None else list(terms))
        for made, terms in ((run, run.vectors.terms), (before, before.vectors.terms))
    )
    return None if names == names_before else to_compare


def _columns_then(folder: Path) -> dict[str, str]:
    """Return, as a reader's parameters, that no column holds dates or sources which no document of a run had."""
    with suppress(DocclusterError):  # where the run is not there, its record is enough
        documents = read_record(folder / "model/documents.json", DocumentsRecord).documents
        columns = {"date_column": documents.dates, "source_column": documents.sources}
        return {name: "" for name, values in columns.items() if not any(values)}
    return {}


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


def texts_of_run(run: Run, *, source: object = None, announce: Announce | None = None) -> Sequence[str]:
    """Return the text of each document of a run, in its order; arguments and errors are those of `corpus_of_run`."""
    return PickedTexts(corpus_of_run(run, source=source, announce=announce).texts, run.documents.positions)


def corpus_of_run(run: Run, *, source: object = None, announce: Announce | None = None) -> Corpus:
    """Return the documents of a run, read again from where it found them, else from beside its folder.

    `source`: where they are now, if that is elsewhere. `announce`: called with a sentence on each file that the record
    of the run names, before it is read.

    Raises InputError if the run was not made of files, if these are gone or have changed, or if they hold no texts,
    NamedByRecord if a person has to name them.
    """
    path = _as_made(run._record or Path("run.json"))
    recorded = recorded_run(run.parameters, path)
    record = recorded.record({} if source is None else {"source": source}, announce, is_own=run._record is None)
    documents, reader = _source_and_reader(recorded, record, ())
    record.check()
    # files beside the documents hold no texts; a truth may be in them, and says which columns hold none
    columns = recorded.settings.truth_columns
    reader = {**({"label_columns": columns} if columns else {}), **reader}
    settings = replace(recorded.settings, reader=reader, truth=None, embeddings=None)
    documents_read = read_documents(documents, settings, silent, wants_texts=True)
    assert documents_read.corpus is not None  # it was looked for
    if documents_read.checksum != run.provenance.checksum:
        raise InputError(
            "the documents have changed since the run: their checksums differ", remedy="make the run again"
        )
    return documents_read.corpus
