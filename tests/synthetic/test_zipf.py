"""Documents of invented words: their vocabulary, truth, times and copies."""

from __future__ import annotations

import re

import numpy as np
import pytest
from nltk.stem.snowball import SnowballStemmer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.metrics import normalized_mutual_info_score

from doccluster.clustering import SphericalKMeans
from doccluster.errors import InputError
from doccluster.lab.synthetic.zipf import Stories, invented_words
from doccluster.synthetic import make_zipf_corpus, plan_zipf
from doccluster.vectors import vectorize


def some(n=1500, **options):
    return list(plan_zipf(n, random_state=0, **options).documents())


def test_words_are_distinct_pronounceable_and_short_when_frequent():
    words = invented_words(20_000)
    assert len(set(words)) == 20_000
    assert all(re.fullmatch("([bdfgklmnprstvz][aeiou])+", word) for word in words)
    assert {len(word) for word in words[:3000]} == {4}
    assert {len(word) for word in words[-3000:]} == {6}


def test_words_are_no_stop_words_and_stay_apart_when_stemmed():
    words = invented_words(20_000)
    assert not set(words) & ENGLISH_STOP_WORDS
    stem = SnowballStemmer("english").stem
    assert len({stem(word) for word in words}) == 20_000


@pytest.mark.usefixtures("starts_threads")
def test_same_documents_for_any_number_of_threads_and_the_same_seed():
    plan = plan_zipf(1200, random_state=3)
    one, three = list(plan.documents(n_threads=1)), list(plan.documents(n_threads=3))
    assert one == three
    assert one == list(plan_zipf(1200, random_state=3).documents())
    assert one != list(plan_zipf(1200, random_state=4).documents())


def test_word_frequencies_follow_zipf():
    words = " ".join(document.text.lower() for document in some(background=1.0, story_share=0.0))
    counts = np.array(sorted(np.unique(re.findall(r"\w+", words), return_counts=True)[1])[::-1], float)
    ranks = np.arange(1, counts.size + 1)
    slope = np.polyfit(np.log(ranks[10:300] + 2.7), np.log(counts[10:300]), 1)[0]
    assert slope == pytest.approx(-1, abs=0.05)


def test_lengths_are_log_normal():
    lengths = np.array([len(document.text.split()) for document in some(4000, near_duplicates=0.0)])
    assert np.median(lengths) == pytest.approx(120, rel=0.05)
    assert np.log(lengths).std() == pytest.approx(0.6, abs=0.03)


def test_stories_belong_to_one_topic_and_pass():
    documents = some(4000)
    topic_of = {}
    for document in documents:
        assert topic_of.setdefault(document.story, document.topic) == document.topic
    dates = [document.date for document in documents]
    assert dates == sorted(dates)
    assert dates[0].startswith("2024-01-01")
    assert dates[-1].startswith("2024-12-30")
    moments = np.array(dates, dtype="U19").astype("datetime64[s]").astype(float)
    stories = np.array([document.story for document in documents])
    spans = [np.ptp(moments[stories == story]) for story in np.unique(stories) if (stories == story).sum() >= 20]
    assert np.median(spans) < 0.4 * np.ptp(moments)


def test_a_story_rises_to_its_peak_and_fades():
    steady, short = 0, 1
    stories = Stories(
        topics=np.array([0, 0]), starts=np.array([-1.0, 0.5]), widths=np.array([1.0, 0.02]), sizes=np.ones(2)
    )
    times = np.linspace(0, 1, 2001)
    found = [dict(zip(*stories.intensities(time), strict=True)) for time in times]
    shares = np.array([shares.get(short, 0.0) for shares in found])
    assert all(steady in shares for shares in found)
    assert shares[times <= 0.5].max() == 0
    assert shares[times > 0.5 + 12 * 0.02 + 1e-9].max() == 0
    assert times[shares.argmax()] == pytest.approx(0.52, abs=0.002)
    # one at its peak, the other half a width past its own
    assert shares.max() == pytest.approx(1 / (1 + 1.52 * np.exp(-0.52)), abs=1e-3)
    assert (np.diff(shares[(times > 0.501) & (times < 0.519)]) > 0).all()
    assert (np.diff(shares[(times > 0.521) & (times < 0.6)]) < 0).all()


def test_a_gap_between_stories_is_filled_by_the_nearest():
    stories = Stories(np.array([0, 1]), np.array([0.2, 0.8]), np.array([0.01, 0.01]), np.ones(2))
    for time, story in ((0.1, 0), (0.5, 0), (0.7, 1), (0.81, 1)):
        chosen, shares = stories.intensities(time)
        assert (chosen.tolist(), shares.tolist()) == ([story], [1.0])


def test_near_duplicates_repeat_an_earlier_document_with_small_edits():
    documents = some(3000, near_duplicates=0.2)
    by_id = {document.id: document for document in documents}
    copies = [document for document in documents if document.copy_of]
    assert len(copies) / 3000 == pytest.approx(0.2, abs=0.03)
    for copy in copies:
        source = by_id[copy.copy_of]
        assert source.copy_of == ""
        assert source.date <= copy.date
        assert (copy.topic, copy.story, copy.title) == (source.topic, source.story, source.title)
        mine, theirs = (re.findall(r"\w+", document.text.lower()) for document in (copy, source))
        assert len(mine) == len(theirs)
        same = np.mean([a == b for a, b in zip(mine, theirs, strict=True)])
        assert 0.7 < same < 1.0 or len(mine) < 40
    assert not any(document.copy_of for document in some(500, near_duplicates=0.0))


def nmi_of_topics(**options):
    corpus = make_zipf_corpus(1000, n_topics=5, n_stories=60, random_state=0, **options)
    found = SphericalKMeans(5, n_init=3, random_state=0).fit(vectorize(corpus).matrix).labels_
    return normalized_mutual_info_score([topic for (topic,) in corpus.labels["topic"]], found)


def test_overlap_makes_topics_harder_to_tell_apart():
    apart = nmi_of_topics(overlap=0.0, story_share=0.0)
    near = nmi_of_topics(overlap=0.9, story_share=0.0)
    assert apart > 0.9
    assert near < apart - 0.1


def test_corpus_has_labels_dates_and_titles():
    corpus = make_zipf_corpus(600, n_topics=4, random_state=0)
    assert len(corpus) == 600
    assert set(corpus.labels) == {"topic", "story", "copy_of"}
    assert {len(value) for value in corpus.labels["topic"]} == {1}
    assert corpus.metadata.columns.tolist() == ["title", "date", "source", "link"]
    assert corpus.metadata["title"].str.split().str.len().eq(5).all()
    assert all(text.endswith(".") and text[0].isupper() for text in corpus.texts)


def test_one_document_and_few_stories_are_possible():
    assert len(list(plan_zipf(1, n_topics=1).documents())) == 1
    assert len(some(50, n_topics=2, n_stories=2)) == 50


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_topics": 200}, "n_topics=200 exceeds"),
        ({"n_stories": 3}, "n_stories=3 is below n_topics=20"),
        ({"n_terms": 100}, "n_terms=100 is out of range"),
        ({"n_terms": 2_000_000}, "out of range"),
        ({"overlap": 1.5}, "overlap=1.5 is out of range"),
        ({"background": 0.8, "story_share": 0.5}, "story_share=0.5 is out of range"),
        ({"length_spread": 3.1}, "length_spread=3.1 is out of range"),
        ({"near_duplicates": 1.0}, "near_duplicates=1.0 is out of range"),
        ({"median_length": 0}, "median_length=0"),
        ({"days": 0}, "days=0 is out of range"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(options, words):
    with pytest.raises(InputError, match=words) as caught:
        plan_zipf(100, **options)
    assert "\n" not in str(caught.value)
