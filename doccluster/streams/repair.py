"""Stories that turn out to be one become one; a story that turns out to be two becomes two; never back and forth."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from scipy import sparse

from doccluster.clustering.k_means.spherical import SphericalParameters, spherical_k_means
from doccluster.streams.article import Moment
from doccluster.streams.changes import BatchResult
from doccluster.streams.frequencies import WeightedTerms
from doccluster.streams.joining import logit, probability
from doccluster.streams.open_stories import Match, OpenStories
from doccluster.streams.regrouping import Links, new_story, part_of, regroup
from doccluster.streams.story import Member, Story, newest_of

LIGHT = 0.25  # the older of two stories gives up its id only if it holds less than this part of their families
GROWTH = 1.25  # a story is looked at for a split when its families have grown by this factor since the last time
N_LOOKED_AT = 2  # newest articles of a story in the second look, and others that each could have joined
N_STARTS = 3  # of the 2-means


class Repair:
    """Collects the pairs of stories that one article could have joined, and repairs stories when a batch is over."""

    def __init__(self, stories: OpenStories, result: BatchResult, links: Links) -> None:
        self._stories = stories
        self._links = links
        self._settings = stories.settings
        self._result = result
        self._pairs: dict[tuple[str, str], None] = {}

    def consider(self, story: Story, others: Sequence[Match]) -> None:
        """Remember that an article which went to `story` could have gone to others."""
        for other in others:
            if (other.story.id, story.id) not in self._pairs:
                self._pairs[story.id, other.story.id] = None

    def look_again(self, since: Moment) -> None:
        """Remember for stories that have grown since a moment which others their newest articles could join."""
        cut = logit(self._settings.look)
        for story in [one for one in self._stories if one.touched >= since]:
            for member in newest_of(story.members, N_LOOKED_AT):
                compared = self._stories.compare(
                    member.vectors, time=member.time, language=story.language, besides=(story,)
                )
                self.consider(story, self._stories.matches(compared, cut)[:N_LOOKED_AT])

    def run(self, now: Moment) -> None:
        """Merge what is to be merged, then split what is to be split."""
        gone: dict[str, str] = {}
        for pair in self._pairs:
            first, second = (self._stories.open.get(_last_name(gone, name)) for name in pair)
            if first is None or second is None or first is second:
                continue
            if not (self._is_quiet(first, now) and self._is_quiet(second, now)):
                continue
            likeness = self._merge_probability(first, second)
            if likeness >= self._settings.merge:
                kept, ended = self._merge(first, second, now, likeness)
                gone[ended.id] = kept.id
        for story in list(self._result.touched.values()):
            n_families = len(story.members)
            if n_families >= max(self._settings.least_families, GROWTH * story.split_checked):
                story.split_checked = n_families
                if self._is_quiet(story, now):
                    self._split(story, now)

    def _is_quiet(self, story: Story, now: Moment) -> bool:
        return abs(now - story.changed) >= self._settings.quiet

    def _merge_probability(self, one: Story, other: Story) -> float:
        """Return how probable it is that the newest articles of each story belong to the other; 0 if too far apart.

        Also 0 where an editor has said that some of them do not.
        """
        is_far = max(one.first, other.first) - min(one.last, other.last) > self._settings.merge_gap
        if is_far or self._links.forbid_merge(one.members, other.members):
            return 0.0
        return self._mutual_probability(one, other, besides=(one, other))

    def _mutual_probability(self, one: Story, other: Story, *, besides: tuple[Story, ...]) -> float:
        """Return how probable it is that the newest articles of each belong to the other, were there not their own."""
        scores = [
            self._stories.match(there, member.vectors, time=member.time, language=here.language, besides=besides).score
            for here, there in ((one, other), (other, one))
            for member in newest_of(here.members, self._settings.n_newest)
        ]
        return probability(fmean(scores)) if scores else 0.0

    def _merge(self, one: Story, other: Story, now: Moment, likeness: float) -> tuple[Story, Story]:
        older, younger = sorted((one, other), key=lambda story: (story.born, story.id))
        is_light = older.n_families < LIGHT * (older.n_families + younger.n_families)
        kept, ended = (younger, older) if is_light else (older, younger)
        regroup(self._stories, self._result, ended, ended.members, kept, now, likeness)
        return kept, ended

    def _split(self, story: Story, now: Moment) -> None:
        """Split a story whose halves do not belong together, or whose newest third has left its first one."""
        is_second = halves_of([member.vectors for member in story.members])
        halves = [
            [one for one, second in zip(story.members, is_second, strict=True) if second == side] for side in (0, 1)
        ]
        stay, leave = sorted(halves, key=lambda half: (-len(half), half[0].number if half else 0))
        by_time = newest_of(story.members, len(story.members))
        third = len(by_time) // 3
        for kept, moving in ((stay, leave), (by_time[-third:], by_time[:third])):
            enough = len(moving) >= self._settings.least_families // 2
            if not enough or self._links.forbid_split(moving, [one for one in by_time if one not in moving]):
                continue
            likeness = self._probability_across(story, kept, moving)
            if likeness <= self._settings.split:
                moving = sorted(moving, key=lambda one: one.number)
                new = new_story(self._stories, story, moving, now)
                regroup(self._stories, self._result, story, moving, new, now, likeness)
                return

    def _probability_across(self, story: Story, *halves: list[Member]) -> float:
        """Return how probable it is that the newest articles of each half belong to the other."""
        members = story.members
        self._stories.replace(story, [])  # an article is in one story at a time
        drafts = [part_of(story, half, id=f"part {side} of {story.id}") for side, half in enumerate(halves)]
        for draft, half in zip(drafts, halves, strict=True):
            draft.members, draft.n_families = half, len(half)
            self._stories.open_new(draft)
        likeness = self._mutual_probability(drafts[0], drafts[1], besides=(story, *drafts))
        for draft in drafts:
            self._stories.remove(draft)
        self._stories.replace(story, members)
        return likeness


def _last_name(gone: dict[str, str], name: str) -> str:
    while name in gone:
        name = gone[name]
    return name


def halves_of(vectors: Sequence[WeightedTerms]) -> list[int]:
    """Return which of two halves each article is in, 0 or 1, by spherical 2-means on all words."""
    if min(one.ids.size for one in vectors) == 0 or len({one.to_bytes() for one in vectors}) == 1:
        return [0] * len(vectors)
    ids, columns = np.unique(np.concatenate([one.ids for one in vectors]), return_inverse=True)
    values = np.concatenate([one.values for one in vectors], dtype=np.float64)
    ends = np.cumsum([0, *(one.ids.size for one in vectors)])
    rows = sparse.csr_array((values, columns, ends), shape=(len(vectors), ids.size))
    rows.sort_indices()
    parameters = SphericalParameters(n_clusters=2, n_init=N_STARTS, random_state=0, n_threads=1)
    halves: list[int] = spherical_k_means(rows, parameters).labels.tolist()
    return halves
