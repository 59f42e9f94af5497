"""An article that changes much while it is young is filed anew: its text came late, or tells of another event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from doccluster.streams.article import Article, Moment
from doccluster.streams.joining import logit
from doccluster.streams.regrouping import new_story, regroup
from doccluster.streams.story import Member, Story

if TYPE_CHECKING:
    from doccluster.streams.clusterer import BatchResult, Clusterer

YOUNG = 86400  # seconds from its date on in which an article that is edited is filed anew


def refile(clusterer: Clusterer, edited: Sequence[tuple[int, str, Article]], now: Moment, result: BatchResult) -> None:
    """Read articles again, and take each to the story that it fits now; it stays where it is if that fits as well.

    Left alone are copies and what has copies, what an editor has placed, and what is in a story that has ended.

    Parameters
    ----------
    edited : sequence of (int, str, Article)
        Number and story of each, and what it says now.
    """
    for number, name, article in edited:
        story = clusterer.stories.open.get(name)
        member = next((one for one in story.members if one.number == number), None) if story else None
        if story is None or member is None or member.n_documents > 1 or clusterer.links.bind(member.family):
            continue
        language = _read_again(clusterer, member, article, result)
        target = _best_without(clusterer, story, member, language)
        is_alone = len(story.members) == 1
        if target is story or (target is None and is_alone):
            result.note(story, "open")
            continue
        target = target or new_story(clusterer.stories, story, [member], now)
        former = story.changed, target.changed
        regroup(clusterer.stories, result, story, [member], target, now, 1.0)
        story.changed, target.changed = former  # one article is no reason to leave a story alone


def _read_again(clusterer: Clusterer, member: Member, article: Article, result: BatchResult) -> str:
    """Give a member the vectors of what it says now; return its language."""
    terms = clusterer.reader.read(article.title, article.text)
    ids = clusterer.frequencies.count_again(terms, member.number)
    (meaning,) = clusterer.meaning_of([article])
    member.vectors = clusterer.frequencies.weigh(terms, ids, meaning)
    result.read_again.append((member.vectors, member.number))
    return terms.language


def _best_without(clusterer: Clusterer, story: Story, member: Member, language: str) -> Story | None:
    """Return the story that an article of `story` joins if it is taken out of that."""
    stories = clusterer.stories
    own = story.members
    story.n_families -= 1
    stories.replace(story, [one for one in own if one is not member])
    cut = logit(stories.settings.join)
    compared = stories.compare(member.vectors, time=member.time, language=language)
    matches = stories.matches(compared, cut)
    place = matches[0].story.place if matches else -1
    compared.teach(stories.scale(language), place, cut=cut)  # what it said before is no measure for whole texts
    story.n_families += 1
    stories.replace(story, own)
    return matches[0].story if matches else None
