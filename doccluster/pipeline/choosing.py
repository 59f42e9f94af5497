"""From a source to a recommended number of clusters, with a table and figures of every criterion over k."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.artifacts import check_folder, writing
from doccluster.evaluation import score
from doccluster.pipeline.canonical_order import canonical_order
from doccluster.pipeline.run_settings import checked_seed
from doccluster.pipeline.sources import read_source, split_empty
from doccluster.pipeline.wanted_clusters import recommended
from doccluster.progress import Progress, silent
from doccluster.record import Documents
from doccluster.selection import (
    Recommendation,
    Sweep,
    SweepChoice,
    default_ks,
    estimate_seconds,
    recommend,
    sweep,
)
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
    """A recommendation, the documents it is for, and where they were asked for the rules over k.

    Attributes
    ----------
    recommendation : Recommendation
    documents : Documents
    vectors : DocumentVectors
    n_empty : int
    rules : Sweep or None
        Every criterion over k.
    excess : SweepChoice or None
        What the criteria say as a whole, by their excess over data without clusters.
    """

    recommendation: Recommendation
    documents: Documents
    vectors: DocumentVectors
    n_empty: int
    rules: Sweep | None = None
    excess: SweepChoice | None = None

    def to_pandas(self) -> pd.DataFrame:
        """Return the evidence of the recommendation, one row per k."""
        return self.recommendation.to_pandas()

    def to_latex(self) -> str:
        """Return the evidence of the recommendation as a LaTeX table (package booktabs)."""
        return self.recommendation.to_latex()

    def _repr_html_(self) -> str:
        return self.recommendation._repr_html_()


def choose_clusters(
    source: Any,
    *,
    granularity: str | None = None,
    ks: Iterable[int] | None = None,
    max_documents: int | None = None,
    random_state: int | None = 0,
    all_rules: bool = False,
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
    granularity, ks, max_documents, random_state
        As for `doccluster.selection.choose_k`. Without a granularity stories of dated documents, topics of others.
    all_rules : bool
        Also compute every known criterion over k, on the data and on data without clusters, which takes long.
    output : path, optional
        A folder for choose_k.csv and its figure; with `all_rules` also rules.csv, choices.csv, silhouettes.csv (the
        data of the silhouette plots) and their figures.
    source, reader, language, vectorizer, n_threads, progress
        As for `run_pipeline`.
    announce : callable, optional
        Told in a sentence, before the rules are computed, about how long they will take.
    **settings
        With `all_rules`, as for `doccluster.selection.sweep` (algorithm, n_null, n_stability, n_init, checkpoint, ...).
    """
    for place in filter(None, (output, settings.get("checkpoint"))):
        check_folder(Path(place))
    read = read_source(
        source, reader=reader or {}, weighting=(vectorizer or {}).get("weighting"), truth=(), progress=progress
    )
    made = read.vectorize(language=language, options=vectorizer, n_threads=n_threads)
    documents, empty, vectors = split_empty(read.documents, made.vectors)
    order = canonical_order(vectors.matrix, vectors.counts)
    found = recommended(
        vectors.take(order),
        documents,
        granularity=granularity,
        ks=ks,
        max_documents=max_documents,
        seed=secrets.randbits(31) if random_state is None else checked_seed(random_state),
        n_threads=n_threads,
        progress=progress,
    )[0]
    if found.labels is not None:
        found = replace(found, labels=found.labels[np.argsort(order)])
    rules, excess, evidence = None, None, None
    if all_rules:
        sample = _sample(vectors.matrix, max_documents, random_state)
        sizes = list(default_ks(sample.shape[0]) if ks is None else ks)
        settings = {"algorithm": "spherical-k-means", "n_null": 19, "n_stability": 10} | settings
        shared: dict[str, Any] = {"n_threads": n_threads, **settings}
        if announce is not None:
            announce(_time_needed(sample, sizes, **shared))
        again: dict[str, Any] = {"n_null_stability": 1 if settings["n_stability"] else 0, "random_state": random_state}
        rules = sweep(sample, ks=sizes, progress=progress, **shared, **again)
        excess = recommend(rules)
        evidence = (rules, excess, sample)
    if output is not None:
        write_choice(found, Path(output), evidence)
    return Choice(found, documents, vectors, len(empty), rules, excess)


def _sample(matrix: Any, max_documents: int | None, random_state: int | None) -> Any:
    if max_documents is None or max_documents >= matrix.shape[0]:
        return matrix
    rng = np.random.default_rng(random_state)
    return matrix[np.sort(rng.choice(matrix.shape[0], max(4, max_documents), replace=False))]


def _length(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


def _time_needed(
    matrix: Any,
    sizes: list[int],
    *,
    algorithm: Any,
    n_null: int,
    n_stability: int,
    n_init: int = 5,
    n_threads: int | None = None,
    **_rest: Any,
) -> str:
    """Return in a sentence how long the rules will take with these settings."""
    n_data_sets = 1 + n_null + 2 * n_stability
    seconds = estimate_seconds(
        matrix, ks=sizes, algorithm=algorithm, n_init=n_init, n_data_sets=n_data_sets, n_threads=n_threads
    )
    return f"all rules take about {_length(seconds)}: {len(sizes)} numbers of clusters on {n_data_sets} data sets"


def write_choice(found: Recommendation, folder: Path, rules: tuple[Sweep, SweepChoice, Any] | None) -> None:
    """Write the table and figure of a recommendation into a folder (made if it is not there), and those of the rules.

    `rules` is a sweep, its choice and the matrix it looked at.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        found.table.to_csv(folder / "choose_k.csv", index=False, lineterminator="\n")
        if not found.table.empty:
            from doccluster.report.plots import k_curve

            k_curve(found, path=folder / "choose_k.svg")
        if rules is not None:
            _write_rules(*rules, folder)


def _write_rules(rules: Sweep, excess: SweepChoice, matrix: Any, folder: Path) -> None:
    table = rules.table.assign(merit=rules.table["k"].map(dict(excess.merit)))
    table.to_csv(folder / "rules.csv", index=False, lineterminator="\n")
    lines = [f"{name},{'' if k is None else k}" for name, k in {**rules.choices, "excess": excess.k}.items()]
    (folder / "choices.csv").write_text("criterion,k\n" + "\n".join(lines) + "\n", encoding="utf-8")
    silhouettes = _silhouettes(rules, excess, matrix)
    _plot_data(silhouettes).to_csv(folder / "silhouettes.csv", index=False, lineterminator="\n")
    _draw(rules, excess, folder, silhouettes)


def _draw(rules: Sweep, excess: SweepChoice, folder: Path, silhouettes: Mapping[int, tuple[Any, Any]]) -> None:
    from doccluster.report.charts import line_chart, silhouette_plot

    table = rules.table
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
            chosen=excess.k,
            path=folder / f"{name}.svg",
        )
    for k, (per_document, labels) in silhouettes.items():
        silhouette_plot(per_document, labels, title=f"k = {k}", path=folder / f"silhouette_plot_k{k}.svg")


def _silhouettes(rules: Sweep, excess: SweepChoice, matrix: Any) -> dict[int, tuple[Any, Any]]:
    """Return silhouettes and labels of the documents for each k whose excess is about as good as the best."""
    plots = {}
    for k in excess.about_as_good:
        labels = rules.labels[k]
        per_document = score("silhouette", labels, vectors=matrix, metric=rules.metric).per_document
        assert per_document is not None  # the silhouette has one value per document
        plots[k] = (per_document, labels)
    return plots


def _plot_data(silhouettes: Mapping[int, tuple[Any, Any]]) -> pd.DataFrame:
    """Return what silhouette plots show: for each k the documents by cluster, the best first."""
    frames = [
        pd.DataFrame({"k": k, "cluster": labels, "silhouette": values, "row": np.arange(len(labels))})
        for k, (values, labels) in silhouettes.items()
    ]
    if not frames:
        return pd.DataFrame(columns=["k", "cluster", "silhouette", "row"])
    return pd.concat(frames).sort_values(["k", "cluster", "silhouette"], ascending=[True, True, False], kind="stable")
