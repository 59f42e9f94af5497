"""`score` judges a partition by one measure, `evaluate` by many; both check their input here."""

from __future__ import annotations

import itertools
import platform
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Flags, Floats
from doccluster.base.choices import METRICS
from doccluster.base.package import __version__
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import check_choice
from doccluster.corpus.source_rows import SourceRows, names_of
from doccluster.errors import Argument, DocclusterWarning, InputError, NotComputable, worded
from doccluster.geometry import ClusterEvidence, Documents, as_documents
from doccluster.geometry.partition import Partition
from doccluster.measures.registry import Measure, get_measure, get_measures, list_measures, undefined
from doccluster.measures.scores import PARTS, Evaluation, Score
from doccluster.measures.truth import EvidenceStore, TruthColumn, subset, truth_columns

MAX_PAIRED_CLUSTERS = 1_000  # of which all pairs are compared without being asked: tables of 8 MB each
PAIRS_OF_CLUSTERS = ("adherence", "ics", "hubert", "ray_turi", "sd_dis", "davies_bouldin", "pbm", "gdi")
PAIRWISE_SECONDS = 10.0  # what `evaluate` spends on all pairs without being asked
NOISE = ("-1", "-1.0")  # the label that DBSCAN and HDBSCAN give what is in no cluster
MAX_VALUE = 1e70  # of Euclidean rows: the squares of their squared distances have to be numbers


@at_the_door
def score(
    name: str,
    labels: npt.ArrayLike,
    *,
    truth: object = None,
    vectors: object = None,
    metric: str = "cosine",
    variant: str | None = None,
    noise: object = None,
    strict: bool = False,
    terms: object = None,
    n_threads: int | None = None,
    max_memory: str | int | None = None,
    progress: Progress = silent,
    **parameters: object,
) -> Score:
    """Judge a partition by one measure.

    Parameters
    ----------
    name : str
        A measure, variant or alias; `list_measures` has them all.
    labels : labels of shape (n_documents,), or a Run
        The clusters; any hashable labels, none missing. Only labels that occur count.
    truth : labels, optional
        The classes, for external measures. None, NaN and empty text are missing: those documents are left out and
        counted in the note. A list, set or tuple of labels is a document with several. Of a run also the name of a
        label column. A Series or DataFrame is taken by its index, where the run or the labels have the same names.
    vectors : sparse or dense matrix of shape (n_documents, n_terms), or DocumentVectors, optional
        For all other measures. Cosine measures use a normalised copy of rows that are not of unit length.
    metric : {"cosine", "euclidean", "sqeuclidean"}
        The distance between documents; the Euclidean ones take rows as they are.
    variant : str, optional
        A variant of the measure: ``score("nmi", ..., variant="strehl")``.
    noise : label, optional
        Documents with this label, such as -1, are left out.
    strict : bool
        Raise NotComputable where the value is undefined instead of returning nan with a note.
    terms : optional
        For topic measures: the top terms of each cluster (column numbers), instead of those of largest weight.
    n_threads, max_memory, progress
        For measures of all pairs of documents.
    **parameters
        What the measure takes besides: ``beta``, ``base``, ``average``, ``mapping``, ``q`` ...

    Returns
    -------
    Score
        With `value`, `status`, `notes`, and those of `per_cluster`, `per_class`, `per_document`, `per_pair` that the
        measure has.

    Raises
    ------
    InputError
        If the measure or a parameter is unknown, lengths differ, vectors are not finite, or what it needs is missing.

    Examples
    --------
    >>> round(score("purity", [0, 0, 1, 1], truth=["a", "a", "a", "b"]).value, 2)
    0.75
    """
    record = get_measure(name, variant=variant)
    record.check_parameters(parameters)
    check_choice(metric, METRICS, "metric")
    options: dict[str, Any] = {"terms": terms, "n_threads": n_threads, "max_memory": max_memory, "progress": progress}
    is_external = record.family == "external"
    labels, truth, vectors = _of_run(labels, truth, vectors)
    # a measure gets the evidence of its family alone
    store, dropped = _prepare(
        labels,
        truth if is_external else None,
        None if is_external else vectors,
        metric=metric,
        noise=noise,
        **options,
        warn=False,
        several_labels=record.several_labels,
    )
    _require(store, [record])
    if len(store.columns) > 1:
        raise InputError(
            f"has {len(store.columns)} columns", argument="truth", remedy="score() takes one, evaluate() takes several"
        )
    column = store.columns[0] if is_external else None
    dropped += () if noise is not None else _about_noise(store.partition, warn=False)
    return _with_notes(_one_score(store, record, column, parameters, strict=strict), dropped)


@at_the_door
def evaluate(
    labels: object,
    *,
    truth: object = None,
    vectors: object = None,
    measures: str | Iterable[str] | Mapping[str, Mapping[str, object]] | None = None,
    metric: str = "cosine",
    terms: object = None,
    noise: object = None,
    strict: bool = False,
    pairwise_seconds: float = PAIRWISE_SECONDS,
    evidence: ClusterEvidence | None = None,
    n_threads: int | None = None,
    max_memory: str | int | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Judge a partition by many measures; each evidence object is built once.

    Parameters
    ----------
    labels, vectors, metric, terms, noise, strict, n_threads, max_memory, progress
        As for `score`.
    truth : labels, or a mapping or DataFrame of column name to labels, optional
        External measures have one score per column.
    measures : names, a mapping of name to parameters, or "all", optional
        By default every measure that the input allows, without variants and aliases. Those that look at all pairs of
        documents are left out if together they would take one processor longer than `pairwise_seconds`: their score is
        nan, and the note says how long it would take and that they can be asked for by name. So the scores do not
        depend on the number of threads.
    pairwise_seconds : float
        See `measures`.
    evidence : ClusterEvidence, optional
        In place of `vectors`: what is known of the same partition, in the same metric, is not computed again.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If names are unknown (all of them are listed), or a measure asked for by name needs what was not given.

    Warns
    -----
    DocclusterWarning
        If rows are empty or had to be normalised, or documents have the label -1, and no evidence was given.

    Examples
    --------
    >>> result = evaluate([0, 0, 1, 1], truth=["a", "a", "a", "b"], measures=["purity", "rand"])
    >>> [(s.name, s.value) for s in result]
    [('purity', 0.75), ('rand', 0.5)]
    """
    check_choice(metric, METRICS, "metric")
    options = {"terms": terms, "n_threads": n_threads, "max_memory": max_memory, "progress": progress}
    requested = _requested(measures)
    labels, truth, vectors = _of_run(labels, truth, vectors)
    store, dropped = _prepare(
        labels,
        truth,
        vectors if evidence is None else evidence.documents,
        metric=metric,
        noise=noise,
        **options,
        warn=evidence is None,  # who made the evidence knows the rows; the scores say it all the same
        evidence=evidence,
        several_labels=any(record.several_labels for record in requested or ()),
    )
    if not store.columns and store.documents is None:
        raise InputError(
            "nothing to judge by", remedy=("give ", Argument("truth"), ", ", Argument("vectors"), ", or both")
        )
    notes = () if noise is not None else _about_noise(store.partition, warn=evidence is None)
    skipped: dict[Measure, str] = {}
    if requested is None:
        candidates = list_measures(counted=None if measures == "all" else True)
        requested = {record: {} for record in candidates if store.missing_for(record) is None}
        skipped = _not_computed(store, list(requested), pairwise_seconds)
    _require(store, list(requested))
    return Evaluation(
        tuple(_scores(store, requested, skipped, dropped, strict=strict)),
        clusters=store.partition.names,
        classes={column.name: column.truth.names for column in store.columns},
        coverage={column.name: column.coverage for column in store.columns},
        provenance={
            "doccluster": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "metric": store.metric if store.documents is not None else None,
            "n_documents": store.partition.n_documents,
            "n_clusters": store.partition.n_clusters,
            "n_terms": None if store.documents is None else store.documents.n_terms,
        },
        notes=notes,
    )


def _of_run(labels: object, truth: object, vectors: object) -> tuple[Any, Any, Any]:
    """Return labels, truth and vectors row for row: by name, where the labels are a run or have names."""
    if hasattr(labels, "evidence_for"):
        of_run: tuple[Any, Any, Any] = labels.evidence_for(truth, vectors)
        return of_run
    names = names_of(labels)
    if names is None:
        return labels, truth, vectors
    rows = SourceRows(len(names), np.arange(len(names)), names)
    return labels, rows.in_order(truth, "truth"), rows.in_order(vectors, "vectors")


def _requested(
    measures: str | Iterable[str] | Mapping[str, Mapping[str, object]] | None,
) -> dict[Measure, Mapping[str, object]] | None:
    """Return the measures that are named, with their parameters; None for the default set."""
    if measures is None or measures == "all":
        return None
    names = {measures: {}} if isinstance(measures, str) else measures
    parameters = dict(names) if isinstance(names, Mapping) else {name: {} for name in names}
    records = dict(zip(get_measures(parameters), parameters.values(), strict=True))
    for record, arguments in records.items():
        record.check_parameters(arguments)
    return records


def _not_computed(store: EvidenceStore, records: list[Measure], limit: float) -> dict[Measure, str]:
    """Return the measures that are left out by default, with the reason."""
    reasons = {record: "ask for it by name" for record in records if record.by_name_only}
    pairwise = [record for record in records if record.evidence_for(store.metric) == "pairwise"]
    seconds = store.pairwise.estimate_seconds() if pairwise else 0.0
    if seconds > limit:
        reasons.update(dict.fromkeys(pairwise, f"needs ~{_about(seconds)}, ask for it by name"))
    n_clusters = store.partition.n_clusters
    if n_clusters > MAX_PAIRED_CLUSTERS:
        by_vectors = (record for record in records if record.family != "external")
        paired = [record for record in by_vectors if record.name.startswith(PAIRS_OF_CLUSTERS)]
        reasons.update(dict.fromkeys(paired, f"compares all pairs of {n_clusters:,} clusters, ask for it by name"))
    return reasons


def _about(seconds: float) -> str:
    return f"{max(seconds, 1):,.0f} s" if seconds < 600 else f"{seconds / 60:,.0f} min"


def _require(store: EvidenceStore, records: list[Measure]) -> None:
    lacking: dict[str, list[str]] = {}
    for record in records:
        needed = store.missing_for(record)
        if needed:
            lacking.setdefault(needed, []).append(record.name)
    if lacking:
        wishes: list[tuple[str | Argument, ...]] = [
            ("; ", f"{', '.join(names)}: give ", Argument(needed)) for needed, names in lacking.items()
        ]
        raise InputError(("something is missing for ", *[*itertools.chain(*wishes)][1:], "."))


def _scores(
    store: EvidenceStore,
    chosen: Mapping[Measure, Mapping[str, object]],
    skipped: Mapping[Measure, str],
    dropped: tuple[str, ...],
    *,
    strict: bool,
) -> Iterator[Score]:
    """Yield the scores of measures, external ones against each column of truth; those that are skipped say why."""
    for number, (record, parameters) in enumerate(chosen.items()):
        store.progress("judge", number, len(chosen))
        columns: list[TruthColumn | None] = [*store.columns] if record.family == "external" else [None]
        for column in columns:
            if record in skipped:
                name = None if column is None else column.name
                yield Score(record, float("nan"), notes=(skipped[record],), truth=name, is_skipped=True)
            else:
                yield _with_notes(_one_score(store, record, column, parameters, strict=strict), dropped)


def _one_score(
    store: EvidenceStore, record: Measure, column: TruthColumn | None, parameters: Mapping[str, object], *, strict: bool
) -> Score:
    if column is not None and column.truth.n_documents == 0 and not record.several_labels:
        values = undefined("no document has exactly one label")
    else:
        kind = record.evidence_for(store.metric)
        evidence: Any = getattr(store, kind) if column is None else column.contingency_table
        try:
            values = record.compute(evidence, **parameters)
        except NotComputable as reason:
            values = undefined(str(reason))
    if strict and np.isnan(values.value):
        raise NotComputable(f"{record.name} is undefined: {values.note or 'nothing to measure'}.")
    # a measure that counts several labels leaves fewer documents out than the others
    left_out = None if column is None else column.note_for(several_labels=record.several_labels)
    result = Score(
        record,
        float(values.value),
        **{part: getattr(values, part) for part in PARTS},
        notes=tuple(filter(None, (values.note, left_out))),
        standard_error=values.standard_error,
        truth=None if column is None else column.name,
        parameters=parameters,
    )
    return result if column is None else _on_all_clusters(result, column, store.partition)


def _with_notes(result: Score, notes: tuple[str, ...]) -> Score:
    return replace(result, notes=result.notes + notes)


def _on_all_clusters(result: Score, column: TruthColumn, partition: Partition) -> Score:
    """Return the score with a row for every cluster; nan for those without a usable document."""
    if column.clusters.size == partition.n_clusters:
        return result

    def spread(values: Floats | None) -> Floats | None:
        if values is None:
            return None
        full = np.full((partition.n_clusters, *values.shape[1:]), np.nan)
        full[column.clusters] = values
        return full

    return replace(result, per_cluster=spread(result.per_cluster), per_pair=spread(result.per_pair))


def _prepare(
    labels: Any,
    truth: object,
    vectors: object,
    *,
    metric: str,
    noise: object,
    warn: bool,
    several_labels: bool,
    evidence: ClusterEvidence | None = None,
    **options: Any,
) -> tuple[EvidenceStore, tuple[str, ...]]:
    """Check all input; return the store of evidence, and notes on documents that were dropped or are empty."""
    partition = Partition.from_labels(labels, name="labels")
    keep: Flags | None = None
    notes: tuple[str, ...] = ()
    if noise is not None:
        keep = ~_has_label(partition, *(NOISE if str(noise) in NOISE else [noise]))
        if keep.all() and str(noise) not in NOISE:
            there = ", ".join(map(str, partition.names[:10])) + (", ..." if partition.n_clusters > 10 else "")
            raise InputError(
                "is the label of no document", argument="noise", received=noise, remedy=f"the labels are {there}"
            )
        if not keep.any():
            raise InputError(f"all documents have the noise label {noise!r}", remedy="nothing is left to judge")
        notes = (f"without {int(np.count_nonzero(~keep)):,} documents labelled noise",)
    documents = None if vectors is None else _check_vectors(vectors, partition.n_documents)
    # noise goes before the rows are looked at: it may be empty, or of another length
    if keep is not None:
        partition, _ = subset(partition, keep)
        documents = None if documents is None else documents.take(np.flatnonzero(keep))
    columns = [] if truth is None else truth_columns(truth, partition, keep, several_labels=several_labels)
    if documents is not None:
        notes += _about_rows(documents, metric, warn=warn)
    if evidence is not None and keep is None:
        _check_evidence(evidence, partition, metric)
        options["evidence"] = evidence
    return EvidenceStore(partition, columns, documents, metric, **options), notes


def _has_label(partition: Partition, *labels: object) -> Flags:
    """Return which documents have one of some labels; a number is also what it is as text."""
    texts = set(map(str, labels))
    return np.array([name in labels or str(name) in texts for name in partition.names])[partition.labels]


def _about_noise(partition: Partition, *, warn: bool) -> tuple[str, ...]:
    """Say how many documents a density-based algorithm left out of all clusters: judged, they are one cluster."""
    n_noise = int(np.count_nonzero(_has_label(partition, *NOISE)))
    if not 0 < n_noise < partition.n_documents:
        return ()
    documents, them = ("1 document has", "it") if n_noise == 1 else (f"{n_noise:,} documents have", "them")
    words = f"{documents} the label -1; ", Argument("noise", -1), f" leaves {them} out."
    if warn:
        warnings.warn(DocclusterWarning(*words), stacklevel=3)
    return (worded(words),)


def _check_evidence(evidence: ClusterEvidence, partition: Partition, metric: str) -> None:
    if evidence.metric != metric:
        raise InputError(
            f"is in metric={evidence.metric!r}, the measures in {metric!r}", argument="evidence", remedy="give the same"
        )
    if not np.array_equal(evidence.labels, partition.labels):
        raise InputError(
            "is of other clusters than labels", argument="evidence", remedy="give that of the same partition"
        )


def _check_vectors(vectors: object, n_documents: int) -> Documents:
    documents = as_documents(vectors, name="vectors")
    if documents.n_documents != n_documents:
        raise InputError(
            f"has {n_documents} values, vectors has {documents.n_documents} rows",
            argument="labels",
            expected="one per document",
        )
    return documents


def _about_rows(documents: Documents, metric: str, *, warn: bool) -> tuple[str, ...]:
    """Say what is unusual about the rows: some are empty, or count as unit though they are not."""
    values = documents.matrix.data if documents.is_sparse else documents.matrix
    if metric != "cosine" and max(float(values.max(initial=0)), -float(values.min(initial=0))) > MAX_VALUE:
        raise InputError(
            "has values too large for squared distances",
            argument="vectors",
            remedy=f"scale them to below {MAX_VALUE:g}",
        )
    empty = documents.is_zero if metric == "cosine" else documents.squared_norms == 0
    notes = []
    if empty.any():
        notes.append(f"{np.count_nonzero(empty):,} document(s) without terms: similarity 0 to all others")
    if metric == "cosine" and not documents.has_unit_rows:
        notes.append("rows are not of unit length: the cosine is that of a normalised copy")
    if warn:
        for note in notes:
            warnings.warn(f"vectors: {note}.", DocclusterWarning, stacklevel=4)
    return tuple(notes)
