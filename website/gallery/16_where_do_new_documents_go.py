"""
Do new articles continue an old story?
======================================

Clusters are made of the articles before 25 March; the later ones are placed. Those of a story that began later are
near to no centroid; some that continue a story are no nearer, so a threshold on the cosine errs on either side.
"""

import matplotlib.pyplot as plt
import numpy as np

from doccluster import SphericalKMeans, TfidfVectorizer, load_sample

corpus = load_sample()
is_early = np.array(corpus.column("date")) < "2026-03-25"
early, late = corpus[is_early], corpus[~is_early]
vectorizer = TfidfVectorizer(stop_words="english", stemming="english")
model = SphericalKMeans(24, random_state=0).fit(vectorizer.fit_transform(early.texts))
cosines = 1 - model.transform(vectorizer.transform(late.texts)).min(axis=1)
len(early), len(late)

# %%
# ``transform`` gives 1 - cosine to each centroid; the smallest is that of the cluster which the article goes to.

known = {story for (story,) in early.labels["story"]}
continues = np.array([story in known for (story,) in late.labels["story"]])
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.hist(
    [cosines[continues], cosines[~continues]],
    bins=np.linspace(0, 0.8, 17),
    label=["of a story that began before", "of a new story"],
)
axes.set_xlabel("cosine to the nearest centroid")
axes.set_ylabel("articles")
_ = axes.legend()
