"""What time it is in a stream: its clock follows the batches, but one date far ahead does not move it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from doccluster.streams.article import Moment
from doccluster.streams.settings import DAY

N_TO_BELIEVE = 3  # batches, each a day or more after the one before, that make a jump believable
LONGEST_STEP = 3 * DAY  # between two of these: days imported in any order are further apart
N_FAR_APART = 6  # batches with longer steps, as of a weekly; days in any order seldom go up so often in a row


@dataclass(frozen=True, slots=True)
class StreamClock:
    """The clock of a stream. It never goes back for articles that come late.

    A batch that is at most a day ahead moves it on. One that is further ahead does not, unless it is sure (a poll whose
    feeds say the same), or the stream goes on from there and nothing in between goes back: three batches, each one to
    three days after the one before, or six that are further apart. Of these the clock follows the first, so that it is
    five batches behind in a stream of weeks.

    >>> clock = StreamClock().moved(0)
    >>> clock.moved(40 * DAY).time // DAY, clock.moved(40 * DAY, is_sure=True).time // DAY
    (0, 40)
    >>> clock.moved_by([one * DAY for one in (40, 41, 42)]).time // DAY
    42
    >>> clock.moved_by([week * 7 * DAY for week in range(1, 9)]).time // DAY
    21
    """

    time: Moment | None = None  # None before the first batch
    ahead: tuple[Moment, ...] = ()  # the moments ahead of it that are not believed yet

    def moved(self, moment: Moment, *, is_sure: bool = False) -> StreamClock:
        """Return the clock after a batch of this moment."""
        if self.time is None or moment <= self.time + DAY:
            is_wrong = is_sure and self.time is not None and moment < self.time - DAY
            return StreamClock(moment if self.time is None or is_wrong else max(self.time, moment))
        if is_sure:
            return StreamClock(moment)
        ahead = self.ahead if self.ahead and moment >= self.ahead[-1] else ()
        if not ahead or moment >= ahead[-1] + DAY:
            ahead = (*ahead, moment)
        last = ahead[-N_TO_BELIEVE:]
        if len(last) == N_TO_BELIEVE and all(after - before <= LONGEST_STEP for before, after in pairwise(last)):
            return StreamClock(last[0]).moved_by(last[1:])
        if len(ahead) == N_FAR_APART:
            return StreamClock(ahead[0], ahead[1:])
        return StreamClock(self.time, ahead)

    def moved_by(self, moments: Iterable[Moment]) -> StreamClock:
        """Return the clock after several batches."""
        clock = self
        for moment in moments:
            clock = clock.moved(moment)
        return clock
