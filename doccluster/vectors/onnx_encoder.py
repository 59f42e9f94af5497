"""Language models in the format ONNX: a folder with model.onnx and tokenizer.json, run by onnxruntime on the processor.

Each text is a call of its own. Rows of a batch would depend on its other texts: by padding, and in models of whole
numbers, which are scaled by the largest value of all of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.blocks import resolve_threads, row_blocks, share_blocks
from doccluster.errors import InputError, importing
from doccluster.vectors.array_headers import damage_as_input_error
from doccluster.vectors.model_files import POOLING, TOKENIZER, Encoder, brought, files_digest

MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
WINDOW = 512  # tokens, where no file of the model says how many it reads
TEXTS_AT_A_TIME = 4  # that a thread takes
NOT_TOKENS = 2  # positions that some models keep for themselves

POOLINGS = {"mean": {"mean", "pooling_mode_mean_tokens"}, "first token": {"cls", "pooling_mode_cls_token"}}

Floats = npt.NDArray[np.float32]


def onnx_encoder(name: str, folder: Path, *, n_threads: int | None = None) -> Encoder:
    """Return the model in a folder: rows of tokens, of which the mean or the first is taken, as its files say.

    A text of more tokens than the model reads is cut into windows; its row is their mean, weighted by their tokens.

    Raises InputError if a file is missing, or the model takes or gives something else. Raises MissingDependency if a
    package is not installed.
    """
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
    asked = {one.name for one in session.get_inputs()}
    strange = asked - {"input_ids", "attention_mask", "token_type_ids"}
    by_rank = {len(one.shape): one.name for one in reversed(session.get_outputs())}
    if strange or not by_rank.keys() & {2, 3}:
        told = f"asks for {', '.join(sorted(strange))}" if strange else "gives no rows"
        raise InputError(f"{paths[0]} {told}", remedy="bring a model that turns tokens into rows")
    output = by_rank.get(3, by_rank.get(2))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_window(folder, tokenizer))  # what is cut off comes back as further windows
    pooling = _pooling(folder) if 3 in by_rank else ""

    def row_of(window: Any) -> Floats:
        given = {
            "input_ids": window.ids,
            "attention_mask": window.attention_mask,
            "token_type_ids": window.type_ids,
        }
        feed = {one: np.array([values], dtype=np.int64) for one, values in given.items() if one in asked}
        found = session.run([output], feed)[0][0]
        pooled = found[0] if pooling == "first token" else found.mean(axis=0) if pooling else found
        return np.asarray(pooled, dtype=np.float32)

    with damage_as_input_error(paths[0], "a model"):
        width = row_of(tokenizer.encode("a")).size

    def rows_of(texts: Sequence[str]) -> Floats:
        rows = np.zeros((len(texts), width), dtype=np.float32)
        for place, encoded in enumerate(tokenizer.encode_batch(list(texts))):
            windows = [one for one in (encoded, *encoded.overflowing) if one.ids]
            if windows:  # none where a text has no token
                lengths = [len(one.ids) for one in windows]
                rows[place] = np.average([row_of(one) for one in windows], axis=0, weights=lengths)
        return rows

    def encode(texts: list[str]) -> Floats:
        parts = [texts[block] for block in row_blocks(len(texts), TEXTS_AT_A_TIME)]
        return np.concatenate(share_blocks(rows_of, parts, n_threads=resolve_threads(n_threads)))

    config = [folder / POOLING] if (folder / POOLING).is_file() else []
    return Encoder(name, files_digest(*paths, *config), encode, pooling)


def _window(folder: Path, tokenizer: Any) -> int:
    """Return how many tokens the model reads at once."""
    n_places = _config(folder / "config.json").get("max_position_embeddings")
    told = [
        n_places - NOT_TOKENS if isinstance(n_places, int) else None,
        _config(folder / "sentence_bert_config.json").get("max_seq_length"),
        (tokenizer.truncation or {}).get("max_length"),
    ]
    return min((one for one in told if isinstance(one, int) and one > NOT_TOKENS), default=WINDOW)


def _pooling(folder: Path) -> str:
    """Return how the rows of tokens become one: the mean unless a file of the model says otherwise."""
    config = _config(folder / POOLING)
    modes = {one for one, is_on in config.items() if one.startswith("pooling_mode_") and is_on is True}
    modes = modes or {str(config.get("pooling_mode", "mean"))}
    for pooling, names in POOLINGS.items():
        if modes <= names:
            return pooling
    raise InputError(
        f"{folder / POOLING} asks for {', '.join(sorted(modes))}", remedy="the mean and the first token are known"
    )


def _config(path: Path) -> dict[str, Any]:
    """Return a file of settings, an empty one where it is not there."""
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}", remedy="bring that file of the model again") from error
    return found if isinstance(found, dict) else {}
