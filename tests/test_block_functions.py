"""Functions that run over blocks of rows give their values back, so that another process could run them.

A block function is what `map_blocks`, `share_blocks` and their kin are given. The sources say whether one changes what
it did not make itself: by assigning to it, by a method or an `out=` that changes it, or by a kernel that does.
"""

from __future__ import annotations

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent / "doccluster"
MAPS = {"map_blocks", "share_blocks", "each_block", "share"}
OF_PLACES = {"map", "table", "rows"}  # methods of where tables are made
CHANGING = {"append", "pop", "extend", "add", "update", "sort", "fill", "remove", "insert", "setdefault", "put"}
PARTS = {"part", "view", "reshape", "ravel"}  # methods that return a part of their object


def base_of(node):
    """The name at the root of ``a[i].b[j]``, or None."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PARTS:
            node = node.func
        elif not isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
            break
        else:
            node = node.value
    return node.id if isinstance(node, ast.Name) else None


def origins(function):
    """For each name of a function, the names whose arrays it may be a part of: itself, if it is not made here."""
    found = {}
    nodes = [node for part in function.body for node in ast.walk(part)] if isinstance(function.body, list) else []
    for _ in range(3):  # aliases of aliases
        for node in nodes:
            if isinstance(node, ast.Assign):
                sources = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                for target in node.targets:
                    names = target.elts if isinstance(target, ast.Tuple) else [target]
                    pairs = (
                        zip(names, sources, strict=True)
                        if len(names) == len(sources)
                        else [(name, sources[0]) for name in names]
                    )
                    for name, source in pairs:
                        if isinstance(name, ast.Name):
                            base = base_of(source)
                            found.setdefault(name.id, set()).update(found.get(base, {base}) - {None})
            if isinstance(node, ast.For | ast.comprehension):
                for name in ast.walk(node.target):
                    if isinstance(name, ast.Name):
                        found.setdefault(name.id, set())
    return found


def changed_names(function, written):
    """The names, not made by the function, that it changes; `written`: which arguments each kernel changes."""
    made = origins(function)
    changed = set()

    def note(node):
        base = base_of(node)
        changed.update(made.get(base, {base}) - {None})

    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(one, ast.Subscript | ast.Attribute):
                        note(one)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
                note(node.func.value)
            for keyword in node.keywords:
                if keyword.arg == "out":
                    note(keyword.value)
            called = base_of(node.func) if isinstance(node.func, ast.Name | ast.Subscript) else ""
            for place, argument in enumerate(node.args):
                if any(isinstance(earlier, ast.Starred) for earlier in node.args[: place + 1]):
                    if written.get(called):  # which argument it is cannot be seen: any may be changed
                        note(argument)
                elif place in written.get(called, ()):
                    for part in argument.elts if isinstance(argument, ast.Tuple) else [argument]:
                        note(part)
    return changed - {"np"}


class Source:
    """A module: its functions, and which kernel each name that it uses stands for."""

    def __init__(self, path, text):
        self.path = path
        self.tree, self.has_kernels = ast.parse(text), "@jit" in text
        self.functions = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]
        module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        top = [node.name for node in self.tree.body if isinstance(node, ast.FunctionDef)]
        self.kernels = {name: f"{module}.{name}" for name in top}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("doccluster"):
                for alias in node.names:
                    self.kernels[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def changed_by(self, function, written):
        """What a function changes and did not make."""
        return changed_names(function, {name: written.get(kernel, ()) for name, kernel in self.kernels.items()})


@pytest.fixture(scope="module")
def sources():
    """The modules that have kernels, or give functions to a map over blocks."""
    marks = ("@jit", *(f"{name}(" for name in MAPS), *(f".{name}(" for name in OF_PLACES))
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))}
    return [Source(path, text) for path, text in texts.items() if any(mark in text for mark in marks)]


@pytest.fixture(scope="module")
def written(sources):
    """The places of the arguments that each kernel changes, also through those it calls."""
    written = {}
    for _ in range(4):
        for source in sources:
            if source.has_kernels:
                for function in source.functions:
                    changed = source.changed_by(function, written)
                    places = {at for at, argument in enumerate(function.args.args) if argument.arg in changed}
                    written[source.kernels.get(function.name, function.name)] = places
    return written


def block_functions(sources, written):
    """What every function that is given to a map over blocks changes and did not make."""
    found = {}
    for source in sources:
        for scope in source.functions:
            inside = [node for node in ast.walk(scope) if isinstance(node, ast.FunctionDef) and node is not scope]
            own = {node.name: node for node in inside}
            others = {name: node for node in source.functions for name in (node.name, f"self.{node.name}")}
            for node in ast.walk(scope):
                if isinstance(node, ast.Call) and node.args:
                    called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                    given = (others | own).get(ast.unparse(node.args[0]))
                    is_of_place = isinstance(node.func, ast.Attribute) and called in OF_PLACES
                    if (called in MAPS or is_of_place) and given is not None:
                        place = f"{source.path.relative_to(ROOT).with_suffix('')}:{scope.name}.{given.name}"
                        arguments = {argument.arg for argument in given.args.args if argument.arg != "self"}
                        found[place] = source.changed_by(given, written) - arguments
    return found


# What writes into arrays of its caller, and why.
IN_PLACE = {
    # labels and bounds that are carried from one iteration to the next, each row its own
    "clustering/k_means/sweep:search.label",
    # sums and table, of which an iteration changes the cells of documents that moved
    "clustering/k_means/lloyd_steps:_move.move",
    # tables, of which there should be no second copy
    "base/place:table.fill",
    # each thread counts in a table of tokens of its own
    "text/counting:count._count_block",
}


def test_block_functions_return_their_values(sources, written):
    found = block_functions(sources, written)
    assert len(found) > 50
    in_place = {place: changed for place, changed in found.items() if changed and place not in IN_PLACE}
    assert in_place == {}, "return the values of the block; the caller puts them in place"
    assert {place for place in IN_PLACE if not found.get(place)} == set(), "no longer write in place"


@pytest.mark.parametrize(
    "body",
    ["out[block] = 1", "out.sums[block] += 1", "part = out[block]\n    part[:] = 1", "np.add(1, 1, out=out[block])"],
    ids=["assigned", "added", "alias", "out"],
)
def test_a_change_of_a_captured_array_is_seen(body):
    (function,) = ast.parse(f"def one(block):\n    own = np.empty(3)\n    own[0] = 1\n    {body}").body
    assert changed_names(function, {}) == {"out"}


def test_a_kernel_that_changes_its_argument_is_seen(written):
    (function,) = ast.parse("def one(block):\n    own = out[block]\n    write(first[block], own.view())").body
    assert changed_names(function, {"write": {1}}) == {"out"}
    assert written["doccluster.clustering.k_means.term_places.write_cell"] == {0}
    assert written["doccluster.clustering.k_means.lloyd_steps.move_rows"] >= {3, 4, 5}  # also by the kernel it calls
