"""All external measures of a large labelling, beside scikit-learn's functions for those that it has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from experiments.benchmarks.harness import Session, row

TIMED = ("doccluster/measures",)


Labels = npt.NDArray[np.int64]


def half_right(n_documents: int, n_groups: int) -> tuple[Labels, Labels]:
    """Return found and true labels: half of the documents in the cluster of their class, half anywhere."""
    generator = np.random.default_rng(0)
    truth = generator.integers(0, n_groups, n_documents)
    guess = generator.integers(0, n_groups, n_documents)
    return np.where(generator.random(n_documents) < 0.5, truth, guess), truth


def scikit_learn_measures(found: Labels, truth: Labels, *, adjusted_information: bool) -> Callable[[], object]:
    """Return a call of every clustering score of scikit-learn that compares labels."""
    from sklearn import metrics

    functions = [
        metrics.rand_score,
        metrics.adjusted_rand_score,
        metrics.fowlkes_mallows_score,
        metrics.homogeneity_completeness_v_measure,
        metrics.normalized_mutual_info_score,
        metrics.mutual_info_score,
    ]
    if adjusted_information:
        functions.append(metrics.adjusted_mutual_info_score)
    return lambda: [function(truth, found) for function in functions]


@row("external-1m", "all 44 external measures, 1,000,000 documents, 1,000 clusters, 1,000 classes", target=1.0)
def external_measures(session: Session) -> None:
    """Ours: the default set of `evaluate`. Theirs: nine scores, adjusted mutual information among them."""
    from doccluster.measures import evaluate

    found, truth = half_right(20_000 if session.quick else 1_000_000, 100 if session.quick else 1_000)
    evaluate(found[:1000], truth=truth[:1000])  # compiles
    contenders = {
        "doccluster": lambda: evaluate(found, truth=truth),
        "scikit-learn, without AMI": scikit_learn_measures(found, truth, adjusted_information=False),
        "scikit-learn": scikit_learn_measures(found, truth, adjusted_information=True),
    }
    session.compare(contenders, repeats=3)


@row("ami-1m", "adjusted mutual information alone, from labels, 1,000,000 documents, 1,000 clusters", target=1.0)
def adjusted_information(session: Session) -> None:
    """Ours and theirs from the same label arrays."""
    from sklearn.metrics import adjusted_mutual_info_score

    from doccluster.measures import score

    found, truth = half_right(20_000 if session.quick else 1_000_000, 100 if session.quick else 1_000)
    session.compare(
        {
            "doccluster": lambda: score("ami", found, truth=truth),
            "scikit-learn": lambda: adjusted_mutual_info_score(truth, found),
        },
        repeats=3,
    )
    session.record("doccluster", "value", score("ami", found, truth=truth).value)
    session.record("scikit-learn", "value", float(adjusted_mutual_info_score(truth, found)))
