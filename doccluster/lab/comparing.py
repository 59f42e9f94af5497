"""From sources to a comparison of algorithms, and its tables and figures in a folder."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from doccluster.base.parameter_fields import check_names, described_by
from doccluster.base.paths import ENCODED, check_folder, new_files
from doccluster.base.progress import Progress, silent
from doccluster.clustering.algorithms import QUALITIES
from doccluster.corpus import Corpus
from doccluster.errors import Argument, InputError
from doccluster.lab.comparison import LabelledCorpus, compare, file_name
from doccluster.lab.comparison_result import MIN_RUNS, TABLES, Comparison, column_of, measure_of
from doccluster.lab.comparison_tables import title_of
from doccluster.measures.label_files import ForeignLabels, read_labels, rows_of
from doccluster.pipeline.in_process import Stages, order_of
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.source_meaning import EncodedRows
from doccluster.pipeline.sources import MATRIX_OPTIONS, Source
from doccluster.pipeline.vectorizing import vectorizer_options
from doccluster.report.figures import bar_chart, line_chart

if TYPE_CHECKING:
    import pandas as pd


@described_by(RunSettings)
def compare_sources(
    sources: object,
    *,
    truth: str | Mapping[Any, str] | None = None,
    labels: Iterable[str | Path] | Mapping[Any, Iterable[str | Path]] = (),
    n_clusters: int | None = None,
    embeddings: object = None,
    encoder: object = None,
    meaning_weight: float | None = None,
    output: str | Path | None = None,
    reader: Mapping[str, Any] | None = None,
    language: str | Sequence[str] = "auto",
    vectorizer: object = None,
    progress: Progress = silent,
    **settings: Any,
) -> Comparison:
    """Return a comparison of algorithms over sources; documents without terms, or without one class, are excluded.

    Parameters
    ----------
    sources : path, corpus or table, or a list of them, or a mapping of names to them
    truth : str, or mapping of source to str, optional
        The label column; a mapping may say ``None`` for all sources it does not name. A matrix that lacks the column
        is judged by its own classes. Left out, the first label column of each source; `Comparison.corpora` says which.
    labels : label files, or mapping of source to label files, optional
        Clusterings made elsewhere, read as data and joined by id like those of ``doccluster evaluate``.
    n_clusters : int, optional
        By default the number of classes of each source.
    embeddings : path or array, or mapping of source to them, optional
        A mapping is one like `truth`. Measures are of the words all the same.
    output : path, optional
        A folder for the table (csv, LaTeX), the runs (csv) and the figures (svg).
    reader : mapping, optional
        Arguments of `read_corpus`. Of several sources, texts take what belongs to texts, and matrices what belongs to
        matrices; so do those of the `vectorizer`.
    **settings
        As for `doccluster.selection.compare` (algorithms, seeds, measures, checkpoint, spaces, n_threads); a whole
        number of seeds is those from 0 on.

    Raises
    ------
    InputError
        If a source has neither classes nor a number of clusters, or a column or a file belongs to no source.
    """
    for place in filter(None, (output, settings.get("checkpoint"))):
        check_folder(Path(place))
    check_names(settings, inspect.signature(compare).parameters, "compare()")
    if isinstance(settings.get("seeds"), int):
        settings["seeds"] = range(settings["seeds"])
    source_by_name = _named(sources)
    in_memory = {Path(name): source for name, source in source_by_name.items() if name is not source}
    paths = [Path(name) for name in source_by_name]
    opened = {path: Source(in_memory.get(path, path), reader) for path in paths}
    spaces = settings.get("spaces", "both")
    # the one that asks most of the documents
    space = next(
        (space for space in ("meaning", "both") if space in spaces), spaces if isinstance(spaces, str) else "words"
    )
    common = RunSettings(
        reader=reader,
        language=language,
        vectorizer=vectorizer_options(vectorizer),
        encoder=encoder,
        space=space,
        meaning_weight=meaning_weight,
        n_threads=settings.get("n_threads"),
    )
    encoded = EncodedRows.read(output)
    options = _Options(truth, labels, embeddings, common, opened)
    options.check()
    names = {path: str(path) for path in paths} if isinstance(sources, Mapping) else _names(paths)
    corpora = [_labelled(path, names[path], options, n_clusters, encoded, progress) for path in paths]
    options.check_used(corpora)
    comparison = compare(corpora, progress=progress, **settings)
    if output is not None:
        write_comparison(comparison, Path(output))
        if encoded.model:
            encoded.write(Path(output) / ENCODED)
    return comparison


def _named(sources: object) -> dict[str | os.PathLike[str], object]:
    """Return the sources by name: a path is its own, others are numbered unless a mapping names them."""
    if isinstance(sources, Mapping):
        is_source = [
            isinstance(source, str | os.PathLike | Corpus) or hasattr(source, "shape") for source in sources.values()
        ]
        if any(is_source) and all(getattr(source, "ndim", 2) == 2 for source in sources.values()):
            return {str(name): source for name, source in sources.items()}
    several = list(sources) if isinstance(sources, list | tuple | Iterator) else [sources]
    return {
        source if isinstance(source, str | os.PathLike) else f"source {n}": source
        for n, source in enumerate(several, 1)
    }


@dataclass(frozen=True, eq=False)
class _Options:
    """What is said of the sources, and which of it belongs to which source."""

    truth: str | Mapping[Any, str] | None
    labels: Iterable[str | Path] | Mapping[Any, Iterable[str | Path]]
    embeddings: Any
    common: RunSettings
    sources: Mapping[Path, Source]

    def check(self) -> None:
        """Raise InputError if something is said of a source that is not there, or of none where there are several."""
        paths = list(self.sources)
        spellings = {name for path in paths for name in _spellings(path)}
        if not isinstance(self.truth, str | Mapping | None):
            raise InputError("names a label column", argument="truth", expected="its name, or a name for each source")
        for what in ("truth", "labels", "embeddings"):
            by_path = getattr(self, what)
            for name in by_path if isinstance(by_path, Mapping) else ():
                if name is not None and str(name) not in spellings:
                    there = ", ".join(map(str, paths))
                    raise InputError(
                        f"{what} names the source {str(name)!r}, which is not there", remedy=f"there are {there}"
                    )
        of_all = list(self.labels.get(None, ()) if isinstance(self.labels, Mapping) else self.labels)
        if not all(isinstance(file, str | os.PathLike) for file in of_all):
            remedy = "write them to a file, an id and a label a line"
            raise InputError("is not a list of files", argument="labels", remedy=remedy)
        if of_all and len(paths) > 1:
            raise InputError("labels do not say which source they are of", remedy="give --labels SOURCE=FILE for each")
        for path in paths:
            self.settings_of(path).check()

    def column(self, path: Path) -> tuple[str | None, bool]:
        """Return the truth column of a source, and whether it was given for this source by name."""
        if not isinstance(self.truth, Mapping):
            return self.truth, False
        column = next((self.truth[name] for name in _spellings(path) if name in self.truth), None)
        return (column, True) if column is not None else (self.truth.get(None), False)

    def label_files(self, path: Path) -> list[Path]:
        """Return the label files of a source."""
        if not isinstance(self.labels, Mapping):
            return [Path(file) for file in self.labels]
        return [Path(file) for name in (*_spellings(path), None) for file in self.labels.get(name, ())]

    def settings_of(self, path: Path) -> RunSettings:
        """Return the settings of a source; where sources are of both kinds, those that belong to its kind."""
        embeddings, matrix, common = self.embeddings, self.sources[path].is_matrix, self.common
        if isinstance(embeddings, Mapping):
            embeddings = next((embeddings[name] for name in (*_spellings(path), None) if name in embeddings), None)
        column, by_name = self.column(path)
        truth = () if column is None or (matrix and not by_name) else (column,)
        if len({source.is_matrix for source in self.sources.values()}) > 1:
            given, terms = common.reader or {}, common.vectorizer or {}
            reader = {name: value for name, value in given.items() if (name in MATRIX_OPTIONS) == matrix}
            vectorizer = {"weighting": terms.get("weighting")} if matrix else terms
            common = replace(common, reader=reader, vectorizer=vectorizer)
        return replace(common, embeddings=embeddings, truth=truth)

    def check_used(self, corpora: Sequence[LabelledCorpus]) -> None:
        """Raise InputError if a column that was given for all sources is one of none."""
        column = self.truth.get(None) if isinstance(self.truth, Mapping) else self.truth
        columns = {each.about.get("truth") for each in corpora}
        if column is not None and column not in columns:
            there = ", ".join(sorted(map(repr, columns)))
            raise InputError(f"no source has a label column {column!r}", remedy=f"the matrices have {there}")


def _spellings(path: Path) -> tuple[str, ...]:
    """Return the names that a source may go by: as it was given, by its file's name, and without the ending."""
    return tuple(dict.fromkeys((str(path), path.name, path.stem)))


def _names(paths: Sequence[Path]) -> dict[Path, str]:
    """Return a name for each file: short where it is the only one of that name."""
    stems = [path.stem for path in paths]
    return {path: path.stem if stems.count(path.stem) == 1 else str(path) for path in paths}


def _labelled(
    source: Path,
    name: str,
    options: _Options,
    n_clusters: int | None,
    encoded: EncodedRows,
    progress: Progress,
) -> LabelledCorpus:
    settings = options.settings_of(source)
    prepared = Stages(settings, progress=progress).prepare(options.sources[source], encoded=encoded)
    documents = prepared.documents
    prepared.vectors.in_space(settings.space)  # refused now if documents have no meaning
    by_words = replace(settings, space="words", algorithm=QUALITIES["default"])  # which alone takes letters
    vectors = Stages(by_words).with_letters(prepared)
    column, _ = options.column(source)
    truth = column if column in documents.labels else next(iter(documents.labels), None)
    if truth is None and n_clusters is None:
        raise InputError(
            f"{source} has no classes, so the number of clusters is missing",
            remedy=("give it with ", Argument("n_clusters")),
        )
    classes = None if truth is None else documents.labels[truth]
    # in the order of a run, so that the same seed finds its clusters
    rows = [row for row in order_of(vectors).tolist() if classes is None or len(classes[row]) == 1]
    if not rows:
        raise InputError(f"no document of {source} has exactly one class in {truth!r}.")
    about: dict[str, Any] = {}
    true_classes = None if classes is None else [classes[row][0] for row in rows]
    if true_classes is not None:
        n_classes = len(set(true_classes))
        about = {"truth": truth, "n_classes": n_classes, "label_columns": ", ".join(documents.labels)}
    ids = [documents.ids[row] for row in rows]
    files = _names(options.label_files(source))
    every_id = prepared.source.documents.ids
    labels = {called: _labels_of(ids, every_id, source, file, called) for file, called in files.items()}
    return LabelledCorpus(
        name,
        vectors.take(np.array(rows, dtype=np.int64)),
        truth=true_classes,
        n_clusters=n_clusters or about["n_classes"],
        labels=labels,
        about=about,
    )


def _labels_of(ids: Sequence[str], every_id: Sequence[str], source: Path, file: Path, called: str) -> object:
    """Return the labels that a file gives some documents of a source; raise InputError where it gives one none."""
    file_labels = read_labels(file)
    cells = next(iter(file_labels.columns.values()))
    if any(isinstance(cell, list) for cell in cells):
        raise InputError(f"{file} has documents with several labels", remedy="each needs one cluster")
    documents_of_source = ForeignLabels(str(source), every_id, {"id": every_id})
    rows = rows_of(documents_of_source, file_labels.ids, file_labels.n_documents, str(file), may_lack=True)
    cell_of_id = {name: cells[row] if row >= 0 else "" for name, row in zip(every_id, rows.tolist(), strict=True)}
    labels = [cell_of_id[name] for name in ids]
    if lacking := sum(not label for label in labels):
        raise InputError(
            f"the labels {called} lack {lacking:,} of the {len(labels):,} documents of {source} that are judged",
            remedy="give each a label",
        )
    return np.array(labels)


def write_comparison(comparison: Comparison, folder: Path, *, figures: bool = True) -> None:
    """Write runs.csv, each table as csv, LaTeX and Markdown, and figures into a folder, made if missing."""
    summary = comparison.summary()
    with new_files(folder) as beside:
        comparison.runs.to_csv(beside / "runs.csv", index=False, lineterminator="\n")
        for name in TABLES:
            frame = summary if name == "summary" else getattr(comparison, name)()
            if len(frame) or name == "summary":
                frame.to_csv(beside / f"{name}.csv", index=False, lineterminator="\n")
                table = comparison.table(name)
                (beside / f"{name}.tex").write_text(table.latex(), encoding="utf-8", newline="\n")
                (beside / f"{name}.md").write_text(table.markdown(), encoding="utf-8", newline="\n")
        for measure in comparison.shown if figures else ():  # no file of Windows has a colon in its name
            _draw_bars(summary[summary["measure"] == measure], measure, beside / f"{measure.replace(':', '-')}.svg")
        if figures:
            _draw_runs(comparison, beside)
            _draw_ranks(comparison, beside)


def _draw_bars(means: pd.DataFrame, measure: str, path: Path) -> None:
    """Draw the means of a measure as bars with their intervals, and write the figure."""
    corpora = list(dict.fromkeys(means["corpus"]))
    series, spread = {}, {}
    for algorithm, group in means.groupby("algorithm", sort=False):
        rows = group.set_index("corpus").reindex(corpora)
        # how far the intervals reach below and above the means; 0 where there is none
        reach = np.stack([rows["mean"] - rows["low"], rows["high"] - rows["mean"]]).astype(float)
        series[str(algorithm)], spread[str(algorithm)] = rows["mean"].to_numpy(), np.nan_to_num(reach)
    bar_chart(corpora, series, spread=spread, title=title_of(measure)).save(path)


def _draw_runs(comparison: Comparison, folder: Path) -> None:
    """Draw measures without truth that were asked for, over the runs of a corpus in the order of adjusted Rand.

    Such are figures 2 to 4 of Sharma & Sharma. One that is the same for all runs is not drawn.
    """
    reference, several = column_of("adjusted_rand", comparison.measures), comparison.runs["corpus"].nunique() > 1
    if reference is None:
        return
    for corpus, group in comparison.runs.groupby("corpus", sort=False):
        wide = group.pivot(index=["algorithm", "seed"], columns="measure", values="value")
        runs = wide.sort_values(reference, kind="stable")
        for measure in (name for name in comparison.measures if measure_of(name).family != "external"):
            pairs = runs[[reference, measure]].dropna()
            value, places = pairs[measure], np.arange(1, len(pairs) + 1)
            if len(pairs) < MIN_RUNS or value.min() == value.max():
                continue
            scaled = (value - value.min()) / (value.max() - value.min())
            of_corpus = f"-{file_name(corpus)}" if several else ""
            line_chart(
                {"adjusted rand": (places, pairs[reference]), title_of(measure): (places, scaled)},
                title=str(corpus),
                x_label="runs in the order of adjusted Rand",
                y_label="scaled to [0, 1] but for adjusted Rand",
            ).save(folder / f"{measure.replace(':', '-')}-runs{of_corpus}.svg")


def _draw_ranks(comparison: Comparison, folder: Path) -> None:
    """Draw the mean ranks of algorithms over corpora, where matplotlib is there."""
    measures = comparison.ranks()["measure"].tolist()
    if measures and find_spec("matplotlib"):
        from doccluster.report.plots import critical_difference  # which takes a second to import

        for measure in measures:
            critical_difference(comparison, measure=measure, path=folder / f"{measure.replace(':', '-')}-ranks.svg")
