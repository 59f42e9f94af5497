"""Every printed number of chapter 17 of Zaki & Meira, on the two principal components of Iris."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

import doccluster
from doccluster.geometry import ClusterEvidence
from doccluster.lab._null_models import sample_null
from doccluster.lab.criteria import best_k, delta_ch, gap_k, gap_statistic, stability, within_weight
from doccluster.lab.tendency_tests import distance_distribution_test, hopkins_test, spatial_histogram_test
from doccluster.report.canvas import category_style, house_style, label_axes, new_axes, written
from doccluster.report.figures import line_chart, silhouette_plot
from experiments.reproduction import Work

SOURCE = "Zaki & Meira 2014, Data Mining and Analysis, chapter 17"
KS = range(2, 10)


def reproduce(work: Work) -> dict[str, float]:
    """Return our value for each printed number."""
    data = pd.read_csv(work.folder / "iris_components.csv")
    points = data[["x", "y"]].to_numpy()
    good, bad, truth = (data[name].to_numpy() for name in ("good", "bad", "truth"))
    values = {
        **external(good, bad, truth),
        **internal(points, good, bad),
        **scatter(points, good),
        **over_k(points, work),
        **tendency(points, work),
        **choices_from_printed_gaps(work),
    }
    if not work.quick:
        values |= {**gap(points, work), **stable(points, work)}
        draw_partition(points, truth, good, bad, work)
    return values


def score(name: str, found: np.ndarray, **given: object) -> float:
    """Return one measure by name."""
    return float(doccluster.score(name, found, **given).value)


def external(good: np.ndarray, bad: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return examples 17.1 to 17.4."""
    entropies = doccluster.score("conditional_entropy", good, truth=truth, base=2).per_cluster
    own_f = doccluster.score("zaki_f", good, truth=truth).per_cluster
    order = book_order(good)
    names = {
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
        f"{key} {label}": score(name, found, truth=truth, **extra)
        for key, (name, extra) in names.items()
        for label, found in (("good", good), ("bad", bad))
    }
    return values | {
        "17.1 F1": own_f[order[0]],
        "17.1 F3": own_f[order[2]],
        "17.2 H(T|C1)": entropies[order[0]],
        "17.2 H(T|C3)": entropies[order[2]],
        "17.2 H(T)": score("mutual_information", truth, truth=truth, base=2),  # H(T) = I(T; T)
        "17.2 H(C)": score("mutual_information", good, truth=good, base=2),
        "17.2 I": score("mutual_information", good, truth=truth, base=2),
    }


def book_order(good: np.ndarray) -> np.ndarray:
    """Return the clusters in the book's order: C1, C2, C3 have 61, 50 and 39 points."""
    return np.argsort(-np.bincount(good))


def internal(points: np.ndarray, good: np.ndarray, bad: np.ndarray) -> dict[str, float]:
    """Return example 17.6."""
    given = {"vectors": points, "metric": "euclidean"}
    order = book_order(good)
    weights = block_weights(points, good)[np.ix_(order, order)]
    n_in = int(sum(size * (size - 1) // 2 for size in np.bincount(good)))
    distances = np.sort([np.linalg.norm(a - b) for i, a in enumerate(points) for b in points[i + 1 :]])
    lowest, highest = distances[:n_in].sum(), distances[-n_in:].sum()
    pairs = {"C1,C1": (0, 0), "C1,C2": (0, 1), "C1,C3": (0, 2), "C2,C2": (1, 1), "C2,C3": (1, 2), "C3,C3": (2, 2)}
    apart = [points[good == c] for c in order]
    spread = np.sqrt([ClusterEvidence(own, one(own), metric="euclidean").centres.rss / len(own) for own in apart])
    means = np.array([points[good == c].mean(axis=0) for c in order])
    ratio = {(i, j): (spread[i] + spread[j]) / np.linalg.norm(means[i] - means[j]) for i, j in ((0, 1), (0, 2), (1, 2))}
    n_pairs = len(points) * (len(points) - 1) / 2
    both = {
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
    values = {f"17.6 {key}": score(name, good, **given) for key, name in both.items()}
    values |= {f"17.6 {key} bad": score(name, bad, **given) for key, name in both.items()}
    return {
        **values,
        **{f"17.6 W({key})": weights[cell] for key, cell in pairs.items()},
        "17.6 W_in": np.trace(weights) / 2,
        "17.6 W_out": (weights.sum() - np.trace(weights)) / 2,
        "17.6 W_min": lowest,
        "17.6 W_max": highest,
        "17.6 W_max - W_min": highest - lowest,
        **{f"17.6 sigma{i + 1}": spread[i] for i in range(3)},
        **{f"17.6 DB{i + 1}{j + 1}": value for (i, j), value in ratio.items()},
        "17.6 s_1 (row 61, 0-based)": doccluster.score("silhouette", good, **given).per_document[61],
        "17.6 Gamma sum": values["17.6 Gamma"] * n_pairs,
    }


def one(points: np.ndarray) -> doccluster.Partition:
    """Return the partition with a single cluster."""
    return doccluster.Partition.from_labels(np.zeros(len(points), dtype=int))


def block_weights(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the sums of distances between (ordered) pairs of clusters, by definition."""
    distances = np.linalg.norm(points[:, None, :] - points[None, :, :], axis=2)  # 150 points
    member = np.eye(labels.max() + 1)[labels]
    return np.asarray(member.T @ distances @ member)


def scatter(points: np.ndarray, good: np.ndarray) -> dict[str, float]:
    """Return the scatter matrices and CH(3) of example 17.8."""
    centre = points.mean(axis=0)
    within, between = np.zeros((2, 2)), np.zeros((2, 2))
    for cluster in range(3):
        own = points[good == cluster]
        offset = own - own.mean(axis=0)
        within += offset.T @ offset
        between += len(own) * np.outer(own.mean(axis=0) - centre, own.mean(axis=0) - centre)
    return {
        "17.8 S_W[0,0]": within[0, 0],
        "17.8 S_W[0,1]": within[0, 1],
        "17.8 S_W[1,1]": within[1, 1],
        "17.8 S_B[0,0]": between[0, 0],
        "17.8 S_B[1,1]": between[1, 1],
        "17.8 CH(3)": score("calinski_harabasz", good, vectors=points, metric="euclidean"),
    }


def over_k(points: np.ndarray, work: Work) -> dict[str, float]:
    """Return silhouette, CH and Delta of the best K-means of each k (examples 17.7 and 17.8)."""
    labels = {k: best_k_means(points, k, starts=200 if work.quick or k != 7 else 4000) for k in KS}
    ch = {k: score("calinski_harabasz", labels[k], vectors=points, metric="euclidean") for k in KS}
    given = {"vectors": points, "metric": "euclidean"}
    values = {f"17.8 CH({k}) best K-means": value for k, value in ch.items() if not (work.quick and k == 7)}
    delta = delta_ch(ch)
    values |= {f"17.8 Delta({k})": value for k, value in delta.items() if not (work.quick and abs(k - 7) <= 1)}
    values["17.7 SC k=2"] = score("silhouette", labels[2], **given)
    values["17.7 SC k=4 (best RSS)"] = score("silhouette", labels[4], **given)
    if not work.quick:
        line_chart({"CH": (list(ch), list(ch.values()))}, x_label="k", y_label="CH(k)").save(
            work.results / "figure-17-4.svg"
        )
        for k in (2, 3, 4):
            silhouette = doccluster.score("silhouette", labels[k], **given)
            silhouette_plot(silhouette.per_document, labels[k], mean=silhouette.value).save(
                work.results / f"figure-17-3-k{k}.svg"
            )
    return values


def best_k_means(points: np.ndarray, k: int, *, starts: int) -> np.ndarray:
    """Return the labels with the least RSS of many starts."""
    return KMeans(k, n_init=starts, tol=0, random_state=0).fit(points).labels_


def gap(points: np.ndarray, work: Work) -> dict[str, float]:
    """Return table 17.1: 200 uniform samples, W_in of K-means, logarithm to base 2."""
    rng = np.random.default_rng(work.seed)
    ks = range(1, 10)

    def weights(data: np.ndarray, starts: int) -> dict[int, float]:
        found = {}
        for k in ks:
            labels = KMeans(k, n_init=starts, random_state=int(rng.integers(2**31))).fit(data).labels_
            partition = doccluster.Partition.from_labels(labels)
            found[k] = within_weight(ClusterEvidence(data, partition, metric="euclidean"))
        return found

    samples = [
        weights(sample_null(points, model="uniform", random_state=rng, keep_unit_rows=False), 20) for _ in range(200)
    ]
    values, sd = gap_statistic(weights(points, 50), samples)
    line_chart(
        {"gap": (list(values), list(values.values()))},
        spread={"gap": list(sd.values())},
        x_label="k",
        y_label="gap(k)",
    ).save(work.results / "figure-17-5.svg")
    return {
        **{f"17.9 gap({k})": value for k, value in values.items()},
        **{f"17.9 sigma({k})": value for k, value in sd.items()},
    }


def choices_from_printed_gaps(work: Work) -> dict[str, float]:
    """Return the choices of the rules of example 17.9 from the gaps and deviations printed in table 17.1."""
    printed = pd.read_csv(work.folder / "expected.csv").set_index("key")["printed"]
    gaps = {k: printed[f"17.9 gap({k})"] for k in range(1, 10)}
    sigma = {k: printed[f"17.9 sigma({k})"] for k in range(1, 10)}
    chosen = {
        "least k within one sigma": gap_k(gaps, sigma),
        "least k within two sigma": gap_k(gaps, sigma, n_sd=2),
        "largest gap": best_k(gaps),
    }
    return {f"17.9 k*: {words}": float(k or 0) for words, k in chosen.items()}


def stable(points: np.ndarray, work: Work) -> dict[str, float]:
    """Return the choices of example 17.10 (50 bootstrap samples where the book has 500)."""
    choices = {}
    curves = {}
    for key, measure in (("VI", "vi"), ("FM", "fowlkes_mallows")):
        means, _ = stability(points, ks=KS, algorithm=KMeans(n_init=10), n_samples=50, measure=measure, random_state=0)
        choices[f"17.10 k* by {key}"] = float(best_k(means, largest=key == "FM") or 0)
        curves[key] = list(KS), [means[k] for k in KS]
    line_chart(curves, x_label="k", y_label="mean over pairs").save(work.results / "figure-17-6.svg")
    return choices


def tendency(points: np.ndarray, work: Work) -> dict[str, float]:
    """Return examples 17.11 to 17.13."""
    t = 200 if work.quick else 500
    given = {"n_samples": t, "random_state": work.seed}
    spatial = spatial_histogram_test(points, bins=5, zero="skip", **given)
    distances = distance_distribution_test(
        points, bins=25, shared_bins=False, null="uniform", metric="euclidean", zero="skip", **given
    )
    found = hopkins_test(points, sample_size=30, null="uniform", power="dimension", metric="euclidean", **given)
    if not work.quick:
        for number, test in ((7, spatial), (8, distances), (9, found)):
            counts, edges = np.histogram(test.values, 25)
            line_chart(
                {test.name: ((edges[1:] + edges[:-1]) / 2, counts / counts.sum())},
                x_label=test.name,
                y_label="share of samples",
            ).save(work.results / f"figure-17-{number}.svg")
    return {
        "17.11 mean KL": spatial.mean,
        "17.11 sd KL": spatial.sd,
        "17.12 mean KL": distances.mean,
        "17.12 sd KL": distances.sd,
        "17.13 mean Hopkins": found.mean,
        "17.13 sd Hopkins": found.sd,
    }


def draw_partition(points: np.ndarray, truth: np.ndarray, good: np.ndarray, bad: np.ndarray, work: Work) -> None:
    """Draw the points of figure 17.1 with the true classes and with both clusterings."""
    for name, labels in (("truth", truth), ("good", good), ("bad", bad)):
        with house_style():
            figure, axes = new_axes(6.0, 4.8)
            for number, label in enumerate(dict.fromkeys(labels.tolist())):
                own, style = labels == label, category_style(number)
                axes.scatter(
                    *points[own].T, s=26, color=style["color"], marker=style["marker"], alpha=0.85, label=label
                )
            axes.grid()
            axes.legend(loc="best")
            label_axes(axes, title=name, x_label="", y_label="")
            written(figure, work.results / f"figure-17-1-{name}.svg")
