"""How long work reports its progress: a callable that anything below the command line may be given."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with the name of the stage, the work done so far and the total (None when it is not known)."""

    def __call__(self, stage: str, n_done: int, total: int | None = None) -> None: ...


def silent(stage: str, n_done: int, total: int | None = None) -> None:
    """Do nothing; the default everywhere."""
