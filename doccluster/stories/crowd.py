"""The window and the bar follow the crowd: among few articles a chance likeness is rare, and silences are long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

DAY = 86400
WINDOW = 3 * DAY  # seconds: within it articles are compared
WIDEST = 21 * DAY
SPARSE = 30  # articles in 72 hours; where there are fewer, the window is so wide
ON_EACH_SIDE = 100  # that a typical article has as many others before and after it
BAR = 0.18  # likeness from which two stories become one, in a large crowd
HALF_BAR_AT = 200  # articles in a window: the bar is half of that
LEAST_BAR = 0.06
HALF_AT_ONCE = 20  # articles in 72 hours: the bar for what has just come in is half of that
YOUNG = 0.75  # by which a single pair counts less, in a large crowd
HALF_YOUNG_AT = 500
MOST_TIMES = 24  # by which the articles of less than a window are multiplied


@dataclass(frozen=True, slots=True)
class Crowd:
    """How a stream or a dump is looked at."""

    window: int  # seconds within which two articles are compared
    bar: float  # the likeness from which two stories become one
    young: float  # the share by which a single pair counts less
    at_once: float = 1.0  # the bar for an article of a stream that has just come in: its likest may be still to come

    @classmethod
    def of(cls, times: npt.NDArray[np.int64], *, is_part: bool = False) -> Crowd:
        """Return the window and bars for articles of these times, which are sorted.

        Where the articles of less than a window are only a part of a stream, they stand for a whole window.
        """
        window, span = WINDOW, int(times[-1] - times[0]) if times.size else 0
        n_times = min(WINDOW / span, MOST_TIMES) if is_part and 0 < span < WINDOW else 1.0
        in_72_hours = n_in_window(times, WINDOW) * n_times
        if in_72_hours < SPARSE:
            places = np.arange(times.size)
            before = times - times[np.maximum(places - ON_EACH_SIDE, 0)]
            after = times[np.minimum(places + ON_EACH_SIDE, times.size - 1)] - times
            window = int(min(max(WINDOW, np.median(np.maximum(before, after))), WIDEST))
        n_articles = n_in_window(times, window) * n_times
        bar = max(LEAST_BAR, BAR * n_articles / (n_articles + HALF_BAR_AT))
        at_once = max(bar, BAR * in_72_hours / (in_72_hours + HALF_AT_ONCE))
        return cls(window, float(bar), float(YOUNG * n_articles / (n_articles + HALF_YOUNG_AT)), float(at_once))


def n_in_window(times: npt.NDArray[np.int64], window: int) -> float:
    """Return how many articles a window around a typical article holds, half of it to each side."""
    half = window // 2
    return float(np.median(np.searchsorted(times, times + half) - np.searchsorted(times, times - half)))
