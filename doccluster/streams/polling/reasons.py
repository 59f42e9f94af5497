"""Why a feed was not read: one word for each reason, in the output, in the table `fetch` and on the front page."""

from __future__ import annotations

from typing import Literal, get_args

Reason = Literal[
    # the address, or where it redirects to
    "bad-address",
    "bad-port",
    "bad-scheme",
    "redirect-downgrade",
    "redirect-loop",
    "redirect-nowhere",
    "refused-address",
    # the connection
    "bad-answer",
    "bad-certificate",
    "too-slow",
    "unknown-host",
    "unreachable",
    # the status
    "asked-to-wait",
    "forbidden",
    "gone",
    "missing",
    "moved-to-another",
    "server-error",
    "unexpected-answer",
    # the body
    "bad-encoding",
    "no-entries",
    "not-a-feed",
    "too-large",
    "truncated",
    "unknown-encoding",
    "unreadable-feed",
]
REASONS: frozenset[str] = frozenset(get_args(Reason))
