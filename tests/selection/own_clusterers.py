"""Clusterers and factories as a user of `compare` may write them: good and broken."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans


def few_starts(n_init=1):
    return KMeans(2, n_init=n_init)


def nothing():
    return 3


def by_turns(X, n_clusters, random_state, step=1):
    """Deal the documents to the clusters in turn; the seed says who is first."""
    return [f"pile {(step * row + random_state) % n_clusters}" for row in range(X.shape[0])]


def of_depth(X, depth, n_clusters, random_state):
    return np.arange(X.shape[0]) % depth


class Broken(ClusterMixin, BaseEstimator):
    """Fails for odd seeds."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        if self.random_state % 2:
            raise RuntimeError("no luck\nwith odd seeds")
        self.labels_ = np.arange(X.shape[0]) % 3
        return self


class Steady(Broken):
    """Works for all seeds."""

    def fit(self, X, y=None):
        self.labels_ = np.arange(X.shape[0]) % 3
        return self


class NoNumber(ClusterMixin, BaseEstimator):
    """Has no number of clusters, like DBSCAN, and calls noise -1."""

    def fit(self, X, y=None):
        self.labels_ = np.arange(X.shape[0]) % 3 - 1
        return self
