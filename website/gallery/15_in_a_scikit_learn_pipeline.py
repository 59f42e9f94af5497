"""
How do I search parameters with scikit-learn?
=============================================

Vectorizers are transformers and clusterers are estimators, so a pipeline and a grid search work as usual; any measure
becomes a scorer.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from doccluster import SphericalKMeans, TfidfVectorizer, load_sample, make_scorer

corpus = load_sample()
pipeline = make_pipeline(TfidfVectorizer(stop_words="english"), SphericalKMeans(n_init=3, random_state=0))
search = GridSearchCV(
    pipeline,
    {"tfidfvectorizer__stemming": [None, "english"], "sphericalkmeans__n_clusters": [8, 16, 32]},
    scoring=make_scorer("silhouette"),
    cv=3,
)
_ = search.fit(list(corpus.texts))
search.best_params_

# %%
# The search fits on two thirds of the documents and judges on the rest.

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
names = [
    f"{one['sphericalkmeans__n_clusters']} clusters, {'stems' if one['tfidfvectorizer__stemming'] else 'words'}"
    for one in search.cv_results_["params"]
]
axes.barh(names, search.cv_results_["mean_test_score"], xerr=search.cv_results_["std_test_score"])
_ = axes.set_xlabel("silhouette of the documents that were left out, mean and deviation of three")
