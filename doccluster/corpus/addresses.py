"""Files behind addresses such as s3://bucket/articles, by fsspec and the drivers that the user has installed.

Web pages are not fetched: that is what `feeds` is for, or a download.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from doccluster.errors import InputError, MissingDependency

_FORM = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.IGNORECASE | re.DOTALL)  # a path keeps only one of the slashes
_NOT_FILES = frozenset({"http", "https", "ftp", "feed"})
_THIS_MACHINE = "file"


class FoundFile(NamedTuple):
    """A file behind an address: the address as a path, where it lies below what the user named, its size if known."""

    path: Path
    place: PurePosixPath
    n_bytes: int | None


def address_of(path: Path) -> str | None:
    """Return the address that a path stands for; None for a path of this machine, or of what is not files.

    >>> address_of(Path("s3://bucket/a.jsonl")), address_of(Path("data/a.jsonl")), address_of(Path("https://a.org/b"))
    ('s3://bucket/a.jsonl', None, None)
    """
    found = _FORM.fullmatch(str(path))
    if found is None or found[1].lower() in (_THIS_MACHINE, *_NOT_FILES):
        return None
    return f"{found[1].lower()}://{found[2]}"


def on_this_machine(path: Path) -> Path:
    """Return the path that a file:// address names, other paths as they are.

    >>> on_this_machine(Path("file:///data/a.csv")).as_posix()
    '/data/a.csv'
    """
    found = _FORM.fullmatch(str(path))
    return path if found is None or found[1].lower() != _THIS_MACHINE else Path(f"/{found[2]}")


def find_files(address: str) -> list[FoundFile]:
    """Return the files that an address names: one, those below a folder, or those that fit a pattern, by name.

    Raises InputError if there is nothing there, or it cannot be reached. Raises MissingDependency if fsspec, or the
    driver for this kind of address, is not installed.
    """
    system, path = _system(address)
    scheme = address.partition("://")[0]
    try:
        if any(one in path for one in "*?["):
            known, top = system.glob(path, detail=True), None
            known = {name: facts for name, facts in known.items() if facts.get("type") == "file"}
        elif system.isdir(path):
            known, top = system.find(path, detail=True), path.rstrip("/")
        else:
            known, top = ({path: system.info(path)} if system.exists(path) else {}), None
    except Exception as error:  # whatever a driver raises on what cannot be reached
        raise _unreachable(address, error) from error
    if not known:
        raise InputError(f"there is nothing at {address}", remedy="give the address of files, of a folder or a pattern")
    return [
        FoundFile(Path(f"{scheme}://{name.lstrip('/')}"), _place(name, top), facts.get("size"))
        for name, facts in sorted(known.items())
    ]


def open_address(address: str) -> Any:
    """Return an open binary file; see `find_files` for the errors, and a driver raises what it likes."""
    system, path = _system(address)
    return system.open(path, "rb")


def _place(name: str, top: str | None) -> PurePosixPath:
    return PurePosixPath(PurePosixPath(name).name if top is None else name.removeprefix(top).lstrip("/"))


def _system(address: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise MissingDependency(
            f"{address} needs fsspec", remedy='install it with: pip install "doccluster[dask]"'
        ) from error
    try:
        system, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise MissingDependency(f"{address} needs a driver ({error})", remedy="install it with pip") from error
    except Exception as error:  # an unknown kind of address, or a driver that finds no account
        raise _unreachable(address, error) from error
    return system, str(path)


def _unreachable(address: str, error: Exception) -> InputError:
    return InputError(
        f"{address} cannot be read ({type(error).__name__}: {str(error)[:200]})",
        remedy="check the address, and the account that its driver uses",
    )
