"""How feeds are asked: at whose time, how often one host, and what may be reached."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from doccluster.corpus.feed_lists import ListedFeed
from doccluster.streams.polling.addresses import listed_target, parse_networks
from doccluster.streams.polling.fetching import Reachable

HOSTS_AT_ONCE = 4
SPACING = 5.0  # seconds between two requests to one host


class Clock(Protocol):
    """A clock that also waits."""

    def now(self) -> float:
        """Return seconds since 1970."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


@dataclass(frozen=True)
class PollOptions:
    """How feeds are asked: what may be reached, seconds between two requests to one host, hosts asked at once."""

    reach: Reachable = field(default_factory=Reachable)
    spacing: float = SPACING
    hosts_at_once: int = HOSTS_AT_ONCE
    clock: Clock = field(default_factory=SystemClock)

    def allowing(self, networks: Sequence[str]) -> PollOptions:
        """Return the options with further ranges of addresses that may be asked.

        Raises InputError if a range is none.
        """
        return replace(self, reach=replace(self.reach, allowed=(*self.reach.allowed, *parse_networks(networks))))

    def for_list(self, listed: Sequence[ListedFeed]) -> PollOptions:
        """Return the options with the ports that a list names."""
        ports = frozenset(listed_target(feed.url).port for feed in listed)
        return replace(self, reach=replace(self.reach, ports=self.reach.ports | ports))
