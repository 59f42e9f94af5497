"""What an article's place depends on besides the store: the rule of stories, and the words that are left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b

from doccluster.stories.words import LANGUAGES, function_words

RULE = "1"  # raised with every change of the rule that gives other stories


@cache
def model_version() -> dict[str, str]:
    """Return the versions that make up a model: of the rule, and of the function words."""
    lists = [sorted(words) for words in function_words().lists]
    digest = blake2b(json.dumps([LANGUAGES, lists]).encode(), digest_size=6).hexdigest()
    return {"rule": RULE, "function words": digest}


def differences(kept: Mapping[str, str]) -> str:
    """Return in words what is not as in the model that a store was filled with; empty if nothing is."""
    return ", ".join(name for name, now in model_version().items() if kept.get(name) != now)
