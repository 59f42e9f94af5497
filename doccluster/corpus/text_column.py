"""Which column of a table holds the text: judged by its name and by how much prose its first rows hold.

Columns may lie in objects: `content.body` is the value of `body` in the object `content`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from doccluster.corpus.dates import iso_date

# Names that columns of text go by, the likeliest first; compared without case, spaces as _.
FULL_TEXTS = ("text", "body", "content", "contents", "full_text", "article", "document", "doc")
SNIPPETS = ("snippet", "excerpt", "teaser", "short_description", "lead", "lead_paragraph", "standfirst")
SHORT_TEXTS = (
    *("abstract", "description", "summary", "message", "review", "comment", "post", "tweet", "sentence", "question"),
    *("blurb", *SNIPPETS),
)
TITLES = ("headline", "title")
TEXT_NAMES = (*FULL_TEXTS, *SHORT_TEXTS, *TITLES)
_WRAPPED = ("rendered", "value", "main", "#text", "$t", "$oid", "$date", "name")  # the value in an object that is one
SAMPLED_ROWS = 100
_MOST_CELLS = 20_000  # of the sample: of very wide tables ten rows are enough
_SAMPLED_CHARACTERS = 2_000  # of a cell
SHORTEST_PROSE = 25  # characters on average, of a column that is taken for its length alone
# A column replaces one with a usual name with this many times the prose of a full text, of a short one, of one in an
# object, of a title.
TIMES = (20, 5, 5, 2)
_MOST_LEVELS = 4  # of objects in objects
_MOST_FIELDS = 200  # of the objects in a column; in others keys are names of things, not of fields
_LINK = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)\S*|\S+@\S+", re.IGNORECASE)
_SOURCE = re.compile(r"""\s*(?:\{\s*["'}]|\[\s*[\[{]).*[}\]]\s*""", re.DOTALL)
_NO_LETTERS = re.compile(r"[0-9!-/:-@\[-`{-~]")


def plain_name(name: str) -> str:
    """Return the name of a column without case, its blanks as _."""
    return "_".join(name.strip().lower().split())


def value_at(row: Mapping[str, Any], name: str) -> Any:
    """Return the value of a column, which may lie in an object, or in each object of a list; None without one.

    >>> row = {"content": {"body": "Rain."}, "parts": [{"text": "a"}, {"text": "b"}]}
    >>> value_at(row, "content.body"), value_at(row, "parts.text"), value_at(row, "title")
    ('Rain.', ['a', 'b'], None)
    """
    if name in row:
        return row[name]
    head, dot, rest = name.partition(".")
    inner = row.get(head) if dot else None
    if isinstance(inner, str) and is_json_source(inner):
        inner = parsed_json(inner)
    if isinstance(inner, list):
        return [value_at(item, rest) for item in inner if isinstance(item, Mapping)]
    return value_at(inner, rest) if isinstance(inner, Mapping) else None


def parsed_json(text: str) -> Any:
    """Return the value that a text is as JSON; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def leaf_names(names: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns, and in place of those that hold objects the columns in these."""
    found: dict[str, None] = {}
    for name in names:
        inner = dict.fromkeys(path for row in rows for path in _paths(row.get(name), name, _MOST_LEVELS))
        found |= inner if 0 < len(inner) <= _MOST_FIELDS else {name: None}
    return list(found)


def _paths(value: Any, name: str, levels: int) -> Iterator[str]:
    if isinstance(value, Mapping) and levels:
        for key, inner in value.items():
            yield from _paths(inner, f"{name}.{key}", levels - 1)
    elif value is not None:
        yield name


def prose_length(values: Sequence[Any]) -> float:
    """Return the mean number of characters of the texts among cells, each text counted once.

    Links, dates, numbers, objects and JSON are not texts; an identifier or a single word counts as one character.

    >>> prose_length(["The ferry sails.", "The ferry sails."]), prose_length(["2024-05-01", "http://a.b/c", 7])
    (8.0, 0.0)
    """
    texts = {_as_text(value)[:_SAMPLED_CHARACTERS] for value in values if not is_json_source(value)}
    return sum(map(_prose_of, texts)) / max(len(values), 1)


def is_like_its_cells(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether the name of a column is as much of a text as its cells are: then it may well be one of them."""
    return prose_length([name]) >= max(SHORTEST_PROSE, prose_length([row.get(name) for row in rows]) / 2)


def _as_text(value: Any) -> str:
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return " ".join(value)
    if isinstance(value, list | tuple) and value and all(isinstance(item, Mapping) for item in value):
        return " ".join(_as_text(item[name]) for item in value for name in _text_keys(item)[:1])
    return value.strip() if isinstance(value, str) else ""


def _prose_of(text: str) -> int:
    start = text[:200]
    if not text or _LINK.fullmatch(text) or len(_NO_LETTERS.findall(start)) > len(start) / 2:
        return 0
    if text.isascii() and len(text.split(maxsplit=1)) == 1:
        return 1
    return 0 if len(text) < 40 and iso_date(text) else len(text)


def is_json_source(value: Any) -> bool:
    """Say whether a cell is an object, or the source of an object or of a list of objects or lists (or Python's).

    >>> is_json_source('{"a": 1}'), is_json_source('["a"]'), is_json_source("[sic]")
    (True, False, False)
    """
    if not isinstance(value, str):
        return isinstance(value, Mapping)
    return value.lstrip()[:1] in ("{", "[") and _SOURCE.fullmatch(value) is not None


def _text_keys(value: Mapping[Any, Any]) -> list[Any]:
    """Return the keys of an object that are named like a text, the likeliest first."""
    by_name = {plain_name(str(key)): key for key in reversed(value)}
    return [by_name[name] for name in (*TEXT_NAMES, *_WRAPPED) if name in by_name]


def text_in(value: Any) -> Any:
    """Return the text in an object, or those in a list of objects; other cells as they are. None without one."""
    if isinstance(value, Mapping):
        return next((text_in(value[key]) for key in _text_keys(value)), None)
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        return "\n".join(text for item in value if isinstance(text := text_in(item), str))
    return value


def choose_text(names: Sequence[str], rows: Sequence[Mapping[str, Any]], taken: Collection[str]) -> tuple[str, ...]:
    """Return the columns that hold the text; none where nothing says which.

    The usual names decide, unless another column has many times the prose: 20 times that of a full text, 5 times that
    of a short one (abstract, description, comment, ...) or of a field in an object, 2 times that of a title. A column
    without a usual name needs 25 characters on average. A title goes with a snippet.

    `rows`: the first of the table. `taken`: columns that hold something else.
    """
    leaves = leaf_names(names, rows)
    rows = rows[: max(10, _MOST_CELLS // max(len(leaves), 1))]
    lengths = {name: prose_length([value_at(row, name) for row in rows]) for name in leaves if name not in taken}
    by_prose = sorted(lengths, key=lambda name: -lengths[name])
    top = frozenset(names)
    tiers = {name: place for name in leaves if (place := _place_among_names(name, is_inner=name not in top))}
    usual = min((name for name in tiers if not _is_structured(name, rows)), key=tiers.__getitem__, default=None)
    least = 0.0 if usual is None else TIMES[tiers[usual][0]] * lengths.get(usual, 0.0)
    if by_prose and lengths[by_prose[0]] >= max(least, SHORTEST_PROSE):
        usual = by_prose[0]
    elif usual is None and len(names) == 1 and not _is_structured(names[0], rows):
        usual = names[0]
    if usual is None:
        return ()
    title = next((name for name in leaves if _word(name) in TITLES and above(name) == above(usual)), None)
    return (title, usual) if title is not None and _word(usual) in SNIPPETS else (usual,)


def above(name: str) -> str:
    """Return the column that holds the object in which a column lies; empty for one of the table itself."""
    return name.rpartition(".")[0]


def _word(name: str) -> str:
    """Return the telling part of the name of a column: the last, or that before `rendered` and its like."""
    parts = [plain_name(part) for part in name.split(".")]
    return parts[-2] if len(parts) > 1 and parts[-1] in _WRAPPED else parts[-1]


def _place_among_names(name: str, *, is_inner: bool) -> tuple[int, int] | None:
    """Return how likely a usual name is that of the text, the lowest first; None for another name."""
    word = _word(name)
    for tier, words in enumerate((FULL_TEXTS, SHORT_TEXTS, TITLES)):
        if word in words:
            return (2 if is_inner else 0, 1, 3)[tier], words.index(word)
    return None


def _is_structured(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether a column holds objects or their source in JSON, and nothing else."""
    values = [value for row in rows if (value := value_at(row, name)) not in (None, "")]
    return bool(values) and all(map(is_json_source, values))
