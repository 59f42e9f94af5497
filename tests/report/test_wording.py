"""What strangers write, and what numbers look like, on the page."""

from __future__ import annotations

from datetime import date

import pytest

from doccluster.report.wording import decimal, one_line, safe_link, span_words, visible
from doccluster.results.overview import as_date


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//example.org",
        "example.org",
        "https://",
        "http:///path",
        "https://[broken",
        "https://example.org/a b",
        "https://example.org/\u202egpj",
        "https://example.org/" + "a" * 3000,
        "",
        "   ",
    ],
)
def test_what_is_no_web_address_is_no_link(link):
    assert safe_link(link) is None


@pytest.mark.parametrize("link", ["http://example.org", "https://example.org/a?b=c&d=%20#e", "HTTPS://example.org/ä"])
def test_a_web_address_stays_as_it_is(link):
    assert safe_link(f"  {link}\n") == link


def test_marks_that_belong_to_a_script_are_kept():
    persian = "می\u200cخواهم"  # the zero-width non-joiner is spelling here
    assert visible(persian) == persian
    assert visible("a\u200fb\tc") == "a\u200fb\tc"


def test_a_long_title_is_cut_and_says_so():
    assert one_line("word " * 100_000, 20) == "word word word word…"
    assert len(one_line("x" * 500)) == 220


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0, 4, "0.0000"),
        (-0.0, 2, "0.00"),
        (-0.001, 2, "0.00"),
        (1e-7, 4, "1.0e−07"),
        (-1e-7, 4, "−1.0e−07"),
        (999.999, 2, "1,000"),
        (1234.5, 2, "1,234"),
        (float("-inf"), 2, "−∞"),
    ],
)
def test_numbers_at_the_edges(value, digits, text):
    assert decimal(value, digits) == text


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-03-03T06:40:00Z", date(2026, 3, 3)),
        ("2026-03-03 06:40", date(2026, 3, 3)),
        ("2026", date(2026, 1, 1)),
        ("2026-13-45", date(2026, 1, 1)),
        ("0000-01-01", None),
        ("", None),
        ("last week", None),
    ],
)
def test_days_are_read_from_what_is_there(text, day):
    assert as_date(text) == day


def test_spans_over_years_name_both():
    assert span_words(date(2025, 12, 30), date(2026, 1, 2)) == "30 Dec 2025 – 2 Jan 2026"
    assert span_words(date(2026, 1, 2), date(2026, 1, 2)) == "2 Jan 2026"
