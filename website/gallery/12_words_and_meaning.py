"""
What do embeddings add to words?
================================

Short texts share few words. Here are the headlines alone: clustered by their words, by what they mean, and by both.
The encoder ``static`` comes in a package (the extra ``meaning``), so that nothing is downloaded.
"""

import matplotlib.pyplot as plt

import doccluster
from doccluster import load_sample, read_corpus

headlines = read_corpus(load_sample().to_pandas(), text_column="title")
spaces = ("words", "meaning", "both")
runs = {
    space: doccluster.run(headlines, n_clusters=32, encoder="static", space=space, random_state=0) for space in spaces
}
stories = [story for (story,) in headlines.labels["story"]]
agreement = {
    space: doccluster.score(
        "adjusted_rand", run.partition.labels, truth=[stories[row] for row in run.documents.positions]
    )
    for space, run in runs.items()
}

# %%
# Agreement with the stories that the newsroom gave, for each space:

figure, axes = plt.subplots(figsize=(7, 2), layout="constrained")
bars = axes.barh(spaces, [agreement[space].value for space in spaces])
axes.bar_label(bars, fmt="%.2f")
axes.set_xlabel("adjusted Rand index with the stories")
_ = axes.margins(x=0.1)

# %%
# The clusters are named by words all the same:

[cluster.label for cluster in runs["both"].clusters[:5]]
