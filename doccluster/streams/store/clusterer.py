"""A batch of articles into stories: read, compared with the last days, put to stories, and these looked at again.

The result of a batch says all that has changed; `store` writes it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from doccluster.stories.likeness import DAY, WINDOW
from doccluster.stories.looking_again import Bonds, Desk, DeskArticle, Move
from doccluster.stories.words import REMEMBERED, ArticleWords, Cleaner, WordReader, outlet_of
from doccluster.streams.article import Article, Moment, StreamClock, story_id
from doccluster.streams.settings import StreamSettings

LEADS = 20  # newest members among which the one that names a story is chosen
LEAD_MARGIN = 1.25  # by which another one has to be better than the one that names it
# what the store keeps of a story that is not told by its documents, besides its id and state
STORY_FIELDS = ("founder", "born", "language", "parent", "lead", "led_at", "changed", "touched")
_OUTLET = "SELECT title, plain(text) FROM document WHERE outlet = ? AND number > 0 ORDER BY number DESC LIMIT ?"


@dataclass(slots=True)
class Story:
    """A living story."""

    id: str
    founder: str  # the key of the article that it is named after
    born: Moment  # the time of its founder, or what the clock said at a split
    language: str
    parent: str = ""  # the story that it was split off
    lead: int = 0  # the number of the article that names it
    led_at: int = 0  # when that was chosen
    changed: Moment = 0  # when articles went from it to another story, or came from one
    # what the stream's clock said when an article came last, whatever its date; the date if that is later
    touched: Moment = 0
    n_documents: int = 0
    members: set[int] = field(default_factory=set)  # the numbers of its articles that later ones are compared with


def read_stories(connection: sqlite3.Connection, condition: str, *values: str) -> list[Story]:
    """Return the stories of a store that meet a condition, without their members, the oldest first."""
    names = ", ".join(STORY_FIELDS)
    rows = connection.execute(
        f"SELECT story_id, n_documents, {names} FROM story WHERE {condition} ORDER BY born, story_id", values
    )
    return [
        Story(name, **dict(zip(STORY_FIELDS, fields, strict=True)), n_documents=n_documents)
        for name, n_documents, *fields in rows
    ]


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a story."""

    when: Moment
    # born, grew, merged, split, moved, closed, renamed or pinned; the store writes a line `moved` for each document
    event: str
    story: str
    other: str = ""  # of `merged` the story that ended, of `split` the new one
    n_documents: int = 0  # that it is about
    similarity: float = 0.0  # the mean likeness with the other articles of the story
    numbers: tuple[int, ...] = ()  # the articles that came in, or went to another story
    reason: str = ""  # why they did

    @property
    def target(self) -> str:
        """The story that its articles went to."""
        return self.other if self.event == "split" else self.story

    @property
    def source(self) -> str:
        """The story that they came from, "" for new ones."""
        return self.story if self.event == "split" else self.other


@dataclass(frozen=True, slots=True)
class StoryPlacement:
    """A new article."""

    article: Article
    language: str
    outlet: str
    placed: DeskArticle


@dataclass(slots=True)
class BatchResult:
    """All that a batch has changed."""

    placements: list[StoryPlacement] = field(default_factory=list)  # the new articles, in the order of the stream
    # of new articles, by number, but for the first of a story: the mean likeness with the others there
    similarity: dict[int, float] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    # that have changed, by id, and their states: open, closed or merged
    stories: dict[str, tuple[Story, str]] = field(default_factory=dict)
    # by number: articles whose words or links are others than before
    linked: dict[int, DeskArticle] = field(default_factory=dict)
    # the numbers of articles that later ones are not compared with any more
    forgotten: list[int] = field(default_factory=list)
    language: str = ""  # that of all articles so far, if it could not be told before


class Clusterer:
    """The state of a stream in memory; `store` has the texts of earlier articles and the names of earlier stories."""

    def __init__(self, settings: StreamSettings | None = None, store: sqlite3.Connection | None = None) -> None:
        self.settings = settings or StreamSettings()
        self.clock = StreamClock()
        self.desks: defaultdict[str, Desk] = defaultdict(Desk)
        self.stories: dict[str, Story] = {}
        self.bonds = Bonds()
        self.reader = WordReader()
        self.next_number = 1
        self.outlets: dict[str, int] = {"": 0}
        self._store = store
        self._key_of: dict[int, str] = {}
        self._language_of: dict[int, str] = {}
        self._story_of_group: dict[str, str] = {}
        self._stay: set[int] = set()  # articles whose texts are gone
        self.forget_cleaning()

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
        formers = {number: self.desks[self._language_of[number]].remove(number) for number, _ in again}
        numbered = again + list(enumerate(articles, self.next_number))
        words_of = self._read([article for _, article in numbered])
        self._adopt_language(result)
        waiting: defaultdict[str, list[DeskArticle]] = defaultdict(list)
        for (number, article), (words, outlet) in zip(numbered, words_of, strict=True):
            desk_article = self._desk_article(number, article, words, outlet, formers.get(number))
            waiting[words.language].append(desk_article)
            if number >= self.next_number:
                result.placements.append(StoryPlacement(article, words.language, outlet, desk_article))
        self.next_number += len(articles)
        for language, new in waiting.items():
            self._place(language, new, mates, formers, result)
        self._close_ended(result)
        self.choose_leads(result)
        for language, wait in self._waits().items():
            self._let_go(self.desks[language].forget(self.time, wait), result)
        return result

    def forget_cleaning(self) -> None:
        """Read what outlets repeat anew when it is needed next: texts have changed."""
        self._cleaner, self._cleaned_outlets = Cleaner(), {""}

    def has_ended_stories(self, now: Moment, *, is_sure: bool = False) -> bool:
        """Return whether a story would be closed now."""
        then = self.clock.moved(now, is_sure=is_sure).time or 0
        waits = self._waits()
        return any(story.touched + waits[story.language] <= then for story in self.stories.values())

    def article(self, number: int) -> DeskArticle | None:
        """Return the article of a number, None if later ones are not compared with it any more."""
        language = self._language_of.get(number)
        return None if language is None else self.desks[language].articles[number]

    def take_known(self, language: str, article: DeskArticle, key: str) -> None:
        """Take in an article that was placed before."""
        self.desks[language].articles[article.number] = article
        self._language_of[article.number], self._key_of[article.number] = language, key
        if article.story in self.stories:
            self.stories[article.story].members.add(article.number)

    def add_known(self, articles: Sequence[tuple[int, int, str, Article]]) -> dict[int, DeskArticle]:
        """Take in articles that were placed by another rule: number, family and story of each; they are only linked."""
        waiting: defaultdict[str, list[DeskArticle]] = defaultdict(list)
        words_of = self._read([article for *_, article in articles])
        for (number, family, story, article), (words, outlet) in zip(articles, words_of, strict=True):
            desk_article = self._desk_article(number, article, words, outlet)
            desk_article.family, desk_article.story = family, story
            waiting[words.language].append(desk_article)
        linked: dict[int, DeskArticle] = {}
        for language, new in waiting.items():
            linked |= {article.number: article for article in self.desks[language].add(new)}
            self.desks[language].looked_at = self.time
        return linked

    def turn(
        self,
        numbers: Sequence[int],
        source: Story,
        target: Story,
        result: BatchResult,
        *,
        likeness: float = 1.0,
        reason: str = "an editor has said so",
        is_new: bool = False,
    ) -> None:
        """Let articles go from a story to another, and record it; `is_new` says that the other begins with them."""
        name = "merged" if len(numbers) == source.n_documents else "split" if is_new else "moved"
        ends = (source.id, target.id) if name == "split" else (target.id, source.id)
        result.events.append(Event(self.time, name, *ends, len(numbers), likeness, tuple(numbers), reason))
        for number in numbers:
            article = self.article(number)
            if article is not None:
                article.story = target.id
                source.members.discard(number)
                target.members.add(number)
        source.n_documents -= len(numbers)
        target.n_documents += len(numbers)
        source.changed = target.changed = self.time
        target.touched = max(target.touched, source.touched)
        for story in (source, target):
            state = "merged" if not story.n_documents else "open" if story.id in self.stories else "closed"
            result.stories[story.id] = story, state
        if not source.n_documents:
            self.stories.pop(source.id, None)

    def new_story(self, key: str, language: str, born: Moment, *, parent: str = "") -> Story:
        """Return a new story that is named after an article: one that was split off by the moment too."""
        name = story_id(key, attempt=born if parent else 0)
        while parent and (name in self.stories or self._was_story(name)):
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

    def _was_story(self, name: str) -> bool:
        if self._store is None:
            return False
        return self._store.execute("SELECT 1 FROM story WHERE story_id = ?", (name,)).fetchone() is not None

    def _read(self, articles: Sequence[Article]) -> list[tuple[ArticleWords, str]]:
        """Return the words and the outlet of each article."""
        outlets = [outlet_of(article.source) for article in articles]
        for outlet in dict.fromkeys(outlets):
            if outlet not in self._cleaned_outlets and self._store is not None:
                for title, text in self._store.execute(_OUTLET, (outlet, REMEMBERED)).fetchall()[::-1]:
                    self._cleaner.clean(title, text, outlet)
            self._cleaned_outlets.add(outlet)
        cleaned = [
            (*self._cleaner.clean(article.title, article.text, outlet), outlet)
            for article, outlet in zip(articles, outlets, strict=True)
        ]
        return list(zip(self.reader.read(cleaned), outlets, strict=True))

    def _adopt_language(self, result: BatchResult) -> None:
        """Count what came in before the first article that tells its language to the language of the stream."""
        language = self.reader.main_language
        if not language or "" not in self.desks or language in self.desks:
            return
        desk = self.desks[language] = self.desks.pop("")
        desk.leave_out(self.reader.stop_words[language])
        self._language_of = dict.fromkeys(self._language_of, language)
        for story in self.stories.values():
            story.language = language
        result.language, result.linked = language, dict(desk.articles)

    def _desk_article(
        self, number: int, article: Article, words: ArticleWords, outlet: str, former: DeskArticle | None = None
    ) -> DeskArticle:
        terms = self.desks[words.language].numbered(words.words, is_counted=former is None)
        place = self.outlets.setdefault(outlet, len(self.outlets))
        self._language_of[number], self._key_of[number] = words.language, article.key
        if former is None:
            return DeskArticle(number, article.time, place, terms, words.counts)
        return DeskArticle(number, former.time, place, terms, words.counts, family=former.family)

    def _place(
        self,
        language: str,
        new: list[DeskArticle],
        mates: Mapping[str, str],
        formers: Mapping[int, DeskArticle],
        result: BatchResult,
    ) -> None:
        """Put new articles of a language to stories, and look again."""
        desk = self.desks[language]
        result.linked |= {article.number: article for article in desk.add(new)}
        for article in new:
            original = desk.articles.get(article.copy_of)
            article.family = article.family or (original.family if original is not None else article.number)
        self._put_with_mates(new, mates, result)
        bonds = replace(self.bonds, fixed=self.bonds.fixed | self._stay) if self._stay else self.bonds
        crowd = desk.crowd()
        newest = max(article.time for article in new)  # an archive is read as if its articles had come in then
        now = newest if newest < self.time - 2 * crowd.window else self.time
        is_due = abs(now - desk.looked_at) >= self.settings.look_every
        stories = {story.id for story in self.stories.values() if story.language == language}
        moves = desk.look(now, crowd, stories, bonds, None if is_due else [article.number for article in new])
        if is_due:
            desk.looked_at = now
        edited = {number: former.story for number, former in formers.items()}
        self._follow([replace(move, former=edited.get(move.number, move.former)) for move in moves], result)

    def _put_with_mates(self, new: Sequence[DeskArticle], mates: Mapping[str, str], result: BatchResult) -> None:
        """Put articles whose texts are gone to the stories of their groups, where they stay."""
        for article in new:
            group = mates.get(self._key_of[article.number])
            if group is not None:
                story = self.stories.get(self._story_of_group.get(group, ""))
                self._story_of_group[group] = self._enter(article.number, story, 0.0, result).id
                self._stay.add(article.number)

    def _follow(self, moves: Sequence[Move], result: BatchResult) -> None:
        """Do what a look has found."""
        groups: defaultdict[tuple[str, str, int], list[Move]] = defaultdict(list)
        for move in moves:
            groups[move.former, move.story, move.founder].append(move)
        founded: dict[int, Story] = {}
        for (former, _, founder), group in groups.items():
            if any(move.number == founder for move in group):
                if former:
                    founded[founder] = self._split_off(group, founder, self.stories[former], result)
                else:
                    founded[founder] = self._enter(founder, None, 0.0, result)
        for (former, name, founder), group in groups.items():
            target = founded[founder] if founder else self.stories[name]
            if former:
                self._join(group, self.stories[former], target, result)
                continue
            for move in group:
                if move.number != founder:
                    self._enter(move.number, target, move.likeness, result)
                    result.similarity[move.number] = move.likeness

    def _enter(self, number: int, story: Story | None, likeness: float, result: BatchResult) -> Story:
        """Put a new article to a story, or let it found one."""
        article = self.article(number)
        assert article is not None
        event = "born" if story is None else "grew"
        story = story or self.new_story(self._key_of[number], self._language_of[number], article.time)
        article.story = story.id
        story.members.add(number)
        story.n_documents += 1
        story.touched = max(story.touched, self.time, article.time)
        result.stories[story.id] = story, "open"
        result.events.append(Event(article.time, event, story.id, "", 1, likeness, (number,)))
        return story

    def _split_off(self, moves: Sequence[Move], founder: int, source: Story, result: BatchResult) -> Story:
        """Let articles of a story found another one, unless they are all that it has."""
        if source.n_documents == len(moves):
            self._join(moves, source, source, result)
            return source
        story = self.new_story(self._key_of[founder], source.language, self.time, parent=source.id)
        story.touched = source.touched
        self._turn(moves, source, story, result, is_new=True)
        return story

    def _join(self, moves: Sequence[Move], source: Story, target: Story, result: BatchResult) -> None:
        """Take articles of a story to another one that is there; those that were read again can stay."""
        if source is target:
            for move in moves:
                article = self.article(move.number)
                assert article is not None
                article.story = source.id
            return
        moves = [move for move in moves if move.number not in target.members]
        if moves:
            self._turn(moves, source, target, result)

    def _turn(
        self, moves: Sequence[Move], source: Story, target: Story, result: BatchResult, *, is_new: bool = False
    ) -> None:
        likeness = sum(move.likeness for move in moves) / len(moves)
        former = sum(move.former_likeness for move in moves) / len(moves)
        reason = f"{likeness:.2f} like the articles there, {former:.2f} like those of the former story"
        numbers = [move.number for move in moves]
        self.turn(numbers, source, target, result, likeness=likeness, reason=reason, is_new=is_new)

    def _can_be_refiled(self, number: int) -> bool:
        """Return whether an article that was edited is still compared, has no copies, and no editor has placed it."""
        article = self.article(number)
        if article is None or article.story not in self.stories or number in self.bonds.fixed:
            return False
        members = (self.article(member) for member in self.stories[article.story].members if member != number)
        return all(copy is None or copy.family != article.family for copy in members)

    def _waits(self) -> dict[str, int]:
        """Return after how long without an article a story ends, by language."""
        return {language: desk.crowd().window if desk.articles else WINDOW for language, desk in self.desks.items()}

    def _close_ended(self, result: BatchResult) -> None:
        """Close the stories to which no article can come any more, each at the moment when that was so."""
        waits = self._waits()
        for story in sorted(self.stories.values(), key=lambda story: (story.touched, story.id)):
            when = story.touched + waits[story.language]
            if when <= self.time:
                del self.stories[story.id]
                result.stories[story.id] = story, "closed"
                result.events.append(Event(when, "closed", story.id, n_documents=story.n_documents))

    def _let_go(self, numbers: Sequence[int], result: BatchResult) -> None:
        for number in numbers:
            result.linked.pop(number, None)
            del self._key_of[number], self._language_of[number]
        for story in self.stories.values() if numbers else ():
            story.members.difference_update(numbers)
        result.forgotten += numbers

    def _worth(self, story: Story) -> dict[int, float]:
        """Return how much the newest articles of a story say of it: how like they are to one another, halved by day."""
        members = [article for number in story.members if (article := self.article(number)) is not None]
        newest = sorted(members, key=lambda article: (-article.time, -article.number))[:LEADS]
        worth: Counter[int] = Counter({article.number: 0.0 for article in newest})
        for article in newest:
            for near, likeness in zip(article.earlier.tolist(), article.likeness.tolist(), strict=True):
                if near in worth:
                    worth[near] += likeness
                    worth[article.number] += likeness
        last = newest[0].time
        return {article.number: worth[article.number] * 2.0 ** ((article.time - last) / DAY) for article in newest}
