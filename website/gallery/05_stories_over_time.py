"""
When was what reported?
=======================

The largest clusters of the newsroom sample, and the days on which their articles appeared.
"""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.dates import DateFormatter, WeekdayLocator

import doccluster

run = doccluster.run(doccluster.load_sample(), n_clusters=32, vectorizer={"stemming": "english"}, random_state=7)
dates = pd.to_datetime(pd.Series(run.documents.dates), utc=True)

# %%
# A dot is an article; a story is the cluster's line of dots, under the label that the cluster got.

largest = run.clusters[:12]
figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
for line, cluster in enumerate(largest):
    days = dates[run.partition.labels == cluster.cluster]
    axes.plot(days, [line] * len(days), "o-", alpha=0.7, markersize=6)
axes.set_yticks(range(len(largest)), [cluster.label for cluster in largest])
axes.invert_yaxis()
axes.xaxis.set_major_locator(WeekdayLocator())
axes.xaxis.set_major_formatter(DateFormatter("%d %b"))
axes.grid(axis="x", alpha=0.3)
