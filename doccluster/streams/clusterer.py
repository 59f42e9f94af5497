"""A batch of articles into stories: read, compared with the last days, put to stories, and these looked at again.

Nothing here knows of a store or of the network. The result of a batch says all that has changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol

from doccluster.stories.cleaning import REMEMBERED, Cleaner, outlet_of
from doccluster.stories.crowd import DAY
from doccluster.stories.looking_again import Bonds, Desk, DeskArticle, Move
from doccluster.stories.words import ArticleWords, WordReader
from doccluster.streams.article import Article, Moment
from doccluster.streams.changes import BatchResult, Event, StoryPlacement, Turn
from doccluster.streams.clock import StreamClock
from doccluster.streams.identity import story_id
from doccluster.streams.settings import StreamSettings
from doccluster.streams.story import Story

LEADS = 20  # newest members among which the one that names a story is chosen
LEAD_MARGIN = 1.25  # by which another one has to be better than the one that names it


class Past(Protocol):
    """What a store knows of the stream besides what is in memory."""

    def articles_of(self, outlet: str, n: int) -> Iterable[tuple[str, str]]:
        """Return the titles and texts of the last n articles of an outlet, in the order in which they were placed."""

    def has_story(self, name: str) -> bool:
        """Return whether there is, or was, a story of an id."""


class NoPast:
    """A stream that is all in memory."""

    def articles_of(self, outlet: str, n: int) -> Iterable[tuple[str, str]]:
        """Return nothing."""
        return ()

    def has_story(self, name: str) -> bool:
        """Return False."""
        return False


class Clusterer:
    """The state of a stream in memory.

    Attributes
    ----------
    desks : dict of language to Desk
        The articles that later ones are compared with.
    stories : dict of id to Story
        The open ones.
    bonds : Bonds
        What an editor has said.
    """

    def __init__(self, settings: StreamSettings | None = None, past: Past | None = None) -> None:
        self.settings = settings or StreamSettings()
        self.clock = StreamClock()
        self.desks: defaultdict[str, Desk] = defaultdict(Desk)
        self.stories: dict[str, Story] = {}
        self.bonds = Bonds()
        self.reader = WordReader()
        self.next_number = 1
        self.outlets: dict[str, int] = {"": 0}
        self._past: Past = past or NoPast()
        self._cleaner, self._is_read = Cleaner(), {""}
        self._key_of: dict[int, str] = {}
        self._language_of: dict[int, str] = {}
        self._story_of_group: dict[str, str] = {}
        self._stay: set[int] = set()  # articles whose texts are gone

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
        edited: Sequence[tuple[int, Article]] = (),
    ) -> BatchResult:
        """Place new articles, which are in the order of the stream, at the moment `now`.

        `is_sure` says that others know the moment too, and a jump to it can be believed. `mates` names a group for the
        keys of articles that go where the first of the group went, while that story is open. `edited` are the numbers
        of known articles that are filed anew, with what they say now; what an editor has placed stays.
        """
        self.clock = self.clock.moved(now, is_sure=is_sure)
        result = BatchResult()
        again = [(number, article) for number, article in edited if self._can_be_refiled(number)]
        taken = [self._take_out(number) for number, _ in again]
        read = self._read([article for _, article in again] + list(articles))
        waiting: defaultdict[str, list[DeskArticle]] = defaultdict(list)
        for (number, _), former, (words, outlet) in zip(again, taken, read, strict=False):
            waiting[words.language].append(self._desk_article(number, former.time, words, outlet, former))
        placed = []
        for article, (words, outlet) in zip(articles, read[len(again) :], strict=True):
            one = self._desk_article(self.next_number, article.time, words, outlet)
            self._key_of[one.number] = article.key
            placed.append((article, words.language, outlet, one))
            waiting[words.language].append(one)
            self.next_number += 1
        similarity: dict[int, float] = {}
        formers = {number: former.story for (number, _), former in zip(again, taken, strict=True)}
        for language, new in waiting.items():
            similarity |= self._place(language, new, mates, formers, result)
        for article, language, outlet, one in placed:
            like = similarity.get(one.number)
            result.placements.append(StoryPlacement(article, language, outlet, one.story, like, one))
        self._close_ended(result)
        self.choose_leads(result)
        for desk in self.desks.values():
            self._let_go(desk.forget(self.time, desk.crowd().window), result)
        return result

    def forget_cleaning(self) -> None:
        """Read what outlets repeat anew when it is needed next: texts have changed."""
        self._cleaner, self._is_read = Cleaner(), {""}

    def has_ended_stories(self, now: Moment, *, is_sure: bool = False) -> bool:
        """Return whether a story would be closed now."""
        then = self.clock.moved(now, is_sure=is_sure).time or 0
        waits = self._waits()
        return any(story.touched + waits[story.language] <= then for story in self.stories.values())

    def article(self, number: int) -> DeskArticle | None:
        """Return the article of a number, None if later ones are not compared with it any more."""
        language = self._language_of.get(number)
        return None if language is None else self.desks[language].articles[number]

    def take_known(self, language: str, one: DeskArticle, key: str) -> None:
        """Take in an article that was placed before."""
        self.desks[language].articles[one.number] = one
        self._language_of[one.number], self._key_of[one.number] = language, key
        if one.story in self.stories:
            self.stories[one.story].members.add(one.number)

    def add_known(self, articles: Sequence[tuple[int, int, str, Article]]) -> dict[int, DeskArticle]:
        """Take in articles that were placed by another rule: number, family and story of each; they are only linked."""
        read = self._read([article for *_, article in articles])
        waiting: defaultdict[str, list[DeskArticle]] = defaultdict(list)
        for (number, family, story, article), (words, outlet) in zip(articles, read, strict=True):
            one = self._desk_article(number, article.time, words, outlet)
            one.family, one.story = family, story
            self._language_of[number], self._key_of[number] = words.language, article.key
            waiting[words.language].append(one)
        linked: dict[int, DeskArticle] = {}
        for language, new in waiting.items():
            linked |= {one.number: one for one in self.desks[language].add(new)}
            self.desks[language].looked_at = self.time
        return linked

    def turn(self, numbers: Sequence[int], source: Story, target: Story, event: Event, result: BatchResult) -> None:
        """Let articles go from a story to another, and record it."""
        for number in numbers:
            one = self.article(number)
            if one is not None:
                one.story = target.id
                source.members.discard(number)
                target.members.add(number)
        source.n_documents -= len(numbers)
        target.n_documents += len(numbers)
        source.changed = target.changed = self.time
        target.touched = max(target.touched, source.touched)
        result.turns.append(Turn(source.id, target.id, tuple(numbers)))
        result.events.append(event)
        for story in (source, target):
            state = "merged" if not story.n_documents else "open" if story.id in self.stories else "closed"
            result.stories[story.id] = story, state
        if not source.n_documents:
            self.stories.pop(source.id, None)

    def found(self, number: int, language: str, key: str, *, is_new: bool, parent: str = "") -> Story:
        """Return a new story that is named after an article; one that was placed before names it by the moment too."""
        article, born = self.article(number), self.time
        if is_new and article is not None:
            born, name = article.time, story_id(key)
        else:
            name = story_id(key, attempt=born)
            while name in self.stories or self._past.has_story(name):
                born -= 1
                name = story_id(key, attempt=born)
        self.stories[name] = Story(name, key, born, language, parent=parent)
        return self.stories[name]

    def choose_leads(self, result: BatchResult) -> None:
        """Let an article that is new, and says what its story says, name it; that changes once a day at most."""
        for story, state in result.stories.values():
            is_there = story.lead in story.members
            if state == "merged" or not story.members:
                continue
            if is_there and self.time < story.led_at + DAY and story.changed < story.led_at:
                continue
            worth = self._worth(story)
            best = max(worth, key=lambda number: (worth[number], -number))
            if not is_there or worth[best] > LEAD_MARGIN * worth.get(story.lead, 0.0):
                story.lead = best
            story.led_at = self.time

    def _read(self, articles: Sequence[Article]) -> list[tuple[ArticleWords, str]]:
        outlets = [outlet_of(article.source) for article in articles]
        for outlet in dict.fromkeys(outlets):
            if outlet not in self._is_read:
                self._is_read.add(outlet)
                for title, text in self._past.articles_of(outlet, REMEMBERED):
                    self._cleaner.clean(title, text, outlet)
        cleaned = [
            (*self._cleaner.clean(article.title, article.text, outlet), outlet)
            for article, outlet in zip(articles, outlets, strict=True)
        ]
        return list(zip(self.reader.read(cleaned), outlets, strict=True))

    def _desk_article(
        self, number: int, time: Moment, words: ArticleWords, outlet: str, former: DeskArticle | None = None
    ) -> DeskArticle:
        terms = self.desks[words.language].numbered(words.words, is_counted=former is None)
        place = self.outlets.setdefault(outlet, len(self.outlets))
        self._language_of[number] = words.language
        return DeskArticle(number, time, place, terms, words.counts, family=0 if former is None else former.family)

    def _place(
        self,
        language: str,
        new: list[DeskArticle],
        mates: Mapping[str, str],
        formers: Mapping[int, str],
        result: BatchResult,
    ) -> dict[int, float]:
        """Put new articles of a language to stories, and look again; return how like they are to the others there."""
        desk = self.desks[language]
        result.linked |= {one.number: one for one in desk.add(new)}
        for one in new:
            first = desk.articles.get(one.copy_of)
            one.family = one.family or (first.family if first is not None else one.number)
        self._put_with_mates(new, mates, result)
        bonds = replace(self.bonds, fixed=self.bonds.fixed | self._stay) if self._stay else self.bonds
        crowd = desk.crowd()
        newest = max(one.time for one in new)  # an archive is read as if its articles had come in then
        now = newest if newest < self.time - 2 * crowd.window else self.time
        is_due = abs(now - desk.looked_at) >= self.settings.look_every
        own = {story.id for story in self.stories.values() if story.language == language}
        for one in new:  # what was edited is put to a story as if it had come in
            one.story = "" if one.number in formers else one.story
        moves = desk.look(now, crowd, own, bonds, None if is_due else [one.number for one in new])
        if is_due:
            desk.looked_at = now
        return self._follow([replace(move, former=formers.get(move.number, move.former)) for move in moves], result)

    def _put_with_mates(self, new: Sequence[DeskArticle], mates: Mapping[str, str], result: BatchResult) -> None:
        """Put articles whose texts are gone to the stories of their groups, where they stay."""
        groups = {one.number: mates[self._key_of[one.number]] for one in new if self._key_of[one.number] in mates}
        for number, group in groups.items():
            story = self.stories.get(self._story_of_group.get(group, ""))
            self._story_of_group[group] = self._enter(number, story, 0.0, result).id
            self._stay.add(number)

    def _follow(self, moves: Sequence[Move], result: BatchResult) -> dict[int, float]:
        """Do what a look has found; return how like new articles are to the others of the stories that they join."""
        groups: defaultdict[tuple[str, str, int], list[Move]] = defaultdict(list)
        for move in moves:
            groups[move.former, move.story, move.founder].append(move)
        founded: dict[int, Story] = {}
        for (former, _, founder), several in groups.items():
            if any(move.number == founder for move in several):
                if former:
                    founded[founder] = self._split_off(several, founder, self.stories[former], result)
                else:
                    founded[founder] = self._enter(founder, None, 0.0, result)
        similarity: dict[int, float] = {}
        for (former, name, founder), several in groups.items():
            target = founded[founder] if founder else self.stories[name]
            if former:
                self._join(several, self.stories[former], target, result)
                continue
            for move in several:
                if move.number != founder:
                    self._enter(move.number, target, move.likeness, result)
                    similarity[move.number] = move.likeness
        return similarity

    def _enter(self, number: int, story: Story | None, likeness: float, result: BatchResult) -> Story:
        """Put a new article to a story, or let it found one."""
        one = self.article(number)
        assert one is not None
        event = "born" if story is None else "grew"
        if story is None:
            story = self.found(number, self._language_of[number], self._key_of[number], is_new=True)
        one.story = story.id
        story.members.add(number)
        story.n_documents += 1
        story.touched = max(story.touched, self.time, one.time)
        result.stories[story.id] = story, "open"
        result.events.append(Event(one.time, event, story.id, "", 1, likeness, number))
        return story

    def _split_off(self, moves: Sequence[Move], founder: int, source: Story, result: BatchResult) -> Story:
        """Let articles of a story found another one, unless they are all that it has."""
        if source.n_documents == len(moves):
            self._join(moves, source, source, result)
            return source
        key = self._key_of[founder]
        story = self.found(founder, source.language, key, is_new=False, parent=source.id)
        story.touched = source.touched
        self._turn("split", moves, source, story, result)
        return story

    def _join(self, moves: Sequence[Move], source: Story, target: Story, result: BatchResult) -> None:
        """Take articles of a story to another one that is there."""
        if source is target:  # articles that were read again stay where they were
            for move in moves:
                one = self.article(move.number)
                assert one is not None
                one.story = source.id
            return
        rest = [move for move in moves if move.number not in target.members]
        if rest:
            self._turn("merged" if source.n_documents == len(rest) else "moved", rest, source, target, result)

    def _turn(self, event: str, moves: Sequence[Move], source: Story, target: Story, result: BatchResult) -> None:
        likeness, former = (
            sum(values) / len(moves)
            for values in ([move.likeness for move in moves], [move.former_likeness for move in moves])
        )
        reason = f"{likeness:.2f} like the articles there, {former:.2f} like those of the former story"
        pair = (source.id, target.id) if event == "split" else (target.id, source.id)
        line = Event(self.time, event, *pair, len(moves), likeness, reason=reason)
        self.turn([move.number for move in moves], source, target, line, result)

    def _can_be_refiled(self, number: int) -> bool:
        """Return whether an article that was edited is still compared, has no copies, and no editor has placed it."""
        one = self.article(number)
        if one is None or one.story not in self.stories or number in self.bonds.fixed:
            return False
        members = self.stories[one.story].members
        others = (self.article(other) for other in members if other != number)
        return all(other is None or other.family != one.family for other in others)

    def _take_out(self, number: int) -> DeskArticle:
        return self.desks[self._language_of[number]].remove(number)

    def _waits(self) -> dict[str, int]:
        """Return after how long without an article a story ends, by language."""
        return {language: desk.crowd().window for language, desk in self.desks.items()}

    def _close_ended(self, result: BatchResult) -> None:
        """Close the stories to which no article can come any more, each at the moment when that was so."""
        waits = self._waits()
        ended = [story for story in self.stories.values() if story.touched + waits[story.language] <= self.time]
        for story in sorted(ended, key=lambda story: (story.touched, story.id)):
            del self.stories[story.id]
            result.stories[story.id] = story, "closed"
            when = story.touched + waits[story.language]
            result.events.append(Event(when, "closed", story.id, n_documents=story.n_documents))

    def _let_go(self, numbers: Sequence[int], result: BatchResult) -> None:
        for number in numbers:
            result.linked.pop(number, None)
            del self._key_of[number], self._language_of[number]
        gone = set(numbers)
        for story in self.stories.values() if gone else ():
            story.members -= gone
        result.forgotten += numbers

    def _worth(self, story: Story) -> dict[int, float]:
        """Return how much the newest articles of a story say of it: how like they are to one another, halved by day."""
        members = [one for number in story.members if (one := self.article(number)) is not None]
        newest = sorted(members, key=lambda one: (-one.time, -one.number))[:LEADS]
        worth: Counter[int] = Counter({one.number: 0.0 for one in newest})
        for one in newest:
            for near, likeness in zip(one.earlier.tolist(), one.likeness.tolist(), strict=True):
                if near in worth:
                    worth[near] += likeness
                    worth[one.number] += likeness
        last = newest[0].time
        return {one.number: worth[one.number] * 2.0 ** ((one.time - last) / DAY) for one in newest}
