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

    >>> parse_duration("1h"), parse_duration("2d")
    (3600, 172800)
    """
    number, unit = text.strip()[:-1], text.strip()[-1:]
    if unit not in _UNITS or not number.isdecimal() or int(number) < 1:
        raise InputError(f"{text!r} is not a time; give a whole number and a unit, such as 30m, 1h or 2d.")
    return int(number) * _UNITS[unit]


@dataclass(frozen=True)
class StreamSettings:
    """The settings of a stream; times are in seconds.

    Attributes
    ----------
    half_life : float
        After which an article counts half in the rank of its story, and in the words that its story shares.
    look_every : float
        After how much time of the stream all articles of the last days are looked at again. Articles that come in are
        put to stories at once, with what they are like.
    """

    half_life: float = 3 * DAY
    look_every: float = 6 * HOUR

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise InputError(f"{setting.name}={shown(value)} is not a number.")
            if not value > 0:
                raise InputError(f"{setting.name}={value!r} is not a time; give seconds above 0.")

    def to_dict(self) -> dict[str, float]:
        """Return the settings as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> StreamSettings:
        """Return the settings of `to_dict`; names it does not know are refused."""
        if not isinstance(values, dict):
            raise InputError(f"{shown(values)} is not the settings of a stream.")
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise InputError(f"{unknown[0]!r} is not a setting of a stream; the store was written by a newer version.")
        return cls(**values)
