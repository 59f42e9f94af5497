"""The table of algorithms: all that `run`, `cluster`, `choose-k` and `compare` can be asked to cluster by.

A new algorithm is a row here, its code in a file of this folder, and its references in `bibliography/methods.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal

from doccluster.choices import spelled
from doccluster.clustering.options import (
    AgglomerativeOptions,
    BisectingOptions,
    BisectingSphericalOptions,
    CriterionOptions,
    DocumentOptions,
    KMeansOptions,
    MiniBatchOptions,
    MixtureOptions,
    MultinomialOptions,
    SphericalOptions,
)
from doccluster.clustering.task import STARTS as STARTS
from doccluster.clustering.task import Found, Task
from doccluster.errors import Argument, InputError
from doccluster.validation import check_n_init

Metric = Literal["cosine", "euclidean"]
SPHERICAL = "spherical-k-means"  # what runs used before they wrote it down


@dataclass(frozen=True)
class Algorithm:
    """One way to cluster documents.

    Attributes
    ----------
    name : str
        What it is asked for by; hyphens and capital letters make no difference.
    title : str
        What it is called in a sentence.
    criterion : str
        What it makes as large or small as it can.
    metric : {"cosine", "euclidean"}
        In which its clusters are judged when a number of clusters is chosen.
    needs : {"unit rows", "counts"}
        What it works on; one that needs counts does without them where there are none, and says so.
    predicts : str
        Which cluster a new document gets.
    options : dataclass
        What may be set.
    make : function
        Returns a new estimator, for `choose-k`, `compare` and pipelines.
    find : function
        Returns what the algorithm finds in a task.
    takes_centroids : bool
        Whether the estimator takes centroids to start from as `init`.
    """

    name: str
    title: str
    criterion: str
    metric: Metric
    needs: Literal["unit rows", "counts"]
    predicts: str
    options: type
    make: Callable[[], Any]
    find: Callable[[Task], Found]
    takes_centroids: bool = False

    @property
    def option_names(self) -> tuple[str, ...]:
        """What may be set, by name."""
        return tuple(one.name for one in fields(self.options))

    def check_options(self, given: Any) -> None:
        """Raise InputError if an option that was given is unknown, or asks for endless work."""
        for name in given:
            if name not in self.option_names:
                raise InputError(f"{self.name} has no option {name!r}", remedy=f"it has {', '.join(self.option_names)}")
        if given.get("n_init", "auto") != "auto":
            check_n_init(given["n_init"])


def get_algorithm(name: str) -> Algorithm:
    """Return the algorithm of a name.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> get_algorithm("kmeans").name
    'k-means'
    """
    found = _BY_SPELLING.get(spelled(name)) if isinstance(name, str) else None
    if found is None:
        raise InputError(f"there is no algorithm {name!r}", remedy=f"choose one of {', '.join(ALGORITHMS)}")
    return found


def is_algorithm(name: str) -> bool:
    """Return whether there is an algorithm of a name."""
    return spelled(name) in _BY_SPELLING


def parse_algorithm(text: str) -> tuple[Algorithm, dict[str, Any]]:
    """Return the algorithm that a text names, and the parameters that follow the name.

    Examples
    --------
    >>> algorithm, parameters = parse_algorithm("spherical-k-means:n_init=1,refine=true")
    >>> algorithm.name, parameters
    ('spherical-k-means', {'n_init': 1, 'refine': True})

    Raises
    ------
    InputError
        If there is no such algorithm, or a parameter has no value.
    """
    name, _, settings = text.partition(":")
    algorithm, parameters = get_algorithm(name), {}
    for pair in filter(None, settings.split(",")):
        parameter, equals, value = pair.partition("=")
        if not equals:
            raise InputError(f"{pair!r} is not a parameter of {name}", remedy=f"write {name}:name=value,name=value")
        parameters[parameter] = parse_value(value)
    return algorithm, parameters


def chosen_algorithm(algorithm: str | None, quality: str | None) -> tuple[Algorithm, dict[str, Any]]:
    """Return the algorithm asked for by name or by quality, and its options; the default where neither is given.

    Raises
    ------
    InputError
        If both are given, or one is not known.
    """
    if quality is not None and algorithm is not None:
        both = Argument("quality", quality), " chooses an algorithm, and ", Argument("algorithm", algorithm), " is one"
        raise InputError(both, remedy="give one of the two")
    if quality is not None and quality not in QUALITIES:
        known = f"one of {', '.join(QUALITIES)}"
        raise InputError("is not known", argument="quality", received=quality, expected=known)
    return parse_algorithm(algorithm if algorithm is not None else QUALITIES[quality or "default"])


def parse_value(text: str) -> Any:
    """Return the value of a parameter as typed: a number, true, false, null, or else the text itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _spherical_estimator() -> Any:
    from doccluster.clustering.k_means.spherical_k_means import SphericalKMeans

    return SphericalKMeans(2, n_threads=1)


def _find_spherical(task: Task) -> Found:
    from doccluster.clustering.k_means.spherical_task import find_spherical

    return find_spherical(task)


def _document_estimator(quality: str) -> Callable[[], Any]:
    def make() -> Any:
        from doccluster.clustering.smoothed.document_clustering import DocumentClustering

        return DocumentClustering(2, quality=quality, n_threads=1)

    return make


def _find_documents(quality: str) -> Callable[[Task], Found]:
    def find(task: Task) -> Found:
        from doccluster.clustering.smoothed.document_task import find_documents

        return find_documents(task, quality)

    return find


def _criterion() -> Any:
    from doccluster.clustering.criterion_clustering import CriterionClustering

    return CriterionClustering(2, n_threads=1)


def _bisecting_spherical() -> Any:
    from doccluster.clustering.hierarchical.bisecting import BisectingSphericalKMeans

    return BisectingSphericalKMeans(2, n_threads=1)


def _agglomerative() -> Any:
    from doccluster.clustering.hierarchical.agglomerative import AgglomerativeClustering

    return AgglomerativeClustering(2, n_threads=1)


def _k_means() -> Any:
    from sklearn.cluster import KMeans

    return KMeans(2)


def _mini_batch() -> Any:
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(2)


def _bisecting() -> Any:
    from sklearn.cluster import BisectingKMeans

    return BisectingKMeans(2)


def _mixture() -> Any:
    from doccluster.clustering.mixtures.vmf_mixture import VonMisesFisherMixture

    return VonMisesFisherMixture(2, concentration="shared")  # free ones run to their bound where a cluster is of copies


def _multinomials() -> Any:
    from doccluster.clustering.mixtures.multinomial_mixture import MultinomialMixture

    return MultinomialMixture(2, n_threads=1)


def _find_multinomials(task: Task) -> Found:
    from doccluster.clustering.mixtures.multinomial_task import find_multinomials

    return find_multinomials(task)


def _by_estimator(make: Callable[[], Any], decide: str | None) -> Callable[[Task], Found]:
    """Return what finds clusters by an estimator; `decide` names the function that makes its rule."""

    def find(task: Task) -> Found:
        from doccluster.clustering import estimating

        return estimating.fit_estimator(make(), task, None if decide is None else getattr(estimating, decide))

    return find


_ROWS = (
    Algorithm(
        name=SPHERICAL,
        title="spherical k-means",
        criterion="sum of the cosines of documents to their centroids",
        metric="cosine",
        needs="unit rows",
        predicts="the nearest centroid by cosine",
        options=SphericalOptions,
        make=_spherical_estimator,
        find=_find_spherical,
        takes_centroids=True,
    ),
    Algorithm(
        name="settled",
        title="k-means, then term counts",
        criterion="sum of the cosines of documents to their centroids, then the likelihood of their counts",
        metric="cosine",
        needs="counts",
        predicts="the most probable cluster",
        options=DocumentOptions,
        make=_document_estimator("fast"),
        find=_find_documents("fast"),
    ),
    Algorithm(
        name="smoothed",
        title="k-means with neighbours, then term counts",
        criterion="sum of the cosines of smoothed documents to their centroids, then the likelihood of their counts",
        metric="cosine",
        needs="counts",
        predicts="the most probable cluster",
        options=DocumentOptions,
        make=_document_estimator("default"),
        find=_find_documents("default"),
    ),
    Algorithm(
        name="consensus",
        title="what a dozen clusterings agree on, then term counts",
        criterion="agreement with all of them, then the likelihood of the counts of documents",
        metric="cosine",
        needs="counts",
        predicts="the most probable cluster",
        options=DocumentOptions,
        make=_document_estimator("best"),
        find=_find_documents("best"),
    ),
    Algorithm(
        name="criterion-functions",
        title="a criterion function by moves of single documents",
        criterion="I2 (the sum of the cosines of documents to their centroids) or another of CLUTO's criteria",
        metric="cosine",
        needs="unit rows",
        predicts="the nearest centroid by cosine",
        options=CriterionOptions,
        make=_criterion,
        find=_by_estimator(_criterion, None),
    ),
    Algorithm(
        name="bisecting-spherical-k-means",
        title="repeated bisection by spherical k-means",
        criterion="sum of the cosines of documents to their centroids, cluster after cluster divided in two",
        metric="cosine",
        needs="unit rows",
        predicts="the nearest centroid by cosine",
        options=BisectingSphericalOptions,
        make=_bisecting_spherical,
        find=_by_estimator(_bisecting_spherical, None),
    ),
    Algorithm(
        name="agglomerative",
        title="agglomerative clustering",
        criterion="distance of the two clusters that are joined next, as small as can be",
        metric="cosine",
        needs="unit rows",
        predicts="the nearest centroid by cosine",
        options=AgglomerativeOptions,
        make=_agglomerative,
        find=_by_estimator(_agglomerative, None),
    ),
    Algorithm(
        name="k-means",
        title="k-means of scikit-learn",
        criterion="sum of the squared distances of documents to their means",
        metric="euclidean",
        needs="unit rows",
        predicts="the nearest mean",
        options=KMeansOptions,
        make=_k_means,
        find=_by_estimator(_k_means, "nearest_mean"),
        takes_centroids=True,
    ),
    Algorithm(
        name="minibatch-k-means",
        title="mini-batch k-means of scikit-learn",
        criterion="sum of the squared distances of documents to their means, by samples",
        metric="euclidean",
        needs="unit rows",
        predicts="the nearest mean",
        options=MiniBatchOptions,
        make=_mini_batch,
        find=_by_estimator(_mini_batch, "nearest_mean"),
    ),
    Algorithm(
        name="bisecting-k-means",
        title="bisecting k-means of scikit-learn",
        criterion="sum of the squared distances of documents to their means, cluster after cluster divided in two",
        metric="euclidean",
        needs="unit rows",
        predicts="the nearest mean",
        options=BisectingOptions,
        make=_bisecting,
        find=_by_estimator(_bisecting, "nearest_mean"),
    ),
    Algorithm(
        name="vmf",
        title="a mixture of von Mises-Fisher distributions",
        criterion="log-likelihood of the mixture",
        metric="cosine",
        needs="unit rows",
        predicts="the most probable cluster",
        options=MixtureOptions,
        make=_mixture,
        find=_by_estimator(_mixture, "most_probable_direction"),
    ),
    Algorithm(
        name="multinomial-mixture",
        title="a mixture of multinomials",
        criterion="log-likelihood of the counts under the mixture",
        metric="cosine",
        needs="counts",
        predicts="the most probable cluster",
        options=MultinomialOptions,
        make=_multinomials,
        find=_find_multinomials,
    ),
)
# what --quality stands for
QUALITIES = {"fast": "settled", "default": "smoothed", "best": "consensus"}
ALGORITHMS: dict[str, Algorithm] = {row.name: row for row in _ROWS}
_BY_SPELLING = {spelled(row.name): row for row in _ROWS}
