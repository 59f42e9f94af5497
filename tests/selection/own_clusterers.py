"""Clusterers and factories as a user of `compare` may write them: good, broken, deadly, greedy and talkative."""

from __future__ import annotations

import os
import pathlib
import signal
import time

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans


def few_starts(n_init=1):
    return KMeans(2, n_init=n_init)


def nothing():
    return 3


class Broken(ClusterMixin, BaseEstimator):
    """Fails for odd seeds."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        if self.random_state % 2:
            raise RuntimeError("no luck\nwith odd seeds")
        self.labels_ = np.arange(X.shape[0]) % 3
        return self


class Deadly(Broken):
    """Takes its process with it for odd seeds."""

    def fit(self, X, y=None):
        if self.random_state % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


class Greedy(Broken):
    """Holds 64 MiB while it fits."""

    def fit(self, X, y=None):
        held = np.ones(8 * 2**20)
        self.labels_ = np.arange(X.shape[0]) % int(held[:3].sum())
        return self


class Talkative(Broken):
    """Prints where answers are written."""

    def fit(self, X, y=None):
        os.write(1, b"hello {'labels': 3}")
        self.labels_ = np.arange(X.shape[0]) % 3
        return self


class Sleepy(Broken):
    """Says where it works, and takes its time."""

    def fit(self, X, y=None):
        pathlib.Path(os.environ["SLEEPY_PLACE"]).write_text(str(os.getpid()), encoding="ascii")
        time.sleep(120)


class NoNumber(ClusterMixin, BaseEstimator):
    """Has no number of clusters, like DBSCAN, and calls noise -1."""

    def fit(self, X, y=None):
        self.labels_ = np.arange(X.shape[0]) % 3 - 1
        return self
