"""Where a run comes from: versions, checksum of the data, time, memory."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata

from doccluster.base.plain_values import checksum
from doccluster.base.progress import CLOCK, Progress
from doccluster.corpus.document import Corpus

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "nltk", "pandas")


STARTING, COMPILING = "start", "compile"


class StageClock:
    """A clock with named stages that also reports progress.

    The time in which code is compiled, once on a machine, counts for no stage; it is a timing of its own. So is what
    passed since the program `began` (its imports, above all), where that is given. `tell` gets the name and the
    seconds of each stage when it is over.
    """

    def __init__(
        self, progress: Progress, *, began: float | None = None, tell: Callable[[str, float], object] | None = None
    ) -> None:
        self.progress, self._tell = progress, tell
        self.started = datetime.now(UTC).isoformat(timespec="seconds")
        self.timings: dict[str, float] = {}
        if began is not None:
            self.timings[STARTING] = round(time.perf_counter() - began, 6)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is done inside, under this name."""
        self.progress(name, 0)
        before, compiled = time.perf_counter(), CLOCK.seconds
        try:
            yield
        finally:
            compiling = CLOCK.seconds - compiled
            self.timings[name] = round(max(0.0, time.perf_counter() - before - compiling), 6)
            if compiling:
                self.timings[COMPILING] = round(self.timings.get(COMPILING, 0.0) + compiling, 6)
        if self._tell is not None:  # not of a stage that failed
            self._tell(name, self.timings[name])


def versions(package_version: str) -> dict[str, str]:
    """Return the versions the numbers of a run depend on."""
    numbers = {"doccluster": package_version, "python": platform.python_version(), "platform": platform.platform()}
    return numbers | {name: metadata.version(name) for name in PACKAGES}


def corpus_checksum(corpus: Corpus) -> str:
    """Return the checksum of the ids and texts of a corpus, in their order, wherever they lie."""
    parts = (encoded(corpus.ids), encoded(corpus.texts))
    return checksum(part for pair in zip(*parts, strict=True) for part in pair)


def encoded(strings: Sequence[str]) -> Iterator[str | bytes]:
    """Return strings in UTF-8 where they lie in it already, else as they are: their checksum is the same."""
    texts: Iterator[str | bytes] = strings.encoded() if hasattr(strings, "encoded") else iter(strings)
    return texts


def peak_memory() -> int | None:
    """Return the most memory this process has held, in bytes; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
