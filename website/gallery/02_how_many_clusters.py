"""
How many clusters do the documents support?
===========================================

The vocabulary is split into two halves. Clusters that one half finds are judged by the other, which had no part in
finding them.
"""

import matplotlib.pyplot as plt

import doccluster
from doccluster import plots

choice = doccluster.choose_k("corpora/samples/newsroom/articles.jsonl", random_state=0)
choice.recommendation.k, choice.recommendation.has_structure

# %%
# *Cohesion* is largest for broad clusters; *prediction* grows as long as smaller clusters say something new;
# *agreement* is how far the clusters of the two halves are the same. The sample has 32 stories.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
_ = plots.k_curve(choice, ax=axes)
