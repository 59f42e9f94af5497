"""What is public: the names of the package, and those that its packages for users offer in `__all__`.

Everything else (`kernels`, `cli`, `pipeline`, `artifacts`, and modules inside the packages) may change without notice.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import Any

PACKAGES = {  # in the order of a run, with the question each answers
    "doccluster": "The verbs, and what most programs need",
    "doccluster.corpus": "How do documents get in?",
    "doccluster.vectors": "How do texts become a matrix?",
    "doccluster.geometry": "Documents as points: neighbours, latent semantics, evidence",
    "doccluster.clustering": "How do documents become clusters?",
    "doccluster.measures": "The records of all measures",
    "doccluster.evaluation": "How good is a clustering?",
    "doccluster.selection": "How many clusters, and which algorithm?",
    "doccluster.labeling": "What is a cluster about?",
    "doccluster.retrieval": "Ranking, groups of search results, browsing",
    "doccluster.streams": "Articles that come in over time",
    "doccluster.distributed": "Documents that do not fit into one process",
    "doccluster.synthetic": "Corpora with a known truth",
    "doccluster.bibliography": "What to cite",
    "doccluster.report.plots": "Figures for papers",
    "doccluster.errors": "What can go wrong",
}
ERRORS = (
    *("DocclusterError", "InputError", "NotNumeric", "NothingUsable", "MemoryLimitError", "MissingDependency"),
    *("SchemaError", "NotComputable", "DocclusterWarning"),
)


@dataclass(frozen=True)
class PublicName:
    """A public name: where it is imported from (the shortest way), and what it stands for."""

    package: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        """The name with its package."""
        return f"{self.package}.{self.name}"

    @property
    def kind(self) -> str:
        """What Sphinx calls it: class, exception, function, module or data."""
        if inspect.isclass(self.value):
            return "exception" if issubclass(self.value, BaseException) else "class"
        if inspect.ismodule(self.value):
            return "module"
        return "function" if callable(self.value) else "data"


def public_names() -> list[PublicName]:
    """Return every public name once, under the first package that offers it."""
    found: list[PublicName] = []
    seen: set[int] = set()
    for package in PACKAGES:
        module = importlib.import_module(package)
        names = ERRORS if package == "doccluster.errors" else module.__all__
        for name in names:
            value = getattr(module, name)
            is_simple = isinstance(value, str | int | float)
            if name.startswith("__") or inspect.ismodule(value) or (id(value) in seen and not is_simple):
                continue
            seen.add(id(value))
            found.append(PublicName(package, name, value))
    return found
