"""Cluster text documents, and say how good the clustering is.

The line of a run: ``read_corpus`` -> ``vectorize`` -> ``SphericalKMeans`` -> ``evaluate`` -> ``write_report``.
What a command does with documents or a run is a function here too: ``run``, ``assign``, ``inspect``, ``choose_k``,
``compare``, ``search``, ``browse``, ``explain``, ``label``, ``merge``, ``undo``, ``rerun``, ``diff``.
Names are loaded when they are first used, so importing the package takes milliseconds.
"""

from __future__ import annotations

from typing import Any

from doccluster.base.package import __version__ as __version__
from doccluster.base.package import offer

_CHECKED = (
    "doccluster.pipeline.",
    "doccluster.retrieval.",
    "doccluster.lab.comparing",
    "doccluster.streams.store.diff",
)

_loaded, __dir__, __all__ = offer(__name__)


def __getattr__(name: str) -> Any:
    value = _loaded(name)
    if not getattr(value, "__module__", "").startswith(_CHECKED):  # a module has none
        return value
    from doccluster.base.parameter_fields import at_the_door

    globals()[name] = checked = at_the_door(value, name)
    return checked
