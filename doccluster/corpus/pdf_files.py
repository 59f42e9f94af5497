"""PDF files (the extra `documents`): the text of each page; scans are pictures, and have none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doccluster.corpus.dates import iso_date
from doccluster.corpus.draft import Draft, ReadFailure, with_title
from doccluster.corpus.format import Format
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.office_files import MAX_FILE_BYTES, PAGE_END
from doccluster.corpus.reader_options import ReadOptions
from doccluster.errors import MissingDependency

_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?")
_WORD_BREAK = re.compile("[\x02\ufffe]\r?\n?")  # a word that goes on in the next line


def read_pdf(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the one document that the file is. Raises MissingDependency if pypdfium2 is not installed."""
    try:
        import pypdfium2
    except ImportError as error:
        raise MissingDependency(
            "PDF files need pypdfium2", remedy='install it with: pip install "doccluster[documents]"'
        ) from error
    try:
        document = pypdfium2.PdfDocument(file.read(MAX_FILE_BYTES))
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise ReadFailure("encrypted", "it has a password") from error
        raise ReadFailure("broken-file", f"it is damaged ({error})") from error
    try:
        pages, left = [], options.document_bytes
        for number in range(len(document)):
            page = document[number]
            found = page.get_textpage()
            pages.append(_WORD_BREAK.sub("", found.get_text_range()).replace("\r\n", "\n"))
            found.close()
            page.close()
            left -= len(pages[-1])
            if left < 0:
                raise ReadFailure("too-long", f"more than {options.document_bytes:,} characters")
        said = document.get_metadata_dict(skip_empty=True)
    finally:
        document.close()
    if not any(map(str.strip, pages)):
        pictures = "a page that is a picture" if len(pages) == 1 else f"{len(pages):,} pages that are pictures"
        raise ReadFailure("no-text", f"{pictures}, as of a scan; recognise their text first")
    title = said.get("Title", "").strip()
    made = _DATE.match(said.get("CreationDate", ""))
    date = "" if made is None else "-".join(part for part in made.groups()[:3] if part)
    text = PAGE_END.join(pages).strip()
    yield Draft(with_title(title, text), file.name, str(file.place), title, iso_date(date), is_whole_file=True)


PDF = Format(
    "pdf",
    read_pdf,
    "a file",
    'title, date; pages are divided by form feeds; needs `pip install "doccluster[documents]"`',
    suffixes=(".pdf",),
    recognises=lambda beginning: beginning.head.startswith(b"%PDF-"),
)
