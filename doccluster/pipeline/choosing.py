"""From a source to a recommended number of clusters, with its table and figure."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from doccluster.base.parameter_fields import described_by
from doccluster.base.paths import ENCODED, check_folder, new_files
from doccluster.base.progress import Progress, silent
from doccluster.clustering.algorithms import QUALITIES
from doccluster.corpus.stored_texts import PickedTexts
from doccluster.geometry.partition import Partition
from doccluster.pipeline.cluster_count import recommended
from doccluster.pipeline.in_process import Prepared, Stages, order_of
from doccluster.pipeline.naming import N_READ, describe_texts, in_written_forms, unwanted_words
from doccluster.pipeline.news import news_among
from doccluster.pipeline.run_arguments import with_parts
from doccluster.pipeline.run_settings import RunSettings, checked_seed
from doccluster.pipeline.source_meaning import EncodedRows
from doccluster.pipeline.vectorizing import vectorizer_options
from doccluster.results.document_table import DocumentTable
from doccluster.selection import CriteriaOverK, Recommendation
from doccluster.selection.recommendation import checked_criteria, default_ks
from doccluster.vectors import DocumentVectors

N_OTHERS = 2_000  # evenly spaced documents from which the largest cluster of a level is told
MIN_SHARE_SEEN = 0.9  # where fewer of the documents are in a cluster of a level, it was made of a sample
MAX_CHARACTERS = 300_000  # of the beginnings of texts in which phrases are looked for


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """A recommendation, and the documents it is for; `criteria` are those of the textbooks, where you named some."""

    recommendation: Recommendation
    documents: DocumentTable
    vectors: DocumentVectors
    n_empty: int
    is_news: bool = False  # whether a run shows stories, by another rule
    criteria: CriteriaOverK | None = None

    def __repr__(self) -> str:
        return repr(self.recommendation).replace("Recommendation(", "Choice(", 1)

    def to_pandas(self) -> pd.DataFrame:
        """Return the evidence of the recommendation, one row per k."""
        return self.recommendation.to_pandas()

    def to_latex(self) -> str:
        """Return the evidence of the recommendation as a LaTeX table (package booktabs)."""
        return self.recommendation.to_latex()

    def _repr_html_(self) -> str:
        return self.recommendation._repr_html_()


@described_by(RunSettings)
def choose_clusters(
    source: object,
    *,
    granularity: str | None = None,
    ks: Iterable[int] | None = None,
    max_documents: int | None = None,
    criterion: str | Sequence[str] | None = None,
    penalty: float | None = None,
    random_state: int | None = 0,
    output: str | Path | None = None,
    reader: Mapping[str, object] | None = None,
    language: str | Sequence[str] = "auto",
    vectorizer: object = None,
    n_threads: int | None = None,
    embeddings: object = None,
    encoder: object = None,
    space: str = "both",
    meaning_weight: float | None = None,
    letters: bool | None = None,
    parts: str | int | None = None,
    progress: Progress = silent,
) -> Choice:
    """Return how many clusters a source supports.

    Parameters
    ----------
    source : path, paths, Corpus, DataFrame, texts, or a matrix file
    granularity : {"sections", "topics", "subtopics"}, optional
        Without it subtopics of dated documents, the broadest of others.
    ks, max_documents
        As for `doccluster.selection.choose_k`.
    criterion : str or list of str, optional
        Criteria of the textbooks, or "all": each chooses a k beside the recommendation (see
        `doccluster.selection.criteria_over_k`, also for `penalty`); from `ks`, else from about 25 numbers.
    parts : {"auto", "paragraphs", "sentences", "pages", "turns"} or int, optional
        Look at parts of documents, as `run` clusters them.
    output : path, optional
        A folder for choose_k.csv, or criteria.csv, and a figure.
    """
    if criterion is not None or penalty is not None:
        checked_criteria(criterion or (), penalty)
    if output is not None:
        check_folder(Path(output))
    settings = RunSettings(
        reader=with_parts(reader, parts),
        language=language if isinstance(language, str) else tuple(language),
        vectorizer=vectorizer_options(vectorizer),
        algorithm=QUALITIES["default"],
        embeddings=embeddings,
        encoder=encoder,
        space=space,
        meaning_weight=meaning_weight,
        letters=letters,
        n_threads=n_threads,
    )
    settings.check()
    encoded = EncodedRows.read(None if encoder is None else output)
    stages = Stages(settings, progress=progress)
    prepared = stages.prepare(source, encoded=encoded)
    documents, vectors = prepared.documents, stages.with_letters(prepared)
    order = order_of(vectors)
    vectors_in_order = vectors.take(order)
    recommendation, _ = recommended(
        vectors_in_order.in_space(space),
        documents,
        granularity=granularity,
        ks=ks,
        max_documents=max_documents,
        seed=secrets.randbits(31) if random_state is None else checked_seed(random_state),
        n_threads=n_threads,
        progress=progress,
    )
    criteria = None
    if criterion is not None:
        from doccluster.selection import criteria_over_k  # of the lab, and loads scikit-learn

        criteria = criteria_over_k(
            vectors_in_order,
            ks=default_ks(len(order)) if ks is None else ks,
            criteria=criterion,
            penalty=penalty,
            random_state=random_state,
            n_threads=n_threads,
            progress=progress,
        )
    recommendation, vectors = _with_names(recommendation.reordered(order), prepared, vectors)
    is_news = (
        granularity is None
        and ks is None
        and settings.parts is None
        and news_among(documents, prepared.source.corpus) is not None
    )
    choice = Choice(recommendation, documents, vectors, len(prepared.empty), is_news, criteria)
    if output is not None:
        write_choice(choice, Path(output))
        if encoded.model:
            encoded.write(Path(output) / ENCODED)
    return choice


def _with_names(
    choice: Recommendation, prepared: Prepared, vectors: DocumentVectors
) -> tuple[Recommendation, DocumentVectors]:
    """Return the answer with the name of the largest cluster of each level, so that one sees what a number means.

    The second value are the vectors with their terms as they are written.
    """
    how, texts, titles, examples = prepared.vectorization, prepared.texts, prepared.documents.titles, {}
    if texts is not None:
        vectors = in_written_forms(how, vectors, texts[:: max(1, len(texts) // N_READ)])
    unwanted = unwanted_words(how, texts, None)
    is_named = choice.k is not None and vectors.terms is not None
    for name, labels in choice.levels.items() if is_named else ():
        sizes = np.bincount(labels[labels >= 0])
        is_outside = labels != sizes.argmax()
        places = np.flatnonzero(~is_outside | (np.arange(labels.size) % max(1, labels.size // N_OTHERS) == 0))
        largest = describe_texts(
            how,
            vectors.take(places),
            Partition.from_labels(is_outside[places].astype(np.int64)),
            None if texts is None else PickedTexts(texts, places),
            [titles[row] for row in places.tolist()],
            unwanted=unwanted,
            max_characters=MAX_CHARACTERS,
            n_documents=0,
        )[0]
        if largest.label_terms:
            share_seen = sizes.sum() / labels.size
            examples[name] = largest.label, round(sizes.max() / (share_seen if share_seen < MIN_SHARE_SEEN else 1))
    return replace(choice, examples=examples) if is_named else choice, vectors


def write_choice(choice: Choice, folder: Path) -> None:
    """Write the table and figure of a recommendation, and those of criteria, into a folder; it need not be there."""
    table, criteria = choice.recommendation.table, choice.criteria
    with new_files(folder) as beside:
        table.to_csv(beside / "choose_k.csv", index=False, lineterminator="\n")
        if not table.empty:
            from doccluster.report.figures import stability_chart

            stability_chart(table, choice.recommendation.k).save(beside / "choose_k.svg")
        if criteria is not None:
            from doccluster.report.figures import line_chart

            criteria.table.to_csv(beside / "criteria.csv", index=False, lineterminator="\n")
            line_chart(
                {
                    f"{name}: {k or 'none'}": (criteria.table["k"], criteria.scaled_curve(name))
                    for name, k in criteria.choices.items()
                },
                x_label="number of clusters k",
                y_label="value, from least (0) to largest (1)",
            ).save(beside / "criteria.svg")
