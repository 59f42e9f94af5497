"""
What does the whole collection look like?
=========================================

Fifty dimensions of latent semantic analysis, then t-SNE to the plane: articles on one story come to lie together. The
map is for looking; distances between far groups mean nothing.
"""

import matplotlib.pyplot as plt

import doccluster
from doccluster import plots

run = doccluster.run(doccluster.load_sample(), n_clusters=32, vectorizer={"stemming": "english"}, random_state=7)
figure, axes = plt.subplots(figsize=(8, 7), layout="constrained")
_ = plots.document_map(run, ax=axes)
