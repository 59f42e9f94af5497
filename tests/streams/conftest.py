"""No test of streams connects to another address than the loopback one."""

from __future__ import annotations

import pytest

from tests.streams.loopback import loopback_only


@pytest.fixture(autouse=True)
def _guarded():
    with loopback_only():
        yield
