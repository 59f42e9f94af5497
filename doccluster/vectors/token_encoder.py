"""Static models: a vector for each token, and a text is their mean. They read no order of words, and take little time.

Model2vec writes such folders; the encoder `static` is one whose files come in a package.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from doccluster.errors import InputError, importing
from doccluster.vectors.array_headers import damage_as_input_error
from doccluster.vectors.model_files import Encoder, Rows, brought, files_digest

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
    """Return the mean of the vectors of the tokens of a text, of files of safetensors and tokenizers.

    Raises InputError if the files do not fit one another.
    """
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

    def mean_vectors(texts: list[str]) -> Rows:
        encoded = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        found = [[token for token in one.ids if token != left_out] for one in encoded]
        starts = np.concatenate([[0], np.cumsum([len(ids) for ids in found])])
        columns = np.fromiter((one for ids in found for one in ids), dtype=np.int64, count=int(starts[-1]))
        # a matrix of tokens, each counting one over the number in its text, times the table of their vectors
        shares = np.repeat(1.0 / np.maximum(np.diff(starts), 1), np.diff(starts)).astype(np.float32)
        rows = sparse.csr_array((shares, columns, starts), shape=(len(texts), vectors.shape[0]))
        means: Rows = rows @ vectors
        return means

    return Encoder(name, files_digest(weights, tokens), mean_vectors, "mean")


def _vectors(arrays: dict[str, Any], path: Path) -> Rows:
    """Return a vector for each token: the only table, its rows perhaps shared by tokens, and each perhaps weighted."""
    tables = [array for array in arrays.values() if array.ndim == 2]
    if len(tables) != 1:
        raise InputError(f"{path} holds {len(tables)} tables, expected one", remedy="bring a static model")
    rows: Rows = tables[0].astype(np.float32)
    rows = rows[arrays["mapping"]] if "mapping" in arrays else rows
    if "weights" in arrays:
        rows *= arrays["weights"].astype(np.float32)[:, None]
    return rows
