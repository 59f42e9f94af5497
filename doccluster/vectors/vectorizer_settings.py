"""The parameters of `TfidfVectorizer` that a file can hold: the schema by which they are checked when they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class VectorizerSettings:
    """Parameters that a person gives; None is one that was left out. `TfidfVectorizer` describes them."""

    strip_accents: str | None = None
    lowercase: bool | None = None
    preprocessor: None = None
    tokenizer: None = None
    analyzer: str | None = None
    stop_words: str | tuple[str, ...] | None = None
    token_pattern: str | None = None
    ngram_range: tuple[int, int] | None = None
    max_df: int | float | None = None
    min_df: int | float | None = None
    max_features: int | None = None
    n_features: int | None = None
    binary: bool | None = None
    norm: str | None = None
    use_idf: bool | None = None
    smooth_idf: bool | None = None
    sublinear_tf: bool | None = None
    stemming: str | None = None
    weighting: str | None = None
    k1: float | None = None
    b: float | None = None


@dataclass(frozen=True, kw_only=True)
class SavedVectorizer(VectorizerSettings):
    """All parameters of a vectorizer that was fitted; its vocabulary is kept apart."""

    dtype: Literal["float32", "float64"]
    n_threads: int | None = None
    vocabulary: None = None
