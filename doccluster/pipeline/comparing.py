"""From sources to a comparison of algorithms, written as tables, figures and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from doccluster.artifacts import check_folder, writing
from doccluster.errors import InputError
from doccluster.pipeline.main_line import split_empty
from doccluster.pipeline.sources import check_truth, read_source
from doccluster.pipeline.vectorizing import adopt_vectors, vectorize_texts
from doccluster.progress import Progress, silent
from doccluster.selection import Comparison, LabelledCorpus, compare

HEADLINE = ("adjusted_rand", "nmi", "silhouette", "coherence", "seconds", "peak_memory")


def compare_sources(
    sources: Iterable[str | Path],
    *,
    truth: str | None = None,
    n_clusters: int | None = None,
    output: str | Path | None = None,
    reader: Mapping[str, Any] | None = None,
    language: str | Sequence[str] = "auto",
    vectorizer: Mapping[str, Any] | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> Comparison:
    """Return a comparison of algorithms over sources; documents without terms, or without one class, are left out.

    Parameters
    ----------
    sources : paths, each a corpus or a matrix
    truth : str, optional
        The label column; a matrix with classes has its own.
    n_clusters : int, optional
        By default the number of classes of each source.
    output : path, optional
        A folder for runs.csv, summary.csv, tests.csv, agreement.csv, ranks.csv, summary.tex and the figures.
    **settings
        As for `doccluster.selection.compare` (algorithms, seeds, measures, checkpoint, n_threads).

    Raises
    ------
    InputError
        If a source has neither classes nor a number of clusters.
    """
    for place in filter(None, (output, settings.get("checkpoint"))):
        check_folder(Path(place))
    corpora = [
        _labelled(Path(source), truth, n_clusters, reader or {}, language, vectorizer or {}, progress)
        for source in sources
    ]
    found = compare(corpora, progress=progress, **settings)
    if output is not None:
        write_comparison(found, Path(output))
    return found


def _labelled(
    source: Path,
    truth: str | None,
    n_clusters: int | None,
    reader: Mapping[str, Any],
    language: str | Sequence[str],
    vectorizer: Mapping[str, Any],
    progress: Progress,
) -> LabelledCorpus:
    columns = () if truth is None else (truth,)
    read = read_source([source], reader=reader, weighting=vectorizer.get("weighting"), truth=columns, progress=progress)
    check_truth(columns, read.documents)
    if read.vectors is not None:
        made = adopt_vectors(read.vectors, language=language, options=vectorizer)
    else:
        assert read.corpus is not None  # a source has one of the two
        made = vectorize_texts(read.corpus, language=language, options=vectorizer, n_threads=None)
    documents, _, vectors = split_empty(read.documents, made.vectors)
    column = truth or next(iter(documents.labels), None)
    classes = None if column is None else documents.labels[column]
    if classes is None:
        if n_clusters is None:
            raise InputError(f"{source} has no classes, so the number of clusters is missing; give -k N.")
        return LabelledCorpus(source.stem, vectors.matrix, None, n_clusters)
    rows = [row for row, own in enumerate(classes) if len(own) == 1]
    if not rows:
        raise InputError(f"no document of {source} has exactly one class in {column!r}.")
    own_classes = [classes[row][0] for row in rows]
    return LabelledCorpus(source.stem, vectors.matrix[rows], own_classes, n_clusters or len(set(own_classes)))


def write_comparison(found: Comparison, folder: Path) -> None:
    """Write tables, LaTeX and figures of a comparison into a folder (made if it is not there)."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _write_files(found, folder)


def _write_files(found: Comparison, folder: Path) -> None:
    summary = found.summary()
    measures = [name for name in HEADLINE if name in set(found.runs["measure"])]
    tables = {
        "runs": found.runs,
        "summary": summary,
        "tests": found.tests(measures),
        "agreement": found.agreement(),
        "ranks": _ranks(found, measures),
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    (folder / "summary.tex").write_text(latex(summary, measures), encoding="utf-8")
    _draw(found, summary, measures, folder)


def _ranks(found: Comparison, measures: list[str]) -> pd.DataFrame:
    """Return mean ranks over corpora with Nemenyi's critical difference; no row where a test cannot be made."""
    rows = []
    enough = found.runs["corpus"].nunique() >= 2 and found.runs["algorithm"].nunique() >= 3
    for measure in measures if enough else ():
        own = found.runs[found.runs["measure"] == measure]
        if own["value"].isna().any():
            continue
        p, ranks, critical = found.ranks(measure)
        rows += [(measure, name, rank, p, critical) for name, rank in ranks.items()]
    return pd.DataFrame(rows, columns=["measure", "algorithm", "mean_rank", "friedman_p", "critical_difference"])


def latex(summary: pd.DataFrame, measures: list[str]) -> str:
    """Return a LaTeX table: one line per corpus and algorithm, mean and half interval of each measure."""
    lines = [
        r"\begin{tabular}{ll" + "r" * len(measures) + "}",
        r"\toprule",
        " & ".join(["corpus", "algorithm", *(name.replace("_", " ") for name in measures)]) + r" \\",
        r"\midrule",
    ]
    for (corpus, algorithm), group in summary.groupby(["corpus", "algorithm"], sort=False):
        own = group.set_index("measure")
        cells = [_mean_and_half(own["mean"].to_dict()[name], own["high"].to_dict()[name]) for name in measures]
        names = [str(text).replace("_", r"\_") for text in (corpus, algorithm)]
        lines.append(" & ".join([*names, *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _mean_and_half(mean: float, high: float) -> str:
    return rf"{mean:.3g} $\pm$ {high - mean:.2g}"


def _draw(found: Comparison, summary: pd.DataFrame, measures: list[str], folder: Path) -> None:
    from doccluster.report.charts import bar_chart, heat_map

    for measure in measures:
        own = summary[summary["measure"] == measure]
        wide = own.pivot(index="corpus", columns="algorithm", values="mean")
        series = {str(name): wide[name].to_numpy() for name in own["algorithm"].unique()}
        bar_chart([str(name) for name in wide.index], series, title=measure, path=folder / f"{measure}.svg")
    agreement = found.agreement()
    if len(agreement):
        table = agreement.pivot(index="measure", columns="corpus", values="correlation")
        heat_map(
            table.to_numpy(dtype=float),
            row_names=[str(name) for name in table.index],
            column_names=[str(name) for name in table.columns],
            title="rank correlation with adjusted Rand",
            value_range=(-1, 1),
            path=folder / "agreement.svg",
        )
