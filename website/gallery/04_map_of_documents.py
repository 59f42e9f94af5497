"""
What does the whole collection look like?
=========================================

Fifty dimensions of latent semantic analysis, then t-SNE to the plane: articles on one story come to lie together. The
map is for looking; distances between far groups mean nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import TSNE

import doccluster
from doccluster.geometry import LatentSemanticAnalysis

run = doccluster.run(
    "corpora/samples/newsroom/articles.jsonl", n_clusters=32, vectorizer={"stemming": "english"}, random_state=7
)
space = LatentSemanticAnalysis(50, random_state=0).fit_transform(run.vectors.matrix)
places = TSNE(init="pca", perplexity=10, random_state=0).fit_transform(np.asarray(space))
places.shape

# %%
# Each colour is a cluster (colours repeat); the names stand at the document that is nearest to the centroid.

figure, axes = plt.subplots(figsize=(8, 7), layout="constrained")
axes.scatter(*places.T, c=run.partition.labels % 20, cmap="tab20", s=18)
for cluster in run.clusters[:16]:
    members = np.flatnonzero(run.partition.labels == cluster.cluster)
    centre = members[run.similarity[members].argmax()]
    axes.annotate(cluster.label.split(",")[0], places[centre], fontsize=8, ha="center", va="bottom")
axes.set_axis_off()
