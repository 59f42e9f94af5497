"""
Which articles are the same wire text?
======================================

Outlets reprint agencies, with a new lead or without the end. Near-copies are found before they count as several voices.
"""

import matplotlib.pyplot as plt

from doccluster import load_sample, vectorize
from doccluster.corpus import find_near_duplicates
from doccluster.geometry import nearest_neighbours

corpus = load_sample()
copies = find_near_duplicates(corpus.texts, threshold=0.7)
[[corpus.ids[row] for row in group] for group in copies][:5]

# %%
# The cosine of each article to its nearest neighbour. Copies stand apart on the right.

vectors = vectorize(corpus)
nearest = nearest_neighbours(vectors.matrix, 1, fold=None)
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.hist(nearest.similarity, bins=40)
axes.set_xlabel("cosine to the nearest other article")
_ = axes.set_ylabel("articles")
