"""Terms as they are written in the texts, and the words of shared lines that name nothing."""

from __future__ import annotations

import pytest
from sklearn.feature_extraction.text import strip_accents_unicode

from doccluster.pipeline.main_line import run_pipeline
from doccluster.text.boilerplate import boilerplate_words
from doccluster.text.running_text import count_forms, written_forms


@pytest.mark.parametrize(
    ("term", "text", "shown"),
    [
        ("nato", "The talks of NATO began. Nato, some write, but NATO is commoner.", "NATO"),
        ("rain", "Rain fell. Rain again! Then rain.", "rain"),
        ("tessen", "They fish in the Tessen. Tessen trout.", "Tessen"),
        ("são paulo", "Storms hit São Paulo and the coast.", "São Paulo"),
        ("straße", "in der Straße", "Straße"),
        ("oil", "OIL PRICES RISE\nThe price of oil rose.", "oil"),
        ("opec", "OPEC MEETS\nMinisters met.", "OPEC"),
        ("absent", "Nothing here.", "absent"),
        ("ελλάδα", "στην Ελλάδα", "Ελλάδα"),
    ],
)
def test_a_term_is_shown_as_it_is_most_often_written(term, text, shown):
    assert written_forms([term], count_forms([text])) == [shown]


def test_of_equally_common_forms_the_plainer_one_is_taken():
    assert written_forms(["apple"], count_forms(["an Apple and an apple"])) == ["apple"]


def test_accents_that_were_taken_off_for_counting_come_back():
    def prepare(text):
        return strip_accents_unicode(text.lower())

    assert written_forms(["zlutoucky", "kun"], count_forms(["Pět žluťoučký kůň"]), prepare=prepare) == [
        "žluťoučký",
        "kůň",
    ]


def test_the_labels_terms_and_vectorizer_of_a_run_have_capitals():
    texts = [
        "Ships of NATO sail north",
        "The fleet of NATO sails",
        "Trout die in the Tessen",
        "In the Tessen trout swim",
    ]
    run = run_pipeline(texts, n_clusters=2, language="english", vectorizer={"stemming": "english"})
    labels = " ".join(cluster.label for cluster in run.clusters)
    assert "NATO" in labels
    assert "Tessen" in labels
    assert "trout" in labels
    assert "NATO" in run.vectors.display_terms
    assert "NATO" in run.vectorizer.display_terms_
    assert {"nato", "tessen"} <= set(run.vectors.terms)


def corpus(n, shared):
    return [f"Article {number} about topic{number % 7} and matter{number}\n{shared}" for number in range(n)]


def test_words_of_a_line_that_many_documents_share_are_boilerplate():
    assert boilerplate_words(corpus(30, "Sign up for our newsletter.")) == {"sign", "up", "for", "our", "newsletter"}


def test_a_word_that_most_documents_use_elsewhere_too_is_not():
    texts = [
        f"{text}\nThe newsletter is back." if n % 3 else text for n, text in enumerate(corpus(30, "Our newsletter"))
    ]
    texts = [f"{text}\nnewsletter {n}" for n, text in enumerate(texts)]
    assert boilerplate_words(texts) == {"our", "the", "is", "back"}


def test_a_line_of_a_few_documents_is_no_boilerplate():
    assert boilerplate_words(corpus(9, "Sign up for our newsletter.")) == frozenset()


def test_boilerplate_names_no_cluster():
    bodies = ["oil price barrel", "oil barrel export", "wheat harvest rain", "rain wheat field"]
    texts = [f"{bodies[n % 4]}\nblah blah blah" if n % 4 < 2 else bodies[n % 4] for n in range(40)]
    run = run_pipeline([f"{text}\nitem {n} x{n}" for n, text in enumerate(texts)], n_clusters=2, language="none")
    assert "blah" not in " ".join(cluster.label for cluster in run.clusters)
