"""Rows that an encoder made, kept in the folder of a run by the digest of their text: no text is encoded twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Integers, Reals
from doccluster.base.paths import ENCODED
from doccluster.results.storage import damaged, read_arrays, write_arrays
from doccluster.vectors.encoders import Encoder

DIGEST_BYTES = 16

Halves = npt.NDArray[np.float16]


@dataclass
class EncodedRows:
    """The rows of one encoder, in the order of the digests of their texts, which ascend."""

    model: str = ""  # the digest of the encoder
    texts: npt.NDArray[np.bytes_] = field(default_factory=lambda: np.empty(0, dtype=f"S{DIGEST_BYTES}"))
    rows: Halves = field(default_factory=lambda: np.empty((0, 0), dtype=np.float16))

    @classmethod
    def read(cls, folder: str | Path | None) -> EncodedRows:
        """Return the rows that a folder keeps, none where it keeps none. Raises SchemaError if the file is damaged."""
        path = None if folder is None else Path(folder) / ENCODED
        if path is None or not path.is_file():
            return cls()
        arrays = read_arrays(path, needs=("model", "texts", "rows"))
        model, texts, rows = (arrays[name] for name in ("model", "texts", "rows"))
        fits = rows.ndim == 2 and texts.shape == rows.shape[:1] and (model.dtype.kind, texts.dtype.kind) == ("U", "S")
        if not fits or rows.dtype != np.float16 or model.shape or not np.isfinite(rows).all():
            raise damaged(path, f"rows is an array of {rows.dtype} of shape {rows.shape}")
        return cls(str(model), texts, rows)

    def write(self, path: Path) -> None:
        """Write the rows that were read, or made last."""
        write_arrays(path, {"model": np.array(self.model), "texts": self.texts, "rows": self.rows})

    def keep(self, texts: Sequence[str], encoder: Encoder, rows: Reals) -> None:
        """Keep the rows of texts that the encoder made elsewhere, if it has a digest."""
        if encoder.digest:
            names, first, _ = _names_of(texts)
            self.model, self.texts, self.rows = encoder.digest, names, rows[first].astype(np.float16)

    def rows_of(self, texts: Sequence[str], encoder: Encoder, encode: Callable[[list[str]], Reals]) -> Reals:
        """Return the rows of texts in half precision, of which `encode` makes those that are not there; keep them all.

        Nothing is kept of an encoder without a digest, whose rows come back as they are.
        """
        if not encoder.digest:
            return encode(list(texts))
        names, first, where = _names_of(texts)
        is_known = np.isin(names, self.texts) & (encoder.digest == self.model)
        missing = np.sort(first[~is_known])
        new_rows = np.asarray(encode([texts[row] for row in missing.tolist()]) if missing.size else self.rows[:0])
        rows = np.empty((names.size, new_rows.shape[1]), dtype=np.float16)
        rows[is_known] = self.rows[np.searchsorted(self.texts, names[is_known])] if is_known.any() else 0
        rows[where[missing]] = new_rows
        self.model, self.texts, self.rows = encoder.digest, names, rows
        return rows[where].astype(np.float32)


def _names_of(texts: Sequence[str]) -> tuple[npt.NDArray[np.bytes_], Integers, Integers]:
    """Return the digests of texts, ascending, the first text that has each, and the place of that of each text."""
    digests = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest() for text in texts]
    return np.unique(np.array(digests, dtype=f"S{DIGEST_BYTES}"), return_index=True, return_inverse=True)
