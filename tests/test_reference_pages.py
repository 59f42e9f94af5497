"""The generated pages of the reference are those that the registry makes today."""

from __future__ import annotations

import pathlib

import pytest

from experiments.reference_pages import PAGES

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("path", PAGES)
def test_page_is_up_to_date(path):
    written = (ROOT / path).read_text(encoding="utf-8")
    assert written == PAGES[path](), f"{path} is behind the registry; run `make docs`"
