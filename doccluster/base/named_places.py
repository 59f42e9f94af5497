"""Names of places: what an address is, which addresses are opened, and what a record may name.

A record is a file that doccluster wrote (run.json, model.json) and that may come from a stranger. What it names is
opened only where that can do no harm: files of this machine, which are said before they are read. An address, a file
of another machine and a model that runs code have to be named by a person. A limit counts where it is lower than the
program's.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doccluster.base.paths import shown_path, usable_path
from doccluster.base.plain_values import parse_size
from doccluster.errors import Argument, DocclusterWarning, InputError, NamedByRecord, SchemaError

# the kinds of addresses that people may name: stores of files. Others of fsspec run code, or open further addresses
STORES = (
    *("s3", "s3a", "gs", "gcs", "abfs", "abfss", "adl", "az", "hdfs", "webhdfs", "oci", "oss", "obs", "cos"),
    *("sftp", "ssh", "ftp", "smb", "webdav", "webdavs", "hf", "dbfs", "dvc", "lakefs", "file", "memory"),
)
CHAIN = "::"  # what fsspec puts between addresses that are opened one through the other
RUN_CODE = ("sentence-transformers",)  # kinds of encoders
_QUERY = re.compile(r"(sqlite|duckdb):/{1,3}(.*?)\?(.*)", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"\s*[a-z][a-z0-9+._-]+:[\\/]", re.IGNORECASE)
_OTHER_MACHINE = re.compile(r"\s*([\\/]{2}|[\\/]\?\?[\\/])")  # \\host\share, and what Windows takes for it

Announce = Callable[[str], None]


def query_in(source: object) -> tuple[str, Path, str] | None:
    """Return the kind of database, its file and the query of an address; None if the source is none.

    >>> query_in("sqlite:///news.db?SELECT title, body FROM articles")[::2]
    ('sqlite', 'SELECT title, body FROM articles')
    """
    match = _QUERY.fullmatch(source) if isinstance(source, str) else None
    return None if match is None else (match[1].lower(), Path(match[2]), match[3])


def check_address(address: str) -> None:
    """Raise InputError for an address that a person names and that is not opened: a chain, or of another kind."""
    problem = ""
    if CHAIN in address:
        problem = f"it holds {CHAIN}, and no address is opened through another"
    elif address.partition(":")[0].lower() not in STORES:
        problem = f"its kind is not among {', '.join(STORES)}"
    if problem:
        raise InputError(f"{shown_path(address)} cannot be read: {problem}", remedy="give a copy on this machine")


def why_not_from_record(name: str) -> str:
    """Return why a name in a record is not opened, "" where it is that of a file of this machine.

    >>> why_not_from_record("s3://bucket/a"), why_not_from_record("//host/share"), why_not_from_record("C:\\\\a.csv")
    ('an address', 'on another machine', '')
    """
    if CHAIN in name or _ADDRESS.match(name):
        return "an address"
    return "on another machine" if _OTHER_MACHINE.match(name) else ""


@dataclass
class Record:
    """A file that names what a run or model was made of; `take` is the way to all of that, and `check` comes after."""

    path: Path  # of the file, for sentences
    directory: str = "."  # where it was written, from which files are seen unless they are seen from here
    beside: tuple[Path, ...] = ()  # folders where files of these names may lie now
    anew: Mapping[str, Any] = field(default_factory=dict)  # what a person names, by argument, in place of the record
    announce: Announce | None = None  # called with a sentence on each file before it is read
    is_own: bool = False  # whether a person named all of it in this process, and no file did
    _refused: dict[str, tuple[Any, str]] = field(default_factory=dict, init=False)  # values, names with reasons
    _to_read: list[str] = field(default_factory=list, init=False)

    def take(self, argument: str, value: Any, *, usual: Any = None) -> Any:
        """Return the value of an argument in a record, as it may be used; `check` is to be called before it is.

        Files come as paths where they lie now, a sequence of them as a list. `usual`: the program's default of a limit.
        """
        if self.anew.get(argument) is not None or value is None:
            return self.anew.get(argument)
        if argument.startswith("max_"):
            return self._limit(argument, value, usual)
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise SchemaError(f"{self.path} is damaged: its {argument} is not a name", remedy="make the run again")
        if argument == "encoder":
            return self._encoder(str(value))
        query = query_in(names[0]) if names and argument == "source" else None
        if query is not None:
            return f"{query[0]}:///{self._file(argument, str(query[1]), value)}?{query[2]}"
        files = [self._file(argument, name, value) for name in names]
        return str(files[0]) if isinstance(value, str) else files

    def check(self) -> None:
        """Say which files will be read. Raises NamedByRecord if something is not opened unless a person names it."""
        if self._refused:
            named = " and ".join(name for _, name in self._refused.values())
            problem = f"{self.path} names {named}, and that is opened only if you name it"
            raise NamedByRecord(problem, {argument: value for argument, (value, _) in self._refused.items()})
        for name in self._to_read:
            if self.announce is not None:
                self.announce(f"reading {name}, as {self.path} says")

    def _file(self, argument: str, name: str, value: Any) -> Path:
        path, why = self._found(name, self.beside)
        if why:
            whole = value if isinstance(value, str) or len(value) > 1 else name
            self._refused.setdefault(argument, (whole, f"{shown_path(name)!r} ({why})"))
        elif argument == "source" or os.path.exists(path):  # noqa: PTH110
            self._to_read.append(str(path))
        return path

    def _encoder(self, name: str) -> str:
        kind, _, place = name.partition(":")
        path, why = self._found(place, ()) if place else (Path(), "")
        if kind in RUN_CODE and not self.is_own:
            why = "a model that may run code"
        if why:
            self._refused["encoder"] = name, f"{shown_path(name)!r} ({why})"
            return name
        found = f"{kind}:{path}" if place and os.path.exists(path) else name  # noqa: PTH110
        if place:
            self._to_read.append(f"the encoder {found}")
        return found

    def _found(self, name: str, beside: tuple[Path, ...]) -> tuple[Path, str]:
        """Return where a file lies now, and why it is not opened; nothing elsewhere is looked at to know that."""
        why, path = why_not_from_record(name), Path(name)
        if not why and not os.path.exists(usable_path(name)):  # noqa: PTH110  never raises
            first = Path(os.path.normpath(Path(self.directory) / path))
            places = [] if why_not_from_record(str(first)) else [first]
            places += [folder / place for folder in beside for place in (path, path.name)]
            path = next((place for place in places if os.path.exists(place)), first)  # noqa: PTH110
        return path, "" if self.is_own else why or why_not_from_record(str(path))

    def _limit(self, argument: str, value: Any, usual: Any) -> Any:
        try:
            is_higher = usual is not None and not self.is_own and parse_size(value) > parse_size(usual)
        except InputError as error:
            raise SchemaError(f"{self.path} is damaged ({error})", remedy="make the run again") from error
        if not is_higher:
            return value
        words = (f"{self.path} raises a limit (", Argument(argument, value), "), and that is for you to do; ")
        warnings.warn(DocclusterWarning(*words, Argument(argument, usual), " is used."), stacklevel=2)
        return usual
