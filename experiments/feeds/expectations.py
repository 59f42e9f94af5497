"""What a feed file expects, judged without running it: a small evaluator over the parsed expression.

A file says for instance ``not bozo and entries[0]['title'] == 'Example <b>Atom</b>'``. Parts about what our reader does
not hand over (authors, languages, the feed's own fields ...) are `NotExposed`. Texts are compared without markup and
with single spaces, because that is what documents hold; a summary or content has to be the document's text, or a
paragraph of it, without the title.
"""

from __future__ import annotations

import ast
import codecs
import datetime as dt
import re
from dataclasses import dataclass
from typing import Any

from doccluster.corpus.dates import iso_date
from doccluster.corpus.markup import strip_markup
from doccluster.corpus.reader import Draft

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
EXPECT = re.compile(rb"Expect:\s*(.*?)\s*(?:-->.*)?$", re.MULTILINE)
HEADER = re.compile(rb"^\s*(?:Header|HTTP):", re.MULTILINE | re.IGNORECASE)


class NotExposed(Exception):
    """The expectation is about something that is not part of a document."""


@dataclass(frozen=True)
class Text:
    """A text field of a document; `within` when several fields may be joined in it."""

    value: str
    within: bool = False


@dataclass(frozen=True)
class Moment:
    """The date of a document, as ISO 8601."""

    iso: str


def expression_in(data: bytes) -> str | None:
    """Return the Expect line of a feed file, None when there is none."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            data = data[len(mark) :].decode(encoding, "replace").encode("utf-8", "replace")
            break
    found = EXPECT.search(data.replace(b"\0", b"")[:8192])
    return None if found is None else found[1].decode("utf-8", "replace")


def needs_http(data: bytes) -> bool:
    """Say whether the expectation depends on an HTTP header, which a file does not have."""
    return HEADER.search(data[:2048]) is not None


def judge(expression: str, drafts: list[Draft]) -> tuple[bool | None, list[str]]:
    """Return whether the parts that concern documents hold (None: there is none), and the parts that do not hold."""
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except SyntaxError:
        return None, []
    verdicts: list[tuple[str, bool]] = []
    for part in _conjuncts(tree):
        try:
            verdicts.append((ast.unparse(part), bool(_value(part, drafts))))
        except NotExposed:
            continue
        except (IndexError, KeyError):
            verdicts.append((ast.unparse(part), False))
    if not verdicts:
        return None, []
    return all(holds for _, holds in verdicts), [part for part, holds in verdicts if not holds]


def _conjuncts(tree: ast.expr) -> list[ast.expr]:
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for value in tree.values for part in _conjuncts(value)]
    return [tree]


def _value(node: ast.expr, drafts: list[Draft]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(one, drafts) for one in node.elts)
    if isinstance(node, ast.UnaryOp):
        operand = _value(node.operand, drafts)
        return not _truth(operand) if isinstance(node.op, ast.Not) else -operand
    if isinstance(node, ast.BoolOp):
        return any(_truth(_value(one, drafts)) for one in node.values)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compare(node.ops[0], _value(node.left, drafts), _value(node.comparators[0], drafts))
    if isinstance(node, ast.Name):
        return _named(node.id, drafts)
    if isinstance(node, ast.Subscript):
        return _member(_value(node.value, drafts), _value(node.slice, drafts))
    if isinstance(node, ast.Attribute):
        return _member(_value(node.value, drafts), node.attr)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        return len(_value(node.args[0], drafts))
    raise NotExposed(ast.dump(node)[:40])


def _named(name: str, drafts: list[Draft]) -> Any:
    if name == "entries":
        return tuple(_fields(draft) for draft in drafts)
    if name in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[name]
    raise NotExposed(name)


def _fields(draft: Draft) -> dict[str, Any]:
    """Return the values of a document under the names of the expectations."""
    body = Text(draft.text.removeprefix(draft.title) if draft.title else draft.text, within=True)
    title = Text(draft.title)
    moment = Moment(iso_date(draft.date))
    return {
        "title": title,
        "title_detail": {"value": title},
        "summary": body,
        "description": body,
        "summary_detail": {"value": body},
        "content": tuple({"value": body} for _ in range(9)),
        "link": Text(draft.link),
        "id": Text(draft.id),
        "guid": Text(draft.id),
        "published_parsed": moment,
        "updated_parsed": moment,
        "published": moment,
        "updated": moment,
        "tags": tuple({"term": Text(term)} for term in draft.labels.get("category", ())),
        "category": Text(draft.labels["category"][0] if draft.labels.get("category") else ""),
        "source": {"title": Text(draft.source)},
    }


def _member(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        if key not in value:
            raise NotExposed(str(key))
        return value[key]
    if isinstance(value, tuple) and isinstance(key, int):
        return value[key]
    raise NotExposed(str(key))


def _truth(value: Any) -> bool:
    return bool(value.value) if isinstance(value, Text) else bool(value)


def _compare(operator: ast.cmpop, left: Any, right: Any) -> bool:
    if isinstance(operator, ast.NotEq):
        return not _compare(ast.Eq(), left, right)
    if not isinstance(left, Text | Moment) and isinstance(right, Text | Moment):
        left, right = right, left
        if isinstance(operator, ast.In):
            return any(reading in normal(left.value) for reading in _readings(right))
    if not isinstance(operator, ast.Eq):
        raise NotExposed("another comparison")
    if isinstance(left, Moment):
        return _same_moment(left.iso, right)
    if isinstance(left, Text):
        return _same_text(left, right)
    return bool(left == right)


def _readings(expected: Any) -> list[str]:
    """Return an expected text as it stands, and without markup: the file does not say which of the two it is."""
    return [normal(str(expected)), normal(strip_markup(str(expected)))]


def _same_text(ours: Text, expected: Any) -> bool:
    """Say whether our text, or one of its paragraphs when it joins several fields, is the expected one."""
    pieces = [ours.value, *ours.value.split("\n\n")] if ours.within else [ours.value]
    readings = [""] if expected is None else _readings(expected)
    return any(normal(piece) in readings for piece in pieces)


def _same_moment(ours: str, expected: Any) -> bool:
    if isinstance(expected, tuple):
        # a date without a time has none; one without a zone is in universal time to feedparser
        return bool(ours) and dt.datetime(*expected[:6]).isoformat().startswith(ours.removesuffix("+00:00"))
    if not isinstance(expected, str):
        return bool(ours) == bool(expected)
    read = iso_date(expected)
    return bool(read) and bool(ours) and _in_utc(ours)[:10] == _in_utc(read)[:10]


def _in_utc(iso: str) -> str:
    moment = dt.datetime.fromisoformat(iso.ljust(10, "0") if len(iso) >= 10 else f"{iso}-01-01"[:10])
    return (moment if moment.tzinfo is None else moment.astimezone(dt.UTC)).isoformat()


def normal(text: str) -> str:
    """Return `text` with single spaces."""
    return " ".join(text.split())
