"""
What did the search find, in groups?
====================================

The best hits of a query, ranked by BM25, joined into groups with names. What fits no group is left in *Other*.
"""

import matplotlib.pyplot as plt

import doccluster

result = doccluster.search("river", doccluster.load_sample())
[(group.label, len(group.documents)) for group in result.groups]

# %%
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
groups = result.groups[::-1]
axes.barh([group.label for group in groups], [len(group.documents) for group in groups])
_ = axes.set_xlabel(f"hits (and {len(result.other)} in no group)")
