"""Generated corpora as files: all of them appear together under their final names, or none does.

Data are written to a temporary name in the same folder and renamed at the end, so a full disk leaves nothing that looks
like a corpus. `corpus.toml` beside them says what each file was made from.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from doccluster.base.package import __version__
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.paths import shown_path, unfinished_folder, usable_path
from doccluster.base.progress import Progress, silent
from doccluster.errors import InputError
from doccluster.lab.synthetic.long_documents import LongDocuments
from doccluster.lab.synthetic.synthetic_vectors import SyntheticVectors
from doccluster.lab.synthetic.vmf import VmfMixture
from doccluster.lab.synthetic.zipf import ZipfCorpus, ZipfDocument
from doccluster.vectors import write_matrix

Content = str | Callable[[Path], None]  # of a file: a text, or what writes it

RECORD = "corpus.toml"
_WRITER = "doccluster generate"


def write_vectors(path: str | os.PathLike[str], synthetic: SyntheticVectors) -> list[Path]:
    """Write vectors, their truth and `corpus.toml`; return the files.

    Parameters
    ----------
    path : path
        .npz (vectors, terms and classes in one file), .mtx (sparse) or .npy (dense), both with the classes beside them
        as .rclass. `read_matrix` reads all three.
    made : SyntheticVectors

    Raises
    ------
    InputError
        If the name does not end in one of these, or a file cannot be written; nothing is then left behind.
    """
    place = Path(path)
    truth = list(map(str, synthetic.truth))
    matrix = synthetic.vectors.matrix
    kind = _ending(place, (".npz", ".mtx", ".npy"))
    if kind != ".npz" and (kind == ".npy") == sparse.issparse(matrix):
        # .npy holds dense rows alone, .mtx sparse ones
        right = ".npz or .mtx" if sparse.issparse(matrix) else ".npz or .npy"
        raise InputError(f"{place} ends in {kind}, which does not fit these vectors", remedy=f"choose {right}")

    def write(target: Path) -> None:
        if kind == ".npz":
            write_matrix(target, synthetic.vectors, classes=truth)
        elif kind == ".npy":
            np.save(target, matrix, allow_pickle=False)
        else:
            io.mmwrite(target, matrix, precision=9 if matrix.dtype == np.float32 else 17)

    beside = {} if kind == ".npz" else {place.with_suffix(".rclass"): "\n".join([*truth, ""])}
    return _write_all(place, {place: write, **beside}, synthetic.parameters)


@at_the_door
def write_vmf_mixture(
    path: str | os.PathLike[str],
    mixture: VmfMixture,
    *,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> list[Path]:
    """Write the rows of a mixture block by block to a .npy file, for sets larger than memory; return the files.

    Raises
    ------
    InputError
        If the name does not end in .npy, or a file cannot be written; nothing is then left behind.
    """
    place = Path(path)
    _ending(place, (".npy",))

    def write(target: Path) -> None:
        header: Any = {"descr": mixture.dtype.str, "fortran_order": False, "shape": mixture.shape}
        write_header: Any = np.lib.format.write_array_header_1_0
        with target.open("wb") as handle:
            write_header(handle, header)
            n_written = 0
            for block in mixture.blocks(n_threads=n_threads):
                handle.write(block.data)
                n_written += block.shape[0]
                progress("write", n_written, mixture.shape[0])

    truth = "\n".join([*map(str, mixture.truth), ""])
    return _write_all(place, {place: write, place.with_suffix(".rclass"): truth}, mixture.parameters)


@at_the_door
def write_zipf(
    path: str | os.PathLike[str], corpus: ZipfCorpus, *, n_threads: int | None = None, progress: Progress = silent
) -> list[Path]:
    """Write documents as one JSON object per line (.jsonl or .jsonl.gz), in the memory of a few blocks.

    Blocks are made and encoded in threads; the bytes are the same for any number of them.

    Raises
    ------
    InputError
        If the name ends otherwise, or a file cannot be written; nothing is then left behind.
    """
    place = Path(path)
    is_compressed = _ending(place, (".jsonl", ".jsonl.gz")).endswith(".gz")

    def encode(block: list[ZipfDocument]) -> tuple[int, bytes]:
        return len(block), json_lines(block)

    def write(target: Path) -> None:
        with ExitStack() as opened:
            handle: Any = opened.enter_context(target.open("wb"))
            if is_compressed:  # without name and time; a tenth more bytes than usual, in a fifth of the time
                handle = opened.enter_context(gzip.GzipFile("", "wb", compresslevel=1, fileobj=handle, mtime=0))
            n_written = 0
            for n_documents, data in corpus.map_blocks(encode, n_threads=n_threads):
                handle.write(data)
                n_written += n_documents
                progress("write", n_written, corpus.n_documents)

    return _write_all(place, {place: write}, corpus.parameters)


@at_the_door
def write_long_documents(path: str | os.PathLike[str], made: LongDocuments) -> list[Path]:
    """Write long documents as JSON lines (.jsonl), and the share of each topic beside them as csv; return the files.

    Raises
    ------
    InputError
        If the name ends otherwise, or a file cannot be written; nothing is then left behind.
    """
    place = Path(path)
    _ending(place, (".jsonl",))
    names = [f"document{number}" for number in range(1, len(made.texts) + 1)]
    records = [json.dumps({"id": name, "text": text}) + "\n" for name, text in zip(names, made.texts, strict=True)]
    shares = made.words / made.words.sum(axis=1, keepdims=True)
    rows = [["id", "words", *(f"topic_{topic}" for topic in range(shares.shape[1]))]]
    for name, words, of_topics in zip(names, made.words.sum(axis=1).tolist(), shares.tolist(), strict=True):
        rows.append([name, str(words), *(f"{share:.4f}" for share in of_topics)])
    table = "".join(",".join(row) + "\n" for row in rows)
    beside = place.with_name(f"{place.stem}-shares.csv")
    return _write_all(place, {place: "".join(records), beside: table}, made.parameters)


def json_lines(documents: Sequence[ZipfDocument]) -> bytes:
    """Return documents as JSON objects, one on each line, in UTF-8."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    return "".join([f"{encode(vars(document))}\n" for document in documents]).encode()


def _ending(place: Path, endings: tuple[str, ...]) -> str:
    usable_path(place)
    for ending in sorted(endings, key=len, reverse=True):
        if place.name.endswith(ending) and place.name != ending:
            return ending
    raise InputError(f"{shown_path(place)} does not end in {', '.join(endings)}", remedy="choose a name that does")


def _write_all(place: Path, contents: dict[Path, Content], parameters: Mapping[str, object]) -> list[Path]:
    """Write all files under temporary names, the record last, then rename them; on any failure remove them."""
    record = place.with_name(RECORD)
    files: dict[Path, Content] = {**contents, record: _record_text(record, place.name, parameters)}
    for final in files:
        if final.is_dir():  # found out after others had been renamed, it would leave half of the files
            raise InputError(f"{final} is a folder", remedy="choose another name")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(place.absolute()) as folder:
            for final, content in files.items():
                if isinstance(content, str):
                    (folder / final.name).write_text(content, encoding="utf-8")
                else:
                    content(folder / final.name)
            for final in files:
                (folder / final.name).replace(final)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{place} could not be written ({reason}) and nothing was left",
            remedy="free space or choose another folder",
        ) from error
    return list(files)


def _record_text(record: Path, name: str, parameters: Mapping[str, object]) -> str:
    """Return the record of a folder with the entry of one file added or replaced."""
    entries: dict[str, Any] = {}
    if record.exists():
        try:
            entries = tomllib.loads(record.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"{record} cannot be read ({error})", remedy="choose another folder") from error
        if entries.pop("written_by", None) != _WRITER:
            raise InputError(f"{record} was not written by `{_WRITER}`", remedy="choose another folder")
    return record_text({**entries, name: {"doccluster": __version__, "numpy": np.__version__, **parameters}})


def record_text(entries: Mapping[str, Mapping[str, object]]) -> str:
    """Return the text of `corpus.toml` with an entry for each file."""
    lines = ["# What the files of this folder were made from.", f"written_by = {toml_value(_WRITER)}"]
    for title, entry in sorted(entries.items()):
        lines += ["", f"[{toml_value(title)}]"]
        lines += [f"{key} = {toml_value(value)}" for key, value in entry.items()]
    return "\n".join(lines) + "\n"


def matrix_lines(matrix: Any, *, is_cluto: bool) -> Iterator[str]:
    """Yield the lines of a float32 matrix, csr or dense, with nine digits: in the form of CLUTO or of Matrix Market.

    >>> list(matrix_lines(np.array([[0.5, 1], [0, 2]], dtype=np.float32), is_cluto=True))
    ['2 2', '0.5 1', '0 2']
    """
    is_sparse, size = sparse.issparse(matrix), " ".join(map(str, matrix.shape))
    if not is_cluto:
        yield f"%%MatrixMarket matrix {'coordinate' if is_sparse else 'array'} real general"
    if not is_sparse:
        yield size
        form = (" " if is_cluto else "\n").join(["%.9g"] * matrix.shape[1 if is_cluto else 0])
        yield from (form % tuple(line.tolist()) for line in (matrix if is_cluto else matrix.T))
        return
    yield f"{size} {matrix.nnz}"
    for row, (start, end) in enumerate(itertools.pairwise(matrix.indptr.tolist()), 1):
        columns, values = (matrix.indices[start:end] + 1).tolist(), matrix.data[start:end].tolist()
        cells = [f"{column} {value:.9g}" for column, value in zip(columns, values, strict=True)]
        yield from [" ".join(cells)] if is_cluto else (f"{row} {cell}" for cell in cells)


def toml_value(value: object) -> str:
    """Return a text, number, truth value or list of them as TOML.

    >>> toml_value(["a", 1, 0.5, True])
    '["a", 1, 0.5, true]'
    """
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return repr(float(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
