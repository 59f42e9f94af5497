"""
What do random clusters score?
==============================

Shuffled labels mean nothing, whatever their number. Purity and NMI grow with the number of clusters all the same;
adjusted Rand and AMI stay at zero. So compare clusterings with different k by a measure that corrects for chance.
"""

import matplotlib.pyplot as plt
import numpy as np

from doccluster import evaluate, load_sample

corpus = load_sample()
topics = [labels[0] for labels in corpus.labels["topic"]]
random = np.random.default_rng(0)
names = ["purity", "nmi", "adjusted_rand", "ami"]
ks = [2, 4, 8, 16, 32, 64, 128]
means = {name: [] for name in names}
for k in ks:
    draws = [evaluate(random.integers(k, size=len(topics)), truth=topics, measures=names) for _ in range(20)]
    for name in names:
        means[name].append(np.mean([draw[name].value for draw in draws]))
{name: round(values[-1], 3) for name, values in means.items()}

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name in names:
    axes.plot(ks, means[name], "o-", label=name)
axes.set_xscale("log", base=2)
axes.set_xlabel("number of random clusters")
axes.set_ylabel("mean score of 20 draws")
_ = axes.legend()
