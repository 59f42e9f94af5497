"""An encoder, and the files of the model behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.digests import checksum
from doccluster.base.short_repr import ShortRepr
from doccluster.errors import InputError

TOKENIZER, POOLING = "tokenizer.json", "1_Pooling/config.json"

Rows = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class Encoder(ShortRepr):
    """A model that turns texts into rows.

    Attributes
    ----------
    name : str
        As it was asked for.
    digest : str
        Of its files; empty for an object of which nothing is known.
    encode : function of a list of str
        Returns an array of shape (n_texts, n_dimensions).
    pooling : str
        How the rows of its tokens become one: "mean" or "first token"; empty where the model does it.
    """

    name: str
    digest: str
    encode: Callable[[list[str]], Any]
    pooling: str = ""


def brought(folder: Path, *names: str) -> Path:
    """Return the first of these files that a folder has. Raises InputError if it has none of them."""
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is None:
        raise InputError(f"{folder} has no file {names[0]}", remedy="bring that file of the model")
    return path


def files_digest(*paths: Path) -> str:
    """Return the digest of what is in some files."""
    return checksum([path.read_bytes() for path in paths])
