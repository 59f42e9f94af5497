"""A campaign against one target: many mutated inputs, each with a result, a sentence, or a failure to keep."""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from doccluster.errors import DocclusterError, DocclusterWarning
from tests.fuzz.mutate import mutated, shrunk
from tests.fuzz.watch import watched

_LONGEST_MESSAGE = 1000  # characters: an error is one sentence, however long a name in it


@dataclass(frozen=True)
class Target:
    """Something that reads bytes which others wrote.

    Attributes
    ----------
    name : str
        For the command line and the test ids, such as ``csv``.
    samples : callable
        Returns small valid inputs; called once per campaign.
    read : callable
        Reads one input as users would have it read, and checks what comes out. Returns a word for the statistics; may
        raise an error of ours, and nothing else.
    tokens : sequence of bytes
        Pieces that mean something in this format.
    in_place : bool
        Whether half of the inputs keep their length, as binary formats with offsets need it.
    apart : bool
        Whether it runs machine code that would end the process if it trusted its input; then the suite, too, runs it in
        a process of its own.
    """

    name: str
    samples: Callable[[], Sequence[bytes]]
    read: Callable[[bytes], str]
    tokens: tuple[bytes, ...] = ()
    in_place: bool = False
    apart: bool = False


@dataclass(frozen=True)
class Failure:
    """An input that ended in something else than a result or a sentence."""

    target: str
    round: int
    data: bytes
    kind: str  # the exception and the line it came from: failures alike are one class
    details: str


@dataclass
class Outcome:
    """How often each result was seen, and one failure of each class."""

    results: Counter[str] = field(default_factory=Counter)
    failures: dict[str, Failure] = field(default_factory=dict)

    def add(self, result: str | Failure) -> None:
        """Count one result."""
        if isinstance(result, Failure):
            self.results["failed"] += 1
            self.failures.setdefault(result.kind, result)
        else:
            self.results[result] += 1


def scratch_folder() -> Path:
    """Return a new folder, which goes when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="doccluster-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def input_of(target: Target, samples: Sequence[bytes], seed: int, number: int) -> bytes:
    """Return the input of one round; rounds do not depend on one another."""
    draw = random.Random(f"{target.name} {seed} {number}")
    return mutated(samples, draw, tokens=target.tokens, in_place=target.in_place)


def judge(target: Target, data: bytes, number: int = -1) -> str | Failure:
    """Return the word that the target gives for an input, "refused" for a sentence, or the failure."""
    try:
        with watched(), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", DocclusterWarning)
            try:
                return target.read(data)
            except DocclusterError as error:
                check_sentence(error)
                return "refused"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  what else comes out is what is looked for
        frames = traceback.extract_tb(error.__traceback__)
        ours = next((one for one in reversed(frames) if "doccluster" in one.filename), frames[-1])
        kind = f"{type(error).__name__} in {frames[-1].name} by {ours.filename.rpartition('/')[2]}:{ours.name}"
        lines = "".join(traceback.format_exception(error, limit=-12)).splitlines()
        return Failure(target.name, number, data, kind, "\n".join(line[:300] for line in lines))


def check_sentence(error: DocclusterError) -> None:
    """Raise AssertionError unless the message of an error is one readable sentence."""
    message = str(error)
    assert message.strip(), "an error without a message"
    assert len(message) <= _LONGEST_MESSAGE, f"a message of {len(message)} characters: {message[:200]}"
    assert "\n" not in message, f"a message of several lines: {message[:200]!r}"


def campaign(target: Target, *, seed: int, rounds: range) -> Iterator[tuple[int, str | Failure]]:
    """Judge one input after the other; every round is repeatable by its number."""
    samples = list(target.samples())
    for number in rounds:
        yield number, judge(target, input_of(target, samples, seed, number), number)


def smallest(target: Target, failure: Failure) -> bytes:
    """Return a smaller input that fails in the same way."""

    def fails(data: bytes) -> bool:
        found = judge(target, data)
        return isinstance(found, Failure) and found.kind == failure.kind

    return shrunk(failure.data, fails)
