"""The settings of a run: one value, written to run.json and read from it to repeat the run.

Each is described once, in its field: arguments of functions, options of commands and their texts are made from it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from doccluster.base.choices import SPHERICAL
from doccluster.base.json_values import read_as
from doccluster.base.named_places import Announce, Record
from doccluster.base.parameter_fields import check_names, parameter, parameters_of
from doccluster.base.paths import BEFORE_EDITS
from doccluster.base.validation import check_choice, check_positive_int
from doccluster.corpus.reader_options import SourceParameters
from doccluster.errors import Argument, InputError, listed_arguments
from doccluster.pipeline.known_topics import Topic, n_guides
from doccluster.text.analysis import TfidfParameters
from doccluster.text.text_parts import checked_rule
from doccluster.text.tokens import check_safe_pattern

GRANULARITIES = ("sections", "topics", "subtopics", "stories")
FORMER_PARAMETERS = ("compatible",)  # in records of older versions; the values it stood for are there too
MAY_BE_IN_MEMORY = ("embeddings", "encoder", "labels")  # files and a name; or arrays, an object, a function


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """All settings of a run except its source."""

    n_clusters: int | str = parameter(
        "auto", "The number of clusters, or auto to choose it from the data.", type="int or 'auto'"
    )
    granularity: str | None = parameter(
        None,
        "How fine the clusters are when their number is chosen: sections (broad), topics or subtopics (narrow), or "
        "stories (dated articles of at least three outlets); by default stories where there are such, subtopics of "
        "other dated documents, otherwise the broadest level.",
        choices=GRANULARITIES,
    )
    other: bool = parameter(
        True,
        "Show documents that fit no cluster as Other where the number of clusters is chosen (the default), or put each "
        "into its nearest cluster.",
    )
    fold_copies: bool = parameter(
        False, "Cluster one document of each group of near-copies, the first; the others get its cluster."
    )
    truth: str | Sequence[str] | None = parameter(
        None,
        "Compare the clusters with the classes in these label columns. A document with no or several labels in a "
        "column is left out of the external measures, and counted.",
        type="str or sequence of str",
    )
    random_state: int | None = parameter(
        0,
        "The seed of all random choices; the same seed gives the same labels. None draws one, which is kept with the "
        "run.",
        type="int or None",
        low=0,
    )
    reader: Mapping[str, object] | None = parameter(
        None,
        "Arguments of `read_corpus` (format, text_column, ...); `classes` and `terms` of `read_matrix`.",
        type="mapping",
    )
    language: str | Sequence[str] = parameter(
        "auto",
        "Remove the stop words of these languages; auto detects the languages, none keeps them.",
        type="str or sequence of str",
    )
    vectorizer: Any = parameter(
        None,
        "Arguments of `TfidfVectorizer`; of an estimator those that are not as usual. The others follow from the "
        "texts. Another library's vectorizer, which makes rows of texts and names its columns, is used whole.",
        type="mapping or vectorizer",
    )
    algorithm: Any = parameter(
        SPHERICAL,
        "Instead of a quality, one of `doccluster algorithms`, with options such as smoothed:n_init=3. "
        "spherical-k-means is the algorithm of the papers. Or an estimator of one (``SphericalKMeans(5)``), whose "
        "number of clusters and seed count where the run names none.",
        type="str or estimator",
    )
    clustering: Mapping[str, Any] | None = parameter(
        None, "Options of the algorithm (n_init, ...; `doccluster algorithms` lists them).", type="mapping"
    )
    measures: Any = parameter(
        None,
        "Compute only these measures (on the command line with commas between them), or all. As for `evaluate`; by "
        "default a run leaves out measures of all pairs of documents, however few these are.",
        type="str or sequence of str",
    )
    n_threads: int | None = parameter(
        None, "The number of threads, all processors by default; the result is the same.", type="int", low=1
    )
    embeddings: Any = parameter(
        None,
        "Embeddings of the documents: .npy, .npz, Parquet or Arrow, one row per document in their order or with their "
        "ids; or a column of the source with a list of numbers. They say what documents mean, beside their words. A "
        "document whose row is zero goes by its words alone.",
        type="path, or array of shape (n_documents, n_dimensions)",
    )
    encoder: Any = parameter(
        None,
        'Embed the texts: static (pip install "doccluster[meaning]"), minilm, or your own model: model2vec:DIR, '
        "onnx:DIR, sentence-transformers:DIR (which may run code). The name of a model may stand in place of DIR where "
        "it was downloaded. In Python also an object with a method `encode`, or a function from a list of str to an "
        "array.",
        type="str, object or function",
    )
    space: str = parameter(
        "both",
        "What to cluster by; labels and measures always use the words.",
        choices=("both", "words", "meaning"),
    )
    meaning_weight: float | None = parameter(
        None,
        "How much meaning counts beside the words: by default 1 for documents of up to 20 known words on average, down "
        "to 0.5 for longer ones.",
        type="float",
    )
    labels: Any = parameter(
        None,
        "Name, explain and judge the clusters in this file instead: a table of ids and labels, or one label per line. "
        "In Python also a label for each document in their order. Documents with the label -1 or none are shown as "
        'Other. The labels are kept as the label column "given".',
        type="path or sequence",
    )
    apart_from: str | Sequence[str] | None = parameter(
        None,
        "Weigh down words that go with the values of a column, such as an author, rather than with a subject. Terms "
        "that a value's documents have beyond what the others lead to expect are weighed down; where the column is the "
        'topic, the topic goes. It takes three fits. The column may be "source".',
        type="str or sequence of str",
    )
    levels: str = parameter(
        "auto",
        "Whether there are sections above the clusters and finer ones below: auto, where they are stable, or none. "
        "The clusters stay as they are: sections of at least 12 topics, subtopics that were found when topics were "
        "counted or that large topics of a given number have, topics and sections above stories. A level that parts "
        "of the documents do not bring back is left out, and `notes` says so.",
        choices=("auto", "none"),
    )
    topics: Any = parameter(
        None,
        "Grow clusters from topics that you know: a csv table or JSON objects with name, words, examples and parent. "
        "In Python also values of `Topic`. Clusters with these names grow from the words and examples, and parts of a "
        "topic stand beneath it; the other documents are clustered freely. `n_clusters` counts both. Needs the default "
        "algorithm and texts.",
        type="path or sequence of Topic",
    )
    only_topics: bool = parameter(False, "Show documents that fit none of your topics as Other.")
    letters: bool | None = parameter(
        None,
        "Whether parts of words count beside words; by default they do where documents are short: fewer than 35 known "
        "words on average. A part is a run of four letters inside a word, of two or three of Han, kana and Hangul; "
        "parts count as much as they can up to 20 known words.",
        type="bool",
    )

    @property
    def takes_letters(self) -> bool:
        """Whether letters could count beside words, unless they are ruled out: words alone are smoothed."""
        from doccluster.clustering.algorithms import QUALITIES

        by_words = self.labels is None and not self.apart_columns and (not self.has_meaning or self.space == "words")
        return by_words and self.algorithm == QUALITIES["default"]

    @property
    def has_meaning(self) -> bool:
        """Whether documents have a second space beside their words."""
        return self.embeddings is not None or self.encoder is not None

    @property
    def truth_columns(self) -> tuple[str, ...]:
        """The label columns to judge by."""
        return (self.truth,) if isinstance(self.truth, str) else tuple(self.truth or ())

    @property
    def parts(self) -> Any:
        """How long documents are cut in parts; None where they stay whole."""
        return (self.reader or {}).get("parts")

    @property
    def apart_columns(self) -> tuple[str, ...]:
        """The columns whose terms are weighed down."""
        return (self.apart_from,) if isinstance(self.apart_from, str) else tuple(self.apart_from or ())

    def check(self) -> None:
        """Refuse before any work what would else be refused after it.

        Raises InputError if `n_clusters` is neither a positive number nor "auto", `granularity` is not known or given
        with a number, the algorithm or an option of it is not known, or a measure asked for is unknown or needs a
        truth.
        """
        _check_number(self.n_clusters, self.granularity)
        check_names(self.vectorizer or {}, parameters_of(TfidfParameters), "vectorizer")
        check_names(self.reader or {}, parameters_of(SourceParameters), "reader")
        from doccluster.clustering.algorithms import get_algorithm  # brings in numba, which `run --help` need not

        get_algorithm(self.algorithm).check_options(self.clustering or {})
        if self.embeddings is not None and self.encoder is not None:
            raise InputError("an encoder and embeddings would be two meanings of a document", remedy="give one of them")
        if self.labels is not None and (self.n_clusters != "auto" or self.granularity or self.fold_copies):
            raise InputError(
                "the labels that were given say what the clusters are",
                remedy=("leave out ", *listed_arguments(("n_clusters", "granularity", "fold_copies"))),
            )
        if self.apart_columns and self.labels is not None:
            raise InputError(
                "the labels that were given say what the clusters are", remedy=("leave out ", Argument("apart_from"))
            )
        self._check_parts()
        self._check_topics()
        if self.letters and not self.takes_letters:
            raise InputError(
                "count beside words that are smoothed",
                argument="letters",
                received=True,
                remedy="leave it out, or the embeddings, labels, algorithm or columns that go with other ways",
            )
        for name in ("space", "levels"):
            check_choice(getattr(self, name), parameters_of(self)[name].choices, name)
        weight = self.meaning_weight
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if weight is not None and not (is_number and 0 < weight < np.inf):
            raise InputError("is not a weight", argument="meaning_weight", received=weight, expected="a number above 0")
        if self.space == "meaning" and not self.has_meaning:
            problem = "embeddings are missing, and ", Argument("space", "meaning"), " is of them alone"
            raise InputError(problem, remedy=("give ", Argument("embeddings"), " or ", Argument("encoder")))
        _check_measures(self.measures, has_truth=bool(self.truth_columns))

    def _check_parts(self) -> None:
        if self.parts is None:
            return
        checked_rule(self.parts)
        of_whole = {"labels": self.labels, "embeddings": self.embeddings}
        of_whole["granularity"] = self.granularity if self.granularity == "stories" else None
        for name, value in of_whole.items():
            if value is not None:
                what = "stories are" if name == "granularity" else f"{name} are"
                remedy = ("leave out ", Argument(name), " or ", Argument("parts"))
                raise InputError(f"{what} of whole documents, not of parts", remedy=remedy)

    def check_written(self) -> None:
        """Raise InputError, before any work, if the vectorizer has what no record of a run can hold."""
        from doccluster.vectors.other_vectorizers import cannot_be_written

        options = self.vectorizer or {}
        if (other := getattr(options, "other", None)) is not None:
            other.state()
        for name, value in options.items():
            if callable(value) and name != "dtype":
                raise cannot_be_written(f"has a function as {name}")
        try:
            check_group(TfidfParameters, _plain(options), "vectorizer")
        except ValueError as error:
            raise cannot_be_written(f"has a parameter that no record holds ({error})") from error

    def _check_topics(self) -> None:
        if self.topics is None:
            if self.only_topics:
                raise InputError(
                    ("there are no topics for ", Argument("only_topics")),
                    remedy=("give ", Argument("topics")),
                )
            return
        from doccluster.clustering.algorithms import QUALITIES

        if self.labels is not None or self.algorithm != QUALITIES["default"]:
            other = "labels" if self.labels is not None else "algorithm"
            raise InputError(
                "topics grow from the clusters of the default algorithm", remedy=("leave out ", Argument(other))
            )
        # a topic without words and examples only groups others, and needs no cluster
        n_topics = n_guides(self.topics)
        if not isinstance(self.n_clusters, str) and self.n_clusters < n_topics:
            raise InputError(
                f"there are {n_topics:,} topics with words or examples, more than clusters",
                argument="n_clusters",
                received=self.n_clusters,
                remedy="the number counts topics and free clusters",
            )

    def as_parameters(self, source: object) -> dict[str, Any]:
        """Return the settings as JSON values, and the source; what is in memory cannot be written down, and is None."""
        plain = {
            setting.name: _plain(getattr(self, setting.name))
            for setting in fields(self)
            if setting.name not in (*MAY_BE_IN_MEMORY, "topics")
        }
        plain["topics"] = None
        if self.topics is not None:
            plain["topics"] = [
                {**asdict(topic), "words": list(topic.words), "examples": list(topic.examples)} for topic in self.topics
            ]
        for name in MAY_BE_IN_MEMORY:
            value = getattr(self, name)
            plain[name] = os.fspath(value) if isinstance(value, str | os.PathLike) else None
        return {"source": _plain_source(source), "directory": str(Path.cwd()), **plain}


@dataclass(frozen=True)
class RecordedRun:
    """The settings and the sources that run.json names."""

    settings: RunSettings
    sources: tuple[str, ...]
    directory: str
    path: Path  # of the record

    def record(self, anew: Mapping[str, Any], announce: Announce | None = None, *, is_own: bool = False) -> Record:
        """Return the record as the way to the places that it names."""
        folder = self.path.parent.parent if self.path.parent.name == BEFORE_EDITS else self.path.parent
        return Record(self.path, self.directory, (folder, folder.parent), anew, announce, is_own)


def encoder_of_record(
    settings: Mapping[str, Any], path: Path | None, *, announce: Announce | None = None
) -> str | None:
    """Return the encoder that the settings of a run or model name, with its folder where it lies now; None for none.

    `path`: the file that they were read from, None where a person named them in this process. Raises NamedByRecord if
    a person has to name it.
    """
    directory = str(settings.get("directory") or ".")
    record = Record(path or Path("run.json"), directory, announce=announce, is_own=path is None)
    encoder: str | None = record.take("encoder", settings.get("encoder"))
    record.check()
    return encoder


@dataclass(frozen=True, kw_only=True)
class _Parameters(RunSettings):
    """The parameters in run.json."""

    truth: str | tuple[str, ...] | None = None
    reader: Mapping[str, Any] | None = None
    language: str | tuple[str, ...] = "auto"
    vectorizer: Mapping[str, Any] | None = None
    algorithm: str = SPHERICAL
    clustering: Mapping[str, Any] | None = None
    measures: str | tuple[str, ...] | None = None
    embeddings: str | None = None
    encoder: str | None = None
    labels: str | None = None
    apart_from: str | tuple[str, ...] | None = None
    topics: tuple[Topic, ...] | None = None
    source: tuple[str, ...] | None = None
    directory: str | None = None
    resolved: Mapping[str, Any] | None = None


def recorded_run(parameters: Mapping[str, object], path: Path) -> RecordedRun:
    """Return the parameters that run.json (at `path`) holds as settings, checked.

    Raises SchemaError if one is unknown or of another type than it should be, or if a pattern might never come to an
    end.
    """
    try:
        current = {name: value for name, value in parameters.items() if name not in FORMER_PARAMETERS}
        recorded = read_as(_Parameters, current, "parameters")
        check_group(SourceParameters, recorded.reader, "reader")
        check_group(TfidfParameters, recorded.vectorizer, "vectorizer")
        _check_clustering(recorded.algorithm, recorded.clustering)
        if any("\0" in name for name in (*(recorded.source or ()), recorded.directory or "")):
            raise ValueError("its source or directory is not text")
    except ValueError as error:
        from doccluster.results.storage import unfit

        raise unfit(path, error) from error
    settings = RunSettings(**{setting.name: getattr(recorded, setting.name) for setting in fields(RunSettings)})
    resolved = recorded.resolved or {}
    if "letters" not in parameters:  # made before there were any, and before words were cut
        stemming = {"stemming": resolved["stemming"] or "none"} if "stemming" in resolved else {}
        weight = settings.meaning_weight or (resolved.get("meaning") or {}).get("weight")
        stemmed = {**stemming, **(settings.vectorizer or {})} or None
        settings = replace(settings, letters=False, meaning_weight=weight, vectorizer=stemmed)
    if "analyzer" in resolved and not resolved.get("boilerplate"):  # older runs in blocks of texts say no more of it
        settings = replace(settings, reader={**(settings.reader or {}), "keep_boilerplate": True})
    texts = resolved.get("text_columns") or []
    if len(texts) == 1:  # the names that decide where none is given may have become more
        settings = replace(settings, reader={"text_column": texts[0], **(settings.reader or {})})
    return RecordedRun(settings, recorded.source or (), recorded.directory or ".", path)


def _check_clustering(algorithm: str, options: Mapping[str, object] | None) -> None:
    """Raise ValueError unless `options` could be options of an algorithm; Python may give more than a file."""
    for name, value in (options or {}).items():
        if not isinstance(value, str | int | float | None):
            raise ValueError(f"clustering.{name} is neither text nor a number")
    from doccluster.clustering.algorithms import get_algorithm

    try:
        get_algorithm(algorithm).check_options(options or {})
    except InputError as error:
        raise ValueError(str(error).rstrip(".")) from error


def check_group(kind: type, options: Any, name: str) -> None:
    """Raise ValueError unless `options` could be settings of this kind, and its pattern for tokens is harmless."""
    if options is None:
        return
    set_options = (
        {option: value for option, value in options.items() if value is not None}
        if isinstance(options, Mapping)
        else options
    )
    read_as(kind, set_options, name)
    if isinstance(options.get("token_pattern"), str):
        check_safe_pattern(options["token_pattern"])


def checked_seed(random_state: object) -> int:
    """Return a seed that was given, or raise InputError."""
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer) or random_state < 0:
        raise InputError(
            "is not a seed",
            argument="random_state",
            received=random_state,
            expected="a whole number >= 0, or None to draw one",
        )
    return int(random_state)


def _check_number(n_clusters: object, granularity: object) -> None:
    if granularity is not None:
        check_choice(granularity, GRANULARITIES, "granularity")
    if granularity is not None and not isinstance(n_clusters, str):
        raise InputError(
            ("says how the number of clusters is chosen, and ", Argument("n_clusters", n_clusters), " is a number"),
            argument="granularity",
            received=granularity,
            expected="one of the two",
        )
    if not isinstance(n_clusters, str):
        check_positive_int(n_clusters, "n_clusters")
    elif n_clusters != "auto":
        raise InputError(
            "is not a number of clusters",
            argument="n_clusters",
            received=n_clusters,
            expected="a whole number or 'auto'",
        )


def _check_measures(measures: object, *, has_truth: bool) -> None:
    if measures == "all" or not isinstance(measures, Collection):
        return
    from doccluster.measures.registry import get_measures

    records = get_measures([measures] if isinstance(measures, str) else measures)
    external = [record.name for record in records if record.family == "external"]
    if external and not has_truth:
        raise InputError(
            f"{', '.join(external)} cannot be computed without a truth",
            remedy=("name a label column with ", Argument("truth")),
        )


def _plain_source(source: object) -> list[str] | None:
    paths = [source] if isinstance(source, str | os.PathLike) else source
    if isinstance(paths, list | tuple) and all(isinstance(path, os.PathLike) for path in paths):
        return [os.fspath(path) for path in paths]
    return [source] if isinstance(source, str) else None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items() if item is not None}
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        return [_plain(item) for item in value]
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return np.dtype(value).name
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def recorded_sources(recorded: RecordedRun) -> tuple[str, ...]:
    """Return the names of the files that a run was made of, or the query, as its run.json has them.

    Raises InputError if it was made of texts in memory or of standard input.
    """
    if not recorded.sources or "-" in recorded.sources:
        what, remedy = ("texts in memory", "call doccluster.run again")
        if recorded.sources:
            what, remedy = "standard input", "save it to a file"
        raise InputError(f"{recorded.path} is of a run on {what}, which cannot be read again", remedy=remedy)
    return recorded.sources
