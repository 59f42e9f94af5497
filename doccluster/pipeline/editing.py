"""Names by people and models, and merges: a log in the run folder, applied to the run as it was made, kept there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from operator import index
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Matrix
from doccluster.base.paths import BEFORE_EDITS, EDITS, ENCODED, usable_path
from doccluster.base.progress import Progress, silent
from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from doccluster.labeling import ClusterDescription, place_documents
from doccluster.labeling.profiles import Namer
from doccluster.measures import Evaluation, evaluate
from doccluster.pipeline.model_names import Naming, RunInterrupted, answers_writer, ask_names, read_answers, with_names
from doccluster.pipeline.naming import describe_texts, vectorized_of, without_other
from doccluster.results.record import Run
from doccluster.results.run_folder import Writer, load_run, save_base, save_run
from doccluster.results.shares import judge_documents
from doccluster.results.storage import read_record, write_json
from doccluster.results.tree import Levels, TreeLevel

MAX_LABEL_LETTERS = 200


@dataclass(frozen=True)
class Edit:
    """One thing an editor did; `clusters` are numbered as they were when it was done. `naming`: names by a model."""

    verb: Literal["label", "merge", "name"]
    clusters: tuple[int, ...]
    label: str | None = None
    naming: Naming | None = None


@dataclass(frozen=True)
class EditLog:
    """What edits.json holds: what was done, the first thing first."""

    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Edited:
    """A run after an edit was made or taken back."""

    run: Run
    edit: Edit
    clusters: tuple[int, ...]  # those that it changed, as they are numbered in the run


def label_cluster(run: Run | str | Path, cluster: int | Mapping[int, str] | Namer, name: str | None = None) -> Run:
    """Return a run with another name for a cluster, or for several, from a mapping of numbers to names.

    In place of a number also a function that names all clusters, as for `Run.rename_with`.

    A run in memory stays as it is, and the folder of a run is written again. Raises InputError if there is no such
    run or cluster, or the name cannot be one or is taken.
    """
    if callable(cluster):
        by_model, naming = name_by_model(run, cluster)
        if naming.n_left:
            raise RunInterrupted(by_model)
        return by_model
    names = cluster if isinstance(cluster, Mapping) else {cluster: name}
    edited: Run = load_run(run)
    for number, label in names.items():
        edited = edit_run(edited if isinstance(run, Run) else run, Edit("label", (_whole(number),), label)).run
    return edited


def merge_clusters(run: Run | str | Path, *clusters: object) -> Run:
    """Return a run with several clusters made one; clusters are numbered by size again.

    What changes is as for `label`. Raises InputError if there is no such run or cluster, or fewer than two.
    """
    numbers = clusters[0] if len(clusters) == 1 and isinstance(clusters[0], Iterable) else clusters
    return edit_run(run, Edit("merge", tuple(map(_whole, numbers)))).run


def undo(run: str | Path) -> Run:
    """Return the run of a folder without its last label or merge. Raises InputError if there is none."""
    if isinstance(run, Run):
        raise InputError("a run in memory is never changed", remedy="use the value from before label or merge")
    return undo_edit(run).run


def _whole(number: Any) -> int:
    try:
        return index(number)
    except TypeError:
        raise InputError(f"{number!r} is not the number of a cluster", remedy="give whole numbers from 0 on") from None


def edit_run(run: Run | str | Path, edit: Edit) -> Edited:
    """Name a cluster or merge clusters of a run or in a run folder, and return the run as it then is.

    In a folder the tables, the model and the report (where there is one) are rewritten, whole or not at all.

    Raises InputError if there is no such run or cluster, or the label cannot be one. Raises SchemaError if a file of
    the folder is damaged.
    """
    if isinstance(run, Run):
        edited, clusters = apply_edits(run, (edit,))
        words = f"Edited by hand: {edit.verb} {' '.join(map(str, edit.clusters))} {edit.label or ''}".rstrip()
        edited = replace(edited, notes=(*edited.notes, f"{words}."))
    else:
        place = Path(run)
        edited, clusters = _write(place, EditLog((*read_edits(place).edits, edit)))
    return Edited(edited, edit, clusters)


def name_by_model(run: Run | str | Path, namer: Namer, *, progress: Progress = silent) -> tuple[Run, Naming]:
    """Return a run, written again where it is in a folder, with the names that a model chooses, and what it answered.

    Raises InputError if there is no such run, or not one name; KeyboardInterrupt if Ctrl-C came before the first.
    """
    folder = None if isinstance(run, Run) else Path(run)
    if folder is not None:
        _check_folder(folder)
    unnamed, answers = load_run(run), read_answers(folder)
    naming = ask_names(unnamed, namer, answers, progress)
    if naming.n_left and not naming.n_named:
        raise KeyboardInterrupt
    if not naming.n_named:
        raise InputError(f"no cluster got a name, and nothing was changed. {naming.note}")
    if folder is None:
        return with_names(unnamed, naming), naming
    progress("write", 0)
    edits = read_edits(folder).edits
    before = edits[-1].naming if edits else None
    if before is not None and (before.model, before.prompt) == (naming.model, naming.prompt):
        edits = edits[:-1]  # it was asked again, perhaps about clusters that had no answer
    return _write(folder, EditLog((*edits, _edit_of(naming, unnamed))), answers)[0], naming


def name_new_run(
    run: Run, namer: Namer, answers: dict[str, str], progress: Progress
) -> tuple[Run, Naming, dict[str, Writer]]:
    """Return a run that was just made with names by a model, what it answered, and what writes this to a folder."""
    naming = ask_names(run, namer, answers, progress)
    log = EditLog((_edit_of(naming, run),))
    writers = {EDITS: _log_writer(log), BEFORE_EDITS: lambda _run, path: save_base(run, path)}
    return with_names(run, naming), naming, writers


def _edit_of(naming: Naming, run: Run) -> Edit:
    shown = run.levels[len(run.around.coarser)].name
    numbers = (node.cluster for node in naming.nodes if node.name and node.level == shown)
    return Edit("name", tuple(numbers), naming=naming)


def undo_edit(folder: str | Path) -> Edited:
    """Take back the last edit of a run folder. Raises InputError if nothing was edited."""
    place = Path(folder)
    _check_folder(place)
    edits = read_edits(place).edits
    if not edits:
        raise InputError(f"{place} has no edit to undo", remedy="it is as the run made it")
    run, _ = _write(place, EditLog(edits[:-1]))
    return Edited(run, edits[-1], edits[-1].clusters)  # they have the numbers again that they had then


def read_edits(folder: Path) -> EditLog:
    """Return the edits of a run; none where there is no edits.json."""
    path = usable_path(folder) / EDITS
    return read_record(path, EditLog) if path.is_file() else EditLog()


def _check_folder(place: Path) -> None:
    if not (usable_path(place) / "run.json").is_file():
        load_run(place)  # says what is missing
        raise InputError(
            f"{place} is not the folder of a run but one in it", remedy="give the folder that holds run.json"
        )


def _write(place: Path, log: EditLog, answers: Mapping[str, str] | None = None) -> tuple[Run, tuple[int, ...]]:
    """Write a run folder with these edits; return the run, and the clusters that the last of them changed."""
    _check_folder(place)
    base = place / BEFORE_EDITS if (place / BEFORE_EDITS).is_dir() else place
    run, changed = apply_edits(load_run(base), log.edits)
    also = answers_writer(read_answers(place) if answers is None else answers)
    by_hand = [edit.verb for edit in log.edits if edit.naming is None]
    if by_hand:
        n_merges = by_hand.count("merge")
        note = f"Edited by hand: {len(by_hand) - n_merges} labels, {n_merges} merges; edits.json lists them."
        run = replace(run, notes=(*run.notes, note))
    if log.edits:
        also[EDITS] = _log_writer(log)
        also[BEFORE_EDITS] = lambda _run, path: _keep(base, path)
    if (place / "report.html").is_file():
        from doccluster.report import write_report

        also["report.html"] = write_report
    if (place / ENCODED).is_file():
        also[ENCODED] = lambda _run, path: shutil.copyfile(place / ENCODED, path)
    save_run(run, place, overwrite=True, also=also)
    return run, changed


def _log_writer(log: EditLog) -> Writer:
    return lambda _run, path: write_json(path, {"edits": [asdict(edit) for edit in log.edits]})


def _keep(base: Path, path: Path) -> None:
    """Keep run.json and model/ of a run as it was made; a second name of a file takes no room."""
    (path / "model").mkdir(parents=True)
    for name in ("run.json", *(f"model/{entry.name}" for entry in (base / "model").iterdir() if entry.is_file())):
        try:
            os.link(base / name, path / name)
        except OSError:  # a file system without second names
            shutil.copyfile(base / name, path / name)


def apply_edits(run: Run, edits: tuple[Edit, ...]) -> tuple[Run, tuple[int, ...]]:
    """Return a run with an editor's names and merges, and the clusters that the last of them changed.

    After a merge clusters are numbered by size again.

    Raises InputError if an edit names a cluster that is not there, or a label that cannot be one.
    """
    changed: tuple[int, ...] = ()
    for edit in edits:
        _check(edit, run)
        is_of_it = np.isin(run.partition.labels, edit.clusters)
        if edit.naming is not None:
            run = with_names(run, edit.naming)
        elif edit.verb == "label":
            clusters, name = list(run.clusters), str(edit.label)
            clusters[edit.clusters[0]] = replace(clusters[edit.clusters[0]], label=name, name=name, named_by="")
            run = replace(run, clusters=tuple(clusters))
        else:
            run = _merged(run, edit.clusters)
        changed = tuple(np.unique(run.partition.labels[is_of_it]).tolist())
    if any(edit.verb == "merge" for edit in edits):
        run = replace(run, evaluation=_judged(run))
    return run, changed


def _check(edit: Edit, run: Run) -> None:
    wrong = [number for number in edit.clusters if not 0 <= number < run.n_clusters]
    if wrong:
        raise InputError(f"there is no cluster {wrong[0]}", remedy=f"give a number from 0 to {run.n_clusters - 1}")
    if edit.naming is not None:
        return  # its names are checked as they are given
    if edit.verb == "merge":
        if len(edit.clusters) < 2 or len(set(edit.clusters)) < len(edit.clusters):
            raise InputError(
                f"{', '.join(map(str, edit.clusters))} cannot be merged", remedy="give two or more clusters, each once"
            )
        return
    label = edit.label or ""
    if len(edit.clusters) != 1 or not label.strip() or len(label) > MAX_LABEL_LETTERS or not label.isprintable():
        raise InputError(
            f"{label[:40]!r} cannot be a label", remedy=f"give one line of 1 to {MAX_LABEL_LETTERS} characters"
        )
    same = [
        cluster.cluster for cluster in run.clusters if cluster.label == label and cluster.cluster != edit.clusters[0]
    ]
    if same:
        raise InputError(
            f"cluster {same[0]} is called {label!r} already", remedy="choose another label, or merge the two"
        )


def _merged(run: Run, numbers: tuple[int, ...]) -> Run:
    """Return the run with some of its clusters made one."""
    first, merged = numbers[0], frozenset(numbers[1:])
    labels = np.where(np.isin(run.partition.labels, numbers), first, run.partition.labels)
    numbers_left = [number for number in range(run.n_clusters) if number not in merged]
    sizes = np.bincount(labels if run.is_other is None else labels[~run.is_other], minlength=run.n_clusters)
    order = sorted(numbers_left, key=lambda number: (-int(sizes[number]), number))
    place = np.full(run.n_clusters, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    partition = Partition(place[labels], tuple(range(len(order))))
    centroids = _centroids(run, labels, first, order)
    placed = place_documents(run.vectors.matrix, partition, centroids)
    descriptions = describe_texts(
        vectorized_of(run), run.vectors, partition, run.documents.excerpts, run.documents.titles, placement=placed
    )
    descriptions = without_other(descriptions, partition, run.is_other)
    named = [run.clusters[number] for number in numbers if run.clusters[number].name]
    namesake = min(named, key=lambda cluster: bool(cluster.named_by), default=None)  # a person's name before a model's
    clusters = tuple(
        _described(run.clusters[old], descriptions[new], is_merged=old == first, namesake=namesake)
        for new, old in enumerate(order)
    )
    labels_in_use = {cluster.label for cluster in clusters if cluster.cluster != place[first]}
    if clusters[int(place[first])].label in labels_in_use:
        clusters = tuple(
            replace(cluster, label=run.clusters[first].label) if cluster.cluster == place[first] else cluster
            for cluster in clusters
        )
    return replace(
        run,
        partition=partition,
        centroids=centroids,
        similarity=placed.similarity,
        runner_up=placed.runner_up,
        runner_up_similarity=placed.runner_up_similarity,
        clusters=clusters,
        around=_levels_after(run, numbers),
        rule=None
        if run.rule is None
        else run.rule.renumbered(np.where(np.isin(np.arange(run.n_clusters), numbers), place[first], place)),
    )


def _levels_after(run: Run, numbers: tuple[int, ...]) -> Levels:
    """Return the levels around clusters of which some become one: it is part of what the first of them is part of."""
    is_merged = np.isin(run.partition.labels, numbers)
    is_counted = np.ones(run.n_documents, bool) if run.is_other is None else ~run.is_other
    shown = run.levels[len(run.around.coarser)]
    coarser = []
    for level in run.around.coarser:
        labels = np.where(is_merged, shown.parents_on(level)[numbers[0]], level.labels)
        sizes = np.bincount(labels[is_counted], minlength=level.n_clusters)
        is_there = np.isin(np.arange(level.n_clusters), labels)
        order = np.lexsort((-sizes, ~is_there))[: int(is_there.sum())]
        place = np.full(level.n_clusters, -1)
        place[order] = np.arange(order.size)
        clusters = tuple(
            replace(
                level.clusters[old],
                cluster=new,
                size=int(sizes[old]),
                representatives=tuple(near for near in level.clusters[old].representatives if labels[near.row] == old),
                borderline=(),
            )
            for new, old in enumerate(order.tolist())
        )
        coarser.append(TreeLevel(level.name, place[labels], clusters))
    return replace(run.around, coarser=tuple(coarser))


def _described(
    before: ClusterDescription, now: ClusterDescription, *, is_merged: bool, namesake: ClusterDescription | None
) -> ClusterDescription:
    """Return the description of a cluster after a merge: all of it for the merged one, else its place and borders."""
    if not is_merged:
        return replace(before, cluster=now.cluster, borderline=now.borderline)
    return (
        now if namesake is None else replace(now, label=namesake.name, name=namesake.name, named_by=namesake.named_by)
    )


def _centroids(run: Run, labels: object, merged: int, order: list[int]) -> Matrix:
    """Return the centroids in their new order; that of the merged cluster is the direction of its documents' sum."""
    counted = labels == merged
    if run.parameters.get("fold_copies") and run.copy_of is not None:
        counted = counted & (run.copy_of == np.arange(run.n_documents))
    total = np.asarray(run.vectors.matrix[np.flatnonzero(counted)].sum(axis=0), dtype=np.float64).ravel()
    direction = total / np.linalg.norm(total)
    if isinstance(run.centroids, np.ndarray):
        rows = run.centroids[order].copy()
        rows[order.index(merged)] = direction
        return rows
    new_row = sparse.csr_array(direction[None, :].astype(run.centroids.dtype))
    parts = [new_row if number == merged else run.centroids[[number]] for number in order]
    return sparse.csr_array(sparse.vstack(parts, format="csr"))


def _judged(run: Run) -> Evaluation:
    measures = list(dict.fromkeys(score.name for score in run.evaluation.scores)) or None
    how: dict[str, Any] = {"vectors": run.vectors, "measures": measures}
    if run.parts is not None:
        return judge_documents(run.documents, run.truth, run.partition, **how)
    truth = {column: list(map(list, run.documents.labels[column])) for column in run.truth}
    return evaluate(run.partition, truth=truth or None, **how)
