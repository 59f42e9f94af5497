"""The changes that `make mutants` draws from: each kind is made, each is a program, what people read is left alone."""

from __future__ import annotations

import ast
import random
import subprocess

from tests.mutants import __main__ as driver
from tests.mutants.changes import changes

SOURCE = '''
"""A text of 3 words."""

def half(values: list[int] = 7, *, most) -> "3":
    """Return 2 things."""
    if most < 4 and not values:
        raise ValueError(f"at least {5 + 5}")
    values[0] = pow(most, values) + min(most, 9)
    return -values[0] / most
'''


def test_every_kind_of_change_is_made_and_no_text_is_changed():
    made = [(change.kind, change.of(SOURCE)) for change in changes(SOURCE)]
    assert {kind for kind, _ in made} == {
        *("comparison", "arithmetic", "boolean", "sign", "constant"),
        *("negated condition", "swapped arguments", "dropped statement", "returns None"),
    }
    assert len({text for _, text in made}) == len(made)
    assert sum(kind == "swapped arguments" for kind, _ in made) == 1, "of `min` it would make no difference"
    for _, text in made:
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(SOURCE))
        for kept in ('"""A text of 3 words."""', '"""Return 2 things."""', "{5 + 5}", '-> "3"', "list[int]"):
            assert kept in text


def test_every_file_of_the_program_has_tests_that_are_there():
    for path in sorted((driver.ROOT / "doccluster").rglob("*.py"))[::25]:
        tests = driver.tests_of(path.relative_to(driver.ROOT))
        assert tests[1:], "beside its own examples"
        assert all((driver.ROOT / test).exists() for test in tests)


def test_changes_since_a_commit_are_in_the_lines_that_are_new(tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "ROOT", tmp_path)
    file = tmp_path / "doccluster" / "sums.py"
    file.parent.mkdir()
    file.write_text("a = 1 + 2\nb = 3\nc = 4\n", encoding="utf-8")
    name = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for command in (["init", "-q"], ["add", "."], [*name, "commit", "-qm", "Add two numbers"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    file.write_text("a = 1 + 2\nb = 30\nc = 4\nd = b < c\n", encoding="utf-8")
    made = list(driver.drawn(100, random.Random(7), since="HEAD"))
    assert {change.old.lineno for _, change, _ in made} == {2, 4}
    assert {path.as_posix() for path, _, _ in made} == {"doccluster/sums.py"}
