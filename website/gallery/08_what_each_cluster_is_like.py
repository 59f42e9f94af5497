"""
Which clusters are good ones?
=============================

Measures with a value for each cluster: how tight a cluster is, and how near the most similar other cluster comes.
"""

import matplotlib.pyplot as plt

import doccluster

run = doccluster.run(doccluster.load_sample(), n_clusters=32, vectorizer={"stemming": "english"}, random_state=7)
table = run.clusters_frame()
table[["size", "label", "adherence", "silhouette"]].sort_values("silhouette").head(5)

# %%
# Adherence is the largest cosine of one of the cluster's documents to another centroid: high adherence and a low
# silhouette mark the clusters to look at first. The size of a dot is that of the cluster.

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
axes.scatter(table["adherence"], table["silhouette"], s=25 * table["size"], alpha=0.6)
for _, cluster in table.nsmallest(4, "silhouette").iterrows():
    axes.annotate(cluster["label"].split(",")[0], (cluster["adherence"], cluster["silhouette"]), fontsize=9)
axes.set_xlabel("adherence")
_ = axes.set_ylabel("mean silhouette")
