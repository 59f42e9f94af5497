"""From a source to a recommended number of clusters, with a table and figures of every criterion over k."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.artifacts import check_folder, writing
from doccluster.evaluation import score
from doccluster.pipeline.main_line import split_empty
from doccluster.pipeline.sources import read_source
from doccluster.pipeline.vectorizing import adopt_vectors, vectorize_texts
from doccluster.progress import Progress, silent
from doccluster.record import Documents
from doccluster.selection import Recommendation, choose_k, default_ks, estimate_seconds
from doccluster.short_repr import ShortRepr
from doccluster.vectors import DocumentVectors

# the figures: file name -> (title, y axis, {column of the table: name in the legend}, {column: column of its spread})
FIGURES: dict[str, tuple[str, str, dict[str, str], dict[str, str]]] = {
    "silhouette": (
        "Silhouette",
        "mean silhouette",
        {"silhouette": "this corpus", "null_silhouette": "without clusters"},
        {"null_silhouette": "null_silhouette_sd"},
    ),
    "stability": (
        "Stability",
        "agreement of resampled clusterings",
        {"stability": "this corpus", "null_stability": "without clusters"},
        {"stability": "stability_se"},
    ),
    "gap": ("Gap of the residual sum of squares", "gap (bits)", {"gap_rss": "gap"}, {"gap_rss": "gap_rss_sd"}),
    "calinski_harabasz": ("Calinski-Harabasz", "CH(k)", {"calinski_harabasz": "CH"}, {}),
    "rss": ("Residual sum of squares", "RSS(k)", {"rss": "RSS"}, {}),
}


@dataclass(frozen=True, eq=False, repr=False)
class Choice(ShortRepr):
    """A recommendation, and the documents it is for."""

    recommendation: Recommendation
    documents: Documents
    vectors: DocumentVectors
    n_empty: int


def choose_clusters(
    source: Any,
    *,
    output: str | Path | None = None,
    reader: Mapping[str, Any] | None = None,
    language: str | Sequence[str] = "auto",
    vectorizer: Mapping[str, Any] | None = None,
    n_threads: int | None = None,
    announce: Callable[[str], None] | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> Choice:
    """Return how many clusters a source supports.

    Parameters
    ----------
    source, reader, language, vectorizer, n_threads, progress
        As for `run_pipeline`.
    output : path, optional
        A folder for choose_k.csv, choices.csv, silhouettes.csv (the data of the silhouette plots) and the figures.
    announce : callable, optional
        Told in a sentence, before the work, about how long it will take.
    **settings
        As for `doccluster.selection.choose_k` (ks, algorithm, n_null, n_stability, random_state, checkpoint, ...).
    """
    for place in filter(None, (output, settings.get("checkpoint"))):
        check_folder(Path(place))
    read = read_source(
        source, reader=reader or {}, weighting=(vectorizer or {}).get("weighting"), truth=(), progress=progress
    )
    if read.vectors is not None:
        made = adopt_vectors(read.vectors, language=language, options=vectorizer)
    else:
        assert read.corpus is not None  # a source has one of the two
        made = vectorize_texts(read.corpus, language=language, options=vectorizer or {}, n_threads=n_threads)
    documents, empty, vectors = split_empty(read.documents, made.vectors)
    if announce is not None:
        announce(_time_needed(vectors.matrix, n_threads=n_threads, **settings))
    found = choose_k(vectors.matrix, n_threads=n_threads, progress=progress, **settings)
    if output is not None:
        write_choice(found, Path(output), vectors.matrix)
    return Choice(found, documents, vectors, len(empty))


def _time_needed(
    matrix: Any,
    *,
    ks: Iterable[int] | None = None,
    algorithm: Any = "spherical-kmeans",
    n_init: int = 5,
    n_null: int = 19,
    n_stability: int = 10,
    max_documents: int | None = None,
    n_threads: int | None = None,
    **_rest: Any,
) -> str:
    """Return in a sentence how long `choose_k` will take with these settings."""
    seen = matrix[: min(matrix.shape[0], max_documents or matrix.shape[0])]
    sizes = list(default_ks(seen.shape[0]) if ks is None else ks)
    n_data_sets = 1 + n_null + 2 * n_stability
    seconds = estimate_seconds(
        seen, ks=sizes, algorithm=algorithm, n_init=n_init, n_data_sets=n_data_sets, n_threads=n_threads
    )
    length = f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"
    return f"about {length} for {len(sizes)} numbers of clusters on {n_data_sets} data sets"


def write_choice(found: Recommendation, folder: Path, matrix: Any) -> None:
    """Write the table, what each criterion chooses alone, and the figures, into a folder (made if it is not there)."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _write_files(found, folder, matrix)


def _write_files(found: Recommendation, folder: Path, matrix: Any) -> None:
    table = found.sweep.table.assign(merit=found.sweep.table["k"].map(dict(found.merit)))
    table.to_csv(folder / "choose_k.csv", index=False, lineterminator="\n")
    lines = [f"{name},{'' if k is None else k}" for name, k in found.sweep.choices.items()]
    (folder / "choices.csv").write_text("criterion,k\n" + "\n".join(lines) + "\n", encoding="utf-8")
    rows = np.arange(matrix.shape[0]) if found.rows is None else found.rows
    silhouettes = _silhouettes(found, matrix[rows])
    _plot_data(silhouettes, rows).to_csv(folder / "silhouettes.csv", index=False, lineterminator="\n")
    _draw(found, folder, silhouettes)


def _draw(found: Recommendation, folder: Path, silhouettes: Mapping[int, tuple[Any, Any]]) -> None:
    from doccluster.report.charts import line_chart, silhouette_plot

    table = found.sweep.table
    for name, (title, y_label, columns, spreads) in FIGURES.items():
        shown = {legend: table[column] for column, legend in columns.items() if column in table}
        if not shown:
            continue
        spread = {columns[column]: table[own] for column, own in spreads.items() if own in table and column in table}
        line_chart(
            table["k"],
            shown,
            spread=spread,
            title=title,
            x_label="number of clusters k",
            y_label=y_label,
            chosen=found.k,
            path=folder / f"{name}.svg",
        )
    for k, (per_document, labels) in silhouettes.items():
        silhouette_plot(per_document, labels, title=f"k = {k}", path=folder / f"silhouette_plot_k{k}.svg")


def _silhouettes(found: Recommendation, matrix: Any) -> dict[int, tuple[Any, Any]]:
    """Return silhouettes and labels of the documents for each k that is about as good as the best."""
    plots = {}
    for k in found.about_as_good:
        labels = found.sweep.labels[k]
        per_document = score("silhouette", labels, vectors=matrix, metric=found.sweep.metric).per_document
        assert per_document is not None  # the silhouette has one value per document
        plots[k] = (per_document, labels)
    return plots


def _plot_data(silhouettes: Mapping[int, tuple[Any, Any]], rows: Any) -> pd.DataFrame:
    """Return what silhouette plots show: for each k the documents by cluster, the best first."""
    frames = [
        pd.DataFrame({"k": k, "cluster": labels, "silhouette": values, "row": rows})
        for k, (values, labels) in silhouettes.items()
    ]
    if not frames:
        return pd.DataFrame(columns=["k", "cluster", "silhouette", "row"])
    return pd.concat(frames).sort_values(["k", "cluster", "silhouette"], ascending=[True, True, False], kind="stable")
