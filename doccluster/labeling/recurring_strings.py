"""Longer strings for terms of scripts without blanks, where a term is a piece of a word.

Such texts are cut into pairs of characters (or other short pieces) for counting. A pair says little to a reader, so it
is shown as the longest string around it that recurs whole in the documents of the cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from doccluster.labeling.description import Term
from doccluster.text.scripts import is_unspaced, whole_letters, whole_word, without_ending

LONGEST = 12
MIN_SHARE = 0.6  # part of the occurrences of a term that its longer string must cover
TITLES_SHARE = 1 / 3  # the same of titles, which say what a text is about
MOST_OCCURRENCES = 200
MOST_CUT = 12  # occurrences that are looked at for whole words

Occurrence = tuple[str, int, int]


def recurring_strings(
    terms: Sequence[str],
    texts: Sequence[str],
    *,
    titles: Sequence[str] = (),
    min_share: float = MIN_SHARE,
    longest: int = LONGEST,
) -> Mapping[str, str]:
    """Return for each term in a script without blanks the longest string around it that recurs in `texts`.

    A string grows by the neighbouring character, left or right, that most of the occurrences share, as long as it
    covers `min_share` of the occurrences of the term, has at most `longest` characters, and occurs at least twice.
    Where two of `titles` or more have the term, it is the longest that a third of those share. With the extra ``cjk``,
    and in Korean, it is the words around the term. Terms of other scripts, and terms that no text has, are left
    out.

    >>> recurring_strings(["京地", "metro"], ["東京地下鉄の駅", "駅は東京地下鉄", "東京地下鉄"])
    {'京地': '東京地下鉄'}
    """
    found = {}
    for term in dict.fromkeys(terms):
        if is_unspaced(term):
            occurrences, share = _occurrences(term, list(dict.fromkeys(titles))), TITLES_SHARE
            if len(occurrences) < 2:
                occurrences, share = _occurrences(term, texts), min_share
            if occurrences:
                grown = _grown(occurrences, max(2, share * len(occurrences)), longest)
                found[term] = _whole_words(occurrences) or grown
    return found


def merge_pieces(terms: Sequence[Term], shown: Mapping[str, str], n_terms: int) -> tuple[Term, ...]:
    """Return terms as `shown` has them; pieces of one string are one term, with the sum of their shares.

    The first `n_terms` stay, in the order of their shares. The support of a sum is that of its commonest piece.
    """
    merged: list[Term] = []
    for term in terms:
        text = shown.get(term.term, term.term)
        pieces = set(pairwise(text)) if is_unspaced(text) else set()
        overlapping = (i for i, one in enumerate(merged) if is_unspaced(one.term) and pieces & set(pairwise(one.term)))
        place = next(overlapping, None)
        if place is None:
            merged.append(replace(term, term=text))
        else:
            other = merged[place]
            support = max(other.support, term.support)
            merged[place] = replace(other, share=min(1.0, other.share + term.share), support=support)
    return tuple(sorted(merged, key=lambda term: -term.share)[:n_terms])


def _occurrences(term: str, texts: Sequence[str]) -> list[Occurrence]:
    found: list[Occurrence] = []
    for text in texts:
        start = text.find(term)
        while start >= 0 and len(found) < MOST_OCCURRENCES:
            found.append((text, start, start + len(term)))
            start = text.find(term, start + len(term))
    return found


def _grown(occurrences: list[Occurrence], needed: float, longest: int) -> str:
    text, start, stop = occurrences[0]
    while stop - start < longest:
        left, n_left = _neighbour([text[start - 1 : start] for text, start, _ in occurrences])
        right, n_right = _neighbour([text[stop : stop + 1] for text, _, stop in occurrences])
        if max(n_left, n_right) < needed:
            break
        if n_right >= n_left:
            occurrences = [
                (text, start, stop + 1) for text, start, stop in occurrences if text[stop : stop + 1] == right
            ]
        else:
            occurrences = [
                (text, start - 1, stop) for text, start, stop in occurrences if text[start - 1 : start] == left
            ]
        text, start, stop = occurrences[0]
    return text[slice(*whole_letters(text, start, stop))]


def _whole_words(occurrences: Sequence[Occurrence]) -> str:
    """Return the words that stand most often where a term occurs; nothing where they do not come twice."""
    some = occurrences[:: max(1, len(occurrences) // MOST_CUT)][:MOST_CUT]
    words = Counter(whole_word(*one) for one in some)
    counts: Counter[str] = Counter()
    for word, count in words.items():
        counts[without_ending(word, words)] += count
    word, count = min(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return word if count > 1 or len(occurrences) == 1 else ""


def _neighbour(characters: Sequence[str]) -> tuple[str, int]:
    """Return the commonest neighbour that is a letter of a script without blanks, and how often it comes."""
    counts = Counter(character for character in characters if is_unspaced(character))
    return min(((sign, n) for sign, n in counts.items()), key=lambda pair: (-pair[1], pair[0]), default=("", 0))
