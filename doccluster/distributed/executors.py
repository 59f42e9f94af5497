"""Where functions of blocks run: one after another in this process, or (`dask_workers`) on the workers of a cluster.

A function that is handed to an executor is defined at the top of a module, takes an item and what all items share, and
may be called again for the same item: a worker that ends in the middle is replaced by another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from doccluster.blocks import map_blocks, resolve_threads

Item = TypeVar("Item")
Result = TypeVar("Result")

FAN_IN = 8  # results that are combined at a time in a tree


class Executor(Protocol):
    """A place where functions of blocks run.

    `n_workers`: how many items are worked on at a time. `bytes_sent`, `bytes_received`: what went to the workers and
    came back so far, as far as it is known; 0 where nothing travels.
    """

    @property
    def n_workers(self) -> int: ...

    @property
    def bytes_sent(self) -> int: ...

    @property
    def bytes_received(self) -> int: ...

    def map(self, function: Callable[..., Result], items: Sequence[Any], *shared: Any) -> Iterator[Result]:
        """Yield ``function(item, *shared)`` for each item, in the order of the items."""
        ...

    def reduce(
        self,
        function: Callable[..., Result],
        combine: Callable[[list[Result]], Result],
        items: Sequence[Any],
        *shared: Any,
    ) -> Result:
        """Return all ``function(item, *shared)`` combined, a few at a time; `combine` is associative."""
        ...

    def everywhere(self, function: Callable[..., None], *values: Any) -> None:
        """Call ``function(*values)`` in each process that works on items; one that ends meanwhile is left out."""
        ...


class Sequential:
    """This process: blocks are read from disk one after another, so that memory holds one for each thread.

    Parameters
    ----------
    n_threads : int, optional
        How many blocks are worked on at a time; one by default. No result depends on it.

    Examples
    --------
    >>> list(Sequential().map(pow, [1, 2, 3], 2))
    [1, 4, 9]
    """

    bytes_sent = bytes_received = 0

    def __init__(self, n_threads: int = 1) -> None:
        self.n_workers = resolve_threads(n_threads)

    def map(self, function: Callable[..., Result], items: Sequence[Any], *shared: Any) -> Iterator[Result]:
        """Yield ``function(item, *shared)`` for each item, in the order of the items."""

        def one(item: Any) -> Result:
            return function(item, *shared)

        return map_blocks(one, items, n_threads=self.n_workers)

    def reduce(
        self,
        function: Callable[..., Result],
        combine: Callable[[list[Result]], Result],
        items: Sequence[Any],
        *shared: Any,
    ) -> Result:
        """Return all ``function(item, *shared)`` combined; at most a few results are held at a time."""
        held: list[Result] = []
        for result in self.map(function, items, *shared):
            held.append(result)
            if len(held) == FAN_IN:
                held = [combine(held)]
        return combine(held)

    def everywhere(self, function: Callable[..., None], *values: Any) -> None:
        """Call ``function(*values)``."""
        function(*values)
