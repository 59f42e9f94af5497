"""Articles that go from one story to another: what a merge, a split and an editor's correction have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from doccluster.streams.article import Moment
from doccluster.streams.changes import BatchResult
from doccluster.streams.identity import story_id
from doccluster.streams.open_stories import OpenStories
from doccluster.streams.story import Member, Story


@dataclass(slots=True)
class Links:
    """What is known of families of articles: by an editor which belong together, and which do not belong to others.

    `groups` are those whose texts cannot be compared any more, and which stay together therefore.
    """

    together: list[set[int]] = field(default_factory=list)
    groups: dict[str, set[int]] = field(default_factory=dict)
    apart: list[tuple[set[int], set[int]]] = field(default_factory=list)

    def forbid_merge(self, one: Iterable[Member], other: Iterable[Member]) -> bool:
        """Return whether some of the members must not be in one story."""
        here, there = ({member.family for member in members} for members in (one, other))
        return any((a & here and b & there) or (a & there and b & here) for a, b in self.apart)

    def forbid_split(self, one: Iterable[Member], other: Iterable[Member]) -> bool:
        """Return whether some of the members must stay in one story."""
        here, there = ({member.family for member in members} for members in (one, other))
        return any(group & here and group & there for group in (*self.together, *self.groups.values()))

    def bind(self, family: int) -> bool:
        """Return whether an editor has said anything of a family."""
        return any(family in group for group in (*self.together, *(side for pair in self.apart for side in pair)))

    def rename(self, old: int, new: int) -> None:
        """Note that a family has become a part of another."""
        for group in (*self.together, *self.groups.values(), *(side for pair in self.apart for side in pair)):
            if old in group:
                group.add(new)


def part_of(story: Story, members: Sequence[Member], *, id: str = "", born: Moment = 0) -> Story:
    """Return a story for some members of one, without them and not among the open ones."""
    times = [one.time for one in members]
    founder = members[0].key
    part = Story(id, founder, born, min(times), max(times), story.language, parent=story.id)
    part.touched = story.touched
    return part


def new_story(stories: OpenStories, story: Story, members: Sequence[Member], now: Moment) -> Story:
    """Return the story that some members of one found; its id is no other's, however often they do so in a moment."""
    name = story_id(members[0].key, attempt=now)
    while stories.named(name) is not None:
        now -= 1
        name = story_id(members[0].key, attempt=now)
    return part_of(story, members, id=name, born=now)


def regroup(
    stories: OpenStories,
    result: BatchResult,
    source: Story,
    moving: Sequence[Member],
    target: Story,
    now: Moment,
    likeness: float,
) -> None:
    """Take members of a story to another, which may be new; a story that is left without any ends in the other.

    It is recorded as a split if the other is new, as a merge if nothing is left, else only document by document.
    """
    numbers = {one.number for one in moving}
    rest = [one for one in source.members if one.number not in numbers]
    n_documents, n_families, first, last = source.n_documents, source.n_families, source.first, source.last
    if rest:
        times = [one.time for one in moving]
        n_documents, n_families = sum(one.n_documents for one in moving), len(moving)
        first, last = min(times), max(times)
        source.n_documents, source.n_families = source.n_documents - n_documents, source.n_families - n_families
        left = [one.time for one in rest]
        source.last, source.changed, source.split_checked = max(left), now, len(rest)
        source.first = min(left) if source.n_families == len(rest) else source.first
        stories.replace(source, rest)
    else:
        stories.remove(source)
    is_new = target.place < 0
    target.n_documents, target.n_families = target.n_documents + n_documents, target.n_families + n_families
    target.first, target.last = min(target.first, first), max(target.last, last)
    target.changed, target.touched = now, max(target.touched, source.touched)
    if is_new:
        target.split_checked, target.members = len(moving), list(moving)
        stories.open_new(target)
    else:
        stories.replace(target, [*target.members, *moving])
    event = "split" if is_new and rest else "moved" if rest else "merged"
    families = [one.family for one in moving]
    for story in (source, target):
        result.note(story, stories.state_of(story))
    result.record_turn(now, event, source, target, families, n_documents, likeness)
