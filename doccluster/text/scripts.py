"""Words of any script: runs of letters with their vowel signs; pairs of written units where no blank separates words.

Chinese, Japanese, Thai, Lao, Khmer and Burmese put no blank between words, and the endings of Korean stick to them.
Overlapping pairs of neighbouring units need no dictionary and are the usual baseline for retrieval in these languages
(Manning, Raghavan & Schuetze 2008, section 2.2.1). A unit is a character, or in the scripts of South East Asia a
consonant with the vowels, tones and stacked consonants that are written around it.

Where whole words are shown, BudouX (the extra ``cjk``) cuts Chinese and Thai into words and Japanese into phrases, a
word with its particles, which are left out here.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Collection
from functools import cache, lru_cache
from itertools import accumulate

from doccluster.base.characters import DIRECTIONS, INVISIBLE, JOINERS, MARKS

# Letters of scripts that put no blank between words, and Hangul.
_HAN = "\u3005-\u3007\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u3096\u309d-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
_SOUTH_EAST_ASIAN = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\uaa60-\uaa76\uaa7a-\uaa7f"  # Myanmar
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u1950-\u1974\u1980-\u19c9\u1a20-\u1a7c\uaa80-\uaac2"  # Khmer, the Tai scripts
)
_UNSPACED = _HAN + _HIRAGANA + _KATAKANA + _HANGUL + _SOUTH_EAST_ASIAN
# Written before the consonant they follow in speech; letters that only follow a consonant; signs that stack the next.
_VOWELS_BEFORE = "\u0e40-\u0e44\u0ec0-\u0ec4\u19b5-\u19b7\u19ba\uaab5\uaab6\uaab9\uaabb\uaabc"
_VOWELS_AFTER = "\u0e2f\u0e30\u0e32\u0e33\u0e45\u0e46\u0eaf\u0eb0\u0eb2\u0eb3\u0ebd\u0ec6"
_STACKERS = "\u1039\u17d2\u1a60"
# Optional in writing: the points and cantillation of Hebrew, the vowel points of Arabic, and the stretching of a line.
_POINTS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
)
_WIDE = "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9f"  # the wide Latin letters, the narrow kana
_DOTTED_I = "i\u0307"  # what `str.lower` makes of the Turkish capital
# passed over: the soft hyphen, joiners, marks of direction, and after a letter the selectors of its variants
_PASSED_OVER = f"{INVISIBLE}{JOINERS}{MARKS}{DIRECTIONS}\ufe00-\ufe0e\U000e0100-\U000e01ef"
_FAR_BLOCKS = (range(0x10D00, 0x10D40), range(0x11100, 0x11150), range(0x11400, 0x11480), range(0x1E900, 0x1E960))

_PLAIN = re.compile(r"\w\w+")
_NAMED_SCRIPTS = {
    "Chinese characters": _HAN,
    "kana": _HIRAGANA + _KATAKANA,
    "Hangul": _HANGUL,
    "Thai": "\u0e01-\u0e3a\u0e40-\u0e4e",
    "Lao": "\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf",
    "Burmese": "\u1000-\u103f\u1050-\u108f",
    "Khmer": "\u1780-\u17d3\u17d7\u17dc\u17dd",
}


def tokens_by_script(text: str) -> list[str]:
    """Return the tokens of a text in any mixture of scripts.

    Vowel signs and other combining marks stay with their letter; a run of letters of a script without blanks becomes
    overlapping pairs, except that katakana (mostly foreign names) stay whole and that hiragana, which are mostly
    endings and particles, count only after a single Chinese character or in a text of nothing else. Single letters
    are not tokens.

    >>> tokens_by_script("東京都 opened 3 metro lines")
    ['東京', '京都', 'opened', 'metro', 'lines']
    >>> tokens_by_script("ราคาน้ำมัน"), tokens_by_script("दिल्ली में")
    (['ราคา', 'คาน้ำ', 'น้ำมั', 'มัน'], ['दिल्ली', 'में'])
    """
    patterns = _patterns()
    text = unicodedata.normalize("NFC", text)
    text = patterns.optional.sub("", text)
    text = patterns.wide.sub(lambda match: unicodedata.normalize("NFKC", match[0]).lower(), text)
    tokens: list[str] = []
    hiragana: list[str] = []
    for run in patterns.run.finditer(text):
        letters, kind = run[0], run.lastgroup
        if kind == "word" or kind == "katakana":
            if len(letters) > 1:
                tokens.append(letters)
        elif kind == "hiragana":
            hiragana += _pairs(list(letters))
        elif kind == "clusters":
            tokens += _pairs(patterns.cluster.findall(letters))
        else:
            tokens += _pairs(list(letters))
    return tokens or hiragana


def separate_scripts(text: str) -> str:
    """Return the tokens of `tokens_by_script` with blanks between them; a text without such letters as it is."""
    if text.isascii():
        return text
    text = text.replace(_DOTTED_I, "i")
    return " ".join(tokens_by_script(text)) if _needs_care(text) else text


def _needs_care(text: str) -> bool:
    """Return whether a text has letters of scripts without blanks, or marks that a word pattern would break at."""
    if _patterns().special.search(text):
        return True
    return is_beyond_first_plane(text) and _patterns().special_beyond.search(text) is not None


def is_beyond_first_plane(text: str) -> bool:
    """Return whether a text has characters beyond the first plane of Unicode."""
    return len(text.encode("utf-16-le", "surrogatepass")) > 2 * len(text)


def tokenize_separated(text: str) -> list[str]:
    """Return the tokens of a text that `separate_scripts` has been through: runs of two or more letters with marks."""
    return _patterns().separated.findall(text) if not text.isascii() else _PLAIN.findall(text)


def is_unspaced(text: str) -> bool:
    """Return whether all letters of a text belong to scripts without blanks between words (or to Hangul).

    >>> is_unspaced("東京"), is_unspaced("MS東京"), is_unspaced("kyoto")
    (True, False, False)
    """
    return _patterns().unspaced.fullmatch(text) is not None


_FEW_LETTERS = re.compile(f"[{_HAN}{_HIRAGANA}{_KATAKANA}{_HANGUL}]")
_MORE_LETTERS = re.compile(f"[{_SOUTH_EAST_ASIAN}]")
LETTERS_OF_WORD = {_FEW_LETTERS: 2, _MORE_LETTERS: 4}  # on average


def count_words(text: str) -> int:
    """Return about how many words a text has: runs between blanks; where words have no blanks between them, by letters.

    >>> count_words("two words"), count_words("東京都庁"), count_words("Metro 東京")
    (2, 2, 2)
    """
    n_words = 0
    for letters, of_word in () if text.isascii() else LETTERS_OF_WORD.items():
        text, n_letters = letters.subn("", text)
        n_words += (n_letters + of_word // 2) // of_word
    return n_words + len(text.split())


def scripts_without_blanks(text: str) -> list[str]:
    """Return the names of the scripts without blanks between words of which a text has letters.

    >>> scripts_without_blanks("東京 Metro"), scripts_without_blanks("plain")
    (['Chinese characters'], [])
    """
    if text.isascii() or not _patterns().unspaced.search(text):
        return []
    return [name for name, pattern in _patterns().scripts.items() if pattern.search(text)]


def whole_letters(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return the two ends of a piece of a text, moved outwards where they would tear a letter from what is around it.

    >>> text = "เสียงดัง"
    >>> start, stop = whole_letters(text, 1, 2)
    >>> text[start:stop]
    'เสี'
    """
    before, after = _patterns().before, _patterns().after
    while 0 < start < len(text) and (after.match(text, start) or before.match(text, start - 1)):
        start -= 1
    while 0 < stop < len(text) and (after.match(text, stop) or before.match(text, stop - 1)):
        stop += 1
    return start, stop


@cache
def combining_marks() -> str:
    """Return every mark that is written with a letter (Unicode categories Mn and Mc), as one string."""
    points = itertools.chain(range(0x300, 0xFE00), range(0xFE10, 0x10000), *_FAR_BLOCKS)
    return "".join(mark for mark in map(chr, points) if unicodedata.category(mark) in ("Mn", "Mc"))


def _pairs(units: list[str]) -> list[str]:
    if len(units) == 1:
        return units if len(units[0]) > 1 else []
    return list(map("".join, itertools.pairwise(units)))


class _Patterns:
    """The regular expressions, which hold hundreds of ranges and are compiled when the first text needs them."""

    def __init__(self) -> None:
        marks = as_ranges(combining_marks())
        # a class within the first plane is a table, searched ten times as fast as one with ranges beyond it
        special = f"[{marks}{_UNSPACED}{_WIDE}{_PASSED_OVER}\u0640]"
        first_plane = re.findall(special, "".join(map(chr, range(0x80, 0x10000))))
        self.special = re.compile(f"[{as_ranges(''.join(first_plane))}]")
        self.special_beyond = re.compile(special)
        self.optional = re.compile(f"[{_POINTS}{_PASSED_OVER}]")
        self.wide = re.compile(f"[{_WIDE}]+")
        self.separated = re.compile(rf"[\w{marks}]{{2,}}")
        self.run = re.compile(
            rf"(?P<word>(?:[^\W{_UNSPACED}]++[{marks}]*+)++)"
            f"|(?P<okurigana>[{_HAN}][{_HIRAGANA}])|(?P<han>[{_HAN}]+)|(?P<clusters>[{_SOUTH_EAST_ASIAN}]+)"
            f"|(?P<hangul>[{_HANGUL}]+)|(?P<katakana>[{_KATAKANA}]+)|(?P<hiragana>[{_HIRAGANA}]+)"
        )
        self.cluster = re.compile(rf"[{_VOWELS_BEFORE}]?\w(?:[{_VOWELS_AFTER}{marks}]|(?<=[{_STACKERS}])\w)*+|.", re.S)
        self.before = re.compile(f"[{_VOWELS_BEFORE}{_STACKERS}]")
        self.after = re.compile(f"[{_VOWELS_AFTER}{marks}]")
        self.unspaced = re.compile(f"[{_UNSPACED}]+")
        self.scripts = {name: re.compile(f"[{letters}]") for name, letters in _NAMED_SCRIPTS.items()}


@cache
def _patterns() -> _Patterns:
    return _Patterns()


def as_ranges(characters: str) -> str:
    """Return characters as the inside of a class of a regular expression."""
    groups = itertools.groupby(enumerate(map(ord, characters)), lambda pair: pair[1] - pair[0])
    spans = [[point for _, point in group] for _, group in groups]
    return "".join(f"{chr(span[0])}-{chr(span[-1])}" for span in spans)


Parse = Callable[[str], list[str]]

_LONGEST = 200  # characters of a clause
_CLAUSE = re.compile(r"[\w\u0e00-\u0eff]+")
_PARTICLES = re.compile("[\u3041-\u309f]+$")
_ENDINGS = re.compile("(?:에서|에게|으로|까지|부터|은|는|이|가|을|를|의|에|로|와|과|도|만)$")  # Korean particles
# the commonest characters that are written otherwise in simplified Chinese
_TRADITIONAL = re.compile("[國們這來說時會為個學體與對發東車門長開關電點後過還從總統議獲選戰國際間經報導區]")


def whole_word(text: str, start: int, stop: int) -> str:
    """Return the words around a piece of a text; an empty text where words cannot be told."""
    first = max(0, start - _LONGEST // 2)
    for clause in _CLAUSE.finditer(text, first, stop + _LONGEST // 2):
        if clause.start() <= start and stop <= clause.end():
            borders = _borders(clause[0])
            if not borders:
                break
            begin = max(border for border in borders if border <= start - clause.start())
            end = min(border for border in borders if border >= stop - clause.start())
            particles = _PARTICLES.search(clause[0][begin:end])
            if particles and particles.start() > 0:
                end = begin + particles.start()
            return clause[0][begin:end]
    return ""


def without_ending(word: str, words: Collection[str]) -> str:
    """Return a Korean word without its particle, where it is among the words without it or with another one as well.

    >>> without_ending("지진이", {"지진이", "지진으로"}), without_ending("고양이", {"고양이", "강아지"})
    ('지진', '고양이')
    """
    bare = _ENDINGS.sub("", word)
    forms = {same for same in words if bare in (same, _ENDINGS.sub("", same))}
    return bare if len(bare) > 1 and len(forms | {word}) > 1 else word


@lru_cache(maxsize=4096)
def _borders(clause: str) -> tuple[int, ...]:
    """Return where words of a clause begin and end, ascending; nothing where no parser knows its script."""
    scripts = scripts_without_blanks(clause)
    if "kana" in scripts:
        name = "japanese"
    elif "Thai" in scripts:
        name = "thai"
    elif "Chinese characters" in scripts:
        name = "traditional_chinese" if _TRADITIONAL.search(clause) else "simplified_chinese"
    else:
        return (0, len(clause)) if "Hangul" in scripts else ()
    parse = _parsers().get(name)
    return () if parse is None else (0, *accumulate(map(len, parse(clause))))


@cache
def _parsers() -> dict[str, Parse]:
    try:
        import budoux
    except ImportError:
        return {}
    names = ("japanese", "thai", "simplified_chinese", "traditional_chinese")
    return {name: getattr(budoux, f"load_default_{name}_parser")().parse for name in names}
