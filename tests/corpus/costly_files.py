"""``python -m tests.corpus.costly_files make FOLDER``: small files that need heaps of memory or never come to an end.

There is one for each kind. ``read`` reads them one after the other, by a fortieth of what a file may take, and says as
JSON why each is refused, and the peak of memory of its process and of the one that reads for it. At full size they took
7 GB (groups of rtf), 2.4 GB (paragraphs), 3.4 GB (embeddings) or minutes (pages).
"""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import sys
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np

from doccluster.base import limited_process
from doccluster.corpus import read_corpus
from doccluster.errors import DocclusterError
from doccluster.vectors.meaning import read_embeddings
from tests.corpus.test_office_files import BOOK, DOCX, ODT, SLIDES, W, zipped

A_FORTIETH = (256 * 2**20 // 40, 0.5, 2_500)
N_ELEMENTS = 500_000  # take 75 MB and more as a tree


def braces():
    """Groups of rtf, none of which is closed."""
    return b"{\\rtf1 " + b"{" * 100_001


def packed_braces():
    return gzip.compress(b"{\\rtf1 " + b"{" * 6_500_000)


def paragraphs():
    body = f"<w:document {W}><w:body>{'<w:p/>' * N_ELEMENTS}</w:body></w:document>"
    return zipped(DOCX | {"word/document.xml": body})


def spaces_of_a_paragraph():
    body = '<office:d xmlns:text="t" xmlns:office="o"><text:p>' + "<text:s/>" * N_ELEMENTS + "</text:p></office:d>"
    return zipped(ODT | {"content.xml": body})


def paragraphs_inside_one_another():
    body = f"<w:document {W}>{'<w:p>' * N_ELEMENTS}x{'</w:p>' * N_ELEMENTS}</w:document>"
    return zipped(DOCX | {"word/document.xml": body})


def slides():
    slide = SLIDES["ppt/slides/slide1.xml"].replace("<a:p>", "<a:p/>" * (N_ELEMENTS // 4) + "<a:p>")
    return zipped(SLIDES | {f"ppt/slides/slide{n}.xml": slide for n in range(1, 12)})


def one_chapter_many_times():
    """A book whose contents name one chapter 3,000 times."""
    words = "<p>" + "Apples ripen. " * 2_000 + "</p>"
    contents = BOOK["in/book.opf"].replace('<itemref idref="a"/>', '<itemref idref="a"/>' * 3000)
    return zipped(BOOK | {"in/book.opf": contents, "in/o ne.xhtml": f"<html><body>{words}</body></html>"})


def pages_of_one_stream():
    """A PDF whose pages all show the same stream, of five megabytes when unpacked."""
    stream = zlib.compress((b"BT /F 1 Tf 1 0 0 1 9 9 Tm (" + b"ferry " * 200 + b") Tj ET\n") * 4000, 9)
    font = b"<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 400/Kids[" + b"4 0 R " * 400 + b"]>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9999 9999]/Contents 3 0 R/Resources" + font + b">>",
    ]
    data, table = b"%PDF-1.4\n", b"0000000000 65535 f \n"
    for number, one in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(data)
        data += b"%d 0 obj%sendobj\n" % (number, one)
    return data + b"xref\n0 5\n%strailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (table, len(data))


def texts_of_a_dictionary():
    """A table of one text of a megabyte, a thousand times: half a kilobyte."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), 1000), ["x" * 2**20])
    pq.write_table(pa.table({"text": text}), buffer := io.BytesIO(), compression="zstd")
    return buffer.getvalue()


def titles_of_a_dictionary():
    """A table of short texts that all have one title of a hundred thousand characters."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    title = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), 1000), ["x" * 100_000])
    pq.write_table(pa.table({"text": ["a ferry"] * 1000, "title": title}), buffer := io.BytesIO(), compression="zstd")
    return buffer.getvalue()


def ids_of_a_dictionary():
    """Embeddings whose rows all have one id of two thousand characters."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), 20_000), ["x" * 2000])
    rows = pa.ListArray.from_arrays(range(0, 40_001, 2), pa.repeat(pa.scalar(0.0), 40_000))
    pq.write_table(pa.table({"id": ids, "embedding": rows}), buffer := io.BytesIO(), compression="zstd")
    return buffer.getvalue()


def embeddings(suffix):
    """Rows of zeros: 150 MB in some kilobytes (10 MB where they are packed by zip)."""
    if suffix == ".npz":
        np.savez_compressed(buffer := io.BytesIO(), rows=np.zeros((500, 5000), dtype=np.float32))
        return buffer.getvalue()
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    lists = pa.ListArray.from_arrays(range(0, 18_750_001, 187_500), pa.repeat(pa.scalar(0.0), 18_750_000))
    table, buffer = pa.table({"embedding": lists}), io.BytesIO()
    if suffix == ".parquet":
        pq.write_table(table, buffer, compression="zstd")
    else:
        feather.write_feather(table, buffer, compression="zstd")
    return buffer.getvalue()


FILES = {
    "open.rtf": braces,
    "packed.rtf.gz": packed_braces,
    "paragraphs.docx": paragraphs,
    "spaces.odt": spaces_of_a_paragraph,
    "deep.docx": paragraphs_inside_one_another,
    "slides.pptx": slides,
    "chapter.epub": one_chapter_many_times,
    "pages.pdf": pages_of_one_stream,
    "texts.parquet": texts_of_a_dictionary,
    "titles.parquet": titles_of_a_dictionary,
}
EMBEDDINGS = ("rows.parquet", "rows.arrow", "rows.npz", "ids.parquet")
VIEWS = {
    "waits": "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i AS text FROM n WHERE i < 0",
    "goes on": "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT 'a text' AS text FROM n",
    "is long": "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) "
    "SELECT hex(zeroblob(1000000)) AS text FROM n",
}


def said_of(call, *arguments):
    """Return how reading ends: the reasons of what was skipped, or the sentence of the error."""
    try:
        found = call(*arguments)
    except DocclusterError as error:
        return [str(error)]
    return [f"{one.reason}: {one.detail}" for one in getattr(found, "skipped", ())]


def make(folder):
    for name, content in FILES.items():
        (folder / name).write_bytes(content())
    for name in EMBEDDINGS:
        (folder / name).write_bytes(ids_of_a_dictionary() if name == "ids.parquet" else embeddings(Path(name).suffix))
    with closing(sqlite3.connect(folder / "news.db")) as database:
        for name, view in VIEWS.items():
            database.execute(f"CREATE VIEW '{name}' AS {view}")
    (folder / "good.txt").write_text("A good text.", encoding="utf-8")


def read(folder):
    import resource

    limited_process.Allowance.__init__.__defaults__ = A_FORTIETH
    said = {name: said_of(read_corpus, [folder / name, folder / "good.txt"]) for name in FILES}
    said |= {name: said_of(read_embeddings, folder / name) for name in EMBEDDINGS}
    said |= {name: said_of(read_corpus, f"sqlite:///{folder}/news.db?SELECT text FROM '{name}'") for name in VIEWS}
    while limited_process._idle:
        limited_process._idle.pop().end()  # its peak counts when it has ended
    peaks = [resource.getrusage(who).ru_maxrss * 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    sys.stdout.write(json.dumps({"said": said, "peaks": peaks}))


if __name__ == "__main__":
    {"make": make, "read": read}[sys.argv[1]](Path(sys.argv[2]))
