"""What can go wrong, by name: every error a user can meet, what it carries, and the exit code of the command line.

An error keeps what it says as data: the argument, what was received, what was expected and what to do. Its sentence is
made of these, so that Python names an argument as ``n_clusters=12`` and a command as ``-k 12``.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

_SHOWN = 60  # characters of a value in a sentence
_SCREEN = 1_000  # characters of a sentence: half a screen
_LONG_WORD = re.compile(r"(\S{100})\S{300,}(\S{100})")  # a name or value that was typed; most paths are shorter


class _NotGiven:
    """Stands where no value is given; the class itself, which is the same after pickling too."""


@dataclass(frozen=True)
class Argument:
    """An argument of a public function as a sentence names it, with or without a value.

    >>> str(Argument("n_clusters")), str(Argument("weighting", "none"))
    ('n_clusters', "weighting='none'")
    """

    name: str
    value: Any = _NotGiven

    @property
    def has_value(self) -> bool:
        """Whether the sentence gives a value too."""
        return self.value is not _NotGiven

    def __str__(self) -> str:
        return f"{self.name}={shown(self.value)}" if self.has_value else self.name


Words = str | Argument | tuple[str | Argument, ...]  # a part of a sentence; the parts of a tuple follow each other
Spelling = Callable[[Argument], str]


def shown(value: object) -> str:
    """Return a value as a sentence shows it: its repr, in one line, the middle left out where it is long.

    >>> shown("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxx'"
    """
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # a number of numpy's is shown as any number
    brief = reprlib.Repr()
    brief.maxstring = brief.maxother = brief.maxlong = _SHOWN
    return " ".join(brief.repr(value).split())


def worded(words: Words, spelling: Spelling = str) -> str:
    """Return words as text that fits on a screen, with each argument as `spelling` has it.

    Of a very long word, and of a very long text, the middle is left out: what to do stands at the end.

    >>> worded(("raise ", Argument("max_df"), " or lower ", Argument("min_df", 2)))
    'raise max_df or lower min_df=2'
    >>> len(worded("x" * 9000 + " is too long; give another.")), len(worded("too long " * 9000))
    (230, 1000)
    """
    text = "".join(part if isinstance(part, str) else spelling(part) for part in words_of(words))
    if len(text) > 500:
        text = _LONG_WORD.sub(r"\1...\2", text)
    return text if len(text) <= _SCREEN else f"{text[: _SCREEN - 405]} ... {text[-400:]}"


def words_of(words: Words) -> tuple[str | Argument, ...]:
    """Return the parts of some words."""
    return words if isinstance(words, tuple) else (words,)


def listed_arguments(names: Iterable[str]) -> tuple[str | Argument, ...]:
    """Return arguments as words, with commas between them.

    >>> worded(listed_arguments(["min_df", "max_df"]))
    'min_df, max_df'
    """
    return tuple(word for name in names for word in (", ", Argument(name)))[1:]


class DocclusterError(Exception):
    """The root of the package's own errors; `exit_code` is what the command line returns.

    Parameters
    ----------
    problem : words
        What is wrong: of `argument` where that is given, else a clause of its own. With nothing else it is the whole
        message. Left out, the problem is that `argument` is not what was expected.
    argument : str, optional
        The name of the argument that cannot be used.
    received : object, optional
        What was given.
    expected : words, optional
        What can be given instead, as a noun: ``"a number >= 0"``.
    remedy : words, optional
        What to do, as an order: ``"raise max_df"``. Left out, it is to give what was expected.

    Examples
    --------
    >>> print(DocclusterError("is not a share", argument="tol", received=-1, expected="a number >= 0"))
    tol=-1 is not a share; give a number >= 0.
    >>> print(DocclusterError("the file is empty", remedy="write it again"))
    the file is empty; write it again.
    """

    exit_code = 1

    def __init__(
        self,
        problem: Words = "",
        *,
        argument: str | None = None,
        received: object = _NotGiven,
        expected: Words | None = None,
        remedy: Words | None = None,
    ) -> None:
        self.problem = problem
        self.argument = argument
        self.received = None if received is _NotGiven else received
        self.expected = expected
        self.remedy = remedy
        self._subject = None if argument is None else Argument(argument, received)
        self._sentence = worded(self.words)
        super().__init__(self._sentence)

    def __str__(self) -> str:
        return self._sentence

    @property
    def words(self) -> tuple[str | Argument, ...]:
        """The whole message, in which arguments are still to be spelled."""
        return self._subject_words() + self.clauses

    def _subject_words(self) -> tuple[str | Argument, ...]:
        return () if self._subject is None else (self._subject, " ")

    @property
    def clauses(self) -> tuple[str | Argument, ...]:
        """The message without the argument it begins with."""
        problem, expected, remedy = self.problem, self.expected, self.remedy
        if self.argument is None and expected is None and remedy is None:
            return words_of(problem)
        if not problem:
            words: tuple[str | Argument, ...] = ("is not ", *words_of(expected or "known"))
        elif expected is None or remedy is None:
            words = words_of(problem)
            remedy = remedy if expected is None else ("give ", *words_of(expected))
        else:
            words = (*words_of(problem), ", expected ", *words_of(expected))
        words = words if remedy is None else (*words, "; ", *words_of(remedy))
        is_finished = isinstance(words[-1], str) and words[-1].endswith((".", "?"))
        return words if is_finished else (*words, ".")

    def spell(self, spelling: Spelling) -> None:
        """Change how the message names arguments: from now on as `spelling` has it."""
        self._sentence = worded(self.words, spelling)


class InputError(DocclusterError, ValueError):
    """The input or a parameter cannot be used; the message says what was received, expected, and what to do."""

    exit_code = 2


class NamedByRecord(InputError):
    """A file that doccluster wrote names what only a person may name; `anew` has these arguments, as it names them."""

    def __init__(self, problem: Words, anew: Mapping[str, Any] | None = None) -> None:
        self.anew = dict(anew or {})  # none where it was pickled, with its sentence
        whole = " and ".join(f"{name}={value!r}" for name, value in self.anew.items())
        listed = [word for name, value in self.anew.items() for word in (" and ", Argument(name, value))][1:]
        remedy = ("if you trust it, give ", *([whole] if len(whole) < 400 else listed))
        super().__init__(problem, remedy=remedy if anew else None)


class NotNumeric(InputError, TypeError):
    """A matrix holds things that are not numbers, such as objects or text."""


class NothingUsable(InputError):
    """No document, no term or no row is left to work on."""

    exit_code = 3


class MemoryLimitError(InputError, MemoryError):
    """The work cannot be done within `max_memory`; the message names the smallest value that would do."""

    exit_code = 2


class MissingDependency(DocclusterError, ImportError):
    """An optional dependency is not installed, or cannot be imported; the message says what to install."""

    exit_code = 2


@contextmanager
def importing(needs: Words, *packages: str, install: str) -> Iterator[None]:
    """Turn an import that fails into a MissingDependency: of a package that is absent, or one that fails inside.

    Parameters
    ----------
    needs : words
        The beginning of the sentence: ``"Parquet files need"``.
    *packages : str
        What is imported, each by its first name.
    install : str
        What pip is told to install.

    Examples
    --------
    >>> with importing("Maps need", "no_such_package", install="doccluster[maps]"):
    ...     import no_such_package
    Traceback (most recent call last):
        ...
    doccluster.errors.MissingDependency: Maps need no_such_package; install it with: pip install "doccluster[maps]".
    """
    try:
        yield
    except Exception as error:  # an extension that does not fit its neighbours raises whatever it likes
        command = f'pip install "{install}"'
        if isinstance(error, ModuleNotFoundError) and error.name in packages:
            raise MissingDependency(
                (*words_of(needs), f" {error.name}"), remedy=f"install it with: {command}"
            ) from error
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}".rstrip(".")
        raise MissingDependency(
            (*words_of(needs), f" {' and '.join(packages)}, which cannot be imported ({reason})"),
            remedy=f"install what is missing, or all of it again: {command}",
        ) from error


class SchemaError(InputError):
    """A file that doccluster wrote is truncated, damaged, or of a newer version."""


class NotComputable(DocclusterError):
    """A measure has no value on this input; the message is the reason, shown beside the value nan."""


class DocclusterWarning(UserWarning):
    """Something was repaired or left out; the results say what. Arguments are named in it as in an error."""

    def __init__(self, *words: str | Argument) -> None:
        self.words = words
        super().__init__(worded(words))
