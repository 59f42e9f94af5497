"""
Why is this document in that cluster?
=====================================

The cosine of a document to a centroid is a sum over their common terms, so it can be taken apart word by word.
"""

import matplotlib.pyplot as plt

from doccluster import SphericalKMeans, load_sample, vectorize
from doccluster.labeling import explain_membership

corpus = load_sample()
vectors = vectorize(corpus)
model = SphericalKMeans(32, random_state=7).fit(vectors.matrix)
row = corpus.ids.index("eco-002")
corpus[row].metadata["title"]

# %%
# The terms that hold it in its cluster, and the part of the cosine that each explains. The parts sum to the cosine.

cluster = int(model.labels_[row])
parts = explain_membership(vectors.matrix, row, model.centroids_, cluster, names=vectors.terms)
round(sum(part.contribution for part in parts), 3)

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
shown = parts[:12][::-1]
axes.barh([part.term for part in shown], [part.contribution for part in shown])
_ = axes.set_xlabel(f"part of the cosine to the centroid of cluster {cluster}")
