"""Every table of the page on performance is of a commit that is in the history; those of earlier code are named."""

from __future__ import annotations

import re

import pytest

from experiments.benchmarks.__main__ import modules
from experiments.benchmarks.age import ages, changed_since, has_history
from experiments.benchmarks.harness import git
from experiments.benchmarks.page import EARLIER, PAGE


@pytest.fixture(scope="module")
def known():
    if not has_history():
        pytest.skip("this is no git checkout with its whole history")
    found = ages(modules())
    assert found
    return found


def test_every_table_is_of_a_commit_that_is_in_the_history(known):
    lost = [f"{age.module} {age.row} ({age.commit})" for age in known if age.n_changed is None]
    assert lost == [], "measure again (`python -m experiments.benchmarks MODULE --only ROW --again`) or drop these"


def test_tables_measured_on_earlier_code_are_named_on_the_page(known):
    page = PAGE.read_text(encoding="utf-8")
    named = page.partition(EARLIER)[2].partition("\n## ")[0]
    lines = re.findall(r"(?m)^- (\w+): (.+)$", named)
    listed = {(module, row) for module, rows in lines for row in re.findall("`(.+?)`", rows)}
    old = {(age.module, age.row): age.n_changed for age in known if age.is_of_earlier_code}
    missing = {name: changed for name, changed in old.items() if name not in listed}
    assert missing == {}, "measure these again, or name them with `python -m experiments.benchmarks --page`"
    assert listed <= {(age.module, age.row) for age in known}


def test_each_table_tells_its_day_and_its_commit(known):
    page = PAGE.read_text(encoding="utf-8")
    for age in known:
        assert re.search(rf"(?m)^\*\*.*\(`{age.row}`\).* Measured {age.date} at `{age.commit}`", page), age.row


def test_files_that_changed_are_counted_where_they_are_looked_for(tmp_path):
    if git("init", "--quiet", folder=tmp_path).returncode:
        pytest.skip("git does not run here")
    name = ("-c", "user.name=a test", "-c", "user.email=test@example.org")

    def commit(*paths):
        for path in paths:
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(f"{path} {len(commits)}\n", encoding="utf-8")
        git("add", "--all", folder=tmp_path)
        assert git(*name, "commit", "--quiet", "--message", "a step", folder=tmp_path).returncode == 0
        commits.append(git("rev-parse", "HEAD", folder=tmp_path).stdout.strip())

    commits = []
    commit("timed/one.py", "timed/two.py", "else/three.py")
    commit("timed/one.py", "else/three.py")
    commit("timed/one.py", "timed/four.py")
    assert [changed_since(one, ("timed",), tmp_path) for one in commits] == [2, 2, 0]
    git("checkout", "--quiet", "--detach", commits[0], folder=tmp_path)
    assert changed_since(commits[1], ("timed", "else"), tmp_path) is None
    assert changed_since("0" * 40, ("timed",), tmp_path) is None
    assert has_history(tmp_path)
