"""What programs write into cells where a text or a list is meant: indexes of words, lists, escapes, placeholders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from doccluster.corpus.column_names import TABLE

_PLACEHOLDER = re.compile("|".join(TABLE["placeholders"]), re.IGNORECASE)
_LONGEST_PLACEHOLDER = 150  # characters
# Lists, tuples and sets as Python writes them, and numpy, with blanks between; a tuple has a comma.
_QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_PLACES = rf"({_QUOTED})\s*:\s*\[([\d,\s]*)\]"  # of a word
_PLACES_OF_WORD = re.compile(_PLACES, re.DOTALL)
_INDEX = re.compile(rf"\{{\s*(?:{_PLACES}[,\s]*)++\}}", re.DOTALL)
_NUMBER = r"-?\d+(?:\.\d+)?"
_ITEM = re.compile(rf"[bu]?({_QUOTED})|({_NUMBER})", re.DOTALL)
_ITEMS = rf"(?:[bu]?(?:{_QUOTED})|{_NUMBER}|None|nan|,|\s)*+"
_LIST = re.compile(
    rf"\[{_ITEMS}\]|(?:(?:frozen)?set\()?\{{{_ITEMS}\}}\)?|(?:frozen)?set\(\)|\((?=[^)]*,){_ITEMS}\)"
    rf"|array\(\[{_ITEMS}\](?:,\s*dtype=\S+)?\)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"(?<!\\)\\++(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrt]))|\\([\"'/\\])")
_ENDS = {"n": "\n", "r": "\r", "t": "\t"}
# What speaks against escapes in a text: another command, as in LaTeX, patterns and paths, or a word of those who write
# about them. An escape between blanks or in quotes is one that is talked about, several in a word are a path.
_BARE = re.compile(
    r"\\(?!u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrt\"'/\\])|\\(?:nu|neq|nabla|notin|newcommand|noindent|tau|theta|text(?:bf|it)|"
    r"rho|rangle)(?![a-z])|\b[A-Za-z]:\\|(?<!\S)\\\\\w|\b(?:regex\w*|backslash\w*|newlines?|latex|printf|println|escapes?)\b",
    re.IGNORECASE,
)
_TALKED_ABOUT = re.compile(
    r"(?<![^\s\"'`(])\\++[nrt](?![^\s\"'`),.;])|(?<!\S)\w++(?:\\(?!u[0-9a-fA-F]{4}|[nrt]\\)\w++){2,}+[^\s\\]*+(?!\S)"
)
_FEWEST = 10  # texts: of more one with an escape may mean it


def without_placeholder(text: str) -> str:
    """Return a text; "" for one that only says that there is none, as sites and programs do.

    >>> without_placeholder("[deleted]"), without_placeholder("[sic]"), without_placeholder("<Media omitted>")
    ('', '[sic]', '')
    """
    is_one = len(text) <= _LONGEST_PLACEHOLDER and _PLACEHOLDER.fullmatch(text.strip()) is not None
    return "" if is_one else text


def text_of_index(value: object) -> object:
    """Return the text that is given as the places of its words, in an object or its source; another value as it is.

    >>> text_of_index({"sails": [2], "The": [0], "ferry": [1], "again.": [3]})
    'The ferry sails again.'
    """
    index = value
    if isinstance(value, str) and value.startswith("{") and _INDEX.fullmatch(value):
        pairs = _PLACES_OF_WORD.findall(value)
        index = {without_escapes(word[1:-1]): [*map(int, re.findall(r"\d{1,9}", places))] for word, places in pairs}
    if not isinstance(index, Mapping) or not all(map(_are_places, index.values())):
        return value
    words = sorted((place, str(word)) for word, places in index.items() for place in places or ())
    # the numbers of other things come twice, begin elsewhere, or have gaps
    n_places = len({place for place, _ in words})
    is_text = n_places == len(words) > 3 and words[0][0] < 2 and words[-1][0] < 1.1 * n_places + 1
    return " ".join(word for _, word in words) if is_text else value


def _are_places(places: object) -> bool:
    return places is None or (isinstance(places, list) and all(type(place) is int for place in places))


def items_of_list(text: str) -> list[str] | None:
    """Return the items of a list, a tuple or a set as Python or numpy writes it; None for another text.

    >>> items_of_list("['a', 'b']"), items_of_list("['a' 'b']"), items_of_list("{'a'}"), items_of_list("[sic]")
    (['a', 'b'], ['a', 'b'], ['a'], None)
    """
    if not text.endswith(("]", ")", "}")) or not _LIST.fullmatch(text):
        return None
    return [without_escapes(match[1][1:-1]) if match[1] else match[2] for match in _ITEM.finditer(text)]


def without_escapes(text: str) -> str:
    r"""Return a text with what is written out in it as the characters that are meant.

    >>> without_escapes(r"News:\nthe caf\u00e9"), without_escapes(r"\ud83d\ude00") == "\U0001f600"
    ('News:\nthe café', True)
    """
    plain = _ESCAPE.sub(_character, text)
    return plain if plain == text else plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(match: re.Match[str]) -> str:
    number = match[1] or match[2]
    return chr(int(number, 16)) if number else _ENDS[match[3]] if match[3] else match[4]


def are_escaped(texts: Sequence[str]) -> bool:
    r"""Say whether the texts of a column are escaped, judged by the first ones.

    Whoever escapes a column escapes all of it: so no text has a line end or a tab of its own, nor another backslash.

    >>> are_escaped([r"News:\nthe caf\u00e9"]), are_escaped([r"C:\new\table"]), are_escaped([r"a \nu and \alpha"])
    (True, False, False)
    """
    escaped = bare = 0
    for text in texts:
        has_ends = "\n" in text or "\t" in text
        if "\\" not in text:
            bare += has_ends
        elif has_ends or _BARE.search(text):
            bare += 1
        else:
            escaped += any(match[4] is None for match in _ESCAPE.finditer(_TALKED_ABOUT.sub("", text)))
    return escaped > bare and (escaped > 1 or len(texts) < _FEWEST)
