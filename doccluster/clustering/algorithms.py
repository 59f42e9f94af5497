"""The table of algorithms: all that `run`, `cluster`, `choose-k` and `compare` can cluster by.

A new algorithm is a row here, its code in a file of this folder, and its references in `bibliography/methods.csv`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from doccluster.base.choices import SPHERICAL as SPHERICAL
from doccluster.base.choices import spelled
from doccluster.base.package import load
from doccluster.base.parameter_fields import Parameter, parameter, parameters_of
from doccluster.base.validation import MAX_STARTS, check_n_init
from doccluster.clustering.task import STARTS as STARTS
from doccluster.clustering.task import ClusteringResult, ClusteringTask
from doccluster.errors import Argument, InputError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Metric = Literal["cosine", "euclidean"]
MOST_PROBABLE = "the most probable cluster"
_OF_A_TASK = ("n_clusters", "random_state", "n_threads", "progress")


@dataclass(frozen=True)
class Algorithm:
    """One way to cluster documents."""

    name: str  # what it is asked for by; hyphens and capital letters make no difference
    title: str  # what it is called in a sentence
    criterion: str  # what it makes as large or small as it can
    estimator: str  # where its estimator is: module, of scikit-learn or below `doccluster.clustering`, and class
    metric: Metric = "cosine"  # in which its clusters are judged when a number of clusters is chosen
    # what it works on; one that needs counts does without them where there are none, and says so
    needs: Literal["unit rows", "counts"] = "unit rows"
    predicts: str = "the nearest centroid by cosine"  # which cluster a new document gets
    parameters: str = ""  # where the dataclass of its parameters is, if that is not the estimator itself
    find: str = ""  # where the function is that returns what it finds in a task, if it is not only fitted
    # where the function is that makes the rule for new documents of a fitted estimator; they else go to the nearest
    # centroid
    rule: str = ""
    fixed: Mapping[str, object] = field(default_factory=dict)  # parameters that have one value in this row
    works_in_blocks: bool = False  # whether it can cluster documents that lie in files

    @property
    def takes_meaning(self) -> bool:
        """Whether it clusters documents in two spaces, words and meaning, as such."""
        return self.find.startswith("smoothed.")

    @property
    def gives_probabilities(self) -> bool:
        """Whether the scores of its rule are log-posteriors of the clusters."""
        return self.predicts == MOST_PROBABLE

    @property
    def options(self) -> dict[str, Parameter]:
        """What may be set, by name."""
        parameters = parameters_of(self.parameters_class)
        return {name: value for name, value in parameters.items() if name not in _OF_A_TASK and name not in self.fixed}

    @property
    def parameters_class(self) -> type:
        """The dataclass of its parameters."""
        kind: type = _loaded(self.parameters or self.estimator)
        return kind

    def make(self) -> Any:
        """Return a new estimator, for `choose-k`, `compare` and pipelines."""
        estimator = _loaded(self.estimator)(2, **self.fixed)
        return estimator.set_params(n_threads=1) if hasattr(estimator, "n_threads") else estimator

    def find_clusters(self, task: ClusteringTask) -> ClusteringResult:
        """Run the algorithm on a task."""
        if self.find:
            result: ClusteringResult = _loaded(self.find)(task, **self.fixed)
            return result
        from doccluster.clustering.task import fit_estimator

        return fit_estimator(self.make(), task, _loaded(self.rule) if self.rule else None)

    def check_options(self, named_options: Mapping[str, object]) -> None:
        """Raise InputError if an option that was given is unknown, or its value cannot be used."""
        options = self.options if named_options else {}
        for name, value in named_options.items():
            if name not in options:
                raise InputError(f"{self.name} has no option {name!r}", remedy=f"it has {', '.join(options)}")
            if value is not None:
                options[name].check_value(name, value)
        if named_options.get("n_init", "auto") != "auto":
            check_n_init(named_options["n_init"])


def _loaded(place: str) -> Any:
    return load(place if place.startswith("sklearn") else f"doccluster.clustering.{place}")


def get_algorithm(name: str) -> Algorithm:
    """Return the algorithm of a name.

    Raises InputError if there is none.

    >>> get_algorithm("kmeans").name
    'k-means'
    """
    algorithm = _BY_SPELLING.get(spelled(name)) if isinstance(name, str) else None
    if algorithm is None:
        raise InputError(f"there is no algorithm {name!r}", remedy=f"choose one of {', '.join(ALGORITHMS)}")
    return algorithm


def is_algorithm(name: str) -> bool:
    """Return whether there is an algorithm of a name."""
    return spelled(name) in _BY_SPELLING


def parse_algorithm(text: str) -> tuple[Algorithm, dict[str, object]]:
    """Return the algorithm that a text names, and the parameters that follow the name.

    Raises InputError if there is no such algorithm, or a parameter has no value.

    >>> algorithm, parameters = parse_algorithm("spherical-k-means:n_init=1,refine=true")
    >>> algorithm.name, parameters
    ('spherical-k-means', {'n_init': 1, 'refine': True})
    """
    name, _, settings = text.partition(":")
    algorithm, parameters = get_algorithm(name), {}
    for pair in filter(None, settings.split(",")):
        parameter, equals, value = pair.partition("=")
        if not equals:
            raise InputError(f"{pair!r} is not a parameter of {name}", remedy=f"write {name}:name=value,name=value")
        parameters[parameter] = parse_value(value)
    return algorithm, parameters


def chosen_algorithm(algorithm: str | None, quality: str | None) -> tuple[Algorithm, dict[str, object]]:
    """Return the algorithm of a name or a quality, and its options; the default where neither is given.

    Raises InputError if both are given, or one is not known.
    """
    if quality is not None and algorithm is not None:
        both = Argument("quality", quality), " chooses an algorithm, and ", Argument("algorithm", algorithm), " is one"
        raise InputError(both, remedy="give one of the two")
    if quality is not None and quality not in QUALITIES:
        qualities = f"one of {', '.join(QUALITIES)}"
        raise InputError("is not known", argument="quality", received=quality, expected=qualities)
    return parse_algorithm(algorithm if algorithm is not None else QUALITIES[quality or "default"])


def algorithm_of(estimator: BaseEstimator) -> tuple[str, dict[str, object]]:
    """Return the name of the algorithm that an estimator is, and the parameters that are not as usual.

    Raises InputError if it is none of the table.
    """
    for row in _ROWS:
        if type(estimator) is _loaded(row.estimator):
            values = estimator.get_params(deep=False)
            if values.get("topics") is not None:
                raise InputError("topics of an estimator are rows and columns of its matrix", remedy="give topics=")
            if all(values[name] == value for name, value in row.fixed.items()):
                usual = {
                    name: (option.default, "auto") for name, option in row.options.items()
                }  # "auto": scikit-learn's
                return row.name, {name: values[name] for name in usual if values[name] not in usual[name]}
    raise InputError(
        f"{getattr(estimator, '__name__', type(estimator).__name__)} is none of the algorithms of a run",
        remedy="choose one of `doccluster algorithms`, or fit it yourself and give its labels to run(labels=...)",
    )


def parse_value(text: str) -> object:
    """Return the value of a parameter as typed: a number, true, false, null, or else the text itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


@dataclass(kw_only=True)
class KMeansParameters:
    """Parameters of scikit-learn's k-means."""

    init: str = parameter("k-means++", "How the first means are chosen.", choices=("k-means++", "random"))
    n_init: int = parameter(10, "Number of starts; the best is kept.", low=1, high=MAX_STARTS)
    max_iter: int = parameter(300, "The most iterations in one start.", low=1)
    tol: float = parameter(1e-4, "A start ends when the means move less than this.", low=0)


@dataclass(kw_only=True)
class MiniBatchParameters(KMeansParameters):
    """Parameters of scikit-learn's mini-batch k-means."""

    batch_size: int = parameter(1024, "How many documents an iteration takes.", low=1)


@dataclass(kw_only=True)
class BisectingKMeansParameters(KMeansParameters):
    """Parameters of scikit-learn's bisecting k-means."""

    bisecting_strategy: str = parameter(
        "biggest_inertia", "Which cluster is divided next.", choices=("biggest_inertia", "largest_cluster")
    )


_SMOOTHED: Any = {
    "needs": "counts",
    "predicts": MOST_PROBABLE,
    "estimator": "smoothed.document_clustering:DocumentClustering",
    "parameters": "smoothed.document_clusters:DocumentParameters",
    "find": "smoothed.document_clusters:find_documents",
    "works_in_blocks": True,
}
_THEIRS: Any = {"metric": "euclidean", "predicts": "the nearest mean", "rule": "task:nearest_mean"}
_ROWS = (
    Algorithm(
        name=SPHERICAL,
        title="spherical k-means",
        criterion="sum of the cosines of documents to their centroids",
        estimator="k_means.spherical_k_means:SphericalKMeans",
        parameters="k_means.spherical:SphericalParameters",
        find="k_means.spherical:find_spherical",
        works_in_blocks=True,
    ),
    Algorithm(
        name="settled",
        title="spherical k-means, then a multinomial mixture",
        criterion="sum of the cosines of documents to their centroids, then the likelihood of their counts",
        **_SMOOTHED,
        fixed={"quality": "fast"},
    ),
    Algorithm(
        name="smoothed",
        title="spherical k-means on neighbour-smoothed vectors, then a multinomial mixture",
        criterion="sum of the cosines of smoothed documents to their centroids, then the likelihood of their counts",
        **_SMOOTHED,
        fixed={"quality": "default"},
    ),
    Algorithm(
        name="criterion-functions",
        title="a criterion function by moves of single documents",
        criterion="I2 (the sum of the cosines of documents to their centroids) or another of CLUTO's criteria",
        estimator="criterion_clustering:CriterionClustering",
    ),
    Algorithm(
        name="bisecting-spherical-k-means",
        title="repeated bisection by spherical k-means",
        criterion="sum of the cosines of documents to their centroids, cluster after cluster divided in two",
        estimator="hierarchical.bisecting:BisectingSphericalKMeans",
    ),
    Algorithm(
        name="agglomerative",
        title="agglomerative clustering",
        criterion="distance of the two clusters that are joined next, as small as can be",
        estimator="hierarchical.agglomerative:AgglomerativeClustering",
    ),
    Algorithm(
        name="k-means",
        title="k-means of scikit-learn",
        criterion="sum of the squared distances of documents to their means",
        estimator="sklearn.cluster:KMeans",
        parameters="algorithms:KMeansParameters",
        **_THEIRS,
    ),
    Algorithm(
        name="minibatch-k-means",
        title="mini-batch k-means of scikit-learn",
        criterion="sum of the squared distances of documents to their means, by samples",
        estimator="sklearn.cluster:MiniBatchKMeans",
        parameters="algorithms:MiniBatchParameters",
        **_THEIRS,
    ),
    Algorithm(
        name="bisecting-k-means",
        title="bisecting k-means of scikit-learn",
        criterion="sum of the squared distances of documents to their means, cluster after cluster divided in two",
        estimator="sklearn.cluster:BisectingKMeans",
        parameters="algorithms:BisectingKMeansParameters",
        **_THEIRS,
    ),
    Algorithm(
        name="vmf",
        title="a mixture of von Mises-Fisher distributions",
        criterion="log-likelihood of the mixture",
        predicts=MOST_PROBABLE,
        estimator="mixtures.vmf_mixture:VonMisesFisherMixture",
        rule="task:most_probable_direction",
    ),
    Algorithm(
        name="multinomial-mixture",
        title="a mixture of multinomials",
        criterion="log-likelihood of the counts under the mixture",
        needs="counts",
        predicts=MOST_PROBABLE,
        estimator="mixtures.multinomial_mixture:MultinomialMixture",
        find="mixtures.multinomial_mixture:find_multinomials",
    ),
)
# what --quality stands for
QUALITIES = {"fast": "settled", "default": "smoothed"}
ALGORITHMS: dict[str, Algorithm] = {row.name: row for row in _ROWS}
_BY_SPELLING = {spelled(row.name): row for row in _ROWS}
