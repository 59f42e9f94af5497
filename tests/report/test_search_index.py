"""The words that the search box of a page looks in: each where the texts have it, as whole texts or beginnings fit."""

from __future__ import annotations

from base64 import b64decode

import numpy as np
import pytest

from doccluster.report import search_words as module
from doccluster.report import story_cards
from doccluster.report.explore import page_order
from doccluster.report.html import search_index
from doccluster.report.search_words import plain_words


def numbers_of(text):
    """The numbers that `packed_gaps` packs, read as the script of the page reads them."""
    numbers, shift, value = [], 0, 0
    for byte in b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            shift = value = 0
    return numbers


def places_of(index):
    """The places of each word of an index, unpacked."""
    words, before = [], ""
    for part in index["words"].split():
        units = before.encode("utf-16-le")[: 2 * int(part[0], 36)]  # what JavaScript calls a letter
        before = units.decode("utf-16-le") + part[1:]
        words.append(before)
    ends = np.cumsum(numbers_of(index["counts"]))
    gaps = np.split(np.array(numbers_of(index["gaps"])), ends[:-1])
    return {word: np.cumsum(own).tolist() for word, own in zip(words, gaps, strict=True)}


def naive(texts, places):
    """The same from the definition."""
    found = {}
    for text, place in zip(texts, places, strict=True):
        for word in plain_words(text):
            found.setdefault(word, set()).add(place)
    return {word: sorted(own) for word, own in found.items()}


def beginnings(run):
    documents = run.documents
    return [f"{documents.titles[row]} {documents.excerpts[row]}" for row in page_order(run)]


def test_every_word_of_a_beginning_is_there_with_its_documents(newsroom_run):
    index = search_index(newsroom_run, None)
    assert (index["said"], index["n"]) == ("how each document begins", 176)
    found = places_of(index)
    assert found == naive(beginnings(newsroom_run), range(176))
    assert list(found) == sorted(found)


def test_words_of_whole_texts_are_there_where_the_page_holds_them(newsroom_run):
    texts = [f"only{row} in texts {row} 𝒂𝒃{'𝒄' * (row % 3)}" for row in range(176)]
    index = search_index(newsroom_run, texts)
    assert index["said"] == "the whole texts"
    order = page_order(newsroom_run).tolist()
    assert places_of(index) == naive([texts[row] for row in order], range(176))


def test_documents_that_are_not_listed_count_for_their_cluster(newsroom_run, monkeypatch):
    monkeypatch.setattr(story_cards, "MAX_LISTED", 40)
    index = search_index(newsroom_run, None)
    sizes = newsroom_run.partition.sizes
    places = [
        first + rank if rank < 5 else 176 + cluster
        for cluster, first in enumerate(np.cumsum(sizes) - sizes)
        for rank in range(sizes[cluster])
    ]
    assert places_of(index) == naive(beginnings(newsroom_run), places)
    monkeypatch.setattr(module, "MAX_PAIRS", 100)
    few = search_index(newsroom_run, None)
    assert few["said"] == "how the documents listed here begin"
    is_listed = np.array(places) < 176
    assert places_of(few) == naive(np.array(beginnings(newsroom_run))[is_listed], np.array(places)[is_listed].tolist())


@pytest.mark.parametrize(
    ("text", "words"),
    [("Ça va, CAFÉ?", {"ca", "va", "cafe"}), ("naïve_x 1987 B2B", {"naive", "x", "b2b"}), ("東京 に", {"東京", "に"})],
)
def test_words_are_small_letters_without_marks(text, words):
    assert plain_words(text) == words
