"""Encoders: what turns texts into rows of meaning, by name, as an object or as a function.

Nothing is downloaded but by `fetch_model`.

A text is encoded by itself, never padded to others, so that its row depends on no batch and no number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.file_names import usable_path
from doccluster.base.limited_process import Allowance, LimitedProcess, Piece, WorkFailure, pieces_of_work
from doccluster.base.progress import Progress, silent
from doccluster.blocks import row_blocks
from doccluster.errors import InputError, importing
from doccluster.vectors.model_files import TOKENIZER, Encoder, brought, files_digest
from doccluster.vectors.onnx_encoder import onnx_encoder
from doccluster.vectors.token_encoder import static_encoder, token_encoder

# what a model may take
MEMORY, TIMES_OF_FILES = 2 * 2**30, 4  # bytes, and bytes for each of its files'
SECONDS, SECONDS_PER_CHARACTER = 60.0, 0.01  # of processor time
BATCH = 256  # texts in memory as tokens at a time
NAMES = ("static", "minilm", *(f"{kind}:DIR_OR_NAME" for kind in ("onnx", "model2vec", "sentence-transformers")))
MINILM = "onnx:sentence-transformers/all-MiniLM-L6-v2"
FILES = {"onnx": ("model.onnx", "onnx/model.onnx"), "model2vec": ("model.safetensors",)}  # and those of settings
EXTRAS = {"onnx": "doccluster[onnx]", "model2vec": "doccluster[meaning]"}


def get_encoder(given: Any, *, n_threads: int | None = None) -> Encoder:
    """Return an encoder: by its name, an object with a method `encode`, or a function.

    Raises InputError if there is none of that name, or a file of its model is missing. Raises MissingDependency if its
    package is not installed.

    Parameters
    ----------
    given : str, object or function
        "static", "minilm", or what a model is read by and its folder or name, such as "onnx:models/minilm".
    n_threads : int, optional
        Changes no result.
    """
    if not isinstance(given, str) and (callable(given) or hasattr(given, "encode")):
        called = given.encode if hasattr(given, "encode") else given
        return Encoder(getattr(given, "__name__", type(given).__name__), "", called)
    if given == "static":
        return static_encoder()
    kind, place = _kind_and_place(given)
    if kind == "sentence-transformers":
        return _sentence_transformer(given, place)
    if kind:
        return _encoder_apart(given, kind, _folder(kind, place), n_threads)
    raise InputError("is not known", argument="encoder", received=given, expected=f"one of {', '.join(NAMES)}")


def _encoder_apart(name: str, kind: str, folder: Path, n_threads: int | None) -> Encoder:
    """Return a model that is read and run in a process that it may harm: a stranger may have made its files."""
    size = sum(path.stat().st_size for path in (*folder.glob("*"), *folder.glob("onnx/*")) if path.is_file())
    asked = {"name": name, "kind": kind, "folder": str(folder.absolute()), "n_threads": n_threads}
    idle: list[LimitedProcess] = []  # threads that encode at the same time take one each

    def encode_apart(texts: list[str]) -> tuple[Any, npt.NDArray[Any]]:
        seconds = SECONDS + SECONDS_PER_CHARACTER * sum(map(len, texts))
        allowance = Allowance(MEMORY + TIMES_OF_FILES * size, seconds)
        arguments = {**asked, "texts": texts}
        try:
            ((told, values),) = pieces_of_work(f"{__name__}:rows_piece", arguments, allowance=allowance, idle=idle)
        except WorkFailure as error:
            raise InputError(f"the model {name} {error}", remedy="bring its files again, or another model") from error
        return told, np.frombuffer(values, dtype=told["dtype"]).reshape(told["shape"])

    told, _ = encode_apart([])
    return Encoder(name, told["digest"], lambda texts: encode_apart(texts)[1], told["pooling"])


def rows_piece(asked: dict[str, Any], _: bytes) -> Iterator[Piece]:
    """Yield the rows of texts and what is known of their model, in the process that runs it."""
    encoder = _read_model(asked["kind"], asked["name"], asked["folder"], asked["n_threads"])
    rows = np.asarray(encoder.encode(asked["texts"])) if asked["texts"] else np.empty(0)
    known = {"digest": encoder.digest, "pooling": encoder.pooling}
    yield {**known, "dtype": rows.dtype.str, "shape": rows.shape}, rows.tobytes()


@lru_cache(maxsize=1)
def _read_model(kind: str, name: str, place: str, n_threads: int | None) -> Encoder:
    if kind == "onnx":
        return onnx_encoder(name, Path(place), n_threads=n_threads)
    return token_encoder(name, brought(Path(place), *FILES[kind]), brought(Path(place), TOKENIZER))


def fetch_model(name: str) -> None:
    """Download a model that is named and not a folder here, to where huggingface_hub keeps models: an encoder finds it.

    Raises InputError if it cannot be had. Raises MissingDependency if huggingface_hub is not installed.
    """
    kind, place = _kind_and_place(name)
    if kind:
        _folder(kind, place, downloads=True)


def _kind_and_place(name: Any) -> tuple[str, str]:
    """Return the kind of a model and its folder or name; two empty strings where the name tells neither."""
    kind, _, place = (MINILM if name == "minilm" else name).partition(":") if isinstance(name, str) else ("", "", "")
    return (kind, place) if place and kind in ("sentence-transformers", *FILES) else ("", "")


def _folder(kind: str, place: str, *, downloads: bool = False) -> Path:
    """Return the folder of a model: as it is named, or where huggingface_hub keeps that model."""
    folder = usable_path(place)
    if folder.exists():
        return folder
    with importing(f"the encoder {kind} needs", "huggingface_hub", install=EXTRAS.get(kind, kind)):
        hub = import_module("huggingface_hub")
    wanted = ["*.json", "*.txt", *FILES.get(kind, ("*.safetensors", "*.model"))]
    try:
        return Path(hub.snapshot_download(place, allow_patterns=wanted, local_files_only=not downloads))
    except (OSError, ValueError) as error:
        told = f"could not be downloaded: {str(error).splitlines()[0]}" if downloads else "is not on this machine"
        files = f" with {FILES[kind][0]} and {TOKENIZER}" if kind in FILES else ""
        ways = "" if downloads else ", or allow its download (--allow-download)"
        remedy = f"bring its folder{files}, and name it as {kind}:FOLDER{ways}"
        raise InputError(f"the model {place} {told}", remedy=remedy) from error


def encode(encoder: Encoder, texts: Sequence[str], *, progress: Progress = silent) -> npt.NDArray[Any]:
    """Return the rows of texts, made a batch at a time.

    Raises InputError if the encoder returns something other than a row for each text.
    """
    rows = np.empty((len(texts), 0))
    for block in row_blocks(len(texts), BATCH):
        progress("encode", block.start, len(texts))
        found = np.asarray(encoder.encode(list(texts[block])))
        is_table = found.ndim == 2 and len(found) == block.stop - block.start and found.dtype.kind in "fiu"
        if not is_table or (block.start and found.shape[1] != rows.shape[1]):
            raise InputError(
                f"the encoder {encoder.name} returned {found.dtype} of shape {found.shape} for "
                f"{block.stop - block.start:,} texts",
                remedy="it must return a row of numbers for each",
            )
        if block.start == 0:
            rows = np.empty((len(texts), found.shape[1]), dtype=np.result_type(found.dtype, np.float32))
        rows[block] = found
    progress("encode", len(texts), len(texts))
    return rows


def _sentence_transformer(name: str, place: str) -> Encoder:
    """Return a model of the library sentence-transformers, from a folder or from those it has on this machine."""
    needs = "the encoder sentence-transformers needs"
    with importing(needs, "sentence_transformers", install="sentence-transformers"):
        library = import_module("sentence_transformers")
    try:
        model = library.SentenceTransformer(place, device="cpu", local_files_only=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"the model {place} is not on this machine",
            remedy="bring its folder, or allow its download (--allow-download)",
        ) from error
    folder = Path(place)
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else ()

    def encode_one_by_one(texts: list[str]) -> Any:
        return model.encode(texts, batch_size=1, show_progress_bar=False)

    return Encoder(name, files_digest(*files) if files else "", encode_one_by_one)
