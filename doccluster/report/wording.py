"""Texts, numbers and dates as pages show them; no text of a document can change the page around it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from doccluster.base.text_table import visible
from doccluster.text.scripts import is_unspaced
from doccluster.text.tokens import sentences

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TITLE_LENGTH = 220

_SPACE = re.compile(r"[\s\u2028\u2029]+")
EXCERPT_LENGTH = 220
Pieces = tuple[tuple[str, bool], ...]


def one_line(text: str, length: int = TITLE_LENGTH) -> str:
    """Return `text` on one line of at most `length` characters.

    >>> one_line("  a\\n  long   title ", 8)
    'a long…'
    """
    # a title may be a megabyte: look only at what can be shown
    line = _SPACE.sub(" ", visible(text[: 8 * length])).strip()
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def safe_link(link: str) -> str | None:
    """Return the link if it leads to a web page, else None: a `javascript:` or `data:` link would run in our page.

    >>> safe_link("https://example.org/a?b=1"), safe_link(" javascript:alert(1)")
    ('https://example.org/a?b=1', None)
    """
    address = link.strip()
    if not address or len(address) > 2000 or address != visible(address) or _SPACE.search(address):
        return None
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return address if parts.scheme in ("http", "https") and parts.netloc else None


def with_code(text: str) -> Markup:
    """Return text for a page, with what stands between backticks as code.

    >>> with_code("try `--seed 3` & see")
    Markup('try <code>--seed 3</code> &amp; see')
    """
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 and number < len(parts) - 1 else escape(part)
        for number, part in enumerate(parts)
    )


def decimal(value: float | None, digits: int = 2) -> str:
    """Return a number for a table: thousands apart, a true minus sign, a dash where there is none.

    >>> decimal(0.12345), decimal(-12345.6), decimal(float("nan")), decimal(float("inf"))
    ('0.12', '\u221212,346', '–', '∞')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "\u2212∞"
    size = abs(value)
    text = f"{size:,.0f}" if size >= 999.5 else f"{size:.{digits}f}"
    if float(text.replace(",", "")) == 0:
        # a score that is nearly 0 is not shown as 0; in a short column it is
        return f"{value:.1e}".replace("-", "\u2212") if size and digits >= 4 else text
    return f"\u2212{text}" if value < 0 else text


def date_words(day: date, period: str = "day") -> str:
    """Return a date as people write it, the same in every locale; or its month or year, where no more is known.

    >>> date_words(date(2026, 3, 3)), date_words(date(2026, 3, 1), "month"), date_words(date(2026, 1, 1), "year")
    ('3 Mar 2026', 'Mar 2026', '2026')
    """
    month = f"{MONTHS[day.month - 1]} {day.year}"
    return {"day": f"{day.day} {month}", "month": month, "year": str(day.year)}[period]


def moment_words(when: datetime) -> str:
    """Return a moment of universal time as people write it.

    >>> moment_words(datetime(2026, 3, 3, 8, 5))
    '3 Mar 2026, 08:05 UTC'
    """
    return f"{date_words(when)}, {when:%H:%M} UTC"


def month_words(day: date) -> str:
    """Return a month and its year.

    >>> month_words(date(2026, 3, 3))
    'Mar 2026'
    """
    return date_words(day, "month")


def span_words(first: date, last: date, period: str = "day") -> str:
    """Return the time from `first` to `last` in as few words as say it; `period`: what the dates name, such as a year.

    >>> span_words(date(2026, 3, 3), date(2026, 3, 9)), span_words(date(2026, 3, 3), date(2026, 4, 9))
    ('3–9 Mar 2026', '3 Mar – 9 Apr 2026')
    >>> span_words(date(2019, 1, 1), date(2020, 1, 1), "year"), span_words(date(2019, 1, 1), date(2019, 1, 1), "month")
    ('2019 – 2020', 'Jan 2019')
    """
    if period != "day":
        return " – ".join(dict.fromkeys((date_words(first, period), date_words(last, period))))
    if first == last:
        return date_words(first)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{date_words(last)}"
    if first.year == last.year:
        return f"{first.day} {MONTHS[first.month - 1]} – {date_words(last)}"
    return f"{date_words(first)} – {date_words(last)}"


def counted(n: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun.

    >>> counted(1, "document"), counted(1234, "document"), counted(2, "near-copy", "near-copies")
    ('1 document', '1,234 documents', '2 near-copies')
    """
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> duration(0.0123), duration(3.21), duration(754)
    ('12 ms', '3.2 s', '12 min 34 s')
    """
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def marked_excerpt(text: str, terms: Mapping[str, float], *, length: int = EXCERPT_LENGTH) -> Pieces:
    """Return the sentence with the greatest sum of terms, in pieces that are terms or are not.

    >>> marked_excerpt("It rained. The ferry is late.", {"ferry": 0.5})
    (('The ', False), ('ferry', True), (' is late.', False))
    """
    pattern = _pattern_of(terms)
    if pattern is None:
        return ()
    best, best_value = "", 0.0
    for sentence in sentences(text):
        line = one_line(sentence, length)
        value = sum(terms.get(word, 0.0) for word in set(map(str.lower, pattern.findall(line))))
        if value > best_value:
            best, best_value = line, value
    pieces = enumerate(pattern.split(best))  # every second one is a term
    return tuple((piece, place % 2 == 1) for place, piece in pieces if piece)


def _pattern_of(terms: Mapping[str, float]) -> re.Pattern[str] | None:
    """Return a pattern whose one group is a term: as whole words, where words have blanks between them."""
    alternatives = [
        re.escape(term) if is_unspaced(term) else rf"(?<!\w){re.escape(term)}(?!\w)"
        for term in sorted(terms, key=lambda term: (-len(term), term))
        if term
    ]
    return re.compile(f"({'|'.join(alternatives)})", re.IGNORECASE) if alternatives else None
