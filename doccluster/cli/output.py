"""Standard output and standard error as they are found: in any encoding, closed by the reader, or full."""

from __future__ import annotations

import codecs
import errno
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

STAND_INS = "doccluster.stand_ins"  # the name of the error handler below
WIDTH_OF_A_FILE = 120  # characters of a line where no terminal says how many
CLOSED = 141  # 128 + SIGPIPE: what a shell reports of any program whose reader has gone
# a closed pipe (Windows: EINVAL), a full disk or quota, a file at its limit, a device that fails; where a file
# is written, these have become an InputError that names it
_FAILURES = (errno.EPIPE, errno.EINVAL, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

ABOVE: list[Callable[[], None]] = []  # what to call before a line is written: others give way to it

# what people read the same way in ASCII; everything else that cannot be shown is written as an escape
_PLAIN = {
    "↑": "^",
    "↓": "v",
    "±": "+-",
    "×": "x",
    "·": ".",
    "•": "*",
    "…": "...",
    "–": "-",
    "—": "-",
    "−": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
}


class OutputFailed(Exception):
    """Standard output takes no more: its reader has stopped (`is_closed`), or it is full."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output cannot be written: {error.strerror or error}.")
        self.is_closed = error.errno in (errno.EPIPE, errno.EINVAL)


def prepare_streams() -> None:
    """Make both streams take any text: what their encoding lacks is written in ASCII, as a stand-in or an escape."""
    codecs.register_error(STAND_INS, _stand_in)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the process that started this one
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open while the process lives
            setattr(sys, name, nowhere)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=STAND_INS)


def _stand_in(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return the stand-in for characters that cannot be encoded, and where to go on.

    >>> codecs.register_error(STAND_INS, _stand_in)
    >>> "0.5 ± 0.1 – café".encode("ascii", STAND_INS)
    b'0.5 +- 0.1 - caf\\\\xe9'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    shown = (
        _PLAIN.get(character) or character.encode("ascii", "backslashreplace").decode("ascii")
        for character in characters
    )
    return "".join(shown), error.end


def write_out(text: str) -> None:
    """Write text to standard output as it is."""
    sys.stdout.write(text)


def write_error(line: str) -> None:
    """Write one line to standard error; where even that is closed or full, the line is lost."""
    with suppress(OSError):
        for wipe in ABOVE:
            wipe()
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def is_unicode(stream: TextIO) -> bool:
    """Return whether a stream takes every character as it is."""
    return (stream.encoding or "utf-8").lower().replace("-", "").startswith("utf")


@contextmanager
def output_guarded() -> Iterator[None]:
    """Turn a failure of standard output into `OutputFailed`; at the end nothing is left in its buffer."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if error.filename is None and error.errno in _FAILURES:
            raise OutputFailed(error) from error
        raise


def settle_errors() -> None:
    """Write out standard error; where it is full drop the rest, or the interpreter would end with a code of its own."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        drop(sys.stderr)


def drop(stream: TextIO) -> None:
    """Discard the buffer of a stream, so that the interpreter ends silently."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def table_room(*, has_rule: bool = True, indent: int = 0) -> dict[str, Any]:
    """Return the facts on standard output that `table_lines` needs: its width, and what rules and marks are made of."""
    is_wide = is_unicode(sys.stdout)
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = shutil.get_terminal_size((WIDTH_OF_A_FILE, 24)).columns if has_width else WIDTH_OF_A_FILE
    rule = ("─" if is_wide else "-") if has_rule else ""
    return {"width": width - indent, "rule": rule, "mark": "…" if is_wide else "..."}
