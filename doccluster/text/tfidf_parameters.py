"""The parameters of `TfidfVectorizer`, each written once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doccluster.base.parameter_fields import parameter
from doccluster.text.tokens import DEFAULT_TOKEN_PATTERN


@dataclass(kw_only=True, eq=False, repr=False)
class TfidfParameters:
    """The parameters of `TfidfVectorizer`."""

    strip_accents: str | Callable[[str], str] | None = parameter(
        None, "Remove accents, after lower case.", type="{'ascii', 'unicode'}, callable or None"
    )
    lowercase: bool = parameter(True, "Put the text into lower case first.")
    preprocessor: Callable[[str], str] | None = parameter(
        None, "Document -> text, in place of lower case and accents.", type="callable"
    )
    tokenizer: Callable[[str], Sequence[str]] | None = parameter(
        None, "Text -> list of tokens, in place of `token_pattern`.", type="callable"
    )
    analyzer: str | Callable[[str], Sequence[str]] = parameter(
        "word",
        "What a term is: a word, a run of characters, or what suits each script. With char_wb "
        "a run of characters inside a word; for script see `doccluster.text.scripts.tokens_by_script`. A function gets "
        "the document and returns its terms.",
        type="{'word', 'char', 'char_wb', 'script'} or callable",
    )
    stop_words: str | Iterable[str] | None = parameter(
        None,
        "Tokens to leave out: a language ('english', 'de', ...: a short audited list, cut into tokens like the "
        "text), several with commas between them ('en,de': each document loses the words of its own language), or "
        "your own words, taken as they are.",
        type="str or collection of str",
    )
    token_pattern: str | None = parameter(DEFAULT_TOKEN_PATTERN, "A regular expression that matches a token.")
    ngram_range: tuple[int, int] = parameter(
        (1, 1), "Use runs of A to B words (or characters) as terms.", type="(int, int), A and B"
    )
    max_df: int | float = parameter(
        1.0, "Keep terms that are in at most this many documents (500), or this share of them (0.5)."
    )
    min_df: int | float = parameter(
        1, "Keep terms that are in at least this many documents (2), or this share of them (0.01)."
    )
    max_features: int | None = parameter(
        None, "Keep only this many terms, the most frequent of the whole collection.", type="int"
    )
    vocabulary: Mapping[str, int] | Iterable[str] | None = parameter(
        None, "The terms, if they are known beforehand.", type="mapping term -> column, or collection of terms"
    )
    dropped_terms: Iterable[str] = parameter(
        (), "Terms that get no column; with stemming, all forms of such a word.", type="collection of str"
    )
    binary: bool = parameter(False, "Count a term once per document.")
    dtype: Any = parameter(
        "float32",
        "The type of the weights. scikit-learn's default is float64; ours is float32.",
        type="float32 or float64",
    )
    norm: str | None = parameter(
        "l2", "The length every row gets; the rest of the package wants 'l2'.", type="{'l2', 'l1'} or None"
    )
    use_idf: bool = parameter(True, "Multiply by idf = ln(N / df) + 1.")
    smooth_idf: bool = parameter(True, "Count as if one more document held every term.")
    sublinear_tf: bool = parameter(False, "Take 1 + ln(tf) for tf.")
    stemming: str | None = parameter(
        None,
        "Count the forms of a word as one term, by the stemmer of this language (english, en, ..., porter, or "
        "five-letters for any). Runs and `vectorize` take that of the texts, and no stemmer where you say none.",
        type="str",
    )
    weighting: str | None = parameter(
        None,
        "Weight terms by tfidf (the default), bm25 (with `k1` and `b`), or SMART's letters such as ltc. Those replace "
        "`use_idf`, `smooth_idf` and `sublinear_tf`, and the third letter `norm`; see "
        "`doccluster.vectors.weighting.Weighting`.",
        type="str",
    )
    k1: float = parameter(1.2, "How far BM25 counts a term again that occurs again.")
    b: float = parameter(0.75, "How far BM25 divides by the length of a document.")
    n_threads: int | None = parameter(
        None, "How many threads read text; None for all there are. The result does not depend on it.", type="int"
    )
