"""What an article's place depends on besides the store: the weights of the join, the words that are left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b

from doccluster.streams.article_terms import LANGUAGES, MOST_CHARACTERS, function_words
from doccluster.streams.joining import FEATURES, shipped_coefficients

READER = 3  # of how articles are cut into words and weighed; raised with every change that gives another vector


@cache
def model_version() -> dict[str, str]:
    """Return the versions that make up a model: of the weights, of the function words, of how articles are read."""
    lists = [sorted(words) for words in function_words().lists]
    return {
        "weights": _digest([FEATURES, shipped_coefficients().tolist()]),
        "function words": _digest([LANGUAGES, lists]),
        "reading": _digest([READER, MOST_CHARACTERS]),
    }


def differences(kept: Mapping[str, str]) -> str:
    """Return in words what is not as in the model that a store was filled with; empty if nothing is."""
    return ", ".join(name for name, now in model_version().items() if kept.get(name) != now)


def _digest(data: object) -> str:
    return blake2b(json.dumps(data).encode(), digest_size=6).hexdigest()
