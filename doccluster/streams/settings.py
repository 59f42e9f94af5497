"""What can be set of a stream; a store keeps the settings it was made with."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from doccluster.errors import InputError, shown

HOUR = 3600
DAY = 24 * HOUR
_UNITS = {"s": 1, "m": 60, "h": HOUR, "d": DAY, "w": 7 * DAY}


def parse_duration(text: str) -> int:
    """Return a time such as 90s, 30m, 1h, 2d or 1w in seconds.

    Raises InputError if it is not a whole number above 0 with one of these units.

    >>> parse_duration("1h"), parse_duration("2d")
    (3600, 172800)
    """
    number, unit = text.strip()[:-1], text.strip()[-1:]
    if unit not in _UNITS or not number.isdecimal() or int(number) < 1:
        raise InputError(f"{text!r} is not a time; give a whole number and a unit, such as 30m, 1h or 2d.")
    return int(number) * _UNITS[unit]


# for whom the stories of the default come out too large, or too small, and who has no labels to learn from
PACES: dict[str, dict[str, Any]] = {
    "fast": {"close_after_least": 7 * DAY, "close_after_most": 10 * DAY},
    "slow": {"join": 0.4, "half_life": 7 * DAY, "time_scale": 10 * DAY},
}


@dataclass(frozen=True)
class StreamSettings:
    """The settings of the stream's clustering; times are in seconds.

    Attributes
    ----------
    half_life : float
        After which an article counts half in the mean of its story.
    time_scale : float
        The unit of the time features.
    join : float
        The least probability with which an article joins a story.
    look : float
        The least probability of joining another story with which the daily second look compares the two.
    merge, split : float
        The least probability at which two stories become one; the greatest, across the halves of a story, at which it
        becomes two. The distance between split, join and merge is the hysteresis.
    merge_gap : float
        The longest time between two stories that are merged.
    quiet : float
        No opposite action on a story within this time.
    close_after_least, close_after_most, close_gaps : float
        A story is closed when nothing has come for `close_gaps` times its median gap, within these bounds.
    resume : float
        The least probability with which a new story goes on from one that has ended, whose child it then is.
    resume_within : float
        How long a closed story can be resumed.
    n_newest : int
        How many newest members a new article is compared with one by one.
    least_families : int
        Families of articles in a story that may be split, and in half as many in each part.
    copy_window : float
        Only articles so close in time can be copies of one another.
    """

    half_life: float = 3 * DAY
    time_scale: float = 72 * HOUR
    join: float = 0.45
    look: float = 0.2
    merge: float = 0.7
    split: float = 0.25
    merge_gap: float = 72 * HOUR
    quiet: float = DAY
    close_after_least: float = 10 * DAY
    close_after_most: float = 14 * DAY
    close_gaps: float = 3.0
    resume: float = 0.8
    resume_within: float = 30 * DAY
    n_newest: int = 5
    least_families: int = 6
    copy_window: float = 14 * DAY

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise InputError(f"{one.name}={shown(value)} is not a number.")
        for name in ("join", "look", "merge", "split", "resume"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name}={getattr(self, name)!r} is not between 0 and 1; give for instance 0.5.")
        if not self.split < self.join <= self.merge:
            raise InputError(
                f"split={self.split}, join={self.join} and merge={self.merge} must rise in this order, or a story "
                "would be merged and split again."
            )
        for name in ("half_life", "time_scale", "close_after_least", "close_after_most", "copy_window"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name}={getattr(self, name)!r} is not a time; give seconds above 0.")
        for name, least in (("merge_gap", 0), ("quiet", 0), ("resume_within", 0), ("close_gaps", 0)):
            if not getattr(self, name) >= least:
                raise InputError(f"{name}={getattr(self, name)!r} is below {least}; give more.")
        for name in ("n_newest", "least_families"):
            if not (isinstance(getattr(self, name), int) and getattr(self, name) >= 1):
                raise InputError(f"{name}={getattr(self, name)!r} is not a whole number above 0.")

    def copies_from(self, now: float) -> int:
        """Return from when on articles can still have copies: the window before the day that `now` is in."""
        return int(now // DAY * DAY - self.copy_window)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> StreamSettings:
        """Return the settings of `to_dict`; names it does not know are refused."""
        if not isinstance(given, dict):
            raise InputError(f"{shown(given)} is not the settings of a stream.")
        unknown = sorted(set(given) - {field.name for field in fields(cls)})
        if unknown:
            raise InputError(f"{unknown[0]!r} is not a setting of a stream; the store was written by a newer version.")
        return cls(**given)
