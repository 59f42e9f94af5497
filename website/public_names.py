"""What is public: the names of the package, and those that its packages for users offer in `__all__`.

Everything else (`base`, `cli`, `pipeline`, `results`, and modules inside the packages) may change without notice.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pathlib
import re
import types
from dataclasses import dataclass
from typing import Any

EXAMPLES = pathlib.Path(__file__).resolve().parent / "examples"  # of names whose docstring has none
PACKAGES = {  # in the order of a run, with the question each answers
    "doccluster": "The verbs, and what most programs need",
    "doccluster.corpus": "How do documents get in?",
    "doccluster.vectors": "How do texts become a matrix?",
    "doccluster.geometry": "Documents as points: neighbours, latent semantics, evidence",
    "doccluster.clustering": "How do documents become clusters?",
    "doccluster.measures": "How good is a clustering?",
    "doccluster.selection": "How many clusters, and which algorithm?",
    "doccluster.labeling": "What is a cluster about?",
    "doccluster.retrieval": "Ranking, groups of search results, browsing",
    "doccluster.streams": "Articles that come in over time",
    "doccluster.distributed": "Documents that do not fit into one process",
    "doccluster.synthetic": "Corpora with a known truth",
    "doccluster.measures.bibliography": "What to cite",
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
    def example(self) -> str:
        """Its example as doctest text: from its docstrings, else from `website/examples`; "" where there is none."""
        if self.has_own_example:
            return "\n".join(self._docstrings())
        shared, sections = read_examples(self.package)
        return f"{shared}\n\n{sections[self.name]}" if self.name in sections else ""

    @property
    def has_own_example(self) -> bool:
        """Whether its docstring, or that of a method, has an example."""
        return any(">>>" in text for text in self._docstrings())

    def _docstrings(self) -> list[str]:
        if self.kind == "data":
            return []
        members = vars(self.value).items() if inspect.isclass(self.value) else ()
        kinds = (types.FunctionType, classmethod, staticmethod, property)
        own = [member for name, member in members if not name.startswith("_") and isinstance(member, kinds)]
        return [inspect.getdoc(one) or "" for one in (self.value, *own)]

    @property
    def kind(self) -> str:
        """What Sphinx calls it: class, exception, function, module or data."""
        if inspect.isclass(self.value):
            return "exception" if issubclass(self.value, BaseException) else "class"
        if inspect.ismodule(self.value):
            return "module"
        return "function" if inspect.isroutine(self.value) else "data"


@functools.cache
def read_examples(package: str) -> tuple[str, dict[str, str]]:
    """Return the lines that all examples of a package begin with, and the example of each name that has one there."""
    path = EXAMPLES / f"{package}.md"
    if not path.is_file():
        return "", {}
    first, *parts = path.read_text(encoding="utf-8").split("\n## ")
    blocks = re.compile(r"```python\n(.*?)\n*```", re.DOTALL)
    sections = {part.split("\n", 1)[0]: "\n".join(blocks.findall(part)) for part in parts}
    return "\n".join(blocks.findall(first)), sections


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
