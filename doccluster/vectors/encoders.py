"""Encoders: what turns texts into rows of meaning. Nothing is downloaded; a model is a package or an object of yours.

The static one averages a vector for each token, so it reads no order of words, and 2,000 titles in half a second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from doccluster.blocks import row_blocks
from doccluster.digests import checksum
from doccluster.errors import InputError, MissingDependency
from doccluster.progress import Progress, silent
from doccluster.short_repr import ShortRepr

BATCH = 1024  # texts in memory as tokens at a time
PACKAGE = "wordllama"  # its files are read, its code is not run
WEIGHTS, TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
ENCODERS = ("static",)

Rows = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class Encoder(ShortRepr):
    """A model that turns texts into rows.

    Attributes
    ----------
    digest : str
        Of its files; empty for an object of which nothing is known.
    encode : function of a list of str
        Returns an array of shape (n_texts, n_dimensions).
    """

    name: str
    digest: str
    encode: Callable[[list[str]], Any]


def get_encoder(given: Any) -> Encoder:
    """Return an encoder: by its name, an object with a method `encode`, or a function.

    Raises InputError if there is none of that name. Raises MissingDependency if its package is not installed.
    """
    if given == "static":
        return _static()
    if isinstance(given, str) or not (callable(given) or hasattr(given, "encode")):
        raise InputError("is not known", argument="encoder", received=given, expected=f"one of {', '.join(ENCODERS)}")
    called = given.encode if hasattr(given, "encode") else given
    return Encoder(getattr(given, "__name__", type(given).__name__), "", called)


def encode(encoder: Encoder, texts: Sequence[str], *, progress: Progress = silent) -> npt.NDArray[Any]:
    """Return the rows of texts, a batch at a time.

    Raises InputError if the encoder returns something other than a row for each text.
    """
    parts: list[npt.NDArray[Any]] = []
    for block in row_blocks(len(texts), BATCH):
        progress("encode", block.start, len(texts))
        found = np.asarray(encoder.encode(list(texts[block])))
        if found.ndim != 2 or len(found) != block.stop - block.start or found.dtype.kind not in "fiu":
            raise InputError(
                f"the encoder {encoder.name} returned {found.dtype} of shape {found.shape} for "
                f"{block.stop - block.start:,} texts",
                remedy="it must return a row of numbers for each",
            )
        parts.append(found)
    progress("encode", len(texts), len(texts))
    return np.concatenate(parts)


def _static() -> Encoder:
    """Return the static encoder: the mean of the vectors of the tokens of a text, of the files of a package."""
    from importlib.util import find_spec

    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        spec = find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise ImportError(PACKAGE)
    except ImportError as error:
        raise MissingDependency(
            f"the encoder static needs {error.name or PACKAGE}",
            remedy='install it with: pip install "doccluster[meaning]"',
        ) from error
    folder = Path(next(iter(spec.submodule_search_locations)))
    weights, tokens = folder / WEIGHTS, folder / TOKENIZER
    for path in (weights, tokens):
        if not path.is_file():
            raise MissingDependency(f"{PACKAGE} has no file {path}", remedy=f"install a version of {PACKAGE} that has")
    (table,) = load_file(weights).values()
    tokenizer = Tokenizer.from_file(str(tokens))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    digest = checksum([weights.read_bytes(), tokens.read_bytes()])
    vectors = table.astype(np.float32)

    def mean_vectors(texts: list[str]) -> Rows:
        found = [one.ids for one in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        starts = np.concatenate([[0], np.cumsum([len(ids) for ids in found])])
        columns = np.fromiter((one for ids in found for one in ids), dtype=np.int64, count=int(starts[-1]))
        # a matrix of tokens, each counting one over the number in its text, times the table of their vectors
        shares = np.repeat(1.0 / np.maximum(np.diff(starts), 1), np.diff(starts)).astype(np.float32)
        rows = sparse.csr_array((shares, columns, starts), shape=(len(texts), vectors.shape[0]))
        means: Rows = rows @ vectors
        return means

    return Encoder("static", digest, mean_vectors)
