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

SHIPPED = json.loads((files("doccluster.streams") / "join_weights.json").read_text(encoding="utf-8"))
WEIGHTS = dict(zip(SHIPPED["features"], SHIPPED["coefficients"], strict=True))


@dataclass(eq=False)
class Doc:
    """A placed article; `counts` are its terms, `names` those that are names, `vector` weights of length 1."""

    number: int
    given: dict
    counts: dict
    names: set
    rule: tuple  # the length of its shingles, and from which Jaccard index on it is a copy
    shingles: frozenset
    begins: frozenset  # the shingles of the beginning of its text
    seen: int = 0
    clock: int = 0
    vector: dict = field(default_factory=dict)
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
    """A story; `members` are the first articles of its families."""

    id: str
    born: int
    first: int
    last: int
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
        self.home_of, self.touched, self.scales = {}, {}, {}
        self.looked_on = 0
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
            one.vector = self.weighted(one)
            self.place(one)
        if self.clock // DAY != self.looked_on:
            self.look_again(self.looked_on * DAY)
            self.looked_on = self.clock // DAY
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
        in_how_many = Counter(term for other in self.settled for term in other.counts)
        raw = {
            term: (1 + math.log(count))
            * max(0.0, math.log((n + 10) / (in_how_many[term] + 1)))
            * (1 + (term in one.names))
            for term, count in one.counts.items()
        }
        length = math.sqrt(sum(value * value for value in raw.values())) or 1.0
        return {term: float(np.float32(value / length)) for term, value in raw.items()}

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
        scores = self.scored(one, one.given["language"])
        cut = math.log(self.settings.join / (1 - self.settings.join))
        able = sorted((-score, story.born, story.id, story) for story, score in scores.items() if score >= cut)
        if able:
            best = able[0][3]
            next_best = max([self.settings.join, *(chance(-other[0]) for other in able[1:])])
            one.margin = chance(-able[0][0]) - next_best
            likeness = mean_of(one, best, self.settings)
            self.teach(one, scores, best, cut)
            self.put(one, best, "grew", similarity=likeness)
            best.members.append(one)
            for other in able[1:]:
                self.consider(best, other[3])
            return
        self.teach(one, scores, None, cut)
        time = one.time
        story = Story(story_id(one.given["key"]), time, time, time, one.given["language"], [one])
        ended = [
            other
            for other in self.every
            if ((other.state == "closed" and other.last <= time)
                or (other.state == "open" and other.last + self.wait(other) <= time))
            and time - other.last <= self.settings.resume_within
            and self.speaks(one.given["language"], other)
        ]  # fmt: skip
        found = self.scored(one, one.given["language"], ended, last=1.0)
        self.every.append(story)
        self.put(one, story, "born")
        former = max(found, key=lambda other: (found[other], other.last, other.id), default=None)
        if former is not None and chance(found[former]) >= self.settings.resume:
            story.parent = former.id
            self.tell(time, "resumed", story.id, former.id, 1, mean_of(one, former, self.settings))

    def teach(self, one, scores, joined, cut):
        """What is usual in the language of an article: of strangers, and of friends."""
        scale = self.scale(one.given["language"])
        strangers = [story for story in scores if story is not joined and scores[story] < cut]
        every = [self.alike(one, story) for story in strangers]
        told = {"strangers": [max((own[at] for own in every), default=0.0) for at in range(3)]}
        if joined is not None:
            told["friends"] = self.alike(one, joined)
        for name, values in told.items():
            n = min(scale[name][3] + 1, 500.0)
            rests_on = n, n, n - 18  # what is said of meaning at first counts as two articles, the rest as twenty
            pairs = zip(scale[name][:3], values, rests_on, strict=True)
            scale[name] = (*(old + (new - old) / m for old, new, m in pairs), n)

    def scale(self, language):
        first = {"strangers": (0.08, 0.15, 0.3, 20.0), "friends": (0.35, 0.5, 0.6, 20.0)}
        return self.scales.setdefault(language, first)

    def alike(self, one, story):
        """In the mean, with the nearest of the newest, and in meaning."""
        return mean_of(one, story, self.settings), self.near(one, story), self.meant(one, story)

    def meant(self, one, story):
        if "meaning" not in one.given:
            return 0.0
        return max(0.0, mean_of(one, story, self.settings, lambda *pair: dot(*(two.given["meaning"] for two in pair))))

    def family_of(self, one):
        """The families that an article is a copy of, the oldest first; its own if of none."""
        found = set()
        for other in self.placed:
            shared, every = len(one.shingles & other.shingles), len(one.shingles | other.shingles)
            is_near = abs(other.time - one.time) <= self.settings.copy_window and other.clock >= self.window
            is_copy = other.rule == one.rule and shared and shared / every >= one.rule[1]
            alike, both = len(one.begins & other.begins), len(one.begins | other.begins)
            outlets = {one.given["source"], other.given["source"]}
            if is_near and (is_copy or (len(outlets - {""}) == 2 and both and alike / both >= 0.7)):
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

    # how like an article and a story are

    def fits(self, one, language, story):
        """Whether an article can join a story: its language is not another, and its time is not too far."""
        wait = self.wait(story)
        return story.first - wait < one.time < story.last + wait and self.speaks(language, story)

    def speaks(self, language, story):
        return not language or story.language in ("", language)

    def wait(self, story):
        times = sorted(one.time for one in story.members)
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        least, most = self.settings.close_after_least, self.settings.close_after_most
        wait = self.settings.close_gaps * statistics.median(gaps) if gaps else least
        return int(min(max(wait, least), most))

    def scored(self, one, language, stories=None, *, asked=None, besides=(), last=None):
        """The logit of joining each story (or the one asked for) that an article is like."""
        if stories is None:
            stories = [story for story in self.open() if story not in besides and self.fits(one, language, story)]
        rivals = [story for story in stories if "meaning" in one.given or mean_of(one, story, self.settings) > 0]
        alike = {story: self.alike(one, story) for story in rivals}
        return {
            story: self.score(
                one,
                story,
                language,
                [max((alike[other][at] for other in rivals if other is not story), default=0.0) for at in range(3)],
                last,
            )
            for story in (rivals if asked is None else [asked])
            if "meaning" in one.given or mean_of(one, story, self.settings) > 0
        }

    def near(self, one, story):
        return max((product(one.vector, other.vector) for other in self.newest(story.members)), default=0.0)

    def score(self, one, story, language, rivals, last):
        (mean, near, meant), scale = self.alike(one, story), self.scale(language)
        apart = max(0, one.time - story.last, story.first - one.time) / self.settings.time_scale
        depth = math.log(min(max(len(one.counts), 1), 100)) / math.log(100)
        places = [
            min(max((value - scale["strangers"][at]) / max(scale["friends"][at] - scale["strangers"][at], 0.02), -1), 2)
            for at, value in enumerate((mean, near))
        ]
        features = {
            "one": 1.0,
            "last": math.exp(-apart * apart / 2) if last is None else last,
            "mean_lead": depth * mean / (mean + max(rivals[0], 0.05)),
            "near_lead": depth * near / (near + max(rivals[1], 0.1)),
            "mean_place": places[0],
            "near_place": places[1],
            "meaning_lead": (1 - depth)
            * min(max((meant - rivals[2]) / max(scale["friends"][2] - scale["strangers"][2], 0.05), -1), 1),
        }
        assert features.keys() == WEIGHTS.keys()
        return sum(features[name] * weight for name, weight in WEIGHTS.items())

    def newest(self, members, n=None):
        return sorted(members, key=lambda one: (one.time, one.number), reverse=True)[: n or self.settings.n_newest]

    # repair

    def consider(self, story, other):
        if (other, story) not in self.pairs:
            self.pairs[story, other] = None

    def look_again(self, since):
        """Once a day: which other stories the newest articles of those that have grown could have joined."""
        cut = math.log(self.settings.look / (1 - self.settings.look))
        for story in [story for story in self.open() if story.touched >= since]:
            for one in self.newest(story.members, 2):
                scores = self.scored(one, story.language, besides=(story,))
                able = sorted((-score, other.born, other.id, other) for other, score in scores.items() if score >= cut)
                for found in able[:2]:
                    self.consider(story, found[3])

    def mutual(self, one, other, besides):
        """How probable it is that the newest articles of each story belong to the other."""
        scores = []
        for here, there in ((one, other), (other, one)):
            for member in self.newest(here.members):
                found = self.scored(member, here.language, asked=there, besides=besides)
                scores.append(found.get(there, -20.0))
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
            likeness = self.mutual(one, other, (one, other))
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
        halves = two_means([one.vector for one in story.members])
        parts = [[one for one, half in zip(story.members, halves, strict=True) if half == side] for side in (0, 1)]
        by_time = self.newest(story.members, n)
        halved = sorted(parts, key=lambda part: (-len(part), part[0].number if part else 0))
        for larger, smaller in (halved, (by_time[-(n // 3) :], by_time[: n // 3])):
            if len(smaller) < self.settings.least_families // 2:
                continue
            drafts = [
                Story("", 0, min(one.time for one in part), max(one.time for one in part), story.language, part)
                for part in (larger, smaller)
            ]
            likeness = self.mutual(*drafts, (story,))
            if likeness <= self.settings.split:
                self.taken["the newest third leaves"] += larger is not halved[0]
                break
        else:
            return
        smaller = sorted(smaller, key=lambda one: one.number)
        larger = [one for one in story.members if one not in smaller]
        founder = smaller[0]
        families = {one.family for one in smaller}
        moved = [one for one in self.docs_of(story) if one.family in families]
        times = [one.time for one in smaller]
        new_id = story_id(founder.given["key"], attempt=now)
        new = Story(new_id, now, min(times), max(times), story.language, smaller, parent=story.id)
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
        is_there = story.lead in story.members
        is_soon = self.clock < story.led_at + DAY or story.led_at > story.last
        if is_there and is_soon and story.changed < story.led_at:
            self.taken["the lead stays"] += 1
            return
        worth = {
            one: mean_of(one, story, self.settings) * 2 ** ((one.time - story.last) / DAY)
            for one in self.newest(story.members, 20)
        }
        if worth:
            best = max(worth, key=lambda one: (worth[one], -one.number))
            if not is_there or worth[best] > 1.25 * worth.get(story.lead, 0.0):
                story.lead = best
            story.led_at = self.clock

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
        rows.sort(key=lambda row: (row[2] == "closed", -row[5]))
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
    left_out = article["function_words"]
    counts = {term: n for term, n in Counter(words["title"] + words["text"]).items() if term not in left_out}
    every = words["title"] + words["text"]
    length, least = (5, 0.8) if len(every) >= 50 else (3, 0.9)
    n_shingles = max(len(every) - length + 1, min(len(every), 1))
    begin = words["text"][:20] if len(words["text"]) >= 12 else []
    begins = frozenset(tuple(begin[at : at + 3]) for at in range(len(begin) - 2))
    return counts, names, (length, least), frozenset(tuple(every[at : at + length]) for at in range(n_shingles)), begins


def chance(logit):
    return 1 / (1 + math.exp(-logit))


def product(one, other):
    return sum(value * other.get(term, 0.0) for term, value in one.items())


def dot(one, other):
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def mean_of(one, story, settings, cosine=lambda one, other: product(one.vector, other.vector)):
    """The mean cosine of an article with the members of a story, which weigh half as much after the half-life."""
    latest = max((other.time for other in story.members), default=0)
    weights = [2 ** ((other.time - latest) / settings.half_life) for other in story.members]
    parts = [weight * cosine(one, other) for weight, other in zip(weights, story.members, strict=True)]
    return sum(parts) / sum(weights) if parts else 0.0


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
