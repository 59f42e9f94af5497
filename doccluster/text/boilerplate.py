"""Text that an outlet repeats over its articles: footers, calls to subscribe, notes of age, credits, bylines.

A repeated line is boilerplate only where the documents have text of their own beside it; lines of near-copies, and
documents of one line, are left as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from doccluster.text.tokens import sentences

MIN_DOCUMENTS = 5  # of an outlet
MIN_SHARE = 0.002  # of the documents of an outlet
MIN_DOCUMENTS_UNKNOWN = 10  # where the documents name no outlet
MIN_SHARE_UNKNOWN = 0.01
MIN_OWN = 0.25  # of its characters a document must have for itself
LONGEST = 300  # characters of a repeated line or sentence
N_SAMPLED = 2_000  # documents of an outlet
LOOKED_AT = 50_000  # characters of a document
MIN_WORDS = 5  # from this length on, lines that differ in numbers only count as one line

_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Repeated:
    """A line or sentence that an outlet repeats."""

    outlet: str  # empty where the documents name none
    text: str  # as it stands in the first of the documents
    n_documents: int  # how many of the documents that were looked at have it


def find_repeated(texts: Sequence[str], *, outlet: str = "", kept_words: Iterable[str] = ()) -> dict[str, Repeated]:
    """Return the lines that the documents of one outlet repeat, by the key of `line_key`, the commonest first.

    A line is repeated if five documents of the outlet and a five hundredth of them have it (ten and a hundredth where
    the outlet is not known) and a quarter of each of these documents is not repeated. The first and the last two
    sentences of a text are looked at too. Of many texts 2,000, evenly spaced, are read.
    Lines with one of the `kept_words` stay.

    Examples
    --------
    >>> texts = [f"The council met on {day}.\\nSign up now!"
    ...          for day in ("Monday", "Tuesday", "a Friday", "May 2", "July 4")]
    >>> [(one.text, one.n_documents) for one in find_repeated(texts, outlet="Gazette").values()]
    [('Sign up now!', 5)]
    """
    sample = texts[:: max(1, len(texts) // N_SAMPLED)]
    least, share = (MIN_DOCUMENTS, MIN_SHARE) if outlet else (MIN_DOCUMENTS_UNKNOWN, MIN_SHARE_UNKNOWN)
    needed = max(least, share * len(sample))
    if len(sample) < needed:
        return {}
    units = [dict(_units(text[:LOOKED_AT])) for text in sample]
    counts = Counter(chain.from_iterable(units))
    common = {key for key, count in counts.items() if key and count >= needed}
    kept = {word.lower() for word in kept_words}
    common = {key for key in common if kept.isdisjoint(_WORD.findall(key))} if kept else common
    if not common:
        return {}
    first: dict[str, str] = {}
    n_texts: Counter[str] = Counter()
    for text, unit_texts in zip(sample, units, strict=True):
        shared = {key: unit for key, unit in unit_texts.items() if key in common}  # in the order of the text
        if shared and len(_without(text[:LOOKED_AT], shared)) >= MIN_OWN * min(len(text), LOOKED_AT):
            n_texts.update(shared.keys())
            first = shared | first
    return {key: Repeated(outlet, first[key], n) for key, n in n_texts.most_common() if n >= needed}


def without_repeated(text: str, repeated: dict[str, Repeated], *, title: str = "") -> str:
    """Return a text without repeated lines, and sentences at its two ends; its title stays, and all if nothing else."""
    return _without(text, repeated.keys(), title) or text


def repeated_by_outlet(
    samples: Sequence[tuple[str, Sequence[str]]], kept_words: Iterable[str] = ()
) -> dict[str, dict[str, Repeated]]:
    """Return the lines that outlets repeat in some of their documents, as `find_repeated` does for each."""
    return {outlet: find_repeated(texts, outlet=outlet, kept_words=kept_words) for outlet, texts in samples}


def texts_without(
    texts: Sequence[str], titles: Sequence[str], outlets: Sequence[str], repeated: Mapping[str, dict[str, Repeated]]
) -> list[str]:
    """Return texts without what their outlets repeat."""
    documents = zip(texts, titles, outlets, strict=True)
    return [without_repeated(text, repeated[outlet], title=title) for text, title, outlet in documents]


def line_key(line: str) -> str:
    """Return the key that lines are compared by: lower case, single blanks, one digit for all numbers in a long line.

    >>> line_key("This article is more than 2 years old"), line_key("Net 12 cts")
    ('this article is more than 0 years old', 'net 12 cts')
    """
    key = " ".join(line.lower().split())
    if key.count(" ") < MIN_WORDS or _NUMBER.search(key) is None or len(_LETTERS.findall(key)) < MIN_WORDS:
        return key
    return _NUMBER.sub("0", key)


def boilerplate_words(texts: Sequence[str]) -> frozenset[str]:
    """Return the words (lower case) that most of their documents have only in lines which many documents share.

    Where repeated lines are kept, these words name no cluster.

    Examples
    --------
    >>> texts = [f"Story {number} of the day\\nSubscribe now!" for number in range(20)]
    >>> sorted(boilerplate_words(texts))
    ['now', 'subscribe']
    """
    sample = texts[:: max(1, len(texts) // N_SAMPLED)]
    documents = [{line.strip() for line in text[:LOOKED_AT].lower().split("\n")} for text in sample]
    counts = Counter(line for lines in documents for line in lines if 0 < len(line) <= LONGEST)
    needed = max(MIN_DOCUMENTS_UNKNOWN, MIN_SHARE_UNKNOWN * len(documents))
    shared = {line for line, count in counts.items() if count >= needed}
    words_of = {line: frozenset(_WORD.findall(line)) for line in shared}
    suspects = frozenset().union(*words_of.values())
    n_shared: Counter[str] = Counter()
    n_own: Counter[str] = Counter()
    for lines in documents if suspects else ():
        words_alone = suspects.intersection(_WORD.findall("\n".join(lines - shared)))
        n_own.update(words_alone)
        n_shared.update(frozenset().union(*(words_of[line] for line in lines & shared)) - words_alone)
    return frozenset(word for word in suspects if n_shared[word] > n_own[word])


def _units(text: str) -> Iterator[tuple[str, str]]:
    """Return the lines that begin a sentence, and the sentences that open and end the text, each after its key."""
    lines = text.split("\n")
    for key, line in _openings(lines):
        if any(map(str.isalpha, key)):
            yield key, line.strip()
    opening, ending = _ends(text)
    for sentence in (*opening, *ending):
        yield line_key(sentence), sentence


def _openings(lines: list[str], keys: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Return the lines, each after its key, which is empty where a line goes on with the sentence before it."""
    before = ""
    for line in lines:
        key = line_key(line) if len(line) <= LONGEST and not before[-1:].isalnum() and before[-1:] != "," else ""
        yield key, line
        before = "" if key in keys else line.rstrip()


def _ends(text: str) -> tuple[list[str], list[str]]:
    """Return the first two sentences of the first line of a text, and the last two of its last line."""
    first, last = text.partition("\n")[0], text.rpartition("\n")[2]
    if "\n" not in text and len(text) <= LONGEST:
        parts = sentences(text)
        return parts[:2], parts[2:][-2:]
    opening, ending = sentences(first[:LONGEST]), sentences(last[-LONGEST:])
    # what is cut off in the middle is no sentence
    return opening[: -1 if len(first) > LONGEST else None][:2], ending[1 if len(last) > LONGEST else 0 :][-2:]


def _without(text: str, keys: Collection[str], title: str = "") -> str:
    """Return a text without the lines and sentences of these keys; the same text where it has none of them."""
    lines, same_title = text.split("\n"), line_key(title)
    lines_kept = [line for key, line in _openings(lines, keys) if key not in keys or key == same_title]
    remainder = text if len(lines_kept) == len(lines) else "\n".join(lines_kept).strip()
    opening, ending = _ends(remainder)
    for sentence in opening:
        if line_key(sentence) not in keys or line_key(sentence) == same_title:
            break
        remainder = remainder.removeprefix(sentence).lstrip()
    for sentence in reversed(ending):
        if line_key(sentence) not in keys:
            break
        remainder = remainder.removesuffix(sentence).rstrip()
    return remainder
