"""A stream of stories by its rules alone, in plain Python: nothing is indexed, bounded, or kept that can be counted.

Written from docs/explanation/stories.md and the docstrings. An article here is a mapping: key, id, time, title, text,
source, link, language, and `function_words` of its language in it.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import statistics
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files

import numpy as np
from scipy import sparse

from doccluster.clustering import SphericalKMeans
from doccluster.streams.article import as_text
from doccluster.streams.identity import story_id
from doccluster.streams.settings import DAY

FIELDS = ("title", "both", "names")
SHIPPED = json.loads((files("doccluster.streams") / "join_weights.json").read_text(encoding="utf-8"))
WEIGHTS = dict(zip(SHIPPED["features"], SHIPPED["coefficients"], strict=True))


@dataclass(eq=False)
class Doc:
    """A placed article; `counts` are its terms by field, `vectors` these weighted and of length 1."""

    number: int
    given: dict
    counts: dict
    rule: tuple  # the length of its shingles, and from which Jaccard index on it is a copy
    shingles: frozenset
    seen: int = 0
    clock: int = 0
    vectors: dict = field(default_factory=dict)
    family: int = 0
    story: Story | None = None
    first_story: str = ""
    similarity: float | None = None
    margin: float | None = None

    @property
    def time(self):
        return self.given["time"]


@dataclass(eq=False)
class Story:
    """A story; `members` are the first articles of families that are in its sums."""

    id: str
    born: int
    first: int
    last: int
    reference: int
    language: str
    members: list
    parent: str = ""
    state: str = "open"
    changed: int = 0
    looked_at: int = 0
    lead: Doc | None = None
    led_at: int = 0
    merged_at: int = 0
    touched: int = 0


class NaiveStream:
    """Articles by batches; `documents`, `stories` and `lineage` are the rows of an export.

    `taken` counts what happens too seldom to be sure that a stream has it.
    """

    def __init__(self, settings, *, warm=2000):
        self.settings, self.warm = settings, warm
        self.placed, self.every, self.lineage = [], [], []
        self.counted, self.settled, self.settled_day = [], [], -1
        self.home_of, self.touched, self.sums_of = {}, {}, {}
        self.clock, self.ahead, self.window = None, [], 0
        self.taken = Counter()

    # one batch

    def run_batch(self, articles, now):
        self.move_clock(now)
        docs = [
            Doc(len(self.placed) + 1 + place, one, *read(one), now, self.clock) for place, one in enumerate(articles)
        ]
        self.counted += docs
        if now // DAY != self.settled_day or len(self.settled) < self.warm:
            self.settled, self.settled_day = list(self.counted), now // DAY
        self.touched, self.pairs = {}, {}
        for one in docs:
            one.vectors = self.weighted(one)
            self.place(one)
        self.merge_all(now)
        for story in list(self.touched):
            self.split_if_two(story, now)
        for story in self.touched:
            self.choose_lead(story)
        self.close()
        for story in self.every:
            if story.state == "closed" and story.touched < self.clock - self.settings.resume_within:
                story.state = "forgotten"
        self.window = max(self.window, self.clock // DAY * DAY - self.settings.copy_window)

    def move_clock(self, now):
        """The clock follows a batch that is no more than a day ahead, or three or six that go on from one that is."""
        if self.clock is None or now <= self.clock + DAY:
            self.clock, self.ahead = max(self.clock or now, now), []
            return
        self.taken["a jump of the clock"] += 1
        if self.ahead and now < self.ahead[-1]:
            self.ahead = []
        if not self.ahead or now >= self.ahead[-1] + DAY:
            self.ahead.append(now)
        if len(self.ahead) >= 3 and self.ahead[-1] - self.ahead[-2] <= 3 * DAY >= self.ahead[-2] - self.ahead[-3]:
            self.taken["a jump is believed"] += 1
            (self.clock, *rest), self.ahead = self.ahead[-3:], []
            for moment in rest:
                self.move_clock(moment)
        elif len(self.ahead) == 6:
            self.taken["six that are far apart are believed"] += 1
            self.clock = self.ahead.pop(0)

    def open(self):
        return [one for one in self.every if one.state == "open"]

    def docs_of(self, story):
        return [one for one in self.placed if one.story is story]

    def n_families(self, story):
        return len({one.family for one in self.docs_of(story)})

    def weighted(self, one):
        n = sum(other.given["language"] == one.given["language"] for other in self.settled)
        in_how_many = Counter(term for other in self.settled for term in other.counts["both"])
        found = {}
        for name in FIELDS:
            raw = {
                term: (1 + math.log(count)) * max(0.0, math.log((n + 10) / (in_how_many[term] + 1)))
                for term, count in one.counts[name].items()
            }
            length = math.sqrt(sum(value * value for value in raw.values())) or 1.0
            found[name] = {term: float(np.float32(value / length)) for term, value in raw.items()}
        return found

    # where an article goes

    def place(self, one):
        families = self.family_of(one)
        home = next(
            (self.home_of[name] for name in families if name in self.home_of and self.home_of[name].state == "open"),
            None,
        )
        self.placed.append(one)
        self.join_families(families)
        if home is not None:
            self.put(one, home, "grew", similarity=1.0)
            return
        cosines = self.cosines(one, one.given["language"])
        scores = []
        for story in cosines:
            if cosines[story] > 0:
                rival = max((value for other, value in cosines.items() if other is not story), default=0.0)
                scores.append((-self.score(one, story, rival), story.born, story.id, story))
        scores = [one for one in sorted(scores) if chance(-one[0]) >= self.settings.join]
        if scores:
            best = scores[0][3]
            next_best = max([self.settings.join, *(chance(-other[0]) for other in scores[1:])])
            one.margin = chance(-scores[0][0]) - next_best
            self.put(one, best, "grew", similarity=cosines[best])
            self.add_to_sums(one, best)
            for other in scores[1:]:
                self.pairs[best, other[3]] = None
            return
        time = one.time
        story = Story(story_id(one.given["key"]), time, time, time, time, one.given["language"], [one])
        closed = [
            (cosine(one.vectors["both"], self.sums(other)["both"]), other.last, other.id)
            for other in self.every
            if other.members
            and (
                (other.state == "closed" and other.last <= time)
                or (other.state == "open" and other.last + self.wait(other) <= time)
            )
            and time - other.last <= self.settings.resume_within
        ]
        self.every.append(story)
        self.put(one, story, "born")
        if closed and max(closed)[0] >= self.settings.resume:
            likeness, _, story.parent = max(closed)
            self.tell(time, "resumed", story.id, story.parent, 1, likeness)

    def family_of(self, one):
        """The families that an article is a copy of, the oldest first; its own if of none."""
        found = set()
        for other in self.placed:
            shared, every = len(one.shingles & other.shingles), len(one.shingles | other.shingles)
            is_near = abs(other.time - one.time) <= self.settings.copy_window and other.clock >= self.window
            if is_near and other.rule == one.rule and shared and shared / every >= one.rule[1]:
                found.add(other.family)
        one.family = min(found, default=one.number)
        return sorted(found) or [one.number]

    def join_families(self, families):
        """Families that turn out to be one; in a story with members of both, the younger one leaves the sums."""
        for old in families[1:]:
            story = self.home_of.pop(old, None)
            for one in self.placed:
                one.family = families[0] if one.family == old else one.family
            if story is not None and story.state == "open":
                own = [one for one in story.members if one.family == families[0]]
                for surplus in own[1:]:
                    story.members.remove(surplus)
                    self.taken["two of its families are one"] += 1
                if own:
                    self.touched[story] = None

    def put(self, one, story, event, *, similarity=None):
        one.story, one.first_story, one.similarity = story, story.id, similarity
        story.first, story.last = min(story.first, one.time), max(story.last, one.time)
        story.language = story.language or one.given["language"]
        story.touched = max(self.clock, story.last)
        self.home_of[one.family] = story
        self.touched[story] = None
        self.tell(one.time, event, story.id, "", 1, similarity or 0.0)

    def add_to_sums(self, one, story):
        half = self.settings.half_life
        if one.time - story.reference > 20 * half:
            story.members = [other for other in story.members if one.time - other.time <= 10 * half]
            self.taken["old articles leave the sums"] += 1
            story.reference = one.time
        story.members.append(one)

    # how like an article and a story are

    def sums(self, story, members=None):
        members = story.members if members is None else members
        key = (story.reference, *(one.number for one in members))
        if key not in self.sums_of:
            self.sums_of[key] = {name: Counter() for name in FIELDS}
            for one, name in itertools.product(members, FIELDS):
                for term, value in one.vectors[name].items():
                    weight = 2 ** ((one.time - story.reference) / self.settings.half_life)
                    self.sums_of[key][name][term] += value * weight
        return self.sums_of[key]

    def fits(self, one, language, story):
        """Whether an article can join a story: its language is not another, and its time is not too far."""
        wait = self.wait(story)
        return story.first - wait < one.time < story.last + wait and (
            self.settings.across_languages or not language or story.language in ("", language)
        )

    def wait(self, story):
        times = sorted(one.time for one in story.members)
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        least, most = self.settings.close_after_least, self.settings.close_after_most
        wait = self.settings.close_gaps * statistics.median(gaps) if gaps else least
        return int(min(max(wait, least), most))

    def cosines(self, one, language, besides=()):
        """The cosine of an article with every open story of a language but some."""
        stories = [story for story in self.open() if story not in besides and self.fits(one, language, story)]
        return {story: cosine(one.vectors["both"], self.sums(story)["both"]) for story in stories}

    def score(self, one, story, rival, members=None):
        """The logit of joining a story, or some members of it as if they were one."""
        n = self.n_families(story) if members is None else len(members)
        first, last = (
            (story.first, story.last)
            if members is None
            else (min(other.time for other in members), max(other.time for other in members))
        )
        members = story.members if members is None else members
        sums = self.sums(story, members)
        both = cosine(one.vectors["both"], sums["both"])
        cosines = {
            name: cosine(one.vectors[name], sums[name])
            if any(one.vectors[name].values()) and any(sums[name].values())
            else both
            for name in FIELDS
        }
        newest = self.newest(members)
        since = {
            "last": max(0, one.time - last, first - one.time) / self.settings.time_scale,
            "first": (one.time - first) / self.settings.time_scale,
        }
        close = {name: math.exp(-apart * apart / 2) for name, apart in since.items()}
        depth = math.log(min(max(len(one.counts["both"]), 1), 100)) / math.log(100)
        features = {
            "one": 1.0,
            **cosines,
            "near": max((product(one.vectors["both"], other.vectors["both"]) for other in newest), default=0.0),
            **close,
            "both_last": both * close["last"],
            "one_over_n": 1 / min(n, 100),
            "lead": both / (both + max(rival, 0.1)) * depth,
        }
        assert features.keys() == WEIGHTS.keys()
        return sum(features[name] * weight for name, weight in WEIGHTS.items())

    def newest(self, members, n=None):
        return sorted(members, key=lambda one: (one.time, one.number), reverse=True)[: n or self.settings.n_newest]

    # repair

    def mutual(self, sides, besides):
        """How probable it is that the newest articles of each side, (story, members), belong to the other."""
        scores = []
        for (story, members), (other, others) in (sides, sides[::-1]):
            for one in self.newest(members or story.members):
                rival = max(self.cosines(one, story.language, besides).values(), default=0.0)
                scores.append(self.score(one, other, rival, others))
        return chance(statistics.fmean(scores)) if scores else 0.0

    def is_quiet(self, story, now):
        return abs(now - story.changed) >= self.settings.quiet

    def merge_all(self, now):
        into = {}
        for pair in self.pairs:
            one, other = pair
            while one in into:
                one = into[one]
            while other in into:
                other = into[other]
            if one is other:
                continue
            gap = max(one.first, other.first) - min(one.last, other.last)
            if gap > self.settings.merge_gap or not (self.is_quiet(one, now) and self.is_quiet(other, now)):
                continue
            likeness = self.mutual(((one, None), (other, None)), (one, other))
            if likeness < self.settings.merge:
                continue
            kept, ended = sorted((one, other), key=lambda story: (story.born, story.id))
            if self.n_families(kept) < 0.25 * (self.n_families(kept) + self.n_families(ended)):
                kept, ended = ended, kept
                self.taken["the younger story goes on"] += 1
            into[ended] = kept
            moved = self.docs_of(ended)
            self.tell(now, "merged", kept.id, ended.id, len(moved), likeness)
            self.move(moved, ended, kept, now, likeness)
            kept.members = sorted(kept.members + ended.members, key=lambda member: member.number)
            kept.first, kept.last, kept.changed = min(kept.first, ended.first), max(kept.last, ended.last), now
            kept.touched = max(kept.touched, ended.touched)
            ended.state, ended.parent, ended.merged_at = "merged", kept.id, now
            self.touched.pop(ended, None)
            self.touched[kept] = None

    def move(self, docs, old, new, now, likeness):
        for one in docs:
            one.story = new
            self.home_of.update({one.family: new} if self.home_of.get(one.family) is old else {})
            self.tell(now, "moved", new.id, old.id, 1, likeness)

    def split_if_two(self, story, now):
        n = len(story.members)
        if n < max(self.settings.least_families, 1.25 * story.looked_at):
            return
        story.looked_at = n
        if not self.is_quiet(story, now):
            self.taken["too soon to split"] += 1
            return
        halves = two_means([one.vectors["both"] for one in story.members])
        parts = [[one for one, half in zip(story.members, halves, strict=True) if half == side] for side in (0, 1)]
        if min(map(len, parts)) < self.settings.least_families // 2:
            return
        larger, smaller = sorted(parts, key=lambda part: (-len(part), part[0].number))
        likeness = self.mutual(((story, larger), (story, smaller)), (story,))
        if likeness > self.settings.split:
            return
        founder = smaller[0]
        families = {one.family for one in smaller}
        moved = [one for one in self.docs_of(story) if one.family in families]
        times = [one.time for one in smaller]
        new_id = story_id(founder.given["key"], attempt=now)
        new = Story(new_id, now, min(times), max(times), story.reference, story.language, smaller, parent=story.id)
        new.touched = story.touched
        self.every.append(new)
        self.tell(now, "split", story.id, new.id, len(moved), likeness)
        self.move(moved, story, new, now, likeness)
        story.members = larger
        for part in (story, new):
            part.changed, part.looked_at = now, len(part.members)
        story.last = max(one.time for one in larger)
        if self.n_families(story) == len(larger):
            story.first = min(one.time for one in larger)
        self.touched[new] = None

    def choose_lead(self, story):
        n = self.n_families(story)
        if n < 1.5 * story.led_at and story.lead in story.members:
            self.taken["the lead stays"] += n > story.led_at
            return
        story.led_at = n
        if story.members:
            total = self.sums(story)["both"]
            newest = self.newest(story.members, 20)
            story.lead = max(newest, key=lambda one: (product(one.vectors["both"], total), -one.number))

    def close(self):
        for story in sorted(self.open(), key=lambda one: (one.touched, one.id)):
            ends = story.touched + self.wait(story)
            if ends <= self.clock:
                story.state = "closed"
                self.touched.pop(story, None)
                self.tell(ends, "closed", story.id, "", len(self.docs_of(story)), 0.0)

    # what is exported

    def tell(self, when, event, story, other, n_documents, similarity):
        self.lineage.append((as_text(when), event, story, other, n_documents, similarity))

    def documents(self):
        keys = {one.number: one.given["key"] for one in self.placed}
        return [
            (
                *(one.given["id"], as_text(one.time), as_text(one.seen), one.given["source"], one.given["title"]),
                *(one.given["link"], one.story.id, one.first_story, keys[one.family], one.similarity, one.margin),
            )
            for one in self.placed
        ]

    def stories(self):
        rows = []
        for story in sorted(self.every, key=lambda one: (one.born, one.id)):
            docs = self.docs_of(story)
            if docs:
                lead = story.lead.given
                outlets = {one.given["source"] for one in docs} - {""}
                state = "closed" if story.state == "forgotten" else story.state
                label = " ".join((lead["title"] or lead["text"][:160]).split())
                times = as_text(story.born), as_text(max(one.time for one in docs))
                counts = len(docs), self.n_families(story), len(outlets)
                rows.append((story.id, label, state, *times, *counts, story.parent))
        for story in sorted(self.every, key=lambda one: (one.born, one.id)):
            if story.state == "merged":
                rows.append(
                    (story.id, "", "merged", as_text(story.born), as_text(story.merged_at), 0, 0, 0, story.parent)
                )
        return rows


def read(article):
    """The terms of an article by field, each with its count, and its words."""
    words = {name: re.findall(r"\w\w+", article[name].lower()) for name in ("title", "text")}
    names = {word for word in words["title"] + words["text"] if word[0].isdigit()}
    names |= {word.lower() for word in re.findall(r"(?<=[\w,] )[A-Z]\w+", article["text"])}
    title, both = Counter(words["title"]), Counter(words["title"] + words["text"])
    fields = {"title": title, "both": both, "names": {term: n for term, n in both.items() if term in names}}
    left_out = article["function_words"]
    counts = {name: {term: n for term, n in own.items() if term not in left_out} for name, own in fields.items()}
    every = words["title"] + words["text"]
    length, least = (5, 0.8) if len(every) >= 50 else (3, 0.9)
    n_shingles = max(len(every) - length + 1, min(len(every), 1))
    return counts, (length, least), frozenset(tuple(every[at : at + length]) for at in range(n_shingles))


def chance(logit):
    return 1 / (1 + math.exp(-logit))


def product(one, other):
    return sum(value * other.get(term, 0.0) for term, value in one.items())


def cosine(one, sums):
    length = math.sqrt(sum(value * value for value in sums.values()))
    return product(one, sums) / length if length else 0.0


def two_means(vectors):
    """Which of two halves each article is in, by the package's general algorithm."""
    columns = {term: place for place, term in enumerate(dict.fromkeys(term for one in vectors for term in one))}
    if min(map(len, vectors)) == 0:
        return [0] * len(vectors)
    rows = np.array([[one.get(term, 0.0) for term in columns] for one in vectors])
    if len(np.unique(rows, axis=0)) < 2:
        return [0] * len(vectors)
    fitted = SphericalKMeans(2, n_init=3, random_state=0, n_threads=1).fit(sparse.csr_array(rows))
    return fitted.labels_.tolist()
