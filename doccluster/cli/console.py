"""What every command shares: where it prints, how it reports progress, and the options that several have."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import textwrap
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TextIO

import click

from doccluster.base.characters import CONTROLS, DIRECTIONS, LATER_CONTROLS, MARKS
from doccluster.base.json_values import jsonable
from doccluster.base.progress import CLOCK, LOOPS, Progress, silent
from doccluster.base.text_table import Column, shortened, table_lines
from doccluster.cli.output import ABOVE, STAND_INS, is_unicode, table_room, write_error, write_out
from doccluster.cli.verb import QUIET, TIMINGS, Whole, spelling_of
from doccluster.errors import DocclusterWarning, worded

Command = Callable[..., Any]

_ACTING = re.compile(f"[{CONTROLS}\t\n\f\r{LATER_CONTROLS}{DIRECTIONS}{MARKS}]+")


WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


def print_table(
    columns: Sequence[Column], *, has_rule: bool = True, indent: int = 0, headings: Mapping[int, str] | None = None
) -> None:
    """Print a table as wide as the terminal; `headings` are lines before some of its rows."""
    shown = [replace(column, cells=[_printable(cell) for cell in column.cells]) for column in columns]
    lines = {row: _printable(heading) for row, heading in (headings or {}).items()}
    for line in table_lines(shown, headings=lines, **table_room(has_rule=has_rule, indent=indent)):
        say(f"{' ' * indent}{line}" if line else "")


def _printable(cell: str) -> str:
    """Return a cell as it will stand on standard output, where another encoding makes it longer."""
    lines = "\n".join(plain(line) for line in cell.split("\n"))
    return lines if is_unicode(sys.stdout) else lines.encode(sys.stdout.encoding, STAND_INS).decode(sys.stdout.encoding)


def say(line: str = "") -> None:
    """Print one line for people."""
    write_out(f"{plain(line)}\n")


def say_fact(name: str, text: str) -> None:
    """Print a fact below a name, on as many lines as it needs beside the name."""
    room = table_room()["width"]
    for line in textwrap.wrap(
        plain(text), room, initial_indent=f"  {name:<10} ", subsequent_indent=" " * 13, **WHOLE_WORDS
    ):
        say(line)


def say_below(text: str, indent: int) -> None:
    """Print a text on as many lines as it needs, all of them indented."""
    blanks = " " * indent
    for line in textwrap.wrap(
        plain(text), table_room()["width"], initial_indent=blanks, subsequent_indent=blanks, **WHOLE_WORDS
    ):
        say(line)


def say_items(items: Iterable[str]) -> None:
    """Print items with two blanks between them, on as many lines as they need, none of them cut."""
    room, line = table_room()["width"], ""
    for item in map(plain, items):
        if line and len(line) + 2 + len(item) > room:
            say(line)
            line = ""
        line += f"  {item}"
    say(line)


def plain(text: str) -> str:
    """Return a text from a document without what would steer a terminal (escapes, returns, reversed direction)."""
    return _ACTING.sub(" ", text)


def print_json(content: object) -> None:
    """Print one JSON document; undefined numbers are null."""
    write_out(_as_json(content) + "\n")


def print_json_lists(content: Mapping[str, object], lists: Mapping[str, Iterable[object]]) -> None:
    """Print what `print_json` prints of both together, but each item of the lists as it comes, so that none is kept.

    `content`, which comes first, is not empty.
    """
    write_out(_as_json(content).removesuffix("\n}"))
    for name, items in lists.items():
        write_out(f",\n  {_as_json(name)}: [")
        end = "]"
        for place, item in enumerate(items):
            write_out(f"{',' if place else ''}\n    {_as_json(item, depth=2)}")
            end = "\n  ]"
        write_out(end)
    write_out("\n}\n")


def _as_json(value: object, *, depth: int = 0) -> str:
    """Return a value as JSON, indented by `depth` steps."""
    # JSON is UTF-8 or, with escapes, ASCII, whatever the terminal takes
    text = json.dumps(jsonable(value), ensure_ascii=not is_unicode(sys.stdout), indent=2, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\n", "\n" + "  " * depth)


COMPILING = "compiling for this machine, once"


@contextmanager
def progress_shown(*, quiet: bool = False) -> Iterator[Progress]:
    """Yield where long work reports its state: a line on standard error on a terminal, else nothing.

    Warnings of this package follow there when the work is over, one line for each sentence.
    """
    is_drawn, timings = sys.stderr.isatty() and not (quiet or _of_command(QUIET)), _of_command(TIMINGS)
    with _warnings_printed():
        if not is_drawn and timings is None:
            yield silent
            return
        with stage_line(is_drawn=is_drawn) as stages, _compiling_told(stages.tell) as tell:
            try:
                yield tell
            finally:
                if timings is not None:
                    timings.update(stages.seconds)


@contextmanager
def stage_shown(stage: str, *, quiet: bool = False) -> Iterator[None]:
    """Show work that reports nothing itself as one stage."""
    with progress_shown(quiet=quiet) as progress:
        progress(stage, 0)
        yield


def say_note(line: str) -> None:
    """Print on standard error what is no warning and no result, unless --quiet is given."""
    if not _of_command(QUIET):
        write_error(plain(line))


def _of_command(name: str) -> Any:
    """Return the value that --quiet or --timings left for the command that runs, None without it."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(name)


@contextmanager
def _compiling_told(tell: Progress) -> Iterator[Progress]:
    """Yield a progress that also says when the program is compiled, which would else pass for the work."""
    working: list[tuple[str, int, int | None]] = []

    def remember(stage: str, n_done: int, total: int | None = None) -> None:
        working[:] = [(stage, n_done, total)]
        tell(stage, n_done, total)

    def observe(count: int, is_running: bool) -> None:
        if is_running:
            tell(COMPILING, count)
        elif working:
            tell(*working[0])

    CLOCK.observers.append(observe)
    try:
        yield remember
    finally:
        CLOCK.observers.remove(observe)


def options(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return one decorator for several options, shown in this order."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
threads_option = click.option(
    "--threads",
    "n_threads",
    type=Whole(min=1),
    help="The number of threads; all processors by default. The result is the same.",
)
seed_option = click.option(
    "--seed",
    "random_state",
    type=Whole(min=0),
    default=0,
    show_default=True,
    help="The seed of all random choices; the same seed gives the same labels.",
)
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace an earlier output.")


@contextmanager
def _warnings_printed() -> Iterator[None]:
    """Print the warnings of this package raised inside, by any thread: each sentence once, and how often it was raised.

    The sentences name options of the command that is running when the block is entered: only the thread that runs the
    command has click's context. Warnings of other packages are shown as before.
    """
    context = click.get_current_context(silent=True)
    counts: Counter[str] = Counter()
    lock = threading.Lock()
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def collect(message: Any, category: Any, *where: Any, **file_and_line: Any) -> None:
            if not issubclass(category, DocclusterWarning):
                shown(message, category, *where, **file_and_line)
                return
            sentence = str(message) if context is None else worded(message.words, spelling_of(context.command))
            with lock:
                counts[sentence] += 1

        warnings.showwarning = collect
        warnings.simplefilter("always", DocclusterWarning)
        try:
            yield
        finally:
            for sentence, count in counts.items():
                bare = sentence.removesuffix(".")
                times = "" if count == 1 else f" ({count:,} times)"
                write_error(plain(f"warning: {bare}{times}{sentence[len(bare) :]}"))


TELLING_SECONDS = 2.0  # from which on the speed of a stage says how long the rest takes
SECONDS_BETWEEN_DRAWINGS = 0.2
WIPE = "\r\x1b[2K"


class StageLine:
    """The line; of its stages one works at a time, the one last heard of, and time passes for no other."""

    def __init__(self, stream: TextIO, get_time: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._get_time, self._lock = stream, get_time, threading.RLock()
        self._spent: dict[str, float] = {}  # of each stage, until it was last heard of
        self._working, self._since = "", get_time()
        self._state: tuple[int, int | None] = 0, None
        self._loop, self._loop_since = (0, 0), get_time()  # inside the stage

    def tell(self, stage: str, n_done: int, total: int | None = None) -> None:
        """Note how far a stage is; any thread may call this."""
        with self._lock:
            is_new = stage != self._working
            if is_new:
                now = self._get_time()
                if self._working:
                    self._spent[self._working] += now - self._since
                self._spent.setdefault(stage, 0.0)
                self._working, self._since = stage, now
            self._state = n_done, total
            if is_new:  # however short it is
                self.draw()

    def count(self, n_done: int, total: int) -> None:
        """Note how far a loop inside the stage is; any thread may call this."""
        with self._lock:
            if n_done == 0:
                self._loop_since = self._get_time()
            self._loop = n_done, total

    @property
    def seconds(self) -> dict[str, float]:
        """The seconds of each stage until now, in the order in which they were first heard of."""
        with self._lock:
            if not self._working:
                return {}
            now = self._get_time()
            return self._spent | {self._working: self._spent[self._working] + now - self._since}

    @property
    def text(self) -> str:
        """The text of the line now."""
        with self._lock:
            if not self._working:
                return ""
            seconds, (n_done, total) = self.seconds, self._state
            in_loop, (n_items, of_items) = self._get_time() - self._loop_since, self._loop
        spent = seconds.pop(self._working)
        over = [f"{name} {_minutes(spent)}" for name, spent in seconds.items()]
        state = f"{self._working} {_minutes(spent)}"
        state += f"  {n_done:,}" if n_done else ""
        state += f" of {total:,}" if total and n_done else ""
        if total and 0 < n_done < total and spent >= TELLING_SECONDS:
            state += f", {n_done / spent:,.0f}/s, {_minutes(spent * (total - n_done) / n_done)} left"
        elif not total and 0 < n_items < of_items and in_loop >= TELLING_SECONDS and self._working != COMPILING:
            left = _minutes(in_loop * (of_items - n_items) / n_items)
            state += f"  {100 * n_items // of_items} % of this pass, {left} left"
        return "  ".join([state, *reversed(over)])

    def draw(self) -> None:
        """Draw the line over what was drawn before."""
        width = shutil.get_terminal_size().columns - 1
        with self._lock:
            self._stream.write(WIPE + shortened(self.text, width, "…" if is_unicode(self._stream) else "..."))
            self._stream.flush()

    def wipe(self) -> None:
        """Leave room for another line; this one is drawn again below it."""
        with self._lock:
            self._stream.write(WIPE)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


@contextmanager
def stage_line(*, is_drawn: bool = True) -> Iterator[StageLine]:
    """Yield a line that is drawn on standard error, and wiped away at the end; else it only counts seconds."""
    if not is_drawn:
        yield StageLine(io.StringIO())
        return
    line, is_over = StageLine(sys.stderr), threading.Event()

    def draw() -> None:
        while not is_over.wait(SECONDS_BETWEEN_DRAWINGS):
            line.draw()

    drawing = threading.Thread(target=draw, daemon=True)
    ABOVE.append(line.wipe)
    LOOPS.observers.append(line.count)
    drawing.start()
    try:
        yield line
    finally:
        is_over.set()
        drawing.join()
        LOOPS.observers.remove(line.count)
        ABOVE.remove(line.wipe)
        line.wipe()
