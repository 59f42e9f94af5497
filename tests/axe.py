"""axe-core, which finds barriers for people who cannot see, point or tell colours apart; it is installed by npm."""

from __future__ import annotations

import os
import pathlib

import pytest

from tests.conftest import ROOT

PLACE = ROOT / "out" / "browser" / "node_modules" / "axe-core" / "axe.min.js"


def axe_script() -> str:
    """Return the script of axe-core; the test is skipped where it is not installed."""
    path = pathlib.Path(os.environ.get("AXE_CORE", PLACE))
    if not path.is_file():
        pytest.skip(f"axe-core is not there (npm install --prefix {PLACE.parents[2].relative_to(ROOT)} axe-core)")
    return path.read_text(encoding="utf-8")


def violations(page, script: str) -> list[str]:
    """Return a line for each rule that the page breaks: its name, and the first places."""
    page.evaluate(script)
    found = page.evaluate("axe.run(document, {iframes: false})")["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes'][:4]]}" for one in found]
