from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from doccluster import Corpus, read_corpus
from doccluster.errors import InputError

FRAME = pd.DataFrame(
    {
        "text": ["rain in the bay", "sun on the pier", "rain on the pier", "fog"],
        "title": ["Rain", "Sun", "More rain", ""],
        "date": ["2026-03-01", "2026-03-02", "2026-03-02", ""],
        "topic": [["wet"], ["dry"], ["wet", "dull"], []],
        "desk": ["A", "B", "A", "B"],
    },
    index=["mon", "tue", "wed", "thu"],
)


@pytest.fixture
def corpus() -> Corpus:
    return read_corpus(FRAME, label_columns=["topic"], keep_columns=["desk"])


def test_a_corpus_has_a_length_and_is_iterated_over(corpus):
    assert len(corpus) == 4
    assert [document.id for document in corpus] == ["mon", "tue", "wed", "thu"]
    assert [document.text for document in corpus] == list(corpus.texts)
    assert corpus[2].labels == {"topic": ("wet", "dull")}
    assert corpus[2].metadata["title"] == "More rain"


def test_one_document_is_found_by_row_or_id(corpus):
    assert corpus[1].id == corpus["tue"].id == corpus[-3].id == corpus[np.int64(1)].id == "tue"
    with pytest.raises(IndexError, match="row 4"):
        corpus[4]
    with pytest.raises(InputError, match=r"'fri'.*mon"):
        corpus["fri"]


@pytest.mark.parametrize(
    "rows",
    [
        slice(0, 3, 2),
        [0, 2],
        np.array([0, 2]),
        [True, False, True, False],
        np.array([True, False, True, False]),
        pd.Series([True, False, True, False]),
        ["mon", "wed"],
        (row for row in (0, -2)),
    ],
    ids=["slice", "rows", "array of rows", "mask", "array", "Series", "ids", "generator"],
)
def test_several_documents_are_a_corpus(corpus, rows):
    part = corpus[rows]
    assert part.ids == ("mon", "wed")
    assert part.texts == ("rain in the bay", "rain on the pier")
    assert part.labels == {"topic": (("wet",), ("wet", "dull"))}
    assert part.metadata["title"].tolist() == ["Rain", "More rain"]
    assert part.column("desk") == ("A", "A")


def test_a_mask_of_another_length_is_refused(corpus):
    with pytest.raises(InputError, match="2 entries for 4"):
        corpus[[True, False]]


def test_documents_are_selected_by_labels_metadata_and_conditions(corpus):
    assert corpus.select(topic="wet").ids == ("mon", "wed")
    assert corpus.select(topic=["dry", "dull"]).ids == ("tue", "wed")
    assert corpus.select(topic="wet", date="2026-03-02").ids == ("wed",)
    assert corpus.select(lambda document: "pier" in document.text, desk="A").ids == ("wed",)
    assert len(corpus.select(topic="snow")) == 0
    with pytest.raises(InputError, match=r"'colour'.*'topic'.*'desk'"):
        corpus.select(colour="red")


def test_a_part_lists_nothing_as_skipped():
    corpus = read_corpus(["one text", "", "another text"])
    assert len(corpus.skipped) == 1
    assert corpus[:1].skipped == ()


def test_a_frame_holds_all_of_a_corpus_and_makes_it_again(corpus):
    frame = corpus.to_pandas()
    assert frame.index.tolist() == list(corpus.ids)
    assert frame.loc["wed", "topic"] == ("wet", "dull")
    assert frame.loc["thu", "topic"] == ""
    again = read_corpus(frame, label_columns=["topic"], keep_columns=["desk"])
    assert (again.ids, again.texts, again.labels) == (corpus.ids, corpus.texts, corpus.labels)
    assert again.column("date") == corpus.column("date")


def test_the_index_of_a_series_is_kept_as_ids():
    assert read_corpus(pd.Series(["one text", "another"], index=["x", "y"])).ids == ("x", "y")
    assert read_corpus(pd.Series(["one text", "another"], index=[10, 20])).ids == ("10", "20")


def test_an_iterated_corpus_is_vectorized_like_its_texts(corpus):
    from doccluster import vectorize

    assert vectorize(corpus).ids == vectorize(corpus[:]).ids == corpus.ids


def test_a_column_is_found_by_its_name_whatever_type_that_has():
    corpus = Corpus(ids=["a", "b"], texts=["rain", "sun"], metadata={5: [1.0, 2.0]})
    assert corpus.column(5) == corpus.column("5") == (1.0, 2.0)
    assert corpus.column("desk") == ("", "")
