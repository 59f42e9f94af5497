"""The sentence of a text that says most of what was asked for, with the words that say it marked."""

from __future__ import annotations

import re
from collections.abc import Mapping

from doccluster.report.wording import one_line
from doccluster.text.scripts import is_unspaced
from doccluster.text.tokens import sentences

LENGTH = 220
Pieces = tuple[tuple[str, bool], ...]


def marked_excerpt(text: str, terms: Mapping[str, float], *, length: int = LENGTH) -> Pieces:
    """Return the sentence with the greatest sum of terms, in pieces that are terms or are not.

    Parameters
    ----------
    terms : mapping of term to float
        What each term counts, in small letters. A term counts once in a sentence.
    length : int
        The most characters of the excerpt.

    Returns
    -------
    pieces : tuple of (str, bool)
        What joins to the excerpt, and whether it is a term. The first of several best sentences; nothing where no
        sentence has a term.

    Examples
    --------
    >>> marked_excerpt("It rained. The ferry is late.", {"ferry": 0.5})
    (('The ', False), ('ferry', True), (' is late.', False))
    """
    pattern = _pattern_of(terms)
    if pattern is None:
        return ()
    best, most = "", 0.0
    for sentence in sentences(text):
        line = one_line(sentence, length)
        value = sum(terms.get(word, 0.0) for word in {found[0].lower() for found in pattern.finditer(line)})
        if value > most:
            best, most = line, value
    return _pieces(best, pattern)


def _pattern_of(terms: Mapping[str, float]) -> re.Pattern[str] | None:
    """Return a pattern that finds the terms: as whole words, where words have blanks between them."""
    found = [
        re.escape(term) if is_unspaced(term) else rf"(?<!\w){re.escape(term)}(?!\w)"
        for term in sorted(terms, key=lambda term: (-len(term), term))
        if term
    ]
    return re.compile("|".join(found), re.IGNORECASE) if found else None


def _pieces(line: str, pattern: re.Pattern[str]) -> Pieces:
    pieces: list[tuple[str, bool]] = []
    end = 0
    for found in pattern.finditer(line):
        if found.start() > end:
            pieces.append((line[end : found.start()], False))
        pieces.append((found[0], True))
        end = found.end()
    if end < len(line):
        pieces.append((line[end:], False))
    return tuple(pieces)
