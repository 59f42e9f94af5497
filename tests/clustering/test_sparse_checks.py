"""scikit-learn's checks of sparse input for the estimators with `predict_proba`, which it takes for classifiers.

Of a classifier it reads how many classes there are; a clusterer has no such tag, so the checks of the other files
expect these to fail. Here the tag is given, and as many clusters as the checks have classes. `DocumentClustering` has
no `predict_proba` after a fit to values that are no counts, and passes where the others fail.
"""

from __future__ import annotations

import pytest
from sklearn.utils import ClassifierTags
from sklearn.utils.estimator_checks import check_estimator_sparse_array, check_estimator_sparse_matrix

from doccluster.clustering import MultinomialMixture, VonMisesFisherMixture


@pytest.mark.filterwarnings("ignore::doccluster.errors.DocclusterWarning")  # the checks give copies and empty rows
@pytest.mark.parametrize("check", [check_estimator_sparse_array, check_estimator_sparse_matrix])
@pytest.mark.parametrize("kind", [MultinomialMixture, VonMisesFisherMixture])
def test_each_format_is_fitted_and_gives_a_share_for_each_cluster(kind, check):
    asked = []

    class Told(kind):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.classifier_tags = ClassifierTags()
            return tags

        def predict_proba(self, X):
            asked.append(X.format)
            return super().predict_proba(X)

    check(kind.__name__, Told(4, n_init=2, random_state=0))
    assert {"csr", "csc", "coo"} <= set(asked)
