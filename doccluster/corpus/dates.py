"""Dates as they are written in documents, to ISO 8601; what cannot be read for sure becomes an empty string."""

from __future__ import annotations

import datetime as dt
import email.utils
import math
import re
from contextlib import suppress
from typing import Any

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_TIME = r"(?:[ T,]+(?:at )?(?P<time>\d{1,2}:\d{2}(?::\d{2})?)\S*)?"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
# Month names are English ones here, never those of the locale.
_LAYOUTS = tuple(
    re.compile(layout, re.IGNORECASE)
    for layout in (
        rf"{_WEEKDAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ -]{_MONTH}[ ,-]+(?P<year>\d{{4}}){_TIME}(?: .*)?",
        rf"{_WEEKDAY}{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}}){_TIME}(?: .*)?",
        rf"{_WEEKDAY}{_MONTH} (?P<day>\d{{1,2}}) (?P<time>\d\d:\d\d:\d\d) (?P<year>\d{{4}})",
        rf"(?P<year>\d{{4}})[/.](?P<month>\d{{1,2}})[/.](?P<day>\d{{1,2}}){_TIME}",
        rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}}){_TIME}",
        rf"(?P<first>\d{{1,2}})/(?P<second>\d{{1,2}})/(?P<year>\d{{4}}){_TIME}",
    )
)
_MONTH_OF_YEAR = re.compile(rf"{_MONTH},? (?P<year>\d{{4}})", re.IGNORECASE)
_PART_OF_DATE = re.compile(r"\d{4}(-\d{2})?")
_SECONDS = (1e8, 1e10)  # 1973 to 2286: a number in this range is a Unix time stamp
_LATEST_YEAR = 9999
FIRST_YEAR = 1000


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


def iso_date(value: Any) -> str:
    """Return a date, time stamp or text as ISO 8601 text, "" when it is missing or not certain.

    Dates without a time stay without one. ``03/04/2024`` can be March or April and is not certain; ``25/04/2024`` is.

    >>> iso_date("Thu, 26 Feb 1987 15:01:01 GMT")
    '1987-02-26T15:01:01+00:00'
    >>> iso_date("26-FEB-1987 15:01:01.79"), iso_date("1987-02-26"), iso_date("soon")
    ('1987-02-26T15:01:01', '1987-02-26', '')
    """
    if value is None or value != value:  # NaN and NaT differ from themselves
        return ""
    if isinstance(value, dt.datetime):
        return _iso(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_number(value)
    return _from_text(" ".join(str(value).split())[:100])


def _iso(moment: dt.datetime) -> str:
    """Return the moment to the second; midnight without a zone is a date."""
    moment = moment.replace(microsecond=0)
    if hasattr(moment, "nanosecond"):  # a pandas time stamp
        moment = dt.datetime.fromisoformat(moment.isoformat()[:19]).replace(tzinfo=moment.tzinfo)
    if moment.tzinfo is None and moment.time() == dt.time(0):
        return moment.date().isoformat()
    return moment.isoformat()


def _from_number(number: float) -> str:
    if not abs(number) < _SECONDS[1] * 1e9:  # no time stamp in any unit; the number itself may be beyond a float
        return ""
    number = float(number)
    for scale in (1, 1e3, 1e6, 1e9):  # seconds, milli-, micro-, nanoseconds
        if _SECONDS[0] <= number / scale < _SECONDS[1]:
            return _iso(dt.datetime.fromtimestamp(math.floor(number / scale), dt.UTC))
    return str(int(number)) if number.is_integer() and 1000 <= number <= _LATEST_YEAR else ""


def _from_text(text: str) -> str:
    if _PART_OF_DATE.fullmatch(text):
        return text
    for read in (_iso_text, _number_text, _mail_text, _layout_text):
        with suppress(TypeError, ValueError, IndexError, OverflowError):
            if moment := read(text):
                return moment
    return ""


# Each returns nothing, or raises one of these errors, where a text is not written so.


def _iso_text(text: str) -> str:
    moment = dt.datetime.fromisoformat(text.replace(" UTC", "+00:00"))
    return moment.date().isoformat() if len(text) <= 10 else moment.replace(microsecond=0).isoformat()


def _number_text(text: str) -> str:
    return _from_number(float(text))


def _mail_text(text: str) -> str:
    moment = email.utils.parsedate_to_datetime(text)
    return _iso(moment) if re.search(r"[A-Za-z]", text) and moment.year >= 1900 else ""


def _layout_text(text: str) -> str:
    for layout in _LAYOUTS:
        found = layout.fullmatch(text)
        if found is not None:
            return _from_parts(found.groupdict())
    found = _MONTH_OF_YEAR.fullmatch(text)
    return "" if found is None else f"{found['year']}-{_MONTHS[found['month'][:3].lower()]:02d}"


def _from_parts(parts: dict[str, str | None]) -> str:
    if "first" in parts:
        day, month = int(parts["first"] or 0), int(parts["second"] or 0)
        if day <= 12 and month <= 12 and day != month:  # both could be the month
            return ""
        if day <= 12:
            day, month = month, day
    else:
        name = str(parts["month"])
        day, month = int(parts["day"] or 0), int(name) if name.isdigit() else _MONTHS[name[:3].lower()]
    date, time = dt.date(int(parts["year"] or 0), month, day).isoformat(), parts.get("time")
    if not time:
        return date
    return f"{date}T{dt.time.fromisoformat(time.zfill(8 if time.count(':') == 2 else 5)).isoformat()}"
