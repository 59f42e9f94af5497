"""Whether stories across languages, joined by the names and numbers that two languages write alike, are better ones."""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Mapping
from itertools import combinations

from doccluster.streams.article import article, in_order
from doccluster.streams.settings import StreamSettings
from experiments.streams.labelled import LANGUAGES, LabelledStream, itn
from experiments.streams.replaying import RememberingReader, judge, replay


def in_all_languages(folder: pathlib.Path) -> tuple[LabelledStream, Mapping[str, str]]:
    """Return "In the news" of the ten languages as one stream, and the language of each article.

    A story is an item of Wikidata, whatever language its blurbs are in.
    """
    found, story_of, language_of = [], {}, {}
    for language in LANGUAGES:
        own = itn(folder, language)
        for one in own.articles:
            name = f"{language}-{one.id}"
            told = {"date": one.date, "title": one.title, "text": one.text, "source": one.source, "link": one.link}
            found.append(article(time=one.time, id=name, guid=name, **told))
            language_of[name] = language
            if one.id in own.story_of:
                story_of[name] = own.story_of[one.id]
    return LabelledStream("ITN, ten languages", tuple(in_order(found)), story_of), language_of


def pairs_across(
    found: Mapping[str, str], stream: LabelledStream, language_of: Mapping[str, str], stories: frozenset[str]
) -> tuple[int, int, int]:
    """Return the pairs of articles in two languages that are of one true story, in one found story, and in both."""
    names = [one.id for one in stream.articles if stream.story_of.get(one.id) in stories]
    counts = Counter(
        (stream.story_of[one] == stream.story_of[other], found[one] == found[other])
        for one, other in combinations(names, 2)
        if language_of[one] != language_of[other]
    )
    return (
        counts[True, True] + counts[True, False],
        counts[True, True] + counts[False, True],
        counts[True, True],
    )


def measure_languages(folder: pathlib.Path) -> None:
    """Print what stories of one language and stories across languages are worth on the second half in time."""
    stream, language_of = in_all_languages(folder)
    reader = RememberingReader()
    _, second = stream.halves()
    print(
        f"  {len(stream.articles):,} articles in {len(LANGUAGES)} languages, {len(second)} stories in the second half"
    )
    for is_across in (False, True):
        outcome = replay(stream, settings=StreamSettings(across_languages=is_across), reader=reader)
        scores = judge(outcome.story_of, stream, second)
        told = ", ".join(
            f"{name.replace('_', ' ')} {scores[name]:.3f}"
            for name in ("pair_precision", "pair_recall", "pair_f", "bcubed_f")
        )
        print(f"  {'across languages' if is_across else 'one language each'}: {told}", flush=True)
        n_true, n_found, n_right = pairs_across(outcome.story_of, stream, language_of, second)
        print(f"    pairs in two languages: {n_true:,} true, {n_found:,} found, {n_right:,} of them right")
        for language in LANGUAGES:
            own = LabelledStream(
                language,
                tuple(one for one in stream.articles if language_of[one.id] == language),
                {name: story for name, story in stream.story_of.items() if language_of[name] == language},
            )
            within = judge(outcome.story_of, own, second & frozenset(own.story_of.values()))
            print(
                f"    within {language}: pair F {within['pair_f']:.3f}, BCubed F {within['bcubed_f']:.3f}", flush=True
            )
