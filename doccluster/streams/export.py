"""A moment of a stream as three csv files that other programs read."""

from __future__ import annotations

from pathlib import Path

from doccluster.artifacts.csv_files import write_csv
from doccluster.artifacts.new_folder import check_folder, writing
from doccluster.errors import InputError
from doccluster.streams.tables import StreamTables
from doccluster.unfinished import unfinished_folder

FILES = ("documents.csv", "stories.csv", "lineage.csv")


def check_export(folder: Path, *, overwrite: bool) -> None:
    """Raise InputError, before any work is done, if an export cannot be written to `folder`."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; choose another output, the name of a folder.")
    there = [name for name in FILES if (folder / name).exists()]
    if there and not overwrite:
        raise InputError(f"{folder / there[0]} already exists; choose another output, or give --overwrite.")
    check_folder(folder.absolute().parent, name=folder)


def write_export(tables: StreamTables, folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Write the tables as csv files, each whole or not at all, and return their paths; other files there stay.

    Raises
    ------
    InputError
        If there is an earlier export and `overwrite` is not given, or the folder cannot be written.
    """
    check_export(folder, overwrite=overwrite)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(folder.absolute()) as beside:
            for name, table in zip(FILES, (tables.documents, tables.stories, tables.lineage), strict=True):
                write_csv(table, beside / name)
            for name in FILES:
                (beside / name).replace(folder / name)
    return [folder / name for name in FILES]
