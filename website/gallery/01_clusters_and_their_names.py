"""
Which clusters are there, and what are they about?
==================================================

One call reads, vectorizes, clusters, names and judges the 176 articles of the newsroom sample.
"""

# %%
# ``n_clusters`` is the number of stories that the sample has; without it, the data are asked.

import doccluster

run = doccluster.run(doccluster.load_sample(), n_clusters=32, vectorizer={"stemming": "english"}, random_state=7)
run.clusters_frame()[["size", "label", "coherence", "silhouette"]].head(10)

# %%
# The silhouette of each document, cluster by cluster: a cluster that stands out to the right is tight and far from the
# next one; documents to the left of zero are nearer to another cluster than to their own.

import matplotlib.pyplot as plt

from doccluster import plots

figure, axes = plt.subplots(figsize=(7, 8), layout="constrained")
_ = plots.silhouettes(run, ax=axes)
