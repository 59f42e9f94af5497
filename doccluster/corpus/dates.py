"""Dates as they are written in documents, to ISO 8601: a date is read whole or not at all.

The dates of all readers come here. A text is brought into a plain form: names of months, halves of a day and zones
become signs, words that say nothing ("of", "alle") go, and any other word means that it is no date. What is left has to
be one of the layouts in ``dates.toml`` from its first sign to its last. dateutil does not serve: it completes what is
missing from today's date, and of a time that comes twice it takes the last. Open dates go as others of their column.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

from doccluster.base.validation import is_missing

FIRST_YEAR = 1000
PERIODS = {"year": 4, "month": 7, "day": 10}  # and how many characters of an ISO date say it
LONGEST_DATE = 100  # characters
DAY, MONTH, OPEN = "day", "month", "open"  # what a date of two numbers and a year begins with
_SECONDS = (1e8, 1e10)  # 1973 to 2286, and 1653 to 1966: a number in this range is a Unix time stamp
_LAST_SHORT_YEAR = 2068  # two digits are a year from 1969 on, as in POSIX and in Python's %y
_CALENDAR_YEARS = range(1900, 2101)  # of dates that are written as 12 or 14 digits without a sign between

_ISO = re.compile(r"\d{4}-?\d\d-?\d\d(?:[T ]\d.*)?", re.ASCII | re.IGNORECASE)
# the other days of ISO 8601, by their week or their number in the year, and times without signs between
_OTHER_DAY = re.compile(r"(\d{4})-?(?:W(\d\d)-?([1-7])|(\d{3}))(?=[T ]|$)", re.ASCII | re.IGNORECASE)
_NO_SIGNS = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)", re.ASCII | re.IGNORECASE)
# a number, alone or as .NET services have it
_NUMBER = re.compile(r"(/Date\()?([+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?)(?(1)\)/)", re.ASCII | re.IGNORECASE)
_PLACE = re.compile(r"\s*\[?\b([A-Z][A-Za-z]+/[A-Za-z_/+-]+)\]?$")  # Europe/Berlin, as Java has it after the offset too
_MONTH = re.compile(r"m\d\d?")
_WORD = re.compile(r"(?<!\S)m\d\d?(?!\S)|[^\W\d_][^\s\d,;:/+()\[\]-]*")
_HALF_FIRST = re.compile(r"([ap]m) (\d\d?(?:[:.]\d\d){0,2})")
_SPAN_OF_HOURS = re.compile(r"(?<![:\d])\d\d?[:.]\d\d-\d\d?[:.]\d\d")  # a zone follows seconds, or a blank
_SEVERAL_ZONES = "z?"


@dataclass(frozen=True, slots=True)
class DateReading:
    """What one date says."""

    iso: str = ""  # ISO 8601 text, "" where it cannot be read, or not without the other dates of its column
    # what a date of two numbers and a year (or a name that means two months) begins with: DAY, MONTH or OPEN; "" for
    # others
    order: str = ""
    has_short_year: bool = False  # whether its two last digits, taken as the year, could be the day


class _OpenDate(ValueError):
    """A date that cannot be read by itself."""


def disbelief(day: dt.date, today: dt.date) -> str:
    """Return why the date of a document is not believed, an empty string if it is.

    >>> today = dt.date(2026, 3, 1)
    >>> [disbelief(dt.date(year, 1, 1), today) for year in (1, 1970, 1987, 2031)]
    ['before the year 1000', '1 January 1970, which stands for no date', '', 'more than a year from now']
    """
    if day.year < FIRST_YEAR:
        return "before the year 1000"
    if day == dt.date(1970, 1, 1):
        return "1 January 1970, which stands for no date"
    return "more than a year from now" if day > today + dt.timedelta(days=366) else ""


def iso_date(value: object) -> str:
    """Return a date, time stamp or text as ISO 8601 text, "" when it is missing, not understood whole, or open.

    Dates without a time stay without one. ``03/04/2024`` can be March or April: other dates of its column decide.

    >>> iso_date("Thu, 26 Feb 1987 15:01:01 GMT"), iso_date("15 novembre 2019 à 10h30")
    ('1987-02-26T15:01:01+00:00', '2019-11-15T10:30:00')
    >>> iso_date("26-FEB-1987 15:01:01.79"), iso_date("1987-02-26"), iso_date("soon"), iso_date("25/04/2024")
    ('1987-02-26T15:01:01', '1987-02-26', '', '2024-04-25')
    """
    return read_date(value).iso


def in_universal_time(iso: str) -> str:
    """Return an ISO 8601 text in universal time, if it names a zone.

    >>> in_universal_time("2021-11-19T01:45:08+02:00"), in_universal_time("2021-11-19")
    ('2021-11-18T23:45:08+00:00', '2021-11-19')
    """
    with suppress(OverflowError):  # on the first day of the calendar, and the last
        moment = dt.datetime.fromisoformat(iso) if "T" in iso else None
        return iso if moment is None or moment.tzinfo is None else moment.astimezone(dt.UTC).isoformat()
    return iso


def as_moment(date: str) -> int | None:
    """Return an ISO 8601 date as seconds since 1970; a date without a zone is in universal time, None if it is none.

    >>> as_moment("1970-01-02"), as_moment("1970-01-01T01:00:00+01:00"), as_moment("soon")
    (86400, 0, None)
    """
    if len(date) in (4, 7) and date.replace("-", "").isdigit():
        date = (date + "-01-01")[:10]
    try:
        moment = dt.datetime.fromisoformat(date)
    except ValueError:
        return None
    moment = moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(seconds=1)


def period_of(dates: Iterable[str]) -> str:
    """Return the period that most dates of a column name: "year", "month" or "day".

    >>> period_of(["2019", "2020", ""]), period_of(["2019-03", "2019"]), period_of(["2019", "2019-03-01"])
    ('year', 'month', 'day')
    """
    lengths = sorted(len(date) for date in dates if date)
    middle = lengths[len(lengths) // 2] if lengths else 10
    return next((period for period, length in PERIODS.items() if length == middle), "day")


def date_value(value: object) -> object:
    """Return the value that stands for a date; None for NaN, NaT and blanks."""
    while isinstance(value, Mapping) and len(value) == 1:  # {"$date": {"$numberLong": ...}}, as MongoDB writes JSON
        value = next(iter(value.values()))
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        # {"date-parts": [[2019, 11, 15]]}, as Crossref does
        value = "-".join(f"{part:02}" for part in value[0] if type(part) is int)
    return None if is_missing(value) or (isinstance(value, str) and not value.strip()) else value


def read_date(value: object, *, first: str = "", languages: Collection[str] = ()) -> DateReading:
    """Return the reading of a date; `first` (DAY or MONTH) and `languages` decide where it is open."""
    value = date_value(value)
    if isinstance(value, dt.datetime):
        return DateReading(_of_moment(value))
    if isinstance(value, dt.date):
        return DateReading(value.isoformat())
    text = "" if value is None else " ".join(str(value).strip(" \"'").split())
    if not text or len(text) > LONGEST_DATE:
        return DateReading()
    try:
        return _of_text(text, first, languages)
    except _OpenDate:
        return DateReading(order=OPEN)
    except (ValueError, OverflowError, KeyError):  # an hour of 25, a 31st of February, a word that is of no date
        return DateReading()


def _of_moment(moment: dt.datetime) -> str:
    """Return the moment to the second; midnight without a zone is a date."""
    moment = moment.replace(microsecond=0)
    if hasattr(moment, "nanosecond"):  # a pandas time stamp
        moment = dt.datetime.fromisoformat(moment.isoformat()[:19]).replace(tzinfo=moment.tzinfo)
    if moment.tzinfo is None and moment.time() == dt.time(0):
        return moment.date().isoformat()
    return moment.isoformat()


def _of_number(text: str) -> str:
    """Return the year, day or moment that a number is: 2019, 20191115, 20191115103000, or a Unix time stamp."""
    number = float(text)
    digits = str(int(number)) if number.is_integer() else ""
    if len(digits) == 4 and number > 0:
        return digits
    if len(digits) == 8:
        return dt.date.fromisoformat(digits).isoformat()
    if len(digits) in (12, 14) and int(digits[:4]) in _CALENDAR_YEARS:
        with suppress(ValueError):
            return dt.datetime.fromisoformat(f"{digits[:8]}T{digits[8:]}").isoformat()
    for scale in (1, 1e3, 1e6, 1e9):  # seconds, milli-, micro-, nanoseconds
        if _SECONDS[0] <= abs(number) / scale < _SECONDS[1]:
            seconds = dt.timedelta(seconds=math.floor(number / scale))
            return (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + seconds).isoformat()
    return ""


def _of_text(text: str, first: str, languages: Collection[str]) -> DateReading:
    number = _NUMBER.fullmatch(text)
    if number is not None:
        return DateReading(_of_number(number[2]))
    # a name of a place, as in "2024-05-01 09:00 Europe/Rome", says the zone
    place = _PLACE.search(text) if "/" in text else None
    zone = None if place is None else ZoneInfo(place[1])
    text = text if place is None else text[: place.start()]
    other_day = _OTHER_DAY.match(text)
    if other_day is not None:
        text = _calendar_day(other_day) + text[other_day.end() :]
    if _ISO.fullmatch(text):
        with suppress(ValueError):
            moment = dt.datetime.fromisoformat(text)
            return DateReading(_with_zone(moment, zone) if len(text) > 10 else moment.date().isoformat())
    table = _table()
    plain = _plain(_NO_SIGNS.sub(r"\1-\2-\3T\4:\5:\6", text), table, languages, is_settled=bool(first))
    for shape in table.shapes if _SPAN_OF_HOURS.search(plain) is None else ():
        match = shape.fullmatch(plain)
        if match is not None:
            parts = match.groupdict()
            date_text = parts["written"] + (parts.get("rest") or "")
            day = next(filter(None, (layout.fullmatch(date_text) for layout in table.layouts)), None)
            if day is not None:
                return _of_parts(parts | day.groupdict(), first, zone)
    return DateReading()


def _calendar_day(day: re.Match[str]) -> str:
    """Return a day of a week or of a year by its month. Raises ValueError if there is no such day."""
    year, week, number_in_week, number_in_year = (int(part or 0) for part in day.groups())
    if week:
        return dt.date.fromisocalendar(year, week, number_in_week).isoformat()
    date = dt.date(year, 1, 1) + dt.timedelta(number_in_year - 1)
    if date.year != year:
        raise ValueError("no such day of the year")
    return date.isoformat()


def _with_zone(moment: dt.datetime, zone: dt.tzinfo | None) -> str:
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)).replace(microsecond=0).isoformat()


def _of_parts(parts: Mapping[str, str | None], first: str, zone: dt.tzinfo | None) -> DateReading:
    """Return the reading of the parts of a date. Raises ValueError where there is no such day, hour or zone."""
    number = {name: int(part) for name, part in parts.items() if part and part.isdecimal()}
    year, order, is_short = number["year"], "", len(parts["year"] or "") == 2
    if is_short:
        year += 2000 if year + 2000 <= _LAST_SHORT_YEAR else 1900
    # of two numbers one above 12 is the day; of two others the column decides
    if "first" in number:
        low, high = sorted((number["first"], number["after"]))
        order = "" if low == high else OPEN if high <= 12 else DAY if number["first"] == high else MONTH
        names = ("month", "day") if (first if order == OPEN else order) == MONTH else ("day", "month")
        number |= zip(names, (number["first"], number["after"]), strict=True)
    if "day" not in number:
        if "hour" in number:
            raise ValueError("an hour without a day")
        return DateReading(dt.date(year, number["month"], 1).isoformat()[:7])
    iso = dt.date(year, number["month"], number["day"]).isoformat()
    if "hour" in number:
        hour, minute, second = _hour(number["hour"], parts["half"]), number.get("minute", 0), number.get("second", 0)
        if (hour, minute, second) == (24, 0, 0):  # the end of the day is the beginning of the next
            hour, iso = 0, (dt.date.fromisoformat(iso) + dt.timedelta(1)).isoformat()
        second -= second == 60 and minute == 59  # a leap second, which stays in its day
        time = dt.time(hour, minute, second)
        name, offset = parts["zone"], parts["offset"]
        if offset or name != _SEVERAL_ZONES:
            zone = _offset(offset or (name or "")[1:]) if offset or name else zone
            iso = _with_zone(dt.datetime.combine(dt.date.fromisoformat(iso), time), zone)
    is_short = is_short and "sign" in parts and number["year"] <= 31
    return DateReading("" if order == OPEN and not first else iso, order, is_short)


def _hour(hour: int, half: str | None) -> int:
    if half == "am" and hour > 12:
        raise ValueError("no such hour in the morning")
    if half is None or hour > 12:
        return hour
    return hour % 12 + (12 if half == "pm" else 0)


def _offset(text: str) -> dt.timezone:
    """Return the zone of +2, +02, +0200 or +02:00. Raises ValueError for what no place on earth has."""
    digits = text[1:].replace(":", "")
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else divmod(int(digits), 100)
    if hours > 14 or minutes > 59:
        raise ValueError("no such zone")
    return dt.timezone(dt.timedelta(hours=hours, minutes=minutes) * (-1 if text[0] == "-" else 1))


@dataclass(frozen=True)
class _Table:
    """``dates.toml``: what becomes of words and signs, and the layouts."""

    # signs of which a text has one, a pattern, and what that becomes
    steps: tuple[tuple[frozenset[str], re.Pattern[str], str], ...]
    shapes: tuple[re.Pattern[str], ...]
    layouts: tuple[re.Pattern[str], ...]
    plain: Mapping[str, str]
    months_in: Mapping[str, Mapping[str, int]]  # names that mean two months, each with its month in some languages
    first: frozenset[str]  # words that may only stand first


@cache
def _table() -> _Table:
    table = tomllib.loads(resources.files("doccluster.corpus").joinpath("dates.toml").read_text("utf-8"))

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(re.sub(r"\b[A-Z_]{3,}\b", lambda part: table["parts"][part[0]], pattern), re.VERBOSE)

    def named(names: str) -> Iterable[str]:
        return (" ".join(name.split()) for name in names.split("|"))

    words = table["words"]
    # months and zones are written alike whatever their language, so that one pattern fits all
    plain = {name: f" {half} " for half in ("am", "pm") for name in named(words[half])}
    plain |= dict.fromkeys(named(words["anywhere"]), " ")
    plain |= {name: f" z{zone} " for zone, names in table["zones"].items() for name in named(names)}
    plain |= {name: f" m{month} " for month, names in table["months"].items() for name in named(names)}
    return _Table(
        steps=tuple((frozenset(needs), compiled(pattern), by) for needs, pattern, by in table["steps"]),
        shapes=tuple(map(compiled, table["shapes"])),
        layouts=tuple(map(compiled, table["layouts"])),
        plain=plain,
        months_in=table["months_in"],
        first=frozenset(named(words["first"])),
    )


def _plain(text: str, table: _Table, languages: Collection[str], *, is_settled: bool) -> str:
    """Return a date as numbers, signs, m11 for a month, am, pm, and z+02:00 for a zone."""
    text = unicodedata.normalize("NFKC", text).casefold()
    signs = frozenset(text)
    for needs, pattern, by in table.steps:
        if not signs.isdisjoint(needs):
            text = pattern.sub(by, text)

    def plain(match: re.Match[str]) -> str:
        name = match[0].strip(".'")
        if name not in table.months_in:
            return match[0] if _MONTH.fullmatch(name) else table.plain[name]
        if not is_settled:
            raise _OpenDate
        months = table.months_in[name]
        return f" m{months[next(filter(months.__contains__, languages), '')]} "

    text = text.strip(" .,")
    words = [word.strip(".'") for word in _WORD.findall(text)]
    if not words:
        return text
    if words[0] in table.first and text.startswith(words[0]):  # a day, or the month, as "mar" can be
        is_month = [word in table.months_in or table.plain.get(word, "").startswith(" m") for word in words]
        if not is_month[0] or sum(is_month) > 1:
            text = text[len(words[0]) :]
    return _HALF_FIRST.sub(r"\2 \1", " ".join(_WORD.sub(plain, text).split()).lstrip(" ,.-"))


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
    remarks: tuple[str, ...] = ()  # on columns that hold dates, where no name says which is the date

    @property
    def doubts(self) -> str:
        """The counts as a sentence, "" where all dates were read for certain."""
        return self.in_words() if self.n_unread or self.n_guessed else " ".join(self.remarks)

    def in_words(self) -> str:
        """Return the counts as a sentence, "" where there are no dates.

        >>> DateCounts(2, 1, unread=("soon",)).in_words()
        '2 of 3 dates were read, 1 could not be read ("soon").'
        """
        total = self.n_read + self.n_unread
        if not total:
            return " ".join(self.remarks)
        sentence = f"{self.n_read:,} of {total:,} {'date was' if total == 1 else 'dates were'} read"
        if self.n_unread:
            shown = [f'"{text}"' for text in self.unread] + ["..."] * (self.n_unread > len(self.unread))
            sentence += f", {self.n_unread:,} could not be read ({', '.join(shown)})"
        if self.n_guessed:
            sentence += f"; {self.n_guessed:,} {'is a guess' if self.n_guessed == 1 else 'are guesses'}, {self.guess}"
        return " ".join([f"{sentence}.", *self.remarks])


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
