"""
Is one algorithm better, or was it luck?
========================================

Three algorithms, five seeds each, on the newsroom sample, judged against its stories.
"""

import matplotlib.pyplot as plt

from doccluster import load_sample, vectorize
from doccluster.selection import LabelledCorpus, compare

corpus = load_sample()
stories = [story for (story,) in corpus.labels["story"]]
vectors = vectorize(corpus)
comparison = compare(
    [LabelledCorpus("newsroom", vectors.matrix, stories, 32)],
    algorithms={
        "spherical": "spherical-k-means:n_init=1",
        "bisecting": "bisecting-spherical-k-means",
        "k-means": "k-means:n_init=1",
    },
    seeds=range(5),
    measures=["adjusted_rand", "nmi", "silhouette"],
)
summary = comparison.summary()
summary[["algorithm", "measure", "mean", "low", "high"]].round(3)

# %%
# A dot is one seed, so that the spread is seen beside the difference.

figure, axes = plt.subplots(figsize=(7, 2.5), layout="constrained")
runs = comparison.runs.query("measure == 'adjusted_rand'")
for name, own in runs.groupby("algorithm"):
    axes.plot(own["value"], [name] * len(own), "o")
_ = axes.set_xlabel("adjusted Rand against the stories")
