"""Texts as numbered words in their order: what breaks a phrase, how words are written, where a capital counts.

And how terms are written in the texts: with capitals and accents, in the commonest form.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from doccluster.base.arrays import Flags, Integers
from doccluster.base.plain_values import ShortRepr
from doccluster.text.scripts import is_unspaced

HEADLINE_SHARE = 0.75  # of the longer words of a line, from which on its capitals say nothing
LONGER_WORD = 4
BREAK = 0


_TITLE = r"(?:St|Mt|Ft|Sen|Rep|Gov|Gen|Lt|Col|Sgt|Capt|Rev|Prof)\."
_TOKEN = re.compile(
    rf"[^\s@<>]{{1,64}}@[^\s@<>]{{1,255}}\.\w+|(?:https?://|www\.)\S+|(?:[^\W\d_]\.)++(?!\w)|{_TITLE}(?!\w)|"
    r"\w++(?:['’.-]\w++)*+|\n\s*\n|\n|[^\w\s]+"
)
_ADDRESS = re.compile(r"[^@]+@[^@]+|https?://.*|www\..*", re.DOTALL)
_PART = re.compile(r"\w+")
# "U.S.", the initial of a name, and a title before one
_ABBREVIATION = re.compile(rf"(?:[^\W\d_]\.){{2,}}+|(?!I)[A-Z]\.|{_TITLE}")
_CLITIC = re.compile(r"['’](?:s|t|d|m|re|ve|ll)$", re.IGNORECASE)
_LINE_END, _TEXT_END = "\n", "\n\n"
_INSIDE = re.compile(r"[,&%$#@*/)\]}+=<>|~^_-]+$")  # after these a sentence goes on


@dataclass(frozen=True, eq=False, repr=False)
class RunningText(ShortRepr):
    """The words of some texts, one entry per word and per break, and a break at the end of each text."""

    words: list[str]  # the distinct words as they are counted; number 0 is a break
    forms: list[str]  # the distinct words as they are written; number 0 is a break
    word: Integers  # of shape (n_tokens,): the word at each place
    form: Integers  # the form in which it is written
    text: Integers  # the text of each place
    # whether the way a word is written there says how it is written elsewhere: not where it begins a sentence, and not
    # in a headline or a line of capitals
    says_case: Flags
    is_aside: Flags  # whether each place is in brackets, with no other mark inside them: "(pictured)"
    torn: Mapping[str, int]  # how often each word is only a part: of a word with a hyphen or a dot, or of an address

    @classmethod
    def of_texts(cls, texts: Iterable[str], *, prepare: Callable[[str], str] = str.lower) -> RunningText:
        """Return the words of texts.

        Notes
        -----
        Punctuation, empty lines, words such as "Iran's" or "don't", and words of scripts without blanks are breaks. A
        word may have hyphens, and "U.S." is one.

        Examples
        --------
        >>> running = RunningText.of_texts(["The U.S. Supreme Court, again"])
        >>> [running.forms[form] for form in running.form]
        ['The', 'U.S.', 'Supreme', 'Court', '', 'again', '']
        """
        numbers: defaultdict[str, int] = defaultdict(count(1).__next__)
        end = numbers[_TEXT_END]
        numbers_of_tokens: list[int] = []
        lengths: list[int] = []
        for text in texts:
            numbers_of_text = [numbers[token] for token in _TOKEN.findall(text)]
            numbers_of_tokens += numbers_of_text
            numbers_of_tokens.append(end)
            lengths.append(len(numbers_of_text) + 1)
        tokens = np.array(numbers_of_tokens, dtype=np.int64)
        text_of = np.repeat(np.arange(len(lengths), dtype=np.int64), np.array(lengths, dtype=np.int64))
        forms = ["", *numbers]
        says_case = _says_case(tokens, forms)
        # ends of lines say where a sentence begins, and stand in no phrase
        is_word = tokens != numbers.get(_LINE_END, -1)
        of_words: defaultdict[str, int] = defaultdict(count(1).__next__)
        word_of = np.array([of_words[prepare(form)] if _is_word(form) else BREAK for form in forms], dtype=np.int64)
        form = np.where(word_of[tokens] == BREAK, BREAK, tokens)[is_word]
        torn = _torn(tokens, forms, prepare)
        is_aside = _asides(tokens, word_of == BREAK, forms)[is_word]
        word, says_case = word_of[tokens][is_word], says_case[is_word]
        return cls(["", *of_words], forms, word, form, text_of[is_word], says_case, is_aside, torn)

    @property
    def n_texts(self) -> int:
        """The number of texts."""
        return int(self.text[-1]) + 1 if self.text.size else 0

    @cached_property
    def has_capital(self) -> Flags:
        """Whether the word at each place begins with a capital that says something."""
        is_capital = np.array([form[:1].isupper() for form in self.forms], dtype=bool)
        return is_capital[self.form] & self.says_case

    @cached_property
    def mostly_capital(self) -> Flags:
        """Whether each word has a capital in most of the places that say something, one entry per word."""
        n_words = len(self.words)
        capital = np.bincount(self.word[self.has_capital], minlength=n_words)
        return 2 * capital > np.bincount(self.word[self.says_case], minlength=n_words)

    @cached_property
    def best_forms(self) -> list[str]:
        """How each word is most often written, where its case says something if it is there at all."""
        best = [""] * len(self.words)
        for places in (slice(None), self.says_case):
            pairs, times = np.unique(self.word[places] * len(self.forms) + self.form[places], return_counts=True)
            word, form = np.divmod(pairs, len(self.forms))
            # ascending counts, so that the commonest form is written last; of equal ones the first that was met
            for place in np.lexsort((-form, times)).tolist():
                best[word[place]] = self.forms[form[place]]
        best[BREAK] = ""
        return best

    def are(self, words: Collection[str]) -> Flags:
        """Return which of the distinct words are among some."""
        return np.array([word in words for word in self.words], dtype=bool)

    def matching(self, holds: Callable[[str], object]) -> Flags:
        """Return for which of the distinct words something holds."""
        return np.array([bool(holds(word)) for word in self.words], dtype=bool)

    def counts_after(self, words: Collection[str]) -> Integers:
        """Return how often each of the distinct words follows one of some."""
        return np.bincount(self.word[1:][self.are(words)[self.word[:-1]]], minlength=len(self.words))

    def counts_before(self, words: Collection[str]) -> Integers:
        """Return how often one of some follows each of the distinct words."""
        return np.bincount(self.word[:-1][self.are(words)[self.word[1:]]], minlength=len(self.words))


def _is_word(form: str) -> bool:
    if _ABBREVIATION.fullmatch(form):
        return True
    if _ADDRESS.fullmatch(form):
        return False
    return form[:1].isalnum() and not is_unspaced(form) and _CLITIC.search(form) is None


def _asides(tokens: Integers, is_mark: Flags, forms: list[str]) -> Flags:
    """Return where the marks before and after a word are the brackets around it."""
    opens, closes = (np.array([mark in form for form in forms], dtype=bool) for mark in "()")
    places, marks = np.arange(tokens.size), is_mark[tokens]
    before = np.maximum.accumulate(np.where(marks, places, 0))
    after = np.minimum.accumulate(np.where(marks, places, tokens.size - 1)[::-1])[::-1]
    asides: Flags = ~marks & opens[tokens[before]] & closes[tokens[after]]
    return asides


def _torn(tokens: Integers, forms: list[str], prepare: Callable[[str], str]) -> Counter[str]:
    times = np.bincount(tokens, minlength=len(forms)).tolist()
    torn: Counter[str] = Counter()
    for form, count_of in zip(forms, times, strict=True):
        parts = _PART.findall(form)
        if len(parts) > 1 or form.endswith("."):
            for part in parts:
                torn[prepare(part)] += count_of
    return torn


def _says_case(tokens: Integers, forms: list[str]) -> Flags:
    """Return where capitals say something: inside sentences, outside lines most of whose longer words have one."""
    is_line_end = np.array([form[:1] == "\n" for form in forms], dtype=bool)
    is_longer = np.array([len(form) >= LONGER_WORD and form[0].isalpha() for form in forms], dtype=bool)
    is_capital = np.array([form[:1].isupper() for form in forms], dtype=bool)
    ends_sentence = np.array([not (form[:1].isalnum() or _INSIDE.match(form) or form == "\n") for form in forms])
    line = np.cumsum(is_line_end[tokens])
    longer = is_longer[tokens]
    n_longer = np.bincount(line[longer], minlength=int(line[-1]) + 1 if line.size else 0)
    n_capital = np.bincount(line[longer & is_capital[tokens]], minlength=n_longer.size)
    headline = n_capital >= HEADLINE_SHARE * np.maximum(n_longer, 1)
    in_text = ~headline[line]
    not_lines = np.flatnonzero(tokens != (forms.index("\n") if "\n" in forms else -1))
    begins = np.ones(tokens.size, dtype=bool)  # a sentence
    begins[not_lines[1:]] = ends_sentence[tokens[not_lines[:-1]]]
    says: Flags = in_text & ~begins
    return says


# A word that begins a text, a line, a sentence or a quotation may have a capital for that reason alone; the other words
# are in the group.
_WORDS = re.compile(r"(?:\A|[.!?:;…\n\"“”„«»‘(\[][^\S\n]*+)\w+|(\w+)")
_ANY_WORD = re.compile(r"\w+")


def count_forms(texts: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """Return how often each form of a word stands in texts, and how often where its case says something."""
    anywhere: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for text in texts:
        anywhere.update(_ANY_WORD.findall(text))
        inside.update(_WORDS.findall("\n".join(line for line in text.split("\n") if not line.isupper())))
    return anywhere, inside


def written_forms(
    terms: Sequence[str], counts: tuple[Counter[str], Counter[str]], *, prepare: Callable[[str], str] = str.lower
) -> list[str]:
    """Return each term as it is most often written by `count_forms`, or as it is where no text has it.

    Notes
    -----
    Of equally common forms the one with the fewest capitals is taken, then the first in alphabetical order.

    Examples
    --------
    >>> counts = count_forms(["The moon mission of NASA left São Paulo. Moon rock!"])
    >>> written_forms(["nasa", "moon", "são paulo"], counts)
    ['NASA', 'moon', 'São Paulo']
    """
    words = {word for term in terms for word in term.split(" ")}
    best = _commonest(counts[0], words, prepare) | _commonest(counts[1], words, prepare)
    return [" ".join(best.get(word, word) for word in term.split(" ")) for term in terms]


def _commonest(counts: Counter[str], words: set[str], prepare: Callable[[str], str]) -> dict[str, str]:
    forms: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for form, times in counts.items():
        word = prepare(form)
        if word in words:
            forms[word].append((-times, sum(map(str.isupper, form)), form))
    return {word: min(candidates)[2] for word, candidates in forms.items()}
