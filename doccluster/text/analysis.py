"""What is done to a document before it is counted, decided once from the vectorizer's parameters.

Words are stemmed by the stemmers of nltk, each distinct word once. They are loaded only when a stemmer is needed;
nothing is downloaded.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from operator import methodcaller
from types import SimpleNamespace
from typing import Any

from doccluster.base.parameter_fields import parameter
from doccluster.base.validation import check_choice
from doccluster.errors import Argument, InputError, Words
from doccluster.text.language import FunctionWords, language_name, languages_named, resolve_stop_words
from doccluster.text.letter_forms import (
    SAME_LETTERS,
    WRITTEN_IN_TWO_WAYS,
    both_spellings,
    in_turkish_capitals,
    join_broken,
    lowered,
    plain_letters,
)
from doccluster.text.scripts import separate_scripts, tokenize_separated
from doccluster.text.tokens import (
    DEFAULT_TOKEN_PATTERN,
    Preprocessor,
    Tokenizer,
    build_preprocessor,
    build_tokenizer,
    character_ngrams,
    character_ngrams_in_words,
    word_ngrams,
    word_run_length,
)


@dataclass(kw_only=True, eq=False, repr=False)
class TfidfParameters:
    """The parameters of `TfidfVectorizer`."""

    # With the analyzer script; these are no parameters, but a model keeps them. Those of version 1.0 fold no letters.
    folds_letters = True
    broken_words = frozenset[str]()  # in small letters: put together where the end of a line breaks them

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
    added_stop_words: Iterable[str] = parameter(
        (),
        "Leave out these words too, and the other forms of each where words are stemmed (a file has a word a line). "
        "They name no cluster either.",
        type="collection of str",
    )
    kept_words: Iterable[str] = parameter(
        (),
        "Keep these words (a file has a word a line), though they are stop words, spread evenly or in boilerplate.",
        type="collection of str",
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
    sparse_interface: str = parameter(
        "sparray",
        "The class of the rows: sparray (a csr_array), spmatrix (a csr_matrix, for libraries that take no arrays), or "
        "config (as scikit-learn's setting of this name, before its version 1.9 spmatrix).",
        choices=("sparray", "spmatrix", "config"),
    )


Stemmer = Callable[[str], str]

STEMMING_LANGUAGES = (
    *("arabic", "danish", "dutch", "english", "finnish", "french", "german", "hungarian"),
    *("italian", "norwegian", "porter", "portuguese", "romanian", "russian", "spanish", "swedish"),
)
CUT, CUT_AT = "five-letters", 5  # the stemmer of any language, and the letters it keeps


def check_stemming(stemming: str) -> str:
    """Return the name of the stemmer in lower case (``"en"`` is english), or raise InputError with the names."""
    return check_choice(language_name(stemming), (*STEMMING_LANGUAGES, CUT), "stemming")


@cache
def import_stemmers() -> Any:
    """Return nltk's module of stemmers, read without the rest of nltk.

    `import nltk` takes a second and 100 MB, since its other parts bring scikit-learn, pandas and 1,400 modules. So the
    files of the stemmers are read as modules of their own, which no import finds: a program that imports nltk, in
    whichever thread, gets all of it.

    Examples
    --------
    >>> import_stemmers().SnowballStemmer("english").stem("elections")
    'elect'
    """
    modules: dict[str, Any] = {"nltk.corpus": SimpleNamespace(stopwords=None)}  # stems need no list of stop words

    def module_of(name: str) -> Any:
        if name not in modules:
            package = name.rpartition(".")[0]
            spec: Any = PathFinder.find_spec(name, module_of(package).__path__ if package else None)
            modules[name] = module = importlib.util.module_from_spec(spec)
            if spec.submodule_search_locations is None:  # what a package imports is left out
                vars(module)["__builtins__"] = {**vars(builtins), "__import__": import_alone}
                spec.loader.exec_module(module)
        return modules[name]

    def import_alone(name: str, scope: Any = None, local: Any = None, parts: Any = (), level: int = 0) -> Any:
        if not parts or name.partition(".")[0] != "nltk":
            return builtins.__import__(name, scope, local, parts, level)
        module = module_of(name)
        for part in parts:
            if not hasattr(module, part):
                setattr(module, part, module_of(f"{name}.{part}"))
        return module

    try:
        return module_of("nltk.stem.snowball")
    except (ImportError, AttributeError):  # a program in one file has no folder of nltk
        return importlib.import_module("nltk.stem.snowball")


def build_stemmer(stemming: str) -> Stemmer:
    """Return the function word -> stem of a language (Snowball), "porter" (Porter's first algorithm) or "five-letters".

    >>> stem = build_stemmer("english")
    >>> [stem(word) for word in ("elections", "elected", "electing")]
    ['elect', 'elect', 'elect']
    """
    name = check_stemming(stemming)
    if name == CUT:
        return lambda word: word if has_digit(word) else word[:CUT_AT]
    snowball = import_stemmers()
    if name == "arabic":
        # The Arabic stemmer keeps flags from one word to the next; a new one for each word forgets them.
        return lambda word: str(snowball.ArabicStemmer().stem(word))
    stemmer = snowball.SnowballStemmer(name)
    return lambda word: str(stemmer.stem(word))


def has_digit(word: str) -> bool:
    """Return whether a digit is in a word."""
    return any(map(str.isdigit, word))


ANALYZERS = ("word", "char", "char_wb", "script")
_STEMS_REMEMBERED = 1 << 18  # of each language, while the process lives: searches stem the same words again


@cache
def remembered_stemmer(stemming: str) -> Stemmer:
    """Return a stemmer that remembers the words it has stemmed, the same one for every vectorizer."""
    return lru_cache(_STEMS_REMEMBERED)(build_stemmer(stemming))


@dataclass(frozen=True)
class Analysis:
    """The steps from a document to its terms."""

    analyze: Callable[[str], Sequence[str]]  # document -> list of written forms (tokens, or n-grams of them)
    prepare: Preprocessor  # document -> the text that is cut into tokens
    stem: Stemmer | None  # written word -> stem, applied to each distinct word once
    # when the written forms are the runs of at least n word characters of the prepared text, that number n; the
    # compiled counter may then be used
    run_length: int | None = None
    lowers: bool = False  # whether `prepare` is nothing but `str.lower`, which the compiled counter does for ASCII
    takes_others: bool = False  # whether the first function gets documents as they are, be they texts or tokens
    keeps_marks: bool = False  # whether marks that are written with a letter are word characters too
    # written forms that are left out; with n-grams they have left the text before the n-grams are formed
    stop_words: frozenset[str] = frozenset()
    # the lists of several languages, each for the documents in that language; with n-grams `analyze` leaves them out
    function_words: FunctionWords | None = None
    stop_words_met: set[str] = field(default_factory=set)  # filled while n-grams are formed: those taken out of texts
    own_stop_words: frozenset[str] = frozenset()  # forms that you leave out, and those that you keep
    own_kept_words: frozenset[str] = frozenset()
    warnings: tuple[Words, ...] = ()  # what a caller should know about these parameters

    def term_of(self, form: str) -> str | None:
        """Return the term of a written form: None for a stop word, its stem when stemming, else itself."""
        if form in self.stop_words:
            return None
        if self.stem is None:
            return form
        if " " in form:  # an n-gram: each of its words has a stem
            return " ".join(map(self.stem, form.split(" ")))
        return self.stem(form)

    def terms_of(self, forms: Iterable[str]) -> frozenset[str]:
        """Return the terms of some written forms."""
        return frozenset(term for term in map(self.term_of, forms) if term is not None)


def analysis_of(parameters: TfidfParameters) -> Analysis:
    """Return the analysis that the text parameters describe; they mean what they mean in scikit-learn."""
    analyzer, stop_words = parameters.analyzer, parameters.stop_words
    ngram_range = _check_ngram_range(parameters.ngram_range)
    prepare = preprocessor_of(parameters)
    stem = _stemmer_of(parameters)
    if callable(analyzer):
        unused = _unused("analyzer is a function", stop_words=stop_words, **_own_words(parameters))
        return Analysis(analyzer, prepare, stem, takes_others=True, warnings=unused)
    if analyzer in ("char", "char_wb"):
        # not those of scikit-learn, whose import takes longer than a thousand titles
        grams = character_ngrams if analyzer == "char" else character_ngrams_in_words
        others: dict[str, object] = {"tokenizer": parameters.tokenizer, **_own_words(parameters)}
        unused = _unused(Argument("analyzer", analyzer), stop_words=stop_words, **others)
        return Analysis(lambda text: grams(prepare(text), ngram_range=ngram_range), prepare, stem, warnings=unused)
    if analyzer not in ANALYZERS:
        expected = f"one of {', '.join(ANALYZERS)} or a function"
        raise InputError("is not known", argument="analyzer", received=analyzer, expected=expected)
    by_script = analyzer == "script"
    tokenize, run_length = (tokenize_separated, 2) if by_script else _tokenizer_of(parameters)
    analysis = Analysis(tokenize, (lambda text: separate_scripts(prepare(text))) if by_script else prepare, stem)
    is_as_it_is = parameters.preprocessor is not None or not (parameters.lowercase or parameters.strip_accents)
    analysis = replace(analysis, takes_others=parameters.tokenizer is not None and not by_script and is_as_it_is)
    languages, of_lists = languages_named(stop_words), analysis.prepare
    if by_script and parameters.folds_letters and not WRITTEN_IN_TWO_WAYS.isdisjoint(languages or WRITTEN_IN_TWO_WAYS):
        in_same_letters: Stemmer = methodcaller("translate", SAME_LETTERS)
        analysis = replace(analysis, stem=(lambda word: stem(in_same_letters(word))) if stem else in_same_letters)
        of_lists = lambda word: analysis.prepare(both_spellings(word))  # noqa: E731
    own = {name: _one_word_each(name, words, analysis) for name, words in _own_words(parameters).items() if words}
    analysis = replace(
        analysis,
        own_stop_words=own.get("added_stop_words", frozenset()),
        own_kept_words=own.get("kept_words", frozenset()),
    )
    analysis = _without_stop_words(analysis, stop_words, of_lists)
    if ngram_range[1] > 1:
        return _ngram_analysis(analysis, tokenize, ngram_range)
    return replace(
        analysis,
        analyze=lambda text: tokenize(analysis.prepare(text)),
        run_length=run_length,
        lowers=prepare in (str.lower, lowered),
        keeps_marks=by_script,
    )


def preprocessor_of(parameters: TfidfParameters) -> Preprocessor:
    """Return the function that prepares a text, or a word of one, before it is cut into tokens."""
    prepare = build_preprocessor(
        lowercase=parameters.lowercase, strip_accents=parameters.strip_accents, preprocessor=parameters.preprocessor
    )
    if parameters.analyzer != "script" or not parameters.folds_letters or parameters.preprocessor is not None:
        return prepare
    languages, broken_words = languages_named(parameters.stop_words), parameters.broken_words
    if prepare is str.lower and "turkish" not in languages and not broken_words:
        return lowered

    def folded(text: str) -> str:
        text = plain_letters(text)
        text = prepare(in_turkish_capitals(text, languages) if parameters.lowercase else text)
        return join_broken(text, broken_words) if broken_words else text

    return folded


def _stemmer_of(parameters: TfidfParameters) -> Stemmer | None:
    stemming = parameters.stemming
    if stemming is None:
        return None
    stem = remembered_stemmer(check_stemming(stemming))
    if parameters.analyzer not in ("word", "script"):
        needs = ("needs ", Argument("analyzer", "word"), " or 'script'")
        raise InputError(needs, argument="stemming", received=stemming, remedy="leave one of the two out")
    return stem


def tokenizer_of(parameters: TfidfParameters) -> Tokenizer:
    """Return the function that cuts a prepared text into tokens."""
    if parameters.analyzer == "script":
        return lambda text: tokenize_separated(separate_scripts(text))
    return _tokenizer_of(parameters)[0]


def _tokenizer_of(parameters: TfidfParameters) -> tuple[Tokenizer, int | None]:
    """Return the function that cuts a text into words, and the fewest letters of a word that is a run of them."""
    pattern = parameters.token_pattern
    if parameters.tokenizer is not None:
        return parameters.tokenizer, None
    if pattern is None:
        raise InputError((Argument("token_pattern", None), " needs a tokenizer"), remedy="give one of the two")
    return build_tokenizer(pattern), word_run_length(pattern)


def _own_words(parameters: TfidfParameters) -> dict[str, Iterable[str] | None]:
    return {name: getattr(parameters, name) or None for name in ("added_stop_words", "kept_words")}


def _one_word_each(name: str, words: Iterable[str], analysis: Analysis) -> frozenset[str]:
    """Return words as they are met in texts; `analysis` is still of words alone."""
    if isinstance(words, str):
        raise InputError("is one text", argument=name, received=words, expected="a list of words")
    forms = set[str]()
    for word in words:
        form = analysis.analyze(analysis.prepare(word)) if isinstance(word, str) else ()
        if len(form) != 1:
            raise InputError(
                f"holds {word!r}, which is not one word of two letters or more",
                argument=name,
                remedy="give each word by itself",
            )
        forms.update(form)
    return frozenset(forms)


def _without_stop_words(analysis: Analysis, stop_words: str | Iterable[str] | None, prepare: Preprocessor) -> Analysis:
    """Return an analysis, still of words alone, without stop words, which are prepared as lists are.

    Of several languages each document loses the words of its own, of one all lose the same.
    """
    tokenize = analysis.analyze
    languages = languages_named(stop_words)
    if len(languages) > 1:
        listed = FunctionWords(languages, preprocess=prepare, tokenize=tokenize, kept=analysis.own_kept_words)
        return replace(analysis, function_words=listed)
    stop = resolve_stop_words(stop_words, preprocess=prepare, tokenize=tokenize) - analysis.own_kept_words
    notes = () if isinstance(stop_words, str) else _inconsistency(stop, prepare, tokenize)
    return replace(analysis, stop_words=stop, warnings=notes)


def _ngram_analysis(analysis: Analysis, tokenize: Tokenizer, ngram_range: tuple[int, int]) -> Analysis:
    """Return the analysis that forms n-grams of what is left of a text without its stop words."""

    def analyze(text: str) -> list[str]:
        tokens = tokenize(analysis.prepare(text))
        stop = analysis.stop_words if analysis.function_words is None else analysis.function_words.leave_out(tokens)
        stop |= analysis.own_stop_words
        if stop:
            analysis.stop_words_met.update(stop.intersection(tokens))
            tokens = [token for token in tokens if token not in stop]
        return word_ngrams(tokens, ngram_range=ngram_range)

    return replace(analysis, analyze=analyze, stop_words=frozenset(), function_words=None)


def _check_ngram_range(ngram_range: tuple[int, int]) -> tuple[int, int]:
    try:
        smallest, largest = (int(length) for length in ngram_range)
    except (TypeError, ValueError) as error:
        raise InputError(
            "is not a pair of lengths", argument="ngram_range", received=ngram_range, expected="a pair such as (1, 2)"
        ) from error
    if not 1 <= smallest <= largest:
        raise InputError(
            argument="ngram_range", received=ngram_range, expected="(smallest, largest) with 1 <= smallest <= largest"
        )
    return smallest, largest


def _unused(*reason: str | Argument, **parameters: object) -> tuple[Words, ...]:
    return tuple(
        (Argument(name), " is not used, because ", *reason, ".")
        for name, value in parameters.items()
        if value is not None
    )


def _inconsistency(words: frozenset[str], prepare: Preprocessor, tokenize: Tokenizer) -> tuple[str, ...]:
    """Name the tokens that the given stop words fall into and that are none of them."""
    unlisted = sorted({token for word in words for token in tokenize(prepare(word))} - words)
    if not unlisted:
        return ()
    shown = ", ".join(map(repr, unlisted[:10])) + (", ..." if len(unlisted) > 10 else "")
    return (f"The tokenizer cuts some of the stop_words into {shown}, which stay in the text: add them to the list.",)
