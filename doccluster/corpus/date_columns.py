"""The dates of a collection, read together: those of a column decide whether 03/04/2026 begins with the day.

While documents come in, a date that is open by itself stays as it is written, behind a mark, and what the others of its
column say is counted; at the end the open ones are read. A column is the dates of one file, or of a table in memory.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from doccluster.corpus.dates import DAY, LONGEST_DATE, MONTH, OPEN, date_value, read_date

N_EXAMPLES = 3
LONGEST_EXAMPLE = 40  # characters
_MARK = "?"  # before a date that is open; none in ISO 8601 begins so


@dataclass(frozen=True)
class DateCounts:
    """How many dates of a collection were read, and how many could not be."""

    n_read: int = 0
    n_unread: int = 0
    # of those read: where neither the column nor a language says which number is the day, or the year
    n_guessed: int = 0
    guess: str = ""  # how these were read, in words
    unread: tuple[str, ...] = ()  # some that could not be read

    @property
    def doubts(self) -> str:
        """The counts as a sentence, "" where all dates were read for certain."""
        return self.in_words() if self.n_unread or self.n_guessed else ""

    def in_words(self) -> str:
        """Return the counts as a sentence, "" where there are no dates.

        >>> DateCounts(2, 1, unread=("soon",)).in_words()
        '2 of 3 dates were read, 1 could not be read ("soon").'
        """
        total = self.n_read + self.n_unread
        if not total:
            return ""
        sentence = f"{self.n_read:,} of {total:,} {'date was' if total == 1 else 'dates were'} read"
        if self.n_unread:
            shown = [f'"{text}"' for text in self.unread] + ["..."] * (self.n_unread > len(self.unread))
            sentence += f", {self.n_unread:,} could not be read ({', '.join(shown)})"
        if self.n_guessed:
            sentence += f"; {self.n_guessed:,} {'is a guess' if self.n_guessed == 1 else 'are guesses'}, {self.guess}"
        return f"{sentence}."


@dataclass
class DateTally:
    """What is known of dates while documents come in; small, and added up where they are read in parts.

    `counts`: how many were "read" and "unread", and have a "short" year that could be the day. `orders`: for each
    column how many dates can only begin with the day, only with the month, or with either.
    """

    counts: Counter[str] = field(default_factory=Counter)
    orders: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    unread: list[str] = field(default_factory=list)

    def take(self, value: object, column: str) -> str:
        """Return a date as ISO 8601 text, behind a mark if it is open, "" where it cannot be read."""
        value = date_value(value)
        reading = read_date(value)
        if reading.order:
            self.orders[column][reading.order] += 1
        if reading.iso or reading.order == OPEN:
            self.counts["read"] += 1
            self.counts["short"] += reading.has_short_year
            return reading.iso or f"{_MARK}{value}"
        if value is not None:
            self.miss(str(value))
        return ""

    def miss(self, text: str) -> None:
        """Count a date that cannot be read."""
        self.counts["unread"] += 1
        text = " ".join(text[:LONGEST_DATE].split())
        if len(self.unread) < N_EXAMPLES and text not in self.unread:
            self.unread.append(text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]}...")

    @classmethod
    def joined(cls, tallies: Iterable[DateTally]) -> DateTally:
        """Return the sums of several."""
        total = cls()
        for tally in tallies:
            total.counts += tally.counts
            total.unread = list(dict.fromkeys(total.unread + tally.unread))[:N_EXAMPLES]
            for column, orders in tally.orders.items():
                total.orders[column] += orders
        return total

    @property
    def needs_languages(self) -> bool:
        """Whether some dates need more than themselves to be read."""
        return self.counts["short"] > 0 or any(orders[OPEN] for orders in self.orders.values())


class DateColumns:
    """Reads the open dates of a collection, of which everything is counted by now.

    The open ones of a column are read as the others are: the day first where some begin with 13 to 31. A column without
    any goes with the whole collection, else the language decides; what is left is a guess, the month first at last.
    """

    def __init__(self, tally: DateTally, languages: Sequence[str]) -> None:
        """`tally` counts on; `languages`: of the texts, the commonest first."""
        self._tally, self._languages = tally, languages
        self._by_language = DAY if languages and languages[0] != "english" else ""
        self._of_all: Counter[str] = sum(tally.orders.values(), Counter())
        self._guessed: Counter[str] = Counter()
        if tally.counts["short"] and not languages:
            self._guessed["read with the year last"] = tally.counts["short"]

    def settled(self, dates: Iterable[str], columns: Iterable[str]) -> list[str]:
        """Return dates in ISO 8601, "" where there is none; `columns`: which each belongs to."""
        pairs = zip(dates, columns, strict=True)
        return [self._read(date[1:], column) if date.startswith(_MARK) else date for date, column in pairs]

    def _read(self, text: str, column: str) -> str:
        first, is_guess = self._first_of(self._tally.orders[column])
        reading = read_date(text, first=first, languages=self._languages)
        if not reading.iso:  # the name of a month in a language that is not found
            self._tally.counts["read"] -= 1
            self._tally.miss(text)
        elif reading.order == OPEN and is_guess:
            self._guessed[f"read with the {first} first"] += 1
        return reading.iso

    def _first_of(self, orders: Counter[str]) -> tuple[str, bool]:
        """Return DAY or MONTH for the open dates of a column, and whether that is a guess."""
        if orders[DAY] and orders[MONTH]:
            return (DAY if orders[DAY] > orders[MONTH] else MONTH), True
        for counts in (orders, self._of_all):
            if bool(counts[DAY]) != bool(counts[MONTH]):
                return (DAY if counts[DAY] else MONTH), False
        return self._by_language or MONTH, not self._by_language

    def counts(self) -> DateCounts:
        """Return how many dates were read, once all are."""
        n_read, n_unread = self._tally.counts["read"], self._tally.counts["unread"]
        return DateCounts(
            n_read, n_unread, self._guessed.total(), " or ".join(self._guessed), tuple(self._tally.unread)
        )
