"""Encoders: what turns texts into rows of meaning, by name, as an object or as a function.

Nothing is downloaded but by `fetch_model`.

A text is encoded by itself, never padded to others, so that its row depends on no batch and no number of threads.

Static models have a vector for each token, and a text is their mean: they read no order of words, and take little time.
Model2vec writes such folders; the encoder `static` is one whose files come in a package.

Language models in the format ONNX are run by onnxruntime on the processor, each text in a call of its own: rows of a
batch would depend on its other texts, by padding, and in models of whole numbers, which are scaled by the largest value
of all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.base.arrays import Array, Reals, SingleFloats
from doccluster.base.blocks import resolve_threads, row_blocks, share_blocks
from doccluster.base.checksums import checksum
from doccluster.base.limited_process import Allowance, LimitedProcess, Piece, WorkFailure, pieces_of_work
from doccluster.base.paths import usable_path
from doccluster.base.plain_values import ShortRepr
from doccluster.base.progress import Progress, silent
from doccluster.errors import InputError, importing
from doccluster.vectors.matrix_files import damage_as_input_error

# what a model may take
MEMORY, TIMES_OF_FILES = 2 * 2**30, 4  # bytes, and bytes for each of its files'
SECONDS, SECONDS_PER_CHARACTER = 60.0, 0.01  # of processor time
BATCH = 256  # texts in memory as tokens at a time
NAMES = ("static", "minilm", *(f"{kind}:DIR_OR_NAME" for kind in ("onnx", "model2vec", "sentence-transformers")))
MINILM = "onnx:sentence-transformers/all-MiniLM-L6-v2"
FILES = {"onnx": ("model.onnx", "onnx/model.onnx"), "model2vec": ("model.safetensors",)}  # and those of settings
EXTRAS = {"onnx": "doccluster[onnx]", "model2vec": "doccluster[meaning]"}


def get_encoder(source: Any, *, n_threads: int | None = None) -> Encoder:
    """Return an encoder: by its name, an object with a method `encode`, or a function.

    Names are "static", "minilm", or what a model is read by and its folder or name, such as "onnx:models/minilm".
    Raises InputError if there is none or a file is missing, MissingDependency if its package is not installed.
    """
    if not isinstance(source, str) and (callable(source) or hasattr(source, "encode")):
        called = source.encode if hasattr(source, "encode") else source
        return Encoder(getattr(source, "__name__", type(source).__name__), "", called)
    if source == "static":
        return replace(static_encoder(), languages=("english",))
    kind, place = _kind_and_place(source)
    if kind == "sentence-transformers":
        return _sentence_transformer(source, place)
    if kind:
        encoder = _encoder_apart(source, kind, _folder(kind, place), n_threads)
        return replace(encoder, languages=("english",)) if source in ("minilm", MINILM) else encoder
    raise InputError("is not known", argument="encoder", received=source, expected=f"one of {', '.join(NAMES)}")


def _encoder_apart(name: str, kind: str, folder: Path, n_threads: int | None) -> Encoder:
    """Return a model that is read and run in a process that it may harm: a stranger may have made its files."""
    size = sum(path.stat().st_size for path in (*folder.glob("*"), *folder.glob("onnx/*")) if path.is_file())
    model = {"name": name, "kind": kind, "folder": str(folder.absolute()), "n_threads": n_threads}
    idle: list[LimitedProcess] = []  # threads that encode at the same time take one each

    def encode_apart(texts: list[str]) -> tuple[Any, Array]:
        seconds = SECONDS + SECONDS_PER_CHARACTER * sum(map(len, texts))
        allowance = Allowance(MEMORY + TIMES_OF_FILES * size, seconds)
        arguments = {**model, "texts": texts}
        try:
            ((facts, values),) = pieces_of_work(f"{__name__}:rows_piece", arguments, allowance=allowance, idle=idle)
        except WorkFailure as error:
            raise InputError(f"the model {name} {error}", remedy="bring its files again, or another model") from error
        return facts, np.frombuffer(values, dtype=facts["dtype"]).reshape(facts["shape"])

    facts, _ = encode_apart([])
    return Encoder(name, facts["digest"], lambda texts: encode_apart(texts)[1], facts["pooling"])


def rows_piece(task: dict[str, Any], _: bytes) -> Iterator[Piece]:
    """Yield the rows of texts and the digest of their model, in the process that runs the model."""
    encoder = _read_model(task["kind"], task["name"], task["folder"], task["n_threads"])
    rows = np.asarray(encoder.encode(task["texts"])) if task["texts"] else np.empty(0)
    facts = {"digest": encoder.digest, "pooling": encoder.pooling}
    yield {**facts, "dtype": rows.dtype.str, "shape": rows.shape}, rows.tobytes()


@lru_cache(maxsize=1)
def _read_model(kind: str, name: str, place: str, n_threads: int | None) -> Encoder:
    if kind == "onnx":
        return onnx_encoder(name, Path(place), n_threads=n_threads)
    return token_encoder(name, brought(Path(place), *FILES[kind]), brought(Path(place), TOKENIZER))


def fetch_model(name: str) -> None:
    """Download a model that is named and not a folder here, to where huggingface_hub keeps models for encoders."""
    kind, place = _kind_and_place(name)
    if kind:
        _folder(kind, place, downloads=True)


def _kind_and_place(name: object) -> tuple[str, str]:
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
    patterns = ["*.json", "*.txt", *FILES.get(kind, ("*.safetensors", "*.model"))]
    try:
        return Path(hub.snapshot_download(place, allow_patterns=patterns, local_files_only=not downloads))
    except (OSError, ValueError) as error:
        problem = f"could not be downloaded: {str(error).splitlines()[0]}" if downloads else "is not on this machine"
        files = f" with {FILES[kind][0]} and {TOKENIZER}" if kind in FILES else ""
        ways = "" if downloads else ", or allow its download (--allow-download)"
        remedy = f"bring its folder{files}, and name it as {kind}:FOLDER{ways}"
        raise InputError(f"the model {place} {problem}", remedy=remedy) from error


def encode(encoder: Encoder, texts: Sequence[str], *, progress: Progress = silent) -> Reals:
    """Return the rows of texts, made a batch at a time."""
    rows = np.empty((len(texts), 0))
    for block in row_blocks(len(texts), BATCH):
        progress("encode", block.start, len(texts))
        rows_of_block = np.asarray(encoder.encode(list(texts[block])))
        is_table = (
            rows_of_block.ndim == 2
            and len(rows_of_block) == block.stop - block.start
            and rows_of_block.dtype.kind in "fiu"
        )
        if not is_table or (block.start and rows_of_block.shape[1] != rows.shape[1]):
            raise InputError(
                f"the encoder {encoder.name} returned {rows_of_block.dtype} of shape {rows_of_block.shape} for "
                f"{block.stop - block.start:,} texts",
                remedy="it must return a row of numbers for each",
            )
        # how many numbers a row has is known from the first block on
        if block.start == 0:
            rows = np.empty((len(texts), rows_of_block.shape[1]), dtype=np.result_type(rows_of_block.dtype, np.float32))
        rows[block] = rows_of_block
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

    encode_one_by_one = partial(model.encode, batch_size=1, show_progress_bar=False)
    return Encoder(name, files_digest(*files) if files else "", encode_one_by_one)


PACKAGE = "wordllama"  # its files are read, its code is not run
WEIGHTS, TOKENS = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"


def static_encoder() -> Encoder:
    """Return the static encoder of the package. Raises MissingDependency if the package is not installed."""
    with importing("the encoder static needs", PACKAGE, install="doccluster[meaning]"):
        spec = find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise ModuleNotFoundError(name=PACKAGE)
    folder = Path(next(iter(spec.submodule_search_locations)))
    return token_encoder("static", brought(folder, WEIGHTS), brought(folder, TOKENS))


def token_encoder(name: str, weights: Path, tokens: Path) -> Encoder:
    """Return the mean of the vectors of the tokens of a text, of files of safetensors and tokenizers."""
    needs = f"the encoder {name.partition(':')[0]} needs"
    with importing(needs, "safetensors", "tokenizers", install="doccluster[meaning]"):
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    with damage_as_input_error(weights, "a model"):
        vectors = _vectors(load_file(weights), weights)
    with damage_as_input_error(tokens, "a tokenizer"):
        tokenizer = Tokenizer.from_file(str(tokens))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if tokenizer.get_vocab_size() > vectors.shape[0]:
        raise InputError(
            f"{weights} has {vectors.shape[0]:,} vectors for {tokenizer.get_vocab_size():,} tokens",
            remedy="bring both files of one model",
        )
    unknown = json.loads(tokenizer.to_str())["model"].get("unk_token")
    left_out = None if unknown is None else tokenizer.token_to_id(unknown)

    def mean_vectors(texts: list[str]) -> SingleFloats:
        encoded = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        tokens_of_texts = [[token for token in encoding.ids if token != left_out] for encoding in encoded]
        starts = np.concatenate([[0], np.cumsum([len(ids) for ids in tokens_of_texts])])
        columns = np.fromiter(
            (token for ids in tokens_of_texts for token in ids), dtype=np.int64, count=int(starts[-1])
        )
        # a matrix of tokens, each counting one over the number in its text, times the table of their vectors
        shares = np.repeat(1.0 / np.maximum(np.diff(starts), 1), np.diff(starts)).astype(np.float32)
        rows = sparse.csr_array((shares, columns, starts), shape=(len(texts), vectors.shape[0]))
        means: SingleFloats = rows @ vectors
        return means

    return Encoder(name, files_digest(weights, tokens), mean_vectors, "mean")


def _vectors(arrays: dict[str, Array], path: Path) -> SingleFloats:
    """Return a vector for each token: the only table, its rows perhaps shared by tokens, and each perhaps weighted."""
    tables = [array for array in arrays.values() if array.ndim == 2]
    if len(tables) != 1:
        raise InputError(f"{path} holds {len(tables)} tables, expected one", remedy="bring a static model")
    rows: SingleFloats = tables[0].astype(np.float32)
    rows = rows[arrays["mapping"]] if "mapping" in arrays else rows
    if "weights" in arrays:
        rows *= arrays["weights"].astype(np.float32)[:, None]
    return rows


MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
WINDOW = 512  # tokens, where no file of the model says how many it reads
TEXTS_AT_A_TIME = 4  # that a thread takes
NOT_TOKENS = 2  # positions that some models keep for themselves

POOLINGS = {"mean": {"mean", "pooling_mode_mean_tokens"}, "first token": {"cls", "pooling_mode_cls_token"}}


def onnx_encoder(name: str, folder: Path, *, n_threads: int | None = None) -> Encoder:
    """Return the model in a folder; of a text longer than it reads, the mean of windows weighted by their tokens."""
    with importing("the encoder onnx needs", "onnxruntime", "tokenizers", install="doccluster[onnx]"):
        import onnxruntime
        from tokenizers import Tokenizer
    paths = brought(folder, *MODELS), brought(folder, TOKENIZER)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1  # the threads are ours, a text for each
    with damage_as_input_error(paths[0], "a model"):
        session = onnxruntime.InferenceSession(str(paths[0]), settings, providers=["CPUExecutionProvider"])
    with damage_as_input_error(paths[1], "a tokenizer"):
        tokenizer = Tokenizer.from_file(str(paths[1]))
    input_names = {node.name for node in session.get_inputs()}
    strange = input_names - {"input_ids", "attention_mask", "token_type_ids"}
    by_rank = {len(node.shape): node.name for node in reversed(session.get_outputs())}
    if strange or not by_rank.keys() & {2, 3}:
        problem = f"asks for {', '.join(sorted(strange))}" if strange else "gives no rows"
        raise InputError(f"{paths[0]} {problem}", remedy="bring a model that turns tokens into rows")
    output = by_rank.get(3, by_rank.get(2))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_window(folder, tokenizer))  # what is cut off comes back as further windows
    pooling = _pooling(folder) if 3 in by_rank else ""

    def row_of(window: Any) -> SingleFloats:
        inputs = {
            "input_ids": window.ids,
            "attention_mask": window.attention_mask,
            "token_type_ids": window.type_ids,
        }
        feed = {key: np.array([values], dtype=np.int64) for key, values in inputs.items() if key in input_names}
        outputs = session.run([output], feed)[0][0]
        pooled = outputs[0] if pooling == "first token" else outputs.mean(axis=0) if pooling else outputs
        return np.asarray(pooled, dtype=np.float32)

    with damage_as_input_error(paths[0], "a model"):
        width = row_of(tokenizer.encode("a")).size

    def rows_of(texts: Sequence[str]) -> SingleFloats:
        rows = np.zeros((len(texts), width), dtype=np.float32)
        for place, encoded in enumerate(tokenizer.encode_batch(list(texts))):
            windows = [window for window in (encoded, *encoded.overflowing) if window.ids]
            if windows:  # none where a text has no token
                lengths = [len(window.ids) for window in windows]
                rows[place] = np.average([row_of(window) for window in windows], axis=0, weights=lengths)
        return rows

    def encode(texts: list[str]) -> SingleFloats:
        parts = [texts[block] for block in row_blocks(len(texts), TEXTS_AT_A_TIME)]
        return np.concatenate(share_blocks(rows_of, parts, n_threads=resolve_threads(n_threads)))

    config = [folder / POOLING] if (folder / POOLING).is_file() else []
    return Encoder(name, files_digest(*paths, *config), encode, pooling)


def _window(folder: Path, tokenizer: Any) -> int:
    """Return how many tokens the model reads at once."""
    n_places = _config(folder / "config.json").get("max_position_embeddings")
    lengths = [
        n_places - NOT_TOKENS if isinstance(n_places, int) else None,
        _config(folder / "sentence_bert_config.json").get("max_seq_length"),
        (tokenizer.truncation or {}).get("max_length"),
    ]
    return min((length for length in lengths if isinstance(length, int) and length > NOT_TOKENS), default=WINDOW)


def _pooling(folder: Path) -> str:
    """Return how the rows of tokens become one: the mean unless a file of the model says otherwise."""
    config = _config(folder / POOLING)
    modes = {name for name, is_on in config.items() if name.startswith("pooling_mode_") and is_on is True}
    modes = modes or {str(config.get("pooling_mode", "mean"))}
    for pooling, names in POOLINGS.items():
        if modes <= names:
            return pooling
    raise InputError(
        f"{folder / POOLING} asks for {', '.join(sorted(modes))}", remedy="the mean and the first token are known"
    )


def _config(path: Path) -> dict[str, object]:
    """Return the settings in a file; none where there is no file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}", remedy="bring that file of the model again") from error
    return content if isinstance(content, dict) else {}


TOKENIZER, POOLING = "tokenizer.json", "1_Pooling/config.json"


@dataclass(frozen=True, eq=False, repr=False)
class Encoder(ShortRepr):
    """A model that turns texts into rows."""

    name: str  # as it was asked for
    digest: str  # of its files; empty for an object of which nothing is known
    encode: Callable[[list[str]], Any]  # returns an array of shape (n_texts, n_dimensions)
    pooling: str = ""  # how the rows of its tokens become one: "mean" or "first token"; empty where the model does it
    languages: tuple[str, ...] = ()  # it was made for; empty where that is not known


def brought(folder: Path, *names: str) -> Path:
    """Return the first of these files that a folder has. Raises InputError if it has none of them."""
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is None:
        raise InputError(f"{folder} has no file {names[0]}", remedy="bring that file of the model")
    return path


def files_digest(*paths: Path) -> str:
    """Return the digest of the contents of files."""
    return checksum([path.read_bytes() for path in paths])
