"""
Which clusters belong together?
===============================

Repeated bisection divides one cluster after another in two. Its tree gives every smaller number of clusters.
"""

import matplotlib.pyplot as plt
from scipy.cluster.hierarchy import dendrogram

from doccluster import load_sample, vectorize
from doccluster.clustering import BisectingSphericalKMeans

corpus = load_sample()
vectors = vectorize(corpus)
model = BisectingSphericalKMeans(16, random_state=0).fit(vectors.matrix)
[len(set(model.tree_.cut(k).tolist())) for k in (2, 4, 8, 16)]

# %%
# The leaves are the clusters, named by the two terms with the largest weight in their centroid.

names = [", ".join(vectors.terms[row.toarray().ravel().argsort()[::-1][:2]]) for row in model.centroids_]
figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
_ = dendrogram(model.tree_.linkage(), labels=names, orientation="right", ax=axes, color_threshold=0, leaf_font_size=9)
