"""Long documents of invented words, each in runs of paragraphs on one topic: what share is on which topic is known."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from doccluster.base.arrays import Integers
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.validation import RandomState, as_generator, check_positive_int
from doccluster.lab.synthetic.synthetic_vectors import check_number, seed_record
from doccluster.lab.synthetic.zipf import plan_zipf

PARAGRAPH_WORDS = 50
MAX_RUN = 5  # paragraphs that follow one another on a topic
CONCENTRATION = 0.3  # of the Dirichlet distribution that the shares of a document are drawn from


class LongDocuments(NamedTuple):
    """Texts, the words of each on each topic (of shape (n_documents, n_topics)), and what they were made from."""

    texts: list[str]
    words: Integers
    parameters: dict[str, Any]


@at_the_door
def make_long_documents(
    n_documents: int, *, n_topics: int = 6, n_words: int = 1_500, random_state: RandomState = None
) -> LongDocuments:
    """Return documents of about `n_words` words in runs of one to five paragraphs on one of the topics.

    Shares are drawn by a Dirichlet distribution, so that most documents are on two or three topics. Raises InputError
    if an argument is outside its range.

    >>> made = make_long_documents(3, n_topics=2, n_words=400, random_state=0)
    >>> [len(text.split()) for text in made.texts] == made.words.sum(axis=1).tolist()
    True
    """
    n, k = check_positive_int(n_documents, "n_documents"), check_positive_int(n_topics, "n_topics")
    check_number(n_words, "n_words", PARAGRAPH_WORDS, 1_000_000, "words")
    rng = as_generator(random_state)
    n_paragraphs = min(max(200 * k, 6 * n * n_words // PARAGRAPH_WORDS), 100_000)
    # many stories make topics about equally common
    usual: dict[str, Any] = {"n_stories": 50 * k, "story_share": 0.0, "near_duplicates": 0.0}
    corpus = plan_zipf(n_paragraphs, n_topics=k, median_length=PARAGRAPH_WORDS, **usual, random_state=rng)
    pools: dict[str, list[str]] = {}
    for paragraph in corpus.documents():
        pools.setdefault(paragraph.topic, []).append(paragraph.text)
    topics, texts, words = list(map(itertools.cycle, pools.values())), [], np.zeros((n, len(pools)), np.int64)
    for document in range(n):
        shares, paragraphs = rng.dirichlet(np.full(len(topics), CONCENTRATION)), list[str]()
        while words[document].sum() < n_words:
            topic = int(rng.choice(len(topics), p=shares))
            for _ in range(int(rng.integers(1, MAX_RUN + 1))):
                paragraphs.append(next(topics[topic]))
                words[document, topic] += len(paragraphs[-1].split())
        texts.append("\n\n".join(paragraphs))
    parameters = {
        "n_documents": n,
        "n_topics": len(topics),
        "n_words": n_words,
        "random_state": seed_record(random_state),
    }
    return LongDocuments(texts, words, {"kind": "long-documents", **parameters})
