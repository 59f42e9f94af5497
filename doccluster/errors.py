"""What can go wrong, by name: every error a user can meet, and the exit code the command line gives it."""

from __future__ import annotations


class DocclusterError(Exception):
    """The root of the package's own errors; `exit_code` is what the command line returns."""

    exit_code = 1


class InputError(DocclusterError, ValueError):
    """The input or a parameter cannot be used; the message says what was received, expected, and what to do."""

    exit_code = 2


class NotNumeric(InputError, TypeError):
    """A matrix holds things that are not numbers, such as objects or text."""


class NothingUsable(InputError):
    """No document, no term or no row is left to work on."""

    exit_code = 3


class MemoryLimitError(InputError, MemoryError):
    """The work cannot be done within `max_memory`; the message names the smallest value that would do."""

    exit_code = 2


class MissingDependency(DocclusterError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    exit_code = 2


class SchemaError(InputError):
    """A file of ours is truncated, damaged, or written by a newer version."""


class NotComputable(DocclusterError):
    """A measure has no value on this input; the message is the reason, shown beside the value nan."""


class DocclusterWarning(UserWarning):
    """Something was repaired or left out; the results say what."""
