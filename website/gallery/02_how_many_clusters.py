"""
How many clusters do the documents support?
===========================================

Documents are joined with their nearest neighbours, and the graph falls into communities at levels from coarse to fine.
Those that random parts of the documents find again are the ones to show.
"""

import matplotlib.pyplot as plt

import doccluster
from doccluster import plots

choice = doccluster.choose_k(doccluster.load_sample(), random_state=0)
choice.recommendation.topics, choice.recommendation.subtopics

# %%
# Topics are the coarsest level that comes back without a heap; subtopics come from a graph of common words, at levels
# where the agreement is highest. The sample tells 32 stories.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
_ = plots.k_curve(choice, ax=axes)
