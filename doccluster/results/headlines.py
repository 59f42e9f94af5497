"""Headlines of clusters: the plainest title of the most central documents, or how one of them begins."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from doccluster.corpus.markup import holds_tags, strip_markup
from doccluster.text.tokens import sentences

HEADLINE_LENGTH = 110
MIN_SENTENCE_LETTERS = 20  # characters; a shorter one says too little
MIN_TITLES = 3  # with an ending that is the name of an outlet
MAX_ENDING_WORDS = 5  # words
MIN_WORDS = 4
# of the openings that documents share; two words are one in capitals only
MAX_OPENINGS = 3  # one after the other
MAX_OPENING_WORDS = 16
N_SAMPLED = 5_000  # documents
MIN_WITH_OPENING, SHARE_WITH_OPENING = 5, 0.05  # of the documents
MIN_CLUSTERS = 4
MIN_LETTERS_LEFT = 100  # characters

_OPENING_WORD = re.compile(r"\w[\w.]*")
_NUMBER = re.compile(r"\d+")
_TO_THE_DASH = re.compile(r".*(?: [–—-]+|:) ")
_WORD = re.compile(r"[^\W\d_]{2,}")
_ENDING = re.compile(r"\s+(?:[|»–—-]|::)\s+([^|»–—]+)$")
_KICKER = re.compile(
    r"^(?:(?:re|fwd?|aw|wg)(?:\[\d+\])?:\s*)+"
    r"|^(?:updated?(?: \d+)?|breaking(?: news)?|exclusive|watch(?: live)?|live|video|photos?|pictures)"
    r"\s*(?::|\s[–—|-]\s|-(?=[A-Z]))\s*",
    re.IGNORECASE,
)
_VIEW = re.compile(
    r"^(?:opinions?|editorial|column|commentary|analysis|letters?|op-ed|viewpoint)\s*[:|/–—-]", re.IGNORECASE
)
_QUOTATION = re.compile(r"""^(?:"[^"]+"|“[^“”]+”|‘[^‘’]+’|'[^']+')[.!?]?$""")


def plain_title(title: str, endings: Collection[str] = ()) -> str:
    """Return a title without markup, without "UPDATED:" and the like, and without the name of its outlet at the end.

    >>> plain_title("Example <b>Atom</b>"), plain_title("History of the <blink> tag")
    ('Example Atom', 'History of the <blink> tag')
    >>> plain_title("UPDATED: Ferry runs aground - Yahoo News", {"yahoo news"})
    'Ferry runs aground'
    """
    plain = (strip_markup(title) if holds_tags(title) else title).strip()
    ending = _ENDING.search(plain)
    if ending is not None and ending[1].strip().casefold() in endings:
        plain = plain[: ending.start()].rstrip()
    return _KICKER.sub("", plain) or plain


def title_endings(titles: Iterable[str], outlets: Iterable[str] = ()) -> frozenset[str]:
    """Return in small letters what ends titles after a dash or bar and is the name of an outlet.

    That is the name of one of `outlets`, or what ends three different titles.

    >>> titles = ["Rain - Yahoo News", "Rye up - Yahoo News", "A cup - Yahoo News", "Fog - Courier", "Hot - cold"]
    >>> sorted(title_endings(titles, ["Courier"]))
    ['courier', 'yahoo news']
    """
    names = {name.casefold() for name in outlets if name}
    heads: defaultdict[str, set[int]] = defaultdict(set)
    for title in titles:
        match = _ENDING.search(title)
        if match is not None and len(match[1].split()) <= MAX_ENDING_WORDS:
            heads[match[1].strip().casefold()].add(hash(title[: match.start()].casefold()))
    return frozenset(name for name, title_heads in heads.items() if len(title_heads) >= MIN_TITLES or name in names)


def is_plain(title: str) -> bool:
    """Return whether a title says what happened: no opinion, no single quotation, four words or more.

    >>> titles = ["Ferry runs aground at dawn", "OPINION: Fix the ferry now", '"We are all quite fine"', "$$ in Bash"]
    >>> [is_plain(title) for title in titles]
    [True, False, False, False]
    """
    if _VIEW.match(title) or _QUOTATION.match(title):
        return False
    return not title.isascii() or len(_WORD.findall(title)) >= MIN_WORDS


def without_openings(texts: Sequence[str], labels: Sequence[int]) -> list[str]:
    """Return texts without the openings that many documents share: "FOR IMMEDIATE RELEASE WASHINGTON, D.C.".

    An opening is cut that begins one in twenty of the texts, of four clusters or more: what the texts of one cluster
    begin with is what they are about. Numbers count as equal. Texts stay that would be short without it.

    >>> names = ["Lee", "Day", "Roe", "Poe"] * 3
    >>> texts = [f"FOR RELEASE May {n}: {name} {'spoke at length ' * 9}" for n, name in enumerate(names)]
    >>> without_openings(texts, [0, 1, 2, 3] * 3)[0][:20]
    'Lee spoke at length '
    """
    shown = list(texts)
    for _ in range(MAX_OPENINGS):
        sample = range(0, len(shown), len(shown) // N_SAMPLED + 1)
        shared = _shared_openings([shown[row] for row in sample], [labels[row] for row in sample])
        if not shared:
            break
        shown = [_without_opening(text, shared) for text in shown]
    return [text[:1].upper() + text[1:] for text in shown]


def _shared_openings(texts: Sequence[str], labels: Sequence[int]) -> set[tuple[str, ...]]:
    """Return the openings, of two words or more, that many of the texts have; with each also its shorter ones."""
    clusters_of: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for text, label in zip(texts, labels, strict=True):
        key = tuple(map(_opening_key, _opening_words(text)))
        for n_words in range(2, len(key)):
            clusters_of[key[:n_words]].append(label)
    least = max(MIN_WITH_OPENING, len(texts) * SHARE_WITH_OPENING)
    return {
        key for key, clusters in clusters_of.items() if len(clusters) >= least and len(set(clusters)) >= MIN_CLUSTERS
    }


def _without_opening(text: str, shared: Collection[tuple[str, ...]]) -> str:
    """Return a text without its longest shared opening, or the text where little would stay."""
    n_words, end, key = 0, 0, tuple[str, ...]()
    for word in _opening_words(text):  # a word more than the opening has: it ends where that begins
        if len(key) >= 2:
            if key not in shared:
                break
            n_words, end = len(key), word.start()
        key += (_opening_key(word),)
    opening = text[:end]
    opening = (_TO_THE_DASH.match(opening) or [opening])[0]
    is_long = len(text) - len(opening) >= MIN_LETTERS_LEFT
    return text[len(opening) :] if is_long and (n_words > 2 or opening.isupper()) else text


def _opening_words(text: str) -> Iterator[re.Match[str]]:
    return itertools.islice(_OPENING_WORD.finditer(text), MAX_OPENING_WORDS)


def _opening_key(word: re.Match[str]) -> str:
    return _NUMBER.sub("0", word[0].casefold())


def choose_headline(titles: Sequence[str], beginnings: Sequence[str], shared: Collection[str] = ()) -> str:
    """Return the first plain title that no other cluster shares, else the first title, else the plainest beginning."""
    unshared = [title for title in titles if title and title.casefold() not in shared]
    candidates = unshared or [title for title in titles if title]
    if candidates:
        return next(filter(is_plain, candidates), candidates[0])
    first = [first_sentence(begins) for begins in beginnings if begins]
    return next(filter(is_plain, first), first[0] if first else "")


def first_sentence(text: str) -> str:
    """Return the first sentence of a text if it is short enough for a headline, else the words that fit.

    >>> first_sentence("A ferry ran aground off the islands. All 40 people on board are safe.")
    'A ferry ran aground off the islands.'
    """
    first = ""
    for sentence in sentences(text):
        first = text[: text.index(sentence, len(first)) + len(sentence)]
        if len(first) >= MIN_SENTENCE_LETTERS:
            break
    if len(first) < len(text) and MIN_SENTENCE_LETTERS <= len(first) <= HEADLINE_LENGTH:
        return first
    if len(text) <= HEADLINE_LENGTH:
        return text
    cut = text[:HEADLINE_LENGTH]
    return f"{cut.rpartition(' ')[0] or cut} …"
