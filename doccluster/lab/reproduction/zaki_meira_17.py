"""Every printed number of chapter 17 of Zaki & Meira, on the two principal components of Iris."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from doccluster.base.arrays import AnyArray, Floats, Integers, Labels
from doccluster.cli.reproduction import Work, printed_values
from doccluster.lab.criteria import best_k, criteria_over_k, delta_ch, gap_k
from doccluster.lab.resampling import stability
from doccluster.lab.tendency_tests import distance_distribution_test, hopkins_test, spatial_histogram_test
from doccluster.measures import cluster_distances, scatter_matrices, score
from doccluster.report.figures import line_chart, silhouette_plot

SOURCE = "Zaki & Meira 2014, Data Mining and Analysis, chapter 17"
KS = range(2, 10)


def reproduce(work: Work) -> dict[str, float]:
    """Return our value for each printed number."""
    if work.tables is not None:  # figure 17.1 is drawn by matplotlib: without it this stops here, not in the end
        import doccluster.report.canvas  # noqa: F401
    data = pd.read_csv(Path(__file__).with_name("iris_components.csv"))
    points = data[["x", "y"]].to_numpy()
    good, bad, truth = (data[name].to_numpy() for name in ("good", "bad", "truth"))
    values = {
        **external(good, bad, truth),
        **internal(points, good, bad),
        **scatter(points, good),
        **over_k(points, work),
        **tendency(points, work),
        **choices_from_printed_gaps(),
    }
    if not work.quick:
        values |= {**gap(points, work), **stable(points, work)}
    if work.tables is not None:
        draw_partition(points, {"truth": truth, "good": good, "bad": bad}, work.tables)
    return values


def value(name: str, labels: AnyArray, **evidence: Any) -> float:
    """Return one measure by name."""
    return float(score(name, labels, **evidence).value)


def external(good: Labels, bad: Labels, truth: AnyArray) -> dict[str, float]:
    """Return examples 17.1 to 17.4."""
    entropies = np.asarray(score("conditional_entropy", good, truth=truth, base=2).per_cluster)
    f_values = np.asarray(score("zaki_f", good, truth=truth).per_cluster)
    order = book_order(good)
    names: dict[str, tuple[str, dict[str, Any]]] = {
        "17.1 purity": ("purity", {}),
        "17.1 match": ("max_matching", {}),
        "17.1 F": ("zaki_f", {}),
        "17.2 H(T|C)": ("conditional_entropy", {"base": 2}),
        "17.2 NMI": ("nmi_geometric", {}),
        "17.2 VI": ("variation_of_information", {"base": 2}),
        "17.3 Jaccard": ("jaccard", {}),
        "17.3 Rand": ("rand", {}),
        "17.3 FM": ("fowlkes_mallows", {}),
        "17.4 Gamma": ("hubert_discrete", {}),
        "17.4 Gamma_n": ("hubert_discrete_normalized", {}),
    }
    values = {
        f"{key} {label}": value(name, labels, truth=truth, **extra)
        for key, (name, extra) in names.items()
        for label, labels in (("good", good), ("bad", bad))
    }
    return values | {
        "17.1 F1": f_values[order[0]],
        "17.1 F3": f_values[order[2]],
        "17.2 H(T|C1)": entropies[order[0]],
        "17.2 H(T|C3)": entropies[order[2]],
        "17.2 H(T)": value("mutual_information", truth, truth=truth, base=2),  # H(T) = I(T; T)
        "17.2 H(C)": value("mutual_information", good, truth=good, base=2),
        "17.2 I": value("mutual_information", good, truth=truth, base=2),
    }


def book_order(good: Labels) -> Integers:
    """Return the clusters in the book's order: C1, C2, C3 have 61, 50 and 39 points."""
    return np.argsort(-np.bincount(good))


def internal(points: Floats, good: Labels, bad: Labels) -> dict[str, float]:
    """Return example 17.6."""
    judged: dict[str, Any] = {"vectors": points, "metric": "euclidean"}
    order = book_order(good)
    weights = cluster_distances(good, vectors=points).weights[np.ix_(order, order)]
    n_in = int(sum(size * (size - 1) // 2 for size in np.bincount(good)))
    distances = np.sort([np.linalg.norm(a - b) for i, a in enumerate(points) for b in points[i + 1 :]])
    lowest, highest = distances[:n_in].sum(), distances[-n_in:].sum()
    pairs = {"C1,C1": (0, 0), "C1,C2": (0, 1), "C1,C3": (0, 2), "C2,C2": (1, 1), "C2,C3": (1, 2), "C3,C3": (2, 2)}
    spread = np.sqrt(np.asarray(score("rss", good, **judged).per_cluster) / np.bincount(good))[order]
    ratios = np.asarray(score("davies_bouldin", good, **judged).per_pair)[np.ix_(order, order)]
    n_pairs = len(points) * (len(points) - 1) / 2
    names = {
        "BetaCV": "beta_cv",
        "C-index": "c_index",
        "NC": "normalized_cut",
        "Q": "modularity",
        "Dunn": "dunn",
        "DB": "davies_bouldin",
        "SC": "silhouette",
        "Gamma": "hubert",
        "Gamma_n": "hubert_normalized",
    }
    values = {f"17.6 {key}": value(name, good, **judged) for key, name in names.items()}
    values |= {f"17.6 {key} bad": value(name, bad, **judged) for key, name in names.items()}
    return {
        **values,
        **{f"17.6 W({key})": weights[cell] for key, cell in pairs.items()},
        "17.6 W_in": np.trace(weights) / 2,
        "17.6 W_out": (weights.sum() - np.trace(weights)) / 2,
        "17.6 W_min": lowest,
        "17.6 W_max": highest,
        "17.6 W_max - W_min": highest - lowest,
        **{f"17.6 sigma{i + 1}": spread[i] for i in range(3)},
        **{f"17.6 DB{i + 1}{j + 1}": ratios[i, j] for i, j in ((0, 1), (0, 2), (1, 2))},
        "17.6 s_1 (row 61, 0-based)": np.asarray(score("silhouette", good, **judged).per_document)[61],
        "17.6 Gamma sum": values["17.6 Gamma"] * n_pairs,
    }


def scatter(points: Floats, good: Labels) -> dict[str, float]:
    """Return the scatter matrices and CH(3) of example 17.8."""
    matrices = scatter_matrices(good, vectors=points)
    return {
        "17.8 S_W[0,0]": matrices.within[0, 0],
        "17.8 S_W[0,1]": matrices.within[0, 1],
        "17.8 S_W[1,1]": matrices.within[1, 1],
        "17.8 S_B[0,0]": matrices.between[0, 0],
        "17.8 S_B[1,1]": matrices.between[1, 1],
        "17.8 CH(3)": value("calinski_harabasz", good, vectors=points, metric="euclidean"),
    }


def over_k(points: Floats, work: Work) -> dict[str, float]:
    """Return silhouette, CH and Delta of the best K-means of each k (examples 17.7 and 17.8)."""
    labels = {k: best_k_means(points, k, starts=200 if work.quick or k != 7 else 4000) for k in KS}
    ch = {k: value("calinski_harabasz", labels[k], vectors=points, metric="euclidean") for k in KS}
    judged: dict[str, Any] = {"vectors": points, "metric": "euclidean"}
    values = {f"17.8 CH({k}) best K-means": value for k, value in ch.items() if not (work.quick and k == 7)}
    delta = delta_ch(ch)
    values |= {f"17.8 Delta({k})": value for k, value in delta.items() if not (work.quick and abs(k - 7) <= 1)}
    values["17.7 SC k=2"] = value("silhouette", labels[2], **judged)
    values["17.7 SC k=4 (best RSS)"] = value("silhouette", labels[4], **judged)
    if work.tables is not None:
        line_chart({"CH": (list(ch), list(ch.values()))}, x_label="k", y_label="CH(k)").save(
            work.tables / "figure-17-4.svg"
        )
        for k in (2, 3, 4):
            silhouette = score("silhouette", labels[k], **judged)
            silhouette_plot(np.asarray(silhouette.per_document), labels[k], mean=silhouette.value).save(
                work.tables / f"figure-17-3-k{k}.svg"
            )
    return values


def best_k_means(points: Floats, k: int, *, starts: int) -> Labels:
    """Return the labels with the least RSS of many starts."""
    return np.asarray(KMeans(k, n_init=starts, tol=0, random_state=0).fit(points).labels_, np.int64)


def gap(points: Floats, work: Work) -> dict[str, float]:
    """Return table 17.1: 100 uniform samples, W_in of K-means, logarithm to base 2."""
    table = criteria_over_k(
        points,
        ks=range(1, 10),
        criteria="gap",
        algorithm="k-means:n_init=50",
        n_null=100,
        null="uniform",
        random_state=work.seed,
    ).table
    if work.tables is not None:
        line_chart(
            {"gap": (table["k"], table["gap"])}, spread={"gap": table["gap_sd"]}, x_label="k", y_label="gap(k)"
        ).save(work.tables / "figure-17-5.svg")
    ks, columns = table["k"], {"gap": table["gap"], "sigma": table["gap_sd"]}
    return {f"17.9 {name}({k})": float(v) for name, values in columns.items() for k, v in zip(ks, values, strict=True)}


def choices_from_printed_gaps() -> dict[str, float]:
    """Return the choices of the rules of example 17.9 from the gaps and deviations printed in table 17.1."""
    printed = {line["key"]: float(line["printed"]) for line in printed_values("zaki")}
    gaps = {k: printed[f"17.9 gap({k})"] for k in range(1, 10)}
    sigma = {k: printed[f"17.9 sigma({k})"] for k in range(1, 10)}
    chosen = {
        "least k within one sigma": gap_k(gaps, sigma),
        "least k within two sigma": gap_k(gaps, sigma, n_sd=2),
        "largest gap": best_k(gaps),
    }
    return {f"17.9 k*: {words}": float(k or 0) for words, k in chosen.items()}


def stable(points: Floats, work: Work) -> dict[str, float]:
    """Return the choices of example 17.10 (50 bootstrap samples where the book has 500)."""
    choices: dict[str, float] = {}
    curves: dict[str, tuple[list[int], list[float]]] = {}
    for key, measure in (("VI", "vi"), ("FM", "fowlkes_mallows")):
        means, _ = stability(points, ks=KS, algorithm=KMeans(n_init=10), n_samples=50, measure=measure, random_state=0)
        choices[f"17.10 k* by {key}"] = float(best_k(means, largest=key == "FM") or 0)
        curves[key] = list(KS), [means[k] for k in KS]
    if work.tables is not None:
        line_chart(curves, x_label="k", y_label="mean over pairs").save(work.tables / "figure-17-6.svg")
    return choices


def tendency(points: Floats, work: Work) -> dict[str, float]:
    """Return examples 17.11 to 17.13."""
    t = 200 if work.quick else 500
    how: dict[str, Any] = {"n_samples": t, "random_state": work.seed}
    spatial = spatial_histogram_test(points, bins=5, zero="skip", **how)
    distances = distance_distribution_test(
        points, bins=25, shared_bins=False, null="uniform", metric="euclidean", zero="skip", **how
    )
    uniform = hopkins_test(points, sample_size=30, null="uniform", power="dimension", metric="euclidean", **how)
    if work.tables is not None:
        for number, test in ((7, spatial), (8, distances), (9, uniform)):
            counts, edges = np.histogram(test.values, 25)
            line_chart(
                {test.name: ((edges[1:] + edges[:-1]) / 2, counts / counts.sum())},
                x_label=test.name,
                y_label="share of samples",
            ).save(work.tables / f"figure-17-{number}.svg")
    return {
        "17.11 mean KL": spatial.mean,
        "17.11 sd KL": spatial.sd,
        "17.12 mean KL": distances.mean,
        "17.12 sd KL": distances.sd,
        "17.13 mean Hopkins": uniform.mean,
        "17.13 sd Hopkins": uniform.sd,
    }


def draw_partition(points: Floats, partitions: Mapping[str, AnyArray], folder: Path) -> None:
    """Draw figure 17.1, the points with the true classes and with both clusterings, and figure 17.2, their graphs."""
    from doccluster.report.plots import cluster_graph

    for name, labels in partitions.items():
        cluster_graph(points, labels, title=name, with_edges=False, path=folder / f"figure-17-1-{name}.svg")
        if name != "truth":
            cluster_graph(points, labels, title=name, path=folder / f"figure-17-2-{name}.svg")
