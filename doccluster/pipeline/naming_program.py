"""A program of a person's choice that names clusters: it reads a JSON line for each, and answers with one."""

from __future__ import annotations

import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
from contextlib import suppress
from typing import Any

from doccluster.errors import InputError
from doccluster.labeling import NamingRequest
from doccluster.pipeline.model_names import Unanswered

MAX_LINE = 100_000  # bytes of an answer
ENDED = b""


class ProgramNamer:
    """Runs a command without a shell, and again where it has ended. Raises InputError if there is no such program."""

    prompt = ""

    def __init__(self, command: str, *, model: str | None = None, seconds: float = 60.0) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InputError(f"{command!r} is not a command: {error}", remedy="close its quotation marks") from error
        if not self._words or shutil.which(self._words[0]) is None:
            raise InputError(f"there is no program for {command!r}", remedy="give a command that names clusters")
        self.model, self._seconds = model or command, seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def __call__(self, request: NamingRequest) -> str:
        """Return the answer of the program. Raises Unanswered where it gives none in time, or one that is broken."""
        # shorter than what a pipe holds, so that a program that does not read blocks nothing
        line = json.dumps(request.content(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            answer = ENDED
            if self._process is not None and self._lines.empty():  # else it has ended, or says more than it was asked
                answer = self._ask(self._process, line)
            return _name_in(self._ask(self._start(), line) if answer == ENDED else answer)
        except Unanswered:
            self.close()  # what it says from now on would be taken for the next answer
            raise

    def close(self) -> None:
        """End the program, and what it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        process.kill()
        process.wait()
        assert process.stdin is not None
        with suppress(OSError):  # what it has not read
            process.stdin.close()

    def _start(self) -> subprocess.Popen[bytes]:
        self.close()
        self._lines = queue.SimpleQueue()
        # in a session of its own: Ctrl-C stops the asking, which ends the program
        process = subprocess.Popen(self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        threading.Thread(target=_read, args=(process.stdout, self._lines), daemon=True).start()
        self._process = process
        return process

    def _ask(self, process: subprocess.Popen[bytes], line: bytes) -> bytes:
        """Return the next line of the program, empty if it has ended."""
        assert process.stdin is not None
        with suppress(OSError):  # it has ended: its output says so
            process.stdin.write(line)
            process.stdin.flush()
        try:
            return self._lines.get(timeout=self._seconds)
        except queue.Empty:
            raise Unanswered(f"that got no answer in {self._seconds:g} s") from None


def _read(stream: Any, lines: queue.SimpleQueue[bytes]) -> None:
    """Put into a queue what a program says, up to the end of a line; several that come at once stay together."""
    text = b""
    with suppress(OSError), stream:
        while piece := stream.read1(MAX_LINE):
            text += piece
            if text.endswith(b"\n") or len(text) > MAX_LINE:
                lines.put(text)
                text = b""
    if text:
        lines.put(text)
    lines.put(ENDED)


def _name_in(line: bytes) -> str:
    """Return the name in an answer: a text, or an object with a name. Raises Unanswered if it is neither."""
    if line == ENDED:
        raise Unanswered("for which the program ended without an answer")
    answer: Any = None
    with suppress(ValueError, RecursionError):
        answer = json.loads(line)
    name = answer.get("name") if isinstance(answer, dict) else answer
    if not isinstance(name, str):
        raise Unanswered("whose answer is not a line of JSON with a name")
    return name
