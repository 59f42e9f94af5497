"""Plain text: a file is a document, or each of its lines is."""

from __future__ import annotations

from collections.abc import Iterator

from doccluster.corpus.document import Skipped
from doccluster.corpus.draft import Draft
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.mail_headers import subject_of_message
from doccluster.corpus.options import ReadOptions


def read_text(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return the one document that the file is."""
    text = file.text(options.limits.document_bytes)
    yield Draft(text, file.name, id=str(file.place), title=subject_of_message(text), is_whole_file=True)


def read_lines(file: InputFile, options: ReadOptions) -> Iterator[Draft | Skipped]:
    """Return one document for each line."""
    for number, line in enumerate(file.lines(options.limits.document_bytes), file.lines_before + 1):
        where = f"{file.name}:{number}"
        if line is None:
            yield Skipped(where, "too-long", f"a line of more than {options.limits.document_bytes:,} bytes")
        else:
            yield Draft(line.rstrip("\r\n"), where)


TEXT = Format("text", read_text, "a file", "the subfolder is the label `class`", aliases=("folder", "txt"))
LINES = Format("lines", read_lines, "a line")
