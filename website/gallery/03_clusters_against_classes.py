"""
Do the clusters agree with what people say?
===========================================

The articles of the sample carry a topic. Seven clusters are compared with the topics, cell by cell and in one number.
"""

import matplotlib.pyplot as plt

import doccluster
from doccluster import plots

corpus = doccluster.load_sample()
n_topics = len(set(corpus.labels["topic"]))
run = doccluster.run(corpus, n_clusters=n_topics, truth=["topic"], vectorizer={"stemming": "english"}, random_state=0)

figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
_ = plots.confusion(run, "topic", ax=axes)

# %%
# Purity says whether each cluster is of one topic, inverse purity whether each topic stays together. Adjusted Rand and
# AMI correct for chance, so that they can be compared with those of another number of clusters.

topics = [labels[0] for labels in run.documents.labels["topic"]]
scores = doccluster.evaluate(
    run.partition, truth=topics, measures=["purity", "inverse_purity", "bcubed_f", "nmi", "adjusted_rand", "ami"]
)
{score.name: round(score.value, 3) for score in scores}
