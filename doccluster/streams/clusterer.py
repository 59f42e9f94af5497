"""A batch of articles into stories: copies are folded, articles placed, stories repaired and closed, in a fixed order.

Nothing here knows of a store or of the network. The result of a batch says all that has changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from doccluster.streams.article import Article, Moment
from doccluster.streams.article_terms import TermReader
from doccluster.streams.changes import BatchResult, Event, StoryPlacement
from doccluster.streams.clock import StreamClock
from doccluster.streams.copies import Families, codes_of_article
from doccluster.streams.frequencies import DAY, TermFrequencies, WeightedTerms
from doccluster.streams.identity import story_id
from doccluster.streams.joining import Floats, logit, probability, shipped_coefficients
from doccluster.streams.open_stories import OpenStories
from doccluster.streams.regrouping import Links, new_story, regroup
from doccluster.streams.repair import Repair
from doccluster.streams.settings import StreamSettings
from doccluster.streams.story import Member, Story

MeaningOf = Callable[[Sequence[Article]], Iterable[npt.NDArray[np.float32] | None]]


def _no_meaning(articles: Sequence[Article]) -> Iterable[None]:
    return itertools.repeat(None, len(articles))


class Clusterer:
    """The state of a stream in memory.

    Parameters
    ----------
    settings : StreamSettings, optional
    coefficients : float64 array of shape (7,), optional
        The weights of `joining.FEATURES`; those that are shipped if left out.
    meaning_of : function of a list of Article, optional
        Returns a row for each, rounded as `article_meaning.rounded` does.
    """

    def __init__(
        self,
        settings: StreamSettings | None = None,
        coefficients: Floats | None = None,
        meaning_of: MeaningOf | None = None,
    ) -> None:
        self.settings = settings or StreamSettings()
        weights = shipped_coefficients() if coefficients is None else coefficients
        self.stories = OpenStories(self.settings, weights)
        self.clock = StreamClock()
        self.frequencies = TermFrequencies()
        self.families = Families(self.settings.copy_window)
        self.reader = TermReader()
        self.meaning_of: MeaningOf = meaning_of or _no_meaning
        self.story_of_family: dict[int, str] = {}
        self._story_of_group: dict[str, str] = {}
        self.links = Links()
        self.next_number = 1
        self._cut = logit(self.settings.join)
        self._forgotten_before: Moment = 0
        self.looked_on = 0

    @property
    def time(self) -> Moment:
        """What the clock of the stream says, 0 before the first batch."""
        return self.clock.time or 0

    def run_batch(
        self,
        articles: Sequence[Article],
        now: Moment,
        *,
        is_sure: bool = False,
        mates: Mapping[str, str] = MappingProxyType({}),
        edited: Sequence[tuple[int, str, Article]] = (),
    ) -> BatchResult:
        """Place new articles, which are in the order of the stream, at the moment `now`.

        `is_sure` says that others know the moment too, and a jump to it can be believed. `mates` names a group for the
        keys of articles that go where the first of the group went, while that story is open. `edited` are known
        articles that are filed anew, as for `_refile`.
        """
        self.clock = self.clock.moved(now, is_sure=is_sure)
        result = BatchResult()
        repair = Repair(self.stories, result, self.links)
        read = [self.reader.read(one.title, one.text) for one in articles]
        counted = [self.frequencies.count(terms, number) for number, terms in enumerate(read, self.next_number)]
        self.frequencies.begin_batch(now // DAY)
        self._refile(edited, result)
        self._follow_moves(result)
        meant = self.meaning_of(articles)
        for article, terms, ids, meaning in zip(articles, read, counted, meant, strict=True):
            vectors = self.frequencies.weigh(terms, ids, meaning)
            group = mates.get(article.key, "")
            kept = self.stories.open.get(self._story_of_group.get(group, ""))
            self._place(article, terms.language, self._member(article, vectors), result, repair, kept)
            if group:
                self._story_of_group[group] = result.placements[-1].story
                self.links.groups.setdefault(group, set()).add(result.placements[-1].family)
            self.next_number += 1
        if self.time // DAY != self.looked_on:  # the second look at all stories, once a day
            repair.look_again(self.looked_on * DAY)
            self.looked_on = self.time // DAY
        repair.run(now)
        self.settle(result)
        self._close_ended(result)
        forgotten = self.stories.forget_closed_before(self.time - int(self.settings.resume_within))
        result.forgotten = [one.id for one in forgotten]
        self._forget_copies(result)
        return result

    def settle(self, result: BatchResult) -> None:
        """Follow the moves of a batch: where later copies go, and what stories are called."""
        self._follow_moves(result)
        for story in (
            *result.touched.values(),
            *(story for story, state in result.ended.values() if state == "closed"),
        ):
            self.stories.choose_lead(story, self.time)

    def has_ended_stories(self, now: Moment, *, is_sure: bool = False) -> bool:
        """Return whether a story would be closed now."""
        return bool(self.stories.ended_by(self.clock.moved(now, is_sure=is_sure).time or 0))

    def _close_ended(self, result: BatchResult) -> None:
        """Close the stories for which nothing has come long enough, each at the moment when that was so."""
        for story in self.stories.ended_by(self.time):
            self.stories.close(story)
            result.touched.pop(story.id, None)
            result.ended[story.id] = (story, "closed")
            result.events.append(Event(story.ends(self.settings), "closed", story.id, n_documents=story.n_documents))

    def _place(
        self, article: Article, language: str, member: Member, result: BatchResult, repair: Repair, kept: Story | None
    ) -> None:
        codes = codes_of_article(article.title, article.text)
        family, joined = self.families.add(member.number, article.time, codes, arrived=self.time, outlet=article.source)
        member.family = family
        home = self._home_of(family, joined)
        self._join_families(family, joined, result)
        margin: float | None = None
        similarity: float | None = 1.0
        if home is not None:
            for one in home.members:
                one.n_documents += one.family == family
            self._grow(home, article, result, similarity=1.0)
            story = home
        else:
            story, similarity, margin = self._join_or_found(article, language, member, result, repair, kept)
        self.story_of_family[family] = story.id
        if not story.language:
            story.language = language
            self.stories.note(story)
        result.touched[story.id] = story
        placed = family, story.id, home is None, similarity, margin, member.vectors
        result.placements.append(StoryPlacement(member.number, article, language, *placed))

    def _join_or_found(
        self, article: Article, language: str, member: Member, result: BatchResult, repair: Repair, kept: Story | None
    ) -> tuple[Story, float | None, float | None]:
        """Return the story of an article that is no copy, and how like it and by how much the best it is."""
        about: dict[str, Any] = {"time": article.time, "language": language}
        compared = self.stories.compare(member.vectors, **about)
        matches = self.stories.matches(compared, self._cut)
        if kept is not None:
            matches = [self.stories.match(kept, member.vectors, **about)]
        if matches:
            best = matches[0]
            compared.teach(self.stories.scale(language), best.story.place, cut=self._cut)
            rival = max([self.settings.join, *(probability(one.score) for one in matches[1:2])])
            best.story.n_families += 1
            self._grow(best.story, article, result, similarity=best.likeness)
            self.stories.add(best.story, member)
            repair.consider(best.story, matches[1:])
            return best.story, best.likeness, None if kept is not None else probability(best.score) - rival
        compared.teach(self.stories.scale(language), cut=self._cut)
        former = self.stories.nearest_ended(member.vectors, **about)
        story = self._found(article, language, member, result)
        if former is not None and former.score >= logit(self.settings.resume):
            story.parent = former.story.id
            result.events.append(Event(article.time, "resumed", story.id, story.parent, 1, former.likeness))
        return story, None, None

    def _member(self, article: Article, vectors: WeightedTerms) -> Member:
        return Member(self.next_number, self.next_number, article.key, article.time, vectors)

    def _join_families(self, family: int, joined: Sequence[int], result: BatchResult) -> None:
        """Let families that a copy has joined be one; a story counts it once from then on."""
        for old in joined:
            result.joined_families.append((old, family))
            self.links.rename(old, family)
            story = self.stories.open.get(self.story_of_family.pop(old, ""))
            if story is None:
                continue
            own = next((one for one in story.members if one.family == old), None)
            first = next((one for one in story.members if one.family == family), None)
            if own is None:
                continue
            own.family = family
            if first is not None:
                first.n_documents += own.n_documents
                story.n_families -= 1
                result.left.append(own.number)
                self.stories.replace(story, [one for one in story.members if one is not own])
            result.touched[story.id] = story

    def _home_of(self, family: int, joined: Sequence[int]) -> Story | None:
        """Return the open story that a copy goes to: that of the oldest family it belongs to."""
        for one in (family, *joined):
            home = self.stories.open.get(self.story_of_family.get(one, ""))
            if home is not None:
                return home
        return None

    def _grow(self, story: Story, article: Article, result: BatchResult, *, similarity: float) -> None:
        story.n_documents += 1
        story.last, story.first = max(story.last, article.time), min(story.first, article.time)
        story.touched = max(self.time, story.last)
        self.stories.note(story)
        result.events.append(Event(article.time, "grew", story.id, "", 1, similarity, self.next_number))

    def _found(self, article: Article, language: str, member: Member, result: BatchResult) -> Story:
        time = article.time
        story = Story(story_id(article.key), article.key, time, time, time, language, n_documents=1, n_families=1)
        story.touched = max(self.time, time)
        story.members.append(member)
        self.stories.open_new(story)
        result.events.append(Event(time, "born", story.id, n_documents=1, number=member.number))
        return story

    def _follow_moves(self, result: BatchResult) -> None:
        for old, new, families in result.moves:
            moved = set(families)
            is_whole = result.ended.get(old, (None, ""))[1] == "merged"
            for family, story in self.story_of_family.items():
                if story == old and (family in moved or is_whole):
                    self.story_of_family[family] = new

    def _forget_copies(self, result: BatchResult) -> None:
        """Let go of what came in before the window in which there can be copies, which moves once a day."""
        window = self.settings.copies_from(self.time)
        if window <= self._forgotten_before:
            return
        self._forgotten_before = result.copies_from = window
        self.families.forget_before(window)
        living = {family for _, family in self.families}
        self.story_of_family = {family: story for family, story in self.story_of_family.items() if family in living}

    def _refile(self, edited: Sequence[tuple[int, str, Article]], result: BatchResult) -> None:
        """Read edited articles again, and take each to the story that it fits now; it stays if its own fits as well.

        Left alone are copies and what has copies, what an editor has placed, and what is in a story that has ended.

        Parameters
        ----------
        edited : sequence of (int, str, Article)
            Number and story of each, and what it says now.
        """
        for number, name, article in edited:
            story = self.stories.open.get(name)
            member = next((one for one in story.members if one.number == number), None) if story else None
            if story is None or member is None or member.n_documents > 1 or self.links.bind(member.family):
                continue
            language = self._read_again(member, article, result)
            target = self._best_without(story, member, language)
            is_alone = len(story.members) == 1
            if target is story or (target is None and is_alone):
                result.note(story, "open")
                continue
            target = target or new_story(self.stories, story, [member], self.time)
            former = story.changed, target.changed
            regroup(self.stories, result, story, [member], target, self.time, 1.0)
            story.changed, target.changed = former  # one article is no reason to leave a story alone

    def _read_again(self, member: Member, article: Article, result: BatchResult) -> str:
        """Give a member the vectors of what it says now; return its language."""
        terms = self.reader.read(article.title, article.text)
        ids = self.frequencies.count_again(terms, member.number)
        (meaning,) = self.meaning_of([article])
        member.vectors = self.frequencies.weigh(terms, ids, meaning)
        result.read_again.append((member.vectors, member.number))
        return terms.language

    def _best_without(self, story: Story, member: Member, language: str) -> Story | None:
        """Return the story that an article of `story` joins if it is taken out of that."""
        stories = self.stories
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
