"""Characters that are not seen but act, as classes for regular expressions: one table for all that cleans text."""

from __future__ import annotations

CONTROLS = "\x00-\x08\x0b\x0e-\x1f\x7f"  # those of ASCII other than white space
LATER_CONTROLS = "\x80-\x9f"  # those of Latin-1, which some terminals obey
DIRECTIONS = "\u061c\u202a-\u202e\u2066-\u2069"  # turn the direction of the text after them around
MARKS = "\u200e\u200f"  # steer the direction at one place, as Hebrew and Arabic texts need it
SURROGATES = "\ud800-\udfff"  # halves of pairs, which no file can hold
