"""A long text in parts: at headings, turns of speakers, paragraphs and ends of sentences, in any script.

Parts are slices of the text between places where it may be cut, so that nothing but white space is lost. Paragraphs of
about a hundred words hold one matter more often than windows of words do, and give the words to tell it by.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from doccluster.base.plain_values import one_of
from doccluster.errors import InputError
from doccluster.text.scripts import count_words

RULES = ("auto", "paragraphs", "sentences", "pages", "turns")
N_WORDS = 100  # of a part, about
LEAST_SHARE = 3  # a part has at least the third of these
MIN_TURNS = 4
LONGEST_TURN = 4  # times the words of a part, on average, of a text that is an interview
LINES_PER_BLANK = 40  # a text with a blank line after every 40 lines is not divided by them
LINES_ENDING = 0.7  # of the lines that end a sentence, where each line is a paragraph
MAX_HEADING = 80  # characters

_CLOSING = "\"'\u2019\u201d\u00bb\u203a)\\]\u300d\u300f\uff09"
# what ends a sentence before white space: also in Arabic, Urdu, Syriac, Indic scripts, Armenian and Ethiopic
_STOPS = (
    ".!?\u2026\u203c-\u2049\u0589\u055c\u055e\u061f\u06d4\u0700-\u0702\u0964\u0965\u0df4\u1362\u1367\u1368\u0f0d\u0f0e"
)
_WIDE_STOPS = "\u3002\uff01\uff1f\uff0e\uff61\u104b\u17d4\u17d5"  # and, of scripts without blanks, anywhere
_SENTENCE_END = re.compile(rf"(?<=[{_STOPS}])[{_CLOSING}]*\s+(?![a-z])|(?<=[{_WIDE_STOPS}])[{_CLOSING}]*\s*")
_SHORTENED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|No|Sen|Rep|Gov|Gen|Prof|Nr|bzw|vs|etc|e\.g|i\.e|z\.B|[A-Z])\.$")
_ENDS = re.compile(rf"[{_STOPS}{_WIDE_STOPS}:][{_CLOSING}]*$")
_PAGE_END = re.compile(rf"(?<=[{_STOPS}{_WIDE_STOPS}:{_CLOSING}])\s*\f\s*")
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
_INDENT = re.compile(r"\n(?=[ \t]{2,}\S|\u3000)")
_LINE = re.compile(r"\n\s*")
_BLANK = re.compile(r"\s+")
# "MR SMITH:", "Q:", "R2:", "Interviewer:" or a name in Chinese at the beginning of a line
_TURN = re.compile(
    r"^[ \t]*((?!\d)[^\W_a-z][\w.'\u2019-]{0,30}(?:[ ][^\W_a-z][\w.'\u2019-]{0,30}){0,4}|[\u3400-\u9fff]{1,6})"
    r"(?:[ ]\([^()\n]{1,40}\))?[:\uff1a](?=\s|(?<=\uff1a))",
    re.MULTILINE,
)
_HEADING = re.compile(
    r"#{1,6} .+|(?:chapter|part|section|book|act|scene|kapitel|teil|chapitre|partie|cap[i\u00ed]tulo|capitolo)\b"
    r"[ \t]+[\divxlc]+\b.{0,60}|\d+(?:\.\d+)*\.?[ \t]+[^\W\d_].{0,60}[^.,;:]|\u7b2c[^\s\u3002]{1,5}[\u7ae0\u8282\u7bc0]"
    r".{0,40}",
    re.IGNORECASE,
)


class Piece(NamedTuple):
    """A stretch of a text that stays together, and whether nothing before it may be joined with it."""

    start: int
    end: int
    n_words: int
    begins_section: bool = False


def checked_rule(rule: object) -> str | int:
    """Return how to cut, one of `RULES` or about how many words a part has; raise InputError if it is neither.

    >>> checked_rule("auto"), checked_rule("150")
    ('auto', 150)
    """
    if isinstance(rule, str) and rule in RULES:
        return rule
    is_whole = hasattr(rule, "__index__") and not isinstance(rule, bool)
    n_words = int(rule) if is_whole or (isinstance(rule, str) and rule.isdecimal()) else 0  # type: ignore[call-overload]
    if n_words < 10:
        raise InputError(
            "is no way to cut documents",
            argument="parts",
            received=rule,
            expected=f"{one_of([*map(repr, RULES), 'a number of words'])}, at least 10",
        )
    return n_words


def cut_text(text: str, rule: str | int = "auto") -> list[str]:
    """Return the parts of a text, in order; none of a text that is empty or blank.

    Parameters
    ----------
    text : str
    rule : {"auto", "paragraphs", "sentences", "pages", "turns"} or int
        "auto": a text of under 200 words stays whole; others are cut at headings, turns of speakers and paragraphs,
        these joined or cut at ends of sentences to about 100 words; nothing under a third of that stands alone. An int
        is "auto" with that many words. "paragraphs" and "turns" are parts as they are, but that short ones are joined;
        "sentences" and "pages" (form feeds) are parts as they are.

    Examples
    --------
    >>> cut_text("It rains. It pours.", "sentences")
    ['It rains.', 'It pours.']
    """
    n = rule if isinstance(rule, int) else N_WORDS
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if rule == "pages":
        pages = text.split("\f")
        return [page.strip() for page in pages if page.strip()]
    # elsewhere the end of a page is one of a paragraph where a sentence ends, else of a line
    text = _PAGE_END.sub("\n\n", text).replace("\f", "\n").strip()
    is_cut_to_size = rule == "auto" or isinstance(rule, int)
    if not text or (is_cut_to_size and count_words(text) < 2 * n):
        return [text] if text else []
    if rule == "sentences":
        pieces = [piece for paragraph in _paragraphs(text) for piece in _sentences(text, paragraph)]
    elif rule == "turns":
        pieces = list(_pieces(text, [0, *(turn.start() for turn in _TURN.finditer(text))]))
    else:
        pieces = _with_turns(text, _paragraphs(text), n) if is_cut_to_size else _paragraphs(text)
        pieces = _with_sections(text, pieces)
    if rule == "sentences":
        return [text[piece.start : piece.end].strip() for piece in pieces]
    if is_cut_to_size:
        pieces = [part for piece in pieces for part in _cut_to_size(text, piece, n)]
    joined = _joined(pieces, n if is_cut_to_size else 0, n // LEAST_SHARE)
    return [text[piece.start : piece.end].strip() for piece in joined]


def _pieces(text: str, starts: Iterable[int], end: int | None = None) -> Iterator[Piece]:
    """Yield the stretches of a text between some places, in order, that are not blank."""
    for first, last in pairwise([*dict.fromkeys(starts), len(text) if end is None else end]):
        stretch = text[first:last]
        if stretch.strip():
            yield Piece(first, last, count_words(stretch))


def _paragraphs(text: str) -> list[Piece]:
    """Return the paragraphs: at blank lines, else at indents, else at the ends of lines that end sentences."""
    lines = [line for line in text.split("\n") if line.strip()]
    starts = [0, *(match.end() for match in _BLANK_LINE.finditer(text))]
    if len(starts) <= max(1, len(lines) // LINES_PER_BLANK) and len(lines) > 1:
        indents = [0, *(match.end() for match in _INDENT.finditer(text))]
        if 2 <= len(indents) <= len(lines) // 2:
            starts = indents
        elif sum(_ENDS.search(line.rstrip()[-9:]) is not None for line in lines) >= LINES_ENDING * len(lines):
            starts = [0, *(match.end() for match in _LINE.finditer(text))]  # else lines are broken at a width
    return list(_pieces(text, starts))


def _with_turns(text: str, paragraphs: list[Piece], n: int) -> list[Piece]:
    """Return paragraphs that end where a speaker begins, in an interview or a debate."""
    turns = list(_TURN.finditer(text))
    speakers = {turn[1] for turn in turns}
    n_words = sum(piece.n_words for piece in paragraphs)
    # speakers come again, and what heads a letter ("From:", "Subject:") does not
    if len(turns) < MIN_TURNS or 2 * len(speakers) > len(turns) or len(turns) * LONGEST_TURN * n < n_words:
        return paragraphs
    return list(_pieces(text, sorted({*(piece.start for piece in paragraphs), *(turn.start() for turn in turns)})))


def _with_sections(text: str, paragraphs: list[Piece]) -> list[Piece]:
    """Return paragraphs of which headings begin a section, but one right below another."""
    sections: list[Piece] = []
    is_below = True
    for piece in paragraphs:
        is_heading = _is_heading(text[piece.start : piece.end])
        sections.append(piece._replace(begins_section=is_heading and not is_below))
        is_below = is_heading
    return sections


def _is_heading(paragraph: str) -> bool:
    """Return whether a paragraph is one short line that looks like a heading."""
    line = paragraph.strip()
    if "\n" in line or not 3 < len(line) <= MAX_HEADING or line[-1] in ".,;:!?":
        return False
    return line.isupper() or _HEADING.fullmatch(line) is not None


def _sentences(text: str, paragraph: Piece) -> Iterator[Piece]:
    """Yield the sentences of a paragraph."""
    starts = [paragraph.start]
    for match in _SENTENCE_END.finditer(text, paragraph.start, paragraph.end):
        if _SHORTENED.search(text[max(paragraph.start, match.start() - 8) : match.start()]) is None:
            starts.append(match.end())
    return _pieces(text, starts, paragraph.end)


def _words(text: str, sentence: Piece, n: int) -> Iterator[Piece]:
    """Yield the words of a sentence; of a longer run of letters without blanks what could be some words."""
    starts = [sentence.start, *(match.end() for match in _BLANK.finditer(text, sentence.start, sentence.end))]
    for first, last in pairwise([*starts, sentence.end]):
        n_words = count_words(text[first:last])
        if n_words > n // LEAST_SHARE:
            step = max(1, (last - first) * (n // LEAST_SHARE) // (2 * n_words))
            # a letter and its vowel signs stay together
            starts += (place for place in range(first + step, last, step) if not _is_mark(text[place]))
    return _pieces(text, sorted(starts), sentence.end)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def _cut_to_size(text: str, paragraph: Piece, n: int) -> list[Piece]:
    """Return a paragraph in pieces of about n words and like length, cut at ends of sentences where there are such."""
    if paragraph.n_words <= n:
        return [paragraph]
    units = [
        unit
        for sentence in _sentences(text, paragraph)
        for unit in ([sentence] if sentence.n_words <= 2 * n else _words(text, sentence, n))
    ]
    size = paragraph.n_words / -(-paragraph.n_words // n)
    pieces: list[Piece] = []
    for unit in units:
        if pieces and pieces[-1].n_words + unit.n_words / 2 <= size:  # nearer to the size with it
            pieces[-1] = _together(pieces[-1], unit)
        else:
            pieces.append(unit)
    pieces[0] = pieces[0]._replace(begins_section=paragraph.begins_section)
    return pieces


def _joined(pieces: list[Piece], n: int, least: int) -> list[Piece]:
    """Return pieces joined within sections while they have at most n words; what has fewer than `least` is joined."""
    parts: list[Piece] = []
    borders = [place for place, piece in enumerate(pieces) if piece.begins_section or place == 0]
    for first, last in pairwise([*borders, len(pieces)]):
        section: list[Piece] = []
        for piece in pieces[first:last]:
            if section and (section[-1].n_words + piece.n_words <= n or section[-1].n_words < least):
                section[-1] = _together(section[-1], piece)
            else:
                section.append(piece)
        if len(section) > 1 and section[-1].n_words < least:
            section[-2:] = [_together(*section[-2:])]
        if parts and (parts[-1].n_words < least or (len(section) == 1 and section[0].n_words < least)):
            parts[-1] = _together(parts[-1], section.pop(0))  # a section that is too short to stand alone
        parts += section
    return parts


def _together(first: Piece, second: Piece) -> Piece:
    return Piece(first.start, second.end, first.n_words + second.n_words, first.begins_section)
