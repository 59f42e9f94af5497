"""
How concentrated must clusters be to be found?
==============================================

Mixtures of von Mises-Fisher distributions have a concentration to turn. The truth is known, so the score is too.
"""

import matplotlib.pyplot as plt

from doccluster import SphericalKMeans, VonMisesFisherMixture, score
from doccluster.synthetic import make_vmf_mixture

kappas = [20, 50, 100, 200]
scores = {"spherical k-means": [], "mixture": []}
for kappa in kappas:
    vectors, truth = make_vmf_mixture(1000, 100, 5, kappa=kappa, separation=0.3, random_state=0)
    labels = SphericalKMeans(5, random_state=0).fit_predict(vectors.matrix)
    scores["spherical k-means"].append(score("adjusted_rand", labels, truth=truth).value)
    labels = VonMisesFisherMixture(5, random_state=0).fit_predict(vectors.matrix)
    scores["mixture"].append(score("adjusted_rand", labels, truth=truth).value)
{name: [round(value, 2) for value in values] for name, values in scores.items()}

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, values in scores.items():
    axes.plot(kappas, values, "o-", label=name)
axes.set_xlabel("concentration")
axes.set_ylabel("adjusted Rand")
_ = axes.legend()
