"""`python -m tests.vague_names`: names that name nothing, counted in each package and held to a limit.

`make check` runs it. A variable, parameter or attribute counts where its whole name is a participle or a pronoun
(`found`, `own`, `told`): it does not say what it holds. A name of several words (`n_found`, `kept_rows`) says of what.
With `-v` every place is printed.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "doccluster"
WORDS = """
    one ones found own given given_ known told asked made read left taken wanted said seen named drawn written done used
    held meant other others rest more most some many much begun ended gone come came had kept so_far
"""
VAGUE = frozenset(WORDS.split())
LIMIT = 1.5  # percent of the names that a package binds
LIMIT_TOGETHER = 1.0


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each name that is bound, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def main(arguments: list[str]) -> int:
    """Print packages above their limit, and the share together; the exit code is 1 if one is too high."""
    n_bound, n_vague = Counter[str](), Counter[str]()
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT)
        package = place.parts[0] if len(place.parts) > 1 else "(top)"
        for name, line in bound_names(ast.parse(path.read_text(encoding="utf-8"))):
            n_bound[package] += 1
            if name.lstrip("_") in VAGUE:
                n_vague[package] += 1
                if "-v" in arguments:
                    sys.stdout.write(f"doccluster/{place}:{line}: {name}\n")
    exit_code = 0
    for package, number in n_bound.items():
        share = 100 * n_vague[package] / number
        if share > LIMIT:
            sys.stdout.write(f"{package}: {n_vague[package]} vague names of {number}, {share:.1f} %, limit {LIMIT} %\n")
            exit_code = 1
    total = n_vague.total()
    share = 100 * total / n_bound.total()
    sys.stdout.write(f"{total:,} of {n_bound.total():,} names are vague, {share:.1f} %, limit {LIMIT_TOGETHER} %\n")
    return int(exit_code or share > LIMIT_TOGETHER)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
