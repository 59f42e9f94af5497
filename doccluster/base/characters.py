"""Characters that are not seen, and texts without them."""

from __future__ import annotations

import re

CONTROLS = "\x00-\x08\x0b\x0e-\x1f\x7f"  # those of ASCII other than white space
LATER_CONTROLS = "\x80-\x9f"  # those of Latin-1, which some terminals obey
DIRECTIONS = "\u061c\u202a-\u202e\u2066-\u2069"  # turn the direction of the text after them around
MARKS = "\u200e\u200f"  # steer the direction at one place, as Hebrew and Arabic texts need it
SURROGATES = "\ud800-\udfff"  # halves of pairs, which no file can hold
INVISIBLE = "\u00ad\u2060\ufeff"  # the soft hyphen, the word joiner and the mark of a file's beginning
JOINERS = "\u200c\u200d"  # part or join letters: they matter in Arabic and Indic scripts, and between emoji
# zero-width spaces part words in scripts without blanks, from Thai and Tibetan to those of the Tai
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u1950-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
_PLAIN = "0-9A-Za-z\u00aa-\u052f\u1e00-\u1fff\u3005-\u9fff\uac00-\ud7a3"  # Latin, Greek, Cyrillic, Chinese, Korean
_NOT_SEEN = re.compile(
    "(?<=\\w)[\u00ad\u00ac][ \t]*\n[ \t]*(?=\\w)|"  # a hyphen that the end of a line called for, and that of scans
    f"[{INVISIBLE}]|(?<![{_UNSPACED}])\u200b(?![{_UNSPACED}])|(?<=[{_PLAIN}])[{JOINERS}]+(?=[{_PLAIN}])"
)


def without_invisible(text: str) -> str:
    """Return a text without the characters that are not seen and part no words (UAX 29 passes over them, rule WB4).

    >>> without_invisible("Gesamt\u00adkonzept"), len(without_invisible("\u0645\u06cc\u200c\u062e\u0648"))
    ('Gesamtkonzept', 5)
    """
    if text.isascii() or not any(map(text.__contains__, f"{INVISIBLE}\u200b{JOINERS}\u00ac")):
        return text
    return _NOT_SEEN.sub("", text)
