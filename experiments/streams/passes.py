"""The lines to beat: a pass with one threshold, in thirty lines, and a first-come rule; both see the past alone.

They have the words, the cleaning and the centre of the rule, so that what differs is how stories are made.
"""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
from scipy import sparse

from doccluster.stories.likeness import SAME_OUTLET, SAME_TEXT, ArticleLikeness, word_weights
from doccluster.stories.words import Cleaner, WordReader, outlet_of
from doccluster.streams.article import batches_of
from doccluster.streams.settings import DAY, HOUR
from experiments.streams.labelled import LabelledStream
from experiments.streams.replaying import N_PARTS, Outcome

WINDOW = 3 * DAY
CENTRE = 1_000  # newest articles


class Rows:
    """The vectors of the window, weighed by the articles so far when each came in."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.n_with_term: Counter[int] = Counter()
        self.n_articles = 0

    def vectors(self, words: list) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return terms and weights of articles that come in together, which count too."""
        terms = [np.array([self.numbers.setdefault(one, len(self.numbers)) for one in own.words], int) for own in words]
        for own in terms:
            self.n_with_term.update(own.tolist())
        self.n_articles += len(words)
        found = []
        for own, article in zip(terms, words, strict=True):
            having = np.array([self.n_with_term[term] for term in own.tolist()], dtype=np.int64)
            weights = word_weights(article.counts, having, self.n_articles)
            found.append((own, weights / (np.linalg.norm(weights) or 1.0)))
        return found


def single_pass(stream: LabelledStream, threshold: float, *, is_first_come: bool = False) -> Outcome:
    """Return the stories of one pass: an article joins the likest story by its mean cosine within 72 hours.

    The first-come rule has centred cosines, .7 x mean + .3 x greatest, less of one outlet, and a bar that is higher for
    young stories: the online rule without its merges.
    """
    cleaner, reader, rows, outcome = Cleaner(), WordReader(), Rows(), Outcome()
    kept, times, outlets, story_of = [], [], [], []
    n_done, n_before, begun, n_stories = 0, 0, time.process_time(), 0
    for _, articles in batches_of(stream.articles, HOUR):
        names = [outlet_of(one.source) for one in articles]
        cleaned = [(*cleaner.clean(one.title, one.text, name), name) for one, name in zip(articles, names, strict=True)]
        kept += rows.vectors(reader.read(cleaned))
        times += [one.time for one in articles]
        outlets += names
        first = int(np.searchsorted(times, articles[0].time - WINDOW))
        del kept[:first], times[:first], outlets[:first], story_of[:first]
        ends = np.concatenate([[0], np.cumsum([terms.size for terms, _ in kept])])
        terms, values = (np.concatenate([pair[side] for pair in kept]) for side in (0, 1))
        matrix = sparse.csr_array((values.astype(np.float32), terms, ends), shape=(len(kept), len(rows.numbers)))
        n_new = len(articles)
        cosines = (matrix[-n_new:] @ matrix.T).toarray()
        if is_first_come:
            cosines = _centred(cosines, matrix, np.array(times), outlets, n_new)
        crowd = len(kept) / (len(kept) + 500)
        for place in range(len(kept) - n_new, len(kept)):
            own = cosines[place - len(kept) + n_new, :place]
            numbers, where = np.unique(np.array(story_of, int), return_inverse=True)
            best, story = -1.0, -1
            if place:
                sizes = np.bincount(where)
                scores = np.bincount(where, weights=own) / sizes
                if is_first_come:
                    greatest = np.full(sizes.size, -1.0)
                    np.maximum.at(greatest, where, own)
                    scores = (0.7 * scores + 0.3 * greatest) / (1 + 0.5 * crowd / sizes)
                best, story = float(scores.max()), int(numbers[scores.argmax()])
            if best < threshold:
                story, n_stories = n_stories, n_stories + 1
            story_of.append(story)
        outcome.story_of |= {
            one.id: str(story) for one, story in zip(articles, story_of[len(kept) - n_new :], strict=True)
        }
        n_done += n_new
        if n_done >= len(stream.articles) * (len(outcome.seconds) + 1) / N_PARTS:
            now = time.process_time()
            outcome.seconds.append(1000 * (now - begun) / (n_done - n_before))
            n_before, begun = n_done, now
    outcome.early_story_of = dict(outcome.story_of)
    return outcome


def _centred(cosines: np.ndarray, matrix: sparse.csr_array, times: np.ndarray, outlets: list[str], n_new: int):
    """Return centred cosines of the last rows with all, less for those of one outlet."""
    codes = np.unique(outlets, return_inverse=True)[1]
    centre = ArticleLikeness(matrix, times, codes.astype(np.int32), slice(max(0, len(outlets) - CENTRE), len(outlets)))
    to_centre, common = centre.to_centre, float(centre.common)
    here, there = to_centre[-n_new:, None], to_centre[None, :]
    spread = np.maximum((1 - 2 * here + common) * (1 - 2 * there + common), 0.01)
    found = (cosines - here - there + common) / np.sqrt(spread)
    is_same = (codes[-n_new:, None] == codes) & (np.array(outlets) != "") & (found < SAME_TEXT)
    found[is_same] *= SAME_OUTLET
    return found
