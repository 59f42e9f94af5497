"""Names of files and folders that no system can look up, refused in one sentence before anything is done."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from doccluster.errors import InputError

_SHOWN = 80  # characters of a long name in a sentence


def usable_path(path: str | os.PathLike[str]) -> Path:
    """Return a path whose name the system takes; whether it is there is not asked.

    Raises InputError if the name is empty or too long, or holds a zero byte or half of a pair of surrogates.

    >>> usable_path("news" * 100)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    doccluster.errors.InputError: 'newsnews... ...' cannot be a file or folder: File name too long; give another.
    """
    if path == "":
        raise InputError("an empty name cannot be a file or folder", remedy="give another")
    for name in (path, *Path(path).parts):  # below a folder that is not there no name is looked at
        _look_up(name, path)
    return Path(path)


def _look_up(name: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    try:
        os.lstat(name)
    except ValueError as error:  # UnicodeEncodeError is one
        reason = "half of a character" if isinstance(error, UnicodeError) else "a zero byte"
        raise InputError(
            f"{shown_path(path)!a} cannot be a file or folder: it holds {reason}", remedy="give another"
        ) from error
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            raise InputError(
                f"{shown_path(path)!r} cannot be a file or folder: {error.strerror}", remedy="give another"
            ) from error


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path as a sentence shows it: only its beginning where it is very long."""
    name = os.fspath(path)
    return name if len(name) <= 200 else f"{name[:_SHOWN]} ..."
