"""The drawing, checked: what the import contracts cannot say."""

from __future__ import annotations

import ast
import collections
import functools
import graphlib
import importlib
import json
import pathlib
import re
import subprocess
import sys
import tomllib
import types

import pytest

import doccluster
from tests.core_lines import GROUND, TRADES

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "doccluster").rglob("*.py"))
SELF = ("self", "cls")
PICKLING = ROOT / "doccluster/base/worker_processes.py"  # what a run and its own processes say to each other
PACKAGES = {f"doccluster.{trade}" for trade in TRADES}
FORBIDDEN = {
    "pickle": re.compile(r"^\s*(import pickle|from pickle|import joblib|from joblib|import cloudpickle)", re.MULTILINE),
    "nltk.download": re.compile(r"nltk\.download"),
    "a dense copy of a whole matrix": re.compile(r"\.todense\("),
    "global random state": re.compile(r"np\.random\.(seed|rand|randn|randint|choice|shuffle|permutation)\("),
    "silenced warnings": re.compile(r"(simplefilter|filterwarnings)\(\s*['\"]ignore"),
    "arguments that are named nowhere": re.compile(r"\blocals\(\)"),
    "a numbered placeholder in SQL, of which Python 3.12.0 to 3.12.3 warn": re.compile(r"[ (=<>]\?[1-9]\b"),
}


@functools.cache
def nodes_of(path):
    """All nodes of the syntax of a module, which is the first of them."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def broken_rules(path):
    """What a module does that no module may do."""
    source = path.read_text(encoding="utf-8")
    broken = [rule for rule, pattern in FORBIDDEN.items() if pattern.search(source)]
    yield from broken if path != PICKLING else set(broken) - {"pickle"}
    if not ast.get_docstring(nodes_of(path)[0]):
        yield "does not say why it exists"
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module and not node.module.startswith("doccluster"):
            names = [node.module, *(alias.name for alias in node.names)]
            private = [n for n in names if any(p.startswith("_") and not p.startswith("__") for p in n.split("."))]
            yield from (f"imports the private name {name}" for name in private)
        takes_root = isinstance(node, ast.ImportFrom) and node.module == "doccluster"
        if takes_root and path.parent.name != "cli" and path.name != "__init__.py":
            yield from ("imports the package root" for alias in node.names if alias.name != "__version__")


def test_modules_keep_the_rules_of_the_house():
    assert len(MODULES) > 200
    broken = {str(path.relative_to(ROOT)): list(broken_rules(path)) for path in MODULES}
    assert {path: rules for path, rules in broken.items() if rules} == {}


def test_a_file_with_an_underscore_is_imported_within_its_folder_alone():
    """Another package may move or drop such a file without a look at who uses it."""
    wrong = [
        f"{path.relative_to(ROOT)} imports {node.module}"
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and node.module and "._" in node.module
        if not ".".join(path.relative_to(ROOT).parts).startswith(node.module.partition("._")[0] + ".")
    ]
    assert wrong == []


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_files_import_each_other_in_a_circle():
    """Imports inside functions, for types and in stubs count too; only what is loaded by its name may lie above."""
    names = {module_name(path) for path in MODULES}
    graph = collections.defaultdict(set)
    for path in [*MODULES, *(ROOT / "doccluster").rglob("*.pyi")]:
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.module in names:
                targets = (f"{node.module}.{alias.name}" for alias in node.names)
                graph[module_name(path)] |= {target if target in names else node.module for target in targets}
    assert sum(map(len, graph.values())) > 1000
    order = list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError where there is a circle
    assert order.index("doccluster.results.record") < order.index("doccluster.report.html")


def test_importing_the_package_loads_nothing_heavy():
    code = "import doccluster, sys; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("numpy", "scipy", "sklearn", "pandas", "numba", "nltk", "matplotlib"):
        assert f"'{heavy}'" not in loaded


def test_help_of_the_command_line_loads_nothing_heavy():
    code = (
        "import sys\nfrom doccluster.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({m.split('.')[0] for m in sys.modules}))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("numpy", "scipy", "sklearn", "pandas", "numba", "nltk", "matplotlib"):
        assert f"'{heavy}'" not in loaded


def test_a_list_of_measures_loads_no_compiler():
    code = "import doccluster.measures, sys; print('numba' in sys.modules, 'sklearn' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded == "False False\n"


@pytest.mark.parametrize("stub", sorted((ROOT / "doccluster").rglob("__init__.pyi")), ids=lambda path: path.parent.name)
def test_every_name_that_editors_and_type_checkers_know_can_be_loaded(stub):
    package = importlib.import_module(module_name(stub))
    imported, aliases = set(), set()
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            imported |= {alias.asname for alias in node.names if alias.asname == alias.name}
        else:
            aliases |= {target.id for target in node.targets}
    assert package.__all__ == dir(package) == sorted(imported | aliases)
    for name in package.__all__:
        value = getattr(package, name)
        assert value is not None
        assert name in imported or value.__name__ != name  # an alias is there for another name
        # a module of that name would take the place of the value once it is imported
        assert isinstance(value, types.ModuleType) or not stub.with_name(f"{name}.py").exists()


def test_the_book_of_zaki_and_meira_has_one_name():
    titles = set()
    folders = [ROOT / name for name in ("doccluster", "docs", "experiments", "tests/golden")]
    for path in (path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".md", ".json")):
        titles |= set(re.findall(r"Meira[^.]*?(Data Mining\s+and\s+\w+)", path.read_text(encoding="utf-8")))
    assert titles == {"Data Mining and Analysis"}


def test_whole_runs_import_neither_scikit_learn_nor_statistics_nor_frames_nor_nltk(tmp_path):
    asked = {"plain": ["-k", "2", "--stemming", "none"], "k": ["-k", "2"], "auto": []}
    code = (
        "import contextlib, json, sys\n"
        "from doccluster.cli.main import main\n"
        "heavy = {'sklearn', 'scipy.stats', 'scipy.optimize', 'pandas', 'nltk', 'matplotlib'}\n"
        "for name, options in json.loads(sys.argv[2]).items():\n"
        "    with contextlib.suppress(SystemExit):\n        main(['run', sys.argv[1], *options, '-o', name])\n"
        "    print(name, 'loads', sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, str(ROOT / "corpora" / "samples" / "tiny"), json.dumps(asked)]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert all((tmp_path / name / "report.html").exists() for name in asked)
    told = [line for line in done.stdout.splitlines() if " loads " in line]
    assert told == [f"{name} loads []" for name in asked]


def compiled_functions():
    """Every compiled function, as (module.name, number of arguments)."""
    found = {}
    for path in MODULES:
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef):
                marks = {getattr(getattr(mark, "func", mark), "id", "") for mark in node.decorator_list}
                if "jit" in marks:
                    found[f"{path.stem}.{node.name}"] = len(node.args.args)
    return found


def test_no_compiled_function_takes_more_than_seven_arguments():
    longer = {name for name, n_arguments in compiled_functions().items() if n_arguments > 7}
    assert longer == set(), "put arrays that go together into a named tuple"


def test_no_two_files_and_no_two_classes_of_the_package_have_one_name():
    files = [path for path in MODULES if path.name not in ("__init__.py", "__main__.py")]
    classes = [node.name for path in files for node in nodes_of(path) if isinstance(node, ast.ClassDef)]
    for names in ([path.name for path in files], classes):
        assert [name for name, count in collections.Counter(names).items() if count > 1] == []


def layers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (floors,) = [contract["layers"] for contract in contracts if contract.get("containers") == ["doccluster"]]
    return floors


def test_imports_have_at_most_twelve_floors():
    assert len(layers()) <= 12


def test_trades_stand_above_the_core_and_the_ground_below_it():
    assert layers()[0].split(" | ") == list(TRADES)
    assert set(layers()[-3:]) | {"corpus"} == {name.removesuffix(".py") for name in GROUND}


def test_no_room_has_the_name_of_a_root_name():
    """A package `doccluster/search/` would take the place of the function `doccluster.search` once it is imported."""
    rooms = {path.stem for path in (ROOT / "doccluster").iterdir()}
    assert rooms & set(doccluster.__all__) == {"errors", "plots"}  # these are modules, and meant


def test_the_core_loads_no_trade_before_it_is_used():
    entries = ["doccluster.cli.main", "doccluster.pipeline.main_line", "doccluster.selection"]
    code = "import sys\n" + "".join(
        f"import {entry}\nprint(sorted({PACKAGES} & sys.modules.keys()))\n" for entry in entries
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded == "[]\n" * len(entries)


def test_only_compiled_loops_are_without_types():
    """mypy lets whole modules with compiled loops be untyped; what Python runs in them has types all the same."""
    untyped = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef)
        and (node.returns is None or any(one.annotation is None for one in node.args.args if one.arg not in SELF))
        and not any("jit" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]
    assert untyped == []
