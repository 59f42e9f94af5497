"""The meaning of the documents of a run: from a file, from rows or an encoder in memory, or from an encoder by name.

Rows that an encoder made are kept in the folder of a run by the digest of their text: no text is encoded twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.base.arrays import Integers, Reals, SingleFloats
from doccluster.base.named_places import Announce
from doccluster.base.paths import ENCODED
from doccluster.base.place import FilePlace, Place
from doccluster.base.plain_values import one_of
from doccluster.base.progress import Progress
from doccluster.base.validation import check_matrix
from doccluster.corpus.columns import kept_name
from doccluster.corpus.reader_options import as_names
from doccluster.corpus.source_rows import names_of
from doccluster.corpus.stored_texts import StoredTexts
from doccluster.distributed.text_vectors import GoingByMeaning, encode_texts
from doccluster.errors import Argument, InputError
from doccluster.pipeline.run_settings import RunSettings, encoder_of_record
from doccluster.pipeline.sources import SourceDocuments, check_truth, read_source
from doccluster.results.record import Run
from doccluster.results.run_model import Model
from doccluster.results.storage import damaged, read_arrays, write_arrays
from doccluster.text.language import choose_languages, is_running_text, survey_writing
from doccluster.vectors.document_vectors import DocumentVectors
from doccluster.vectors.encoders import Encoder, encode, get_encoder
from doccluster.vectors.meaning import (
    GIVEN,
    SUFFIXES,
    Meaning,
    meaning_of,
    read_embeddings,
    rows_from,
    rows_of_column,
    rows_of_documents,
    seen_from,
    usual_weight,
)

MIN_FOREIGN_SHARE = 0.05  # of the documents, for a note on languages that an encoder was not made for
N_SAMPLED, PER_TEXT = 200, 500  # texts, and characters of each, that say in which alphabet a collection is
MIN_KNOWN_SHARE = 0.1  # of the documents with letters, that must be in a language of the encoder
LAST_LATIN = "\u024f"
LANGUAGE = Argument("language")
OF_A_FILE = Encoder(GIVEN, "", list)
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


def meaning_note(vectors: DocumentVectors, settings: RunSettings) -> str | None:
    """Return in a sentence what was clustered by, None where it was words alone or another program."""
    meaning, space = vectors.meaning, settings.space
    if meaning is None or space == "words" or settings.labels is not None:
        return None
    by = "meaning" if space == "meaning" else "words and meaning"
    what = "embeddings that were given" if meaning.model == GIVEN else f"the encoder {meaning.model}"
    without = int((~meaning.rows.any(axis=1)).sum())
    alone = f"; {without:,} without any go by their words" if without else ""
    wordless = int((vectors.documents.squared_norms == 0).sum())
    alone += f"; {wordless:,} without a known word by their meaning" if wordless else ""
    if settings.meaning_weight is None and space == "both" and meaning.weight < 0.9 * usual_weight(vectors.mean_words):
        alone += "; it counts for less, since neighbours by words are hardly near by meaning"
    return (
        f"Clustered by {by} ({what}, {meaning.n_dimensions:,} dimensions{alone}); labels, similarities and measures "
        "are of the words."
    )


def _in_print(name: str) -> str:
    return name if " " in name else name.capitalize()


def _other_alphabet(texts: Sequence[str]) -> dict[str, float]:
    """Return the share of the texts whose letters are mostly not Latin, where that is most of them."""
    sample = [text[:PER_TEXT] for text in texts[:: max(1, len(texts) // N_SAMPLED)]]
    letters = [list(filter(str.isalpha, text)) for text in sample]
    n_foreign = sum(2 * sum(letter > LAST_LATIN for letter in of_text) > len(of_text) for of_text in letters)
    share = n_foreign / max(1, len(sample))
    return {"a script that is not Latin": share} if share > 0.5 else {}


def column_named(embeddings: Any) -> str | None:
    """Return the column of the source that embeddings are in; None where they are a file or in memory."""
    is_file = not isinstance(embeddings, str) or embeddings.lower().endswith(SUFFIXES) or os.path.exists(embeddings)  # noqa: PTH110  never raises
    return None if is_file else embeddings


def reader_for(reader: Mapping[str, Any] | None, embeddings: object) -> dict[str, Any]:
    """Return how to read a source of which a column may hold the embeddings."""
    column, options = column_named(embeddings), dict(reader or {})
    if column is not None:
        options["keep_columns"] = (*as_names(options.get("keep_columns"), "keep_columns"), column)
    return options


def read_documents(
    source: object, settings: RunSettings, progress: Progress, *, wants_texts: bool = False
) -> SourceDocuments:
    """Return a source as settings ask for it; raise InputError where it lacks a truth, or the texts wanted."""
    columns = settings.truth_columns
    reader, terms = reader_for(settings.reader, settings.embeddings), settings.vectorizer or {}
    kept_words = terms.get("kept_words") or ()
    documents = read_source(
        source, reader=reader, weighting=terms.get("weighting"), truth=columns, kept_words=kept_words, progress=progress
    )
    check_truth(columns, documents.documents)
    if wants_texts and documents.corpus is None:
        raise InputError("a matrix has no texts to put into the report", remedy="leave out --with-texts")
    return documents


def with_meaning(
    source: SourceDocuments,
    settings: RunSettings,
    progress: Progress,
    encoded: EncodedRows | None = None,
    *,
    place: Place | None = None,
) -> SourceDocuments:
    """Return a source with the meaning that its run asks for; what `encoded` has is not encoded again.

    With a place texts that lie on disk are encoded there, which keeps the rows of the meaning.

    Raises InputError if the embeddings do not fit the documents, the encoder is not known, or there are no texts for
    it. Raises MissingDependency if the package of the encoder is not installed.
    """
    if source.vectors is not None and isinstance(source.vectors.matrix, np.ndarray):
        raise InputError("the source is a dense matrix, which has no words", remedy="give the texts as the source")
    encoded_before = encoded or EncodedRows()
    rows, made_by = _embedded(
        *(source, settings.embeddings, settings.encoder, progress, encoded_before, settings.n_threads),
        named=settings.language,
        place=place,
    )
    meaning = meaning_of(rows, model=made_by.name, digest=made_by.digest or None, place=place)
    meaning = replace(meaning, pooling=made_by.pooling)
    note = None if source.corpus is None else language_note(made_by, source.corpus.texts, settings.language)
    return replace(source, meaning=meaning, meaning_weight=settings.meaning_weight, language_note=note)


def language_note(encoder: Encoder, texts: Sequence[str], named: str | Sequence[str] | None = "auto") -> str | None:
    """Return a sentence where some of the texts are in languages that an encoder was not made for; else None.

    Raises InputError if hardly any text is in its languages, unless these are `named`, or the texts have no function
    words of any language, as key words have none. With None, as for new documents, which may be few, only where most
    are in other languages.
    """
    is_named = not set(encoder.languages).isdisjoint(choose_languages("none" if named in (None, "auto") else named))
    if not encoder.languages or is_named:
        return None
    names = " and ".join(name.capitalize() for name in encoder.languages)
    writing = survey_writing(texts)
    share_known = sum(writing.languages.get(name, 0.0) for name in encoder.languages)
    foreign = {name: share for name, share in writing.languages.items() if name not in encoder.languages}
    is_unknown = share_known < MIN_KNOWN_SHARE * writing.has_letters
    if is_unknown:
        foreign |= dict(writing.scripts) or _other_alphabet(texts)
    share = sum(foreign.values())
    if is_unknown and (share > 0.5 or (named is not None and is_running_text(texts))):
        problem = f"these documents are in {one_of([_in_print(name) for name in foreign])}"
        raise InputError(
            f"was made for {names}, and "
            + (problem if share > 0.5 else f"no {names} was found in {1 - share_known:.0%} of the documents"),
            argument="encoder",
            received=encoder.name,
            remedy=("leave it out, give one that was made for their languages, or name these with ", LANGUAGE),
        )
    if share < MIN_FOREIGN_SHARE:
        return None
    others = ", ".join(f"{_in_print(name)} {part:.0%}" for name, part in foreign.items())
    return f"The encoder {encoder.name} was made for {names}; {share:.0%} of the documents are in others ({others})."


def _embedded(
    source: SourceDocuments,
    embeddings: Any,
    encoder: object,
    progress: Progress,
    encoded: EncodedRows,
    n_threads: int | None,
    *,
    named: str | Sequence[str] | None = None,
    place: Place | None = None,
) -> tuple[Any, Encoder]:
    """Return the rows of the documents, perhaps as files, and what made them; `named` as for `language_note`."""
    if encoder is not None:
        if source.corpus is None:
            remedy = "give ", Argument("embeddings")
            raise InputError("an encoder needs texts, and the source is a matrix", remedy=remedy)
        made_by = get_encoder(encoder, n_threads=n_threads)
        language_note(made_by, source.corpus.texts, named)  # refuses before any work
        if isinstance(place, FilePlace) and isinstance(source.corpus.texts, StoredTexts):
            rows = encode_texts(place, source.corpus.texts, encoder, encoded, progress=progress)
            encoded.keep(source.corpus.texts, made_by, rows)
            return rows, made_by
        rows = encoded.rows_of(source.corpus.texts, made_by, lambda texts: encode(made_by, texts, progress=progress))
        return rows, made_by
    column = column_named(embeddings)
    if column is not None and source.corpus is not None:
        return rows_of_column(source.corpus.column(kept_name(column)), column), OF_A_FILE
    is_file = isinstance(embeddings, str | os.PathLike)
    ids, source_rows = source.documents.ids, source.source_rows
    if not is_file:
        table = check_matrix(embeddings, name="embeddings")
        return source_rows.in_order(table, "embeddings", ids, index=names_of(embeddings)), OF_A_FILE
    by_id = read_embeddings(Path(embeddings), max_expanded_size=source.max_expanded_size)
    return rows_of_documents(by_id, ids, source_rows, name=str(embeddings)), OF_A_FILE


def encoder_for(
    model: Model, embeddings: object, encoder: object, *, announce: Announce | None = None
) -> object | None:
    """Return the encoder for new documents: the one that was given, else that of the run; None where none is needed.

    Raises InputError if neither it nor embeddings can be had, NamedByRecord if a person has to name it.
    """
    if not decides_by_meaning(model) or embeddings is not None or encoder is not None:
        return encoder
    recorded = encoder_of_record(model.settings, model.record, announce=announce)
    if recorded is None:  # it was an object in memory
        then = model.meaning
        assert then is not None  # it decides
        raise InputError(
            f"the clusters are of meaning too ({then.model}, {then.n_dimensions:,} dimensions)",
            remedy=("give the ", Argument("embeddings"), " of these documents"),
        )
    return recorded


def decides_by_meaning(model: Model) -> bool:
    """Return whether new documents need a meaning: clusters that the counts of words settled do without."""
    return model.meaning is not None and model.rule is None and model.settings.get("space") != "words"


def meaning_like(
    model: Model,
    source: SourceDocuments,
    embeddings: object,
    encoder: object,
    progress: Progress,
    n_threads: int | None = None,
    *,
    place: Place | None = None,
) -> Meaning:
    """Return the meaning of new documents, in the space of a run; `encoder` is that of `encoder_for`.

    Raises InputError if it is of another model.
    """
    then = model.meaning
    assert then is not None  # who calls has looked
    rows, made_by = _embedded(source, embeddings, encoder, progress, EncodedRows(), n_threads, place=place)
    # a model that is known by its files may lie elsewhere now; of others only the name is known
    if made_by.digest != then.digest if made_by.digest else made_by.name != then.model:
        version = " in another version" if made_by.name == then.model else ""
        raise InputError(
            f"the meaning of these documents is by {made_by.name}{version}",
            remedy=f"the run's is by {then.model}: use that",
        )
    table = check_matrix(rows, name="embeddings")
    if table.shape[1] != then.n_dimensions:
        raise InputError(
            f"the embeddings have {table.shape[1]:,} dimensions, those of the run {then.n_dimensions:,}",
            remedy="use the same model",
        )
    return replace(then, rows=rows_from(then.centre, table, place or Place(n_threads)))


def meaning_of_queries(
    run: Run, encoder: Any = None, *, announce: Announce | None = None
) -> Callable[[str], SingleFloats]:
    """Return a function that gives the cosine of each document of a run to what a query means.

    `encoder`: by default the one that the run names; `announce` is called with a sentence before its folder is read.

    Raises InputError if the run names no encoder, or its files are others now, NamedByRecord if a person has to name
    it.
    """
    meaning = run.vectors.meaning
    if encoder is None and meaning is not None:
        encoder = encoder_of_record(run.parameters, run._record, announce=announce)
    if encoder is None or meaning is None:
        raise InputError(
            "the run names no encoder for a query", remedy=("make it with ", Argument("encoder", "static"))
        )
    made_by = get_encoder(encoder, n_threads=1)
    if made_by.digest != meaning.digest:
        raise InputError(
            f"the encoder {encoder} is not the one that the run was made with", remedy="make the run again"
        )

    def cosines(query: str) -> SingleFloats:
        row = EncodedRows().rows_of([query], made_by, lambda texts: encode(made_by, texts))
        cosines: SingleFloats = meaning.rows @ seen_from(meaning.centre, row)[0]
        return cosines

    return cosines


def going_by_meaning(model: Model, meaning: Meaning) -> GoingByMeaning:
    """Return where documents go by what they mean, or by words and meaning side by side."""
    assert model.meaning is not None  # who calls has looked
    if model.settings.get("space") == "meaning":
        return GoingByMeaning(meaning, model.meaning.rows, is_alone=True)
    return GoingByMeaning(meaning, model.meaning.beside(model.centroids), is_alone=False)
