"""
Which documents would be elsewhere in another run?
==================================================

Ten starts of spherical k-means are ten opinions. The consensus takes them together, and says which documents move.
"""

import matplotlib.pyplot as plt
import numpy as np

from doccluster import SphericalKMeans, read_corpus, vectorize
from doccluster.clustering import consensus_labels, measure_stability, movements

corpus = read_corpus("corpora/samples/newsroom/articles.jsonl")
vectors = vectorize(corpus)
runs = [SphericalKMeans(32, n_init=1, random_state=seed).fit_predict(vectors.matrix) for seed in range(10)]
labels = consensus_labels(runs, 32, random_state=0)
stability = measure_stability(labels, runs)

# %%
# The pairs of clusters between which most documents move:

[(move.clusters, len(move.documents), round(move.share, 2)) for move in movements(labels, stability)[:5]]

# %%
# Most documents are in the same cluster in nearly every run; the left end of the picture is what is not settled.

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.hist(stability.documents, bins=np.linspace(0, 1, 21))
axes.set_xlabel("share of the runs that agree with the consensus")
_ = axes.set_ylabel("documents")
