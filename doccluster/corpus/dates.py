"""Dates as they are written in documents, to ISO 8601; what cannot be read for sure becomes an empty string."""

from __future__ import annotations

import datetime as dt
import email.utils
import math
import re
from typing import Any

_LAYOUTS = (
    *("%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%Y"),
    *("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y", "%d-%b-%Y", "%d-%b-%Y %H:%M:%S"),
    *("%d-%B-%Y", "%A, %B %d, %Y", "%A, %d %B %Y", "%a %b %d %H:%M:%S %Y", "%B %Y", "%b %Y"),
)
_SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})(?:[ ,T]+(\d{1,2}:\d{2}(?::\d{2})?))?")
_NEWSWIRE = re.compile(r"\s*(\d{1,2}-[A-Za-z]{3}-\d{4})\s+(\d{1,2}:\d{2}:\d{2})")
_PART_OF_DATE = re.compile(r"\d{4}(-\d{2})?")
_SECONDS = (1e8, 1e10)  # 1973 to 2286: a number in this range is a Unix time stamp
_EARLIEST, _LATEST = 1, 9999


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
        return _from_number(float(value))
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
    for scale in (1, 1e3, 1e6, 1e9):  # seconds, milli-, micro-, nanoseconds
        if _SECONDS[0] <= number / scale < _SECONDS[1]:
            return _iso(dt.datetime.fromtimestamp(math.floor(number / scale), dt.UTC))
    return str(int(number)) if number.is_integer() and 1000 <= number <= _LATEST else ""


def _from_text(text: str) -> str:
    if not text:
        return ""
    if _PART_OF_DATE.fullmatch(text):
        return text
    for read in (_iso_text, _number_text, _mail_text, _newswire_text, _slash_text, _layout_text):
        moment = read(text)
        if moment is not None:
            return moment
    return ""


def _iso_text(text: str) -> str | None:
    try:
        moment = dt.datetime.fromisoformat(text.replace(" UTC", "+00:00"))
    except ValueError:
        return None
    return moment.date().isoformat() if len(text) <= 10 else _iso_keeping_midnight(moment)


def _iso_keeping_midnight(moment: dt.datetime) -> str:
    return moment.replace(microsecond=0).isoformat()


def _number_text(text: str) -> str | None:
    try:
        return _from_number(float(text)) or None
    except ValueError:
        return None


def _mail_text(text: str) -> str | None:
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return _iso(moment) if re.search(r"[A-Za-z]", text) and moment.year >= 1900 else None


def _newswire_text(text: str) -> str | None:
    found = _NEWSWIRE.match(text)
    return None if found is None else _layout_text(f"{found[1]} {found[2]}")


def _slash_text(text: str) -> str | None:
    found = _SLASHES.fullmatch(text)
    if found is None:
        return None
    first, second, year = int(found[1]), int(found[2]), int(found[3])
    if first <= 12 and second <= 12 and first != second:
        return None
    day, month = (first, second) if first > 12 else (second, first)
    try:
        date = dt.date(year, month, day).isoformat()
        return f"{date}T{dt.time.fromisoformat(found[4].zfill(5)).isoformat()}" if found[4] else date
    except ValueError:
        return None


def _layout_text(text: str) -> str | None:
    for layout in _LAYOUTS:
        try:
            moment = dt.datetime.strptime(text, layout)
        except ValueError:
            continue
        if "%d" not in layout:
            return moment.strftime("%Y-%m")
        return moment.isoformat() if "%H" in layout else moment.date().isoformat()
    return None
