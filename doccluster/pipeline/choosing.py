"""From a source to a recommended number of clusters, with a table and figures of every criterion over k."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
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
from doccluster.selection import Recommendation, Sweep, default_ks, sweep
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
        {"stability": "this corpus"},
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
    """

    recommendation: Recommendation
    documents: Documents
    vectors: DocumentVectors
    n_empty: int
    rules: Sweep | None = None

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
    rules, evidence = None, None
    if all_rules:
        sample = _sample(vectors.matrix, max_documents, random_state)
        sizes = list(default_ks(sample.shape[0]) if ks is None else ks)
        shared: dict[str, Any] = {"n_null": 19, "n_stability": 10, "n_threads": n_threads} | settings
        rules = sweep(sample, ks=sizes, random_state=random_state, progress=progress, **shared)
        evidence = (rules, sample)
    if output is not None:
        write_choice(found, Path(output), evidence)
    return Choice(found, documents, vectors, len(empty), rules)


def _sample(matrix: Any, max_documents: int | None, random_state: int | None) -> Any:
    if max_documents is None or max_documents >= matrix.shape[0]:
        return matrix
    rng = np.random.default_rng(random_state)
    return matrix[np.sort(rng.choice(matrix.shape[0], max(4, max_documents), replace=False))]


def write_choice(found: Recommendation, folder: Path, rules: tuple[Sweep, Any] | None) -> None:
    """Write the table and figure of a recommendation into a folder (made if it is not there), and those of the rules.

    `rules` is a sweep and the matrix it looked at.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        found.table.to_csv(folder / "choose_k.csv", index=False, lineterminator="\n")
        if not found.table.empty:
            from doccluster.report.plots import k_curve

            k_curve(found, path=folder / "choose_k.svg")
        if rules is not None:
            _write_rules(*rules, folder)


def _write_rules(rules: Sweep, matrix: Any, folder: Path) -> None:
    rules.table.to_csv(folder / "rules.csv", index=False, lineterminator="\n")
    lines = [f"{name},{'' if k is None else k}" for name, k in rules.choices.items()]
    (folder / "choices.csv").write_text("criterion,k\n" + "\n".join(lines) + "\n", encoding="utf-8")
    silhouettes = _silhouettes(rules, matrix)
    _plot_data(silhouettes).to_csv(folder / "silhouettes.csv", index=False, lineterminator="\n")
    _draw(rules, folder, silhouettes)


def _draw(rules: Sweep, folder: Path, silhouettes: Mapping[int, tuple[Any, Any]]) -> None:
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
            chosen=rules.choices.get(name),
            path=folder / f"{name}.svg",
        )
    for k, (per_document, labels) in silhouettes.items():
        silhouette_plot(per_document, labels, title=f"k = {k}", path=folder / f"silhouette_plot_k{k}.svg")


def _silhouettes(rules: Sweep, matrix: Any) -> dict[int, tuple[Any, Any]]:
    """Return silhouettes and labels of the documents for the k of the best silhouette."""
    plots = {}
    for k in filter(None, [rules.choices["silhouette"]]):
        labels = rules.labels[k]
        per_document = score("silhouette", labels, vectors=matrix, metric=rules.metric).per_document
        assert per_document is not None  # the silhouette has one value per document
        plots[k] = (per_document, labels)
    return plots


def _plot_data(silhouettes: Mapping[int, tuple[Any, Any]]) -> pd.DataFrame:
    """Return the data of silhouette plots: for each k the documents by cluster, the best first."""
    frames = [
        pd.DataFrame({"k": k, "cluster": labels, "silhouette": values, "row": np.arange(len(labels))})
        for k, (values, labels) in silhouettes.items()
    ]
    if not frames:
        return pd.DataFrame(columns=["k", "cluster", "silhouette", "row"])
    return pd.concat(frames).sort_values(["k", "cluster", "silhouette"], ascending=[True, True, False], kind="stable")
