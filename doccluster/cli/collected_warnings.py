"""Warnings of a command: one line for each sentence, printed when the work is over, however many threads raised it."""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from doccluster.cli.verb import spelling_of
from doccluster.errors import DocclusterWarning, worded


@contextmanager
def collected_warnings() -> Iterator[Counter[str]]:
    """Collect the warnings of this package raised inside, by any thread, and yield how often each was raised.

    The sentences name options of the command that is running when the block is entered: only the thread that runs the
    command has click's context. Warnings of other packages are shown as before.
    """
    context = click.get_current_context(silent=True)
    counts: Counter[str] = Counter()
    lock = threading.Lock()
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def collect(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if not issubclass(category, DocclusterWarning):
                shown(message, category, *where, **more)
                return
            sentence = str(message) if context is None else worded(message.words, spelling_of(context.command))
            with lock:
                counts[sentence] += 1

        warnings.showwarning = collect
        warnings.simplefilter("always", DocclusterWarning)
        yield counts


def warning_lines(counts: Counter[str]) -> list[str]:
    """Return a line for each sentence, in the order in which they were first raised.

    >>> warning_lines(Counter({"only 3 clusters were filled.": 8, "the file is empty": 1}))
    ['warning: only 3 clusters were filled (8 times).', 'warning: the file is empty']
    """
    return [f"warning: {_counted(sentence, count)}" for sentence, count in counts.items()]


def _counted(sentence: str, count: int) -> str:
    if count == 1:
        return sentence
    bare = sentence.removesuffix(".")
    return f"{bare} ({count:,} times){sentence[len(bare) :]}"
