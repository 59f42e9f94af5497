"""The defaults of a version of doccluster, as named values: a recipe.

A later version may have better defaults, and so other labels; a run that is asked for a recipe keeps the values of that
version. A recipe never changes after its release; `tests/test_recipes.py` holds the labels that each gives. Values of
the vectorizer are not in it: those are scikit-learn's, and stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doccluster.clustering.algorithms import QUALITIES
from doccluster.errors import InputError

_COUNTS: Mapping[str, Any] = {"init": "k-means++", "n_init": 10, "max_iter": 300, "tol": 1e-4, "refine": False}
RECIPES: Mapping[str, Mapping[str, Any]] = {
    "1.0": {
        "default": "smoothed",
        "fast": "settled",
        "clustering": {
            "smoothed": {**_COUNTS, "n_components": 100, "n_neighbors": 10, "mixing": 0.7},
            "settled": _COUNTS,
        },
    }
}


def with_recipe(given: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return the arguments of a run with the values of a version for what they leave open.

    Raises InputError if no version has a recipe of this name.
    """
    if version not in RECIPES:
        known = f"one of {', '.join(RECIPES)}"
        raise InputError("has no recipe", argument="compatible", received=version, expected=known)
    recipe = RECIPES[version]
    filled = dict(given)
    if given["algorithm"] is None and (quality := given["quality"] or "default") in QUALITIES:
        filled |= {"algorithm": recipe[quality], "quality": None}
    if isinstance(filled["algorithm"], str):
        name = filled["algorithm"].partition(":")[0]
        filled["clustering"] = {**recipe["clustering"].get(name, {}), **(given["clustering"] or {})} or None
    return filled
