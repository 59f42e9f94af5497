"""The part of a run that is needed to place new documents: vectorizer, centroids, and what the clusters are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.base.arrays import Integers, Matrix
from doccluster.base.json_values import read_as
from doccluster.base.paths import usable_path
from doccluster.base.plain_values import ShortRepr
from doccluster.base.validation import unit_rows
from doccluster.clustering.task import LinearRule, learn_threshold
from doccluster.errors import DocclusterError, InputError, SchemaError
from doccluster.results.storage import (
    as_damage,
    check_numbers,
    damaged,
    lacking,
    pack_matrix,
    read_arrays,
    read_record,
    unpack_matrix,
    write_arrays,
    write_json,
)
from doccluster.text.analysis import TfidfParameters
from doccluster.text.tokens import check_safe_pattern
from doccluster.vectors.meaning import Meaning

if TYPE_CHECKING:
    from doccluster.results.record import Run
    from doccluster.vectors import TfidfVectorizer

Names = npt.NDArray[np.object_]


@dataclass(frozen=True, eq=False, repr=False)
class ModelLevel(ShortRepr):
    """What places new documents on a level beside that of the clusters."""

    name: str
    labels: tuple[str, ...]
    # of a coarser level the cluster of it that each cluster of the run is part of; of a finer one what each of its
    # clusters is part of on the level above it
    parents: Integers
    centroids: Matrix | None = None  # of a finer level, csr or dense, unit rows


@dataclass(frozen=True, eq=False, repr=False)
class Model(ShortRepr):
    """The part of a fit that is kept."""

    centroids: Matrix  # csr or dense array of shape (k, n_terms), unit rows
    labels: tuple[str, ...]  # the short label of each cluster
    vectorizer: TfidfVectorizer | None  # none when the fit began from a matrix
    terms: Names | None  # object array of shape (n_terms,), as the next
    display_terms: Names | None
    # how documents were read and counted (`reader`, `vectorizer`, ...), for treating new ones alike
    settings: dict[str, Any]
    threshold: float | None = None  # the cosine to the centroid of its cluster below which a document fits no cluster
    rule: LinearRule | None = None  # which cluster a document belongs to; None: the one with the nearest centroid
    meaning: Meaning | None = None  # what the clusters mean: a row for each, where documents had a meaning
    levels: tuple[ModelLevel, ...] = ()  # coarser ones, then finer ones
    record: Path | None = None  # the file that the settings were read from, which may be a stranger's

    @property
    def n_terms(self) -> int:
        """The number of columns."""
        return int(self.centroids.shape[1])


def model_of(run: Run) -> Model:
    """Return the part of a run that places new documents."""
    return Model(
        centroids=run.centroids,
        labels=tuple(cluster.label for cluster in run.clusters),
        vectorizer=run.vectorizer,
        terms=run.vectors.terms,
        display_terms=run.vectors.display_terms,
        settings=dict(run.parameters),
        threshold=_threshold(run),
        rule=run.rule,
        meaning=run.meaning_of_clusters,
        levels=_levels_of_model(run),
        record=run._record,
    )


def _levels_of_model(run: Run) -> tuple[ModelLevel, ...]:
    """Return the levels around the clusters, with all that a new document needs to be placed there."""
    from doccluster.geometry.sums import sums_by_label  # brings in numba, which placing new documents need not

    above = run.levels[len(run.around.coarser)]
    levels = [
        ModelLevel(level.name, tuple(cluster.label for cluster in level.clusters), above.parents_on(level))
        for level in run.around.coarser
    ]
    for level in run.around.finer:
        sums = sums_by_label(run.vectors.documents.unit, level.labels, level.n_clusters)
        centroids = unit_rows(sums, warn=False).astype(run.centroids.dtype)
        names = tuple(cluster.label for cluster in level.clusters)
        levels.append(ModelLevel(level.name, names, level.parents_on(above), centroids))
        above = level
    return tuple(levels)


def _threshold(run: Run) -> float | None:
    """Return the similarity below which new documents fit no cluster; copies of a document do not count."""
    labels, similarity = run.partition.labels, run.similarity
    if run.copy_of is None:
        return learn_threshold(labels, similarity)
    if run.parameters.get("fold_copies"):
        first = run.copy_of == np.arange(run.n_documents)
        return learn_threshold(labels[first], similarity[first])
    has_no_copy = np.bincount(run.copy_of)[run.copy_of] == 1
    return learn_threshold(labels, similarity, counted=has_no_copy)


def save_model(model: Model, folder: Path) -> None:
    """Write a model into an existing folder: model.json, centroids.npz, and vectorizer.npz where there is one."""
    settings = rule = None
    if model.vectorizer is not None:
        arrays, settings = model.vectorizer.state()
        write_arrays(folder / "vectorizer.npz", arrays)
    write_arrays(folder / "centroids.npz", pack_matrix(model.centroids))
    if model.rule is not None:
        parts = {"offsets": model.rule.offsets, "clusters": model.rule.clusters}
        write_arrays(folder / "rule.npz", {**pack_matrix(model.rule.weights), **parts})
        limit = model.rule.max_length if np.isfinite(model.rule.max_length) else None
        rule = {"on_counts": model.rule.on_counts, "max_length": limit}
    if model.meaning is not None:
        write_arrays(folder / "meaning.npz", {"rows": model.meaning.rows, "centre": model.meaning.centre})
    for level in model.levels:
        centroids = {} if level.centroids is None else pack_matrix(level.centroids)
        write_arrays(folder / f"{level.name}.npz", {"parents": level.parents, **centroids})
    # the vectorizer knows its terms
    terms, display = (None, None) if settings is not None else (model.terms, model.display_terms)
    write_json(
        folder / "model.json",
        {
            "kind": "doccluster model",
            "n_clusters": len(model.labels),
            "n_terms": model.n_terms,
            "labels": list(model.labels),
            "settings": model.settings,
            "threshold": model.threshold,
            "rule": rule,
            "levels": [{"name": level.name, "labels": list(level.labels)} for level in model.levels],
            "meaning": None if model.meaning is None else model.meaning.told,
            "vectorizer": settings,
            "terms": _listed(terms),
            "display_terms": _listed(display),
        },
        schema=1 if (model.settings.get("reader") or {}).get("parts") is None else 2,
    )


def load_model(path: str | Path) -> Model:
    """Return the model in a run folder, or in its folder ``model``.

    Raises InputError if there is no model there. Raises SchemaError if a file is damaged, cut short, or from a newer
    version.
    """
    folder = model_folder(Path(path))
    with as_damage(folder / "model.json"):
        return _load_model(folder)


@dataclass(frozen=True)
class VectorizerRecord:
    """The entry of model.json for the vectorizer."""

    schema: int
    parameters: Mapping[str, Any]
    fixed_vocabulary: bool
    n_documents: int
    mean_length: float
    stop_words_removed: tuple[str, ...]


@dataclass(frozen=True)
class RuleRecord:
    """The entry of model.json for the rule that places new documents; without `max_length` there is no limit."""

    on_counts: bool
    max_length: float | None


@dataclass(frozen=True)
class MeaningRecord:
    """The entry of model.json for the meaning of documents."""

    model: str
    digest: str
    dimensions: int
    weight: float
    pooling: str = ""


@dataclass(frozen=True)
class ModelLevelRecord:
    """The entry of model.json for a level beside that of the clusters."""

    name: Literal["section", "topic", "subtopic"]
    labels: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class ModelRecord(ShortRepr):
    """What model.json holds."""

    kind: str
    n_clusters: int
    n_terms: int
    labels: tuple[str, ...]
    settings: Mapping[str, Any]
    vectorizer: VectorizerRecord | None
    terms: tuple[str, ...] | None
    display_terms: tuple[str, ...] | None
    threshold: float | None = None  # an earlier version did not write this and the next
    rule: RuleRecord | None = None
    meaning: MeaningRecord | None = None
    levels: tuple[ModelLevelRecord, ...] = ()


def _load_model(folder: Path) -> Model:
    record = read_record(folder / "model.json", ModelRecord)
    centroids = unpack_matrix(read_arrays(folder / "centroids.npz"), folder / "centroids.npz")
    if centroids.shape != (record.n_clusters, record.n_terms) or len(record.labels) != centroids.shape[0]:
        raise damaged(folder / "centroids.npz", f"it has shape {centroids.shape}, and model.json says otherwise")
    vectorizer = _load_vectorizer(folder, record.vectorizer)
    if vectorizer is None:
        terms, display = _named(record.terms), _named(record.display_terms)
    else:
        terms, display = vectorizer.get_feature_names_out(), vectorizer.display_terms_
    for names in (terms, display):
        if names is not None and len(names) != centroids.shape[1]:
            raise damaged(folder / "model.json", f"it has {len(names)} terms for {centroids.shape[1]} columns")
    rule = None if record.rule is None else _load_rule(folder / "rule.npz", record)
    meaning = (
        None if record.meaning is None else load_meaning(folder / "meaning.npz", record.meaning, len(record.labels))
    )
    settings = dict(record.settings)
    if not isinstance(settings.get("vectorizer") or {}, Mapping):
        raise damaged(folder / "model.json", "the settings of its vectorizer are no mapping")
    return Model(
        *(centroids, record.labels, vectorizer, terms, display, settings, record.threshold, rule, meaning),
        levels=_load_levels(folder, record),
        record=folder / "model.json",
    )


def _load_levels(folder: Path, record: ModelRecord) -> tuple[ModelLevel, ...]:
    """Return the levels; each cluster is part of one that is there."""
    levels, n_above = [], len(record.labels)
    for level in record.levels:
        path = folder / f"{level.name}.npz"
        arrays = read_arrays(path, needs=("parents",))
        is_finer = len(arrays) > 1
        n_parts, n_wholes = (len(level.labels), n_above) if is_finer else (len(record.labels), len(level.labels))
        centroids = unpack_matrix(arrays, path) if is_finer else None
        with as_damage(path):
            parents = check_numbers(arrays, "parents", kinds="i").astype(np.int64)
        has_wrong_shape = centroids is not None and centroids.shape != (n_parts, record.n_terms)
        if parents.size != n_parts or not 0 <= parents.min() <= parents.max() < n_wholes or has_wrong_shape:
            raise damaged(path, "its parts differ in size")
        levels.append(ModelLevel(level.name, level.labels, parents, centroids))
        n_above = n_parts if is_finer else n_above
    return tuple(levels)


def load_meaning(path: Path, record: MeaningRecord, n_rows: int, *, centre: Any = None) -> Meaning:
    """Return the meaning in a file: a row for each of `n_rows`, and the centre unless it is known."""
    arrays = dict(read_arrays(path, needs=("rows",) if centre is not None else ("rows", "centre")))
    arrays.setdefault("centre", centre)
    if arrays["rows"].dtype == np.float16:  # the rows of documents are kept in half the space
        arrays["rows"] = arrays["rows"].astype(np.float32)
    with as_damage(path):
        rows = check_numbers(arrays, "rows", kinds="f", n_dimensions=2).astype(np.float32)
        centre = check_numbers(arrays, "centre", kinds="f").astype(np.float32)
    if rows.shape != (n_rows, record.dimensions) or centre.shape != (record.dimensions,) or not record.weight > 0:
        raise damaged(path, f"rows is an array of shape {rows.shape}")
    return Meaning(rows, centre, record.model, record.digest, record.weight, record.pooling)


def _load_rule(path: Path, record: ModelRecord) -> LinearRule:
    """Return the rule; it has a score for each cluster and no cluster that is not there."""
    arrays = read_arrays(path, needs=("offsets", "clusters"))
    weights = unpack_matrix(arrays, path)
    with as_damage(path):
        offsets = check_numbers(arrays, "offsets", kinds="f")
        clusters = check_numbers(arrays, "clusters", kinds="i")
    if not sparse.issparse(weights) or weights.shape != (record.n_terms, offsets.size) or clusters.size != offsets.size:
        raise damaged(path, "its parts differ in size")
    if clusters.size == 0 or not 0 <= int(clusters.min()) <= int(clusters.max()) < record.n_clusters:
        raise damaged(path, f"it names clusters other than the {record.n_clusters} there are")
    assert record.rule is not None  # who calls has looked
    limit = np.inf if record.rule.max_length is None else record.rule.max_length
    if not limit > 0:
        raise damaged(path.parent / "model.json", f"its rule has max_length {limit}")
    rule_of = (weights, offsets.astype(np.float64), clusters.astype(np.int64))
    return LinearRule(*rule_of, on_counts=record.rule.on_counts, max_length=limit)


def model_folder(path: Path) -> Path:
    """Return the folder that holds model.json: `path` itself, or its folder ``model``."""
    usable_path(path)
    for folder in (path / "model", path):
        if (folder / "model.json").exists():
            return folder
    if (path / "run.json").is_file():
        raise lacking(path / "model" / "model.json")
    problem = "is not there" if not path.exists() else "holds no model.json"
    raise InputError(f"{path} {problem}", remedy="give the folder of a finished run, or its folder model")


def _load_vectorizer(folder: Path, record: VectorizerRecord | None) -> TfidfVectorizer | None:
    if record is None:
        return None
    from doccluster.vectors import TfidfVectorizer
    from doccluster.vectors.vectorizer import VECTORIZER_SCHEMA, parameters_of_state

    if record.schema > VECTORIZER_SCHEMA:
        raise SchemaError(
            f"the vectorizer in {folder / 'model.json'} has schema version {record.schema}, this "
            f"doccluster reads up to {VECTORIZER_SCHEMA}",
            remedy="it was written by a newer version: upgrade doccluster",
        )
    parameters = parameters_of_state(record.parameters)
    try:
        arguments = {name: value for name, value in parameters.items() if value is not None}
        if arguments.pop("dtype", None) not in ("float32", "float64"):
            raise ValueError("parameters of the vectorizer.dtype is neither float32 nor float64")
        read_as(TfidfParameters, arguments, "parameters of the vectorizer")
        # a pattern that takes ages on some texts could come with a model from elsewhere
        pattern = record.parameters.get("token_pattern")
        if isinstance(pattern, str):
            check_safe_pattern(pattern)
    except ValueError as error:
        raise damaged(folder / "model.json", str(error)) from error
    path = folder / "vectorizer.npz"
    arrays = read_arrays(path)
    try:
        for name in arrays:
            check_numbers(arrays, name, kinds="fiu")
        vectorizer = TfidfVectorizer.from_state(arrays, asdict(record))
    except (DocclusterError, KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise damaged(path, str(error).split(";")[0]) from error
    if len(vectorizer.vocabulary_) != len(vectorizer.display_terms_):
        raise damaged(path, "a term occurs twice")
    return vectorizer


def _listed(names: Names | None) -> list[str] | None:
    return None if names is None else [str(name) for name in names]


def _named(names: Sequence[str] | None) -> Names | None:
    return None if names is None else np.array(names, dtype=object)
