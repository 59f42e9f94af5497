"""Stories of a whole dump: the likeness against dense algebra, and the stories against labels."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from doccluster.corpus.dates import as_moment
from doccluster.measures import evaluate
from doccluster.stories import NewsArticles, find_stories
from doccluster.stories.likeness import DAY, ArticleLikeness, ArticleRows

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "corpora" / "samples" / "newsroom" / "articles.jsonl"


def sample():
    return [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]


def as_articles(rows):
    times = np.array([as_moment(row["date"]) for row in rows], dtype=np.int64)
    columns = ([row[name] for row in rows] for name in ("title", "text", "source"))
    return NewsArticles(*columns, times)


def random_rows(seed, n=60, n_terms=80):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 12, n)
    shares = np.arange(n_terms, 0, -1) ** 2 / np.sum(np.arange(n_terms, 0, -1) ** 2)  # some are in one article alone
    terms = np.concatenate([rng.choice(n_terms, size, replace=False, p=shares) for size in lengths]).astype(np.int32)
    counts = (rng.integers(1, 5, terms.size) * rng.choice([-1, 1], terms.size)).astype(np.int8)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    times = np.sort(rng.integers(0, 30 * DAY, n))
    return ArticleRows(times, rng.integers(0, 4, n).astype(np.int32), starts, terms, counts), n_terms


def naive_likeness(rows, n_terms):
    """Centred cosines of all pairs, from the definition."""
    n = len(rows)
    df = np.bincount(rows.terms, minlength=n_terms)
    dense = np.zeros((n, n_terms))
    for i in range(n):
        for place in range(rows.starts[i], rows.starts[i + 1]):
            count, term = rows.counts[place], rows.terms[place]
            weight = (1 + np.log(abs(int(count)))) * max(np.log((n + 10) / (df[term] + 1)), 0)
            weight *= 1000 / (n + 1000) if df[term] == 1 else 1.0
            dense[i, term] = weight * (1.4 if count < 0 else 1.0)
        dense[i] /= np.linalg.norm(dense[i])
    cosines = dense @ dense.T
    n_thought = n + 20  # with articles that have no word in common
    own = (cosines.sum(1) - 1) / (n_thought - 1)
    common = (cosines.sum() - n) / (n_thought * (n_thought - 1))
    centred = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            spread = (1 - 2 * own[i] + common) * (1 - 2 * own[j] + common)
            value = (cosines[i, j] - own[i] - own[j] + common) / np.sqrt(max(spread, 0.01))
            if rows.outlets[i] == rows.outlets[j] > 0 and value < 0.8:
                value *= 0.7
            centred[i, j] = value if cosines[i, j] > 0 else 0.0
    return centred


@pytest.mark.parametrize("seed", range(3))
def test_links_are_centred_cosines_within_the_window_less_the_background(seed):
    rows, n_terms = random_rows(seed)
    likeness = ArticleLikeness(
        rows.weighted(np.bincount(rows.terms, minlength=n_terms), len(rows)), rows.times, rows.outlets, slice(0, 60)
    )
    taken_off = np.random.default_rng(seed).random(60).astype(np.float32) * 0.1
    made, every = np.zeros((60, 60)), np.arange(60)
    links = likeness.links(every, 3 * DAY, taken_off, every)
    made[np.repeat(every, links.n_links), links.earlier] = links.likeness
    expected = naive_likeness(rows, n_terms) - (taken_off[:, None] + taken_off) / 2
    is_pair = (np.abs(rows.times[:, None] - rows.times) <= 3 * DAY) & np.tri(60, k=-1, dtype=bool)
    expected = np.where(is_pair & (expected >= 0.03), expected, 0)
    assert np.count_nonzero(expected) > 50
    np.testing.assert_allclose(made, expected, atol=1e-5)


def test_the_background_is_what_as_few_articles_of_other_weeks_reach_as_one_in_the_window():
    rows, n_terms = random_rows(7)
    likeness = ArticleLikeness(
        rows.weighted(np.bincount(rows.terms, minlength=n_terms), len(rows)), rows.times, rows.outlets, slice(0, 60)
    )
    made = likeness.background(np.arange(60), 3 * DAY, np.full(60, 10))
    expected, centred = [], naive_likeness(rows, n_terms)
    for i in range(60):
        outside = np.sort(centred[i][np.abs(rows.times - rows.times[i]) > 3 * DAY])[::-1]
        expected.append(max(outside[max(int(np.ceil(outside.size / 10)), 1) - 1], 0))
    np.testing.assert_allclose(made, expected, atol=1e-5)


def test_a_dump_of_less_than_the_window_has_no_background():
    rows, n_terms = random_rows(1)
    vectors = rows.weighted(np.bincount(rows.terms, minlength=n_terms), len(rows))
    likeness = ArticleLikeness(vectors, rows.times // 30, rows.outlets, slice(0, 60))
    assert not likeness.background(np.arange(60), 3 * DAY, np.full(60, 10)).any()


def test_the_stories_of_the_sample_are_those_of_its_labels():
    rows = sample()
    labels = find_stories(as_articles(rows))
    scores = evaluate(labels, truth=[row["story"] for row in rows], measures=["pair_f", "bcubed_f"])
    assert scores["pair_f"].value >= 0.9
    assert scores["bcubed_f"].value >= 0.93
    assert 28 <= np.unique(labels).size <= 45


def test_the_order_of_the_input_and_the_number_of_threads_change_nothing():
    rows = sample()
    labels = find_stories(as_articles(rows), n_threads=1)
    order = np.random.default_rng(0).permutation(len(rows))
    again = find_stories(as_articles([rows[place] for place in order]), n_threads=2)
    assert np.array_equal(labels[order], again)


def test_more_news_is_more_stories():
    """Five copies of the sample, each 40 days later with a fifth of its words replaced."""
    rng, rows = np.random.default_rng(0), sample()
    several = []
    for n_copies in (1, 5):
        all_rows = []
        for copy in range(n_copies):
            other = {}
            for row in rows:
                words = []
                for word in row["text"].split():
                    if word not in other:
                        other[word] = f"{word}x{copy}" if copy and rng.random() < 0.2 else word
                    words.append(other[word])
                moment = as_moment(row["date"]) + 40 * DAY * copy
                all_rows.append({**row, "text": " ".join(words), "time": moment})
        times = np.array([row["time"] for row in all_rows])
        columns = ([row[name] for row in all_rows] for name in ("title", "text", "source"))
        labels = find_stories(NewsArticles(*columns, times))
        several.append((np.bincount(labels) > 1).sum())
    assert several[1] >= 0.7 * 5 * several[0]


def test_two_languages_are_two_dumps():
    spanish = "El gobierno de la ciudad ha dicho que no habrá más dinero para los puertos en este año"
    english = "The government of the city has said that there will be no more money for the ports this year"
    articles = NewsArticles([""] * 4, [spanish, english, f"{spanish} 2026", f"{english} 2026"], [""] * 4, np.arange(4))
    assert find_stories(articles).tolist() == [0, 1, 0, 1]


def test_nothing_and_articles_without_words_have_their_stories():
    assert find_stories(NewsArticles([], [], [], np.zeros(0, np.int64))).tolist() == []
    assert find_stories(NewsArticles(["", ""], ["", ""], ["a", "b"], np.zeros(2, np.int64))).tolist() == [0, 1]


def test_walls_of_an_outlet_are_no_story():
    wall = "We noticed unusual activity. To continue, please click the box below to show that you are not a robot."
    titles = ["Oil prices rise in Asia", "Court stops a merger", "Ferry runs aground", "Bees return to the city"]
    others = NewsArticles(titles, [wall] * 4, ["bloomberg.com"] * 4, np.arange(4) * 3600)
    assert np.unique(find_stories(others)).size == 4
