"""Markdown, and texts with front matter: a block of YAML, TOML or JSON before the text that says what it is.

Of the block flat keys, keys below keys and lists are read; what else is in it stays in the text, which a warning says.
Of Markdown addresses of links, tags and the marks of headings, emphasis and code are left out, since none is a word.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from doccluster.corpus.column_names import PLAIN_IDS, plain_name
from doccluster.corpus.columns import choose_columns, row_draft
from doccluster.corpus.json_records import BAD_JSON, JSON_TEXT
from doccluster.corpus.markup import unescape
from doccluster.corpus.reader import Beginning, Draft, Format, InputFile, with_title
from doccluster.corpus.reader_options import ONE_COLUMN, ReadOptions

_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".rmd", ".qmd")
_BLOCK = re.compile(r"(---|\+\+\+)[ \t]*\n((?:.*\n){,2000}?)(?:\1|\.\.\.)[ \t]*(?:\n|\Z)")
_MAX_LEVELS = 8  # of keys below keys
_LINE_END = re.compile(r"\r\n?")
_COMMENT = re.compile(r"(?:^|[ \t])[ \t]*+#.*")
_KEY = re.compile(r"""( *)(["']?)([^\s"'#\[\]{},&*!|>%@`-][^"':,\n]*+)\2[ \t]*:(?:[ \t]+(.*)|$)""")
_ITEM = re.compile(r" *-(?:[ \t]+|$)(.*)")
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+')\s*(?:#.*)?""")
_LIST = re.compile(r"\[([^\[\]{}]*+)\]\s*(?:#.*)?")
_IN_LIST = re.compile(r"""\s*("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|[^,]*+)\s*(?:,|$)""")
_NO_TEXT = re.compile(r"[&*!{\[]")  # what begins an anchor, an alias, a type, an object or a list of such
_FACTS_FIRST = re.compile(r"(?:(?:title|author|slug):[ \t]+\S|date:.*\d)", re.IGNORECASE)
_WITH_COMMAS = ("tags", "categories", "keywords")  # of which people write lists so too
_Facts = dict[str, str | list[str]]


def front_matter(text: str, *, is_markdown: bool) -> tuple[_Facts, list[str], str] | None:
    """Return the facts in the front matter of a text, its lines that are not read, and the text below; None without.

    >>> front_matter("---\\ntitle: Rain\\ntags: [a, b]\\n---\\nIt rains.", is_markdown=False)
    ({'title': 'Rain', 'tags': ['a', 'b']}, [], 'It rains.')
    """
    text = _LINE_END.sub("\n", text).lstrip("\ufeff\n\t ")
    if is_markdown and text.startswith("{"):
        try:
            values, end = JSON_TEXT.raw_decode(text)
        except BAD_JSON:
            return None
        return (*_flat(values), text[end:].lstrip("\n")) if values else None
    if is_markdown and _FACTS_FIRST.match(text):  # as Pelican and MultiMarkdown have it
        head, _, below = text.partition("\n\n")
        facts, unread = _of_yaml(head.split("\n", 2_000))
        return None if unread else (facts, [], below)
    block = _BLOCK.match(text)
    if block is None:
        return None
    try:
        facts, unread = _flat(tomllib.loads(block[2])) if block[1] == "+++" else _of_yaml(block[2].split("\n"))
    except (ValueError, RecursionError):
        return None
    # what stands between two rules may be a text as well
    n_strange = sum(line[:1] not in ("", " ", "-", "]") and _KEY.match(line) is None for line in unread)
    return (facts, unread, text[block.end() :]) if n_strange < len(facts) else None


def _flat(values: Mapping[str, Any], above: str = "") -> tuple[_Facts, list[str]]:
    """Return values of keys below keys under names such as author.name, and lists of objects as lines."""
    facts: _Facts = {}
    unread: list[str] = []
    for name, value in values.items():
        if isinstance(value, Mapping) and above.count(".") < _MAX_LEVELS:
            inner, lines = _flat(value, f"{above}{name}.")
            facts |= inner
            unread += lines
        elif isinstance(value, Mapping) or (
            isinstance(value, list) and any(isinstance(item, list | Mapping) for item in value)
        ):
            unread.append(f"{above}{name}: {json.dumps(value, ensure_ascii=False, default=str)}")
        else:
            facts[f"{above}{name}"] = list(map(_as_text, value)) if isinstance(value, list) else _as_text(value)
    return facts, unread


def _as_text(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _of_yaml(lines: list[str], above: str = "") -> tuple[_Facts, list[str]]:
    """Return the values of lines of YAML by their keys, and the lines that hold more than keys, values and lists."""
    facts: _Facts = {}
    unread: list[str] = []
    groups: list[list[str]] = []  # a line, and what lies deeper; the items of a list need not
    filled = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    least = min(map(_indent, filled), default=0)
    for line in filled:
        if groups and (_indent(line) > least or line.lstrip().startswith(("- ", "]"))):
            groups[-1].append(line)
        else:
            groups.append([line])
    for head, *below in groups:
        key = _KEY.match(head)
        name = above if key is None else f"{above}{key[3].strip()}"
        value = None if key is None else _value(key[4] or "", below)
        if value is not None:
            facts[name] = value
        elif key is None or key[4] or name.count(".") >= _MAX_LEVELS:
            unread += [head, *below]
        else:
            inner, lines_unread = _of_yaml(below, f"{name}.")
            facts |= inner
            unread += [head, *lines_unread] if lines_unread else []
    return facts, unread


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _value(text: str, below: list[str]) -> str | list[str] | None:
    """Return a value of YAML and the lines below it as a text, or the items of a list; None for anything else."""
    plain = _COMMENT.sub("", text).strip()
    if plain.startswith(("|", ">")):
        return " ".join(map(str.strip, below))
    if not plain:
        items = [_value(item[1], []) for line in below if (item := _ITEM.match(line)) and not _KEY.match(item[1])]
        texts = [item for item in items if isinstance(item, str)]
        return texts if len(texts) == len(below) else None
    text = " ".join([text, *map(str.strip, below)])
    quoted, listed = _QUOTED.fullmatch(text), _LIST.fullmatch(text)
    if listed is not None:
        return [_unquoted(item[1]) for item in _IN_LIST.finditer(listed[1]) if item[1].strip()]
    if quoted is not None:
        return _unquoted(quoted[1])
    plain = _COMMENT.sub("", text).strip()
    return None if _NO_TEXT.match(plain) else "" if plain in ("null", "~") else plain


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(JSON_TEXT.decode(text))
        except BAD_JSON:
            return text[1:-1]
    return text[1:-1].replace("''", "'") if len(text) > 1 and text[0] == text[-1] == "'" else text


# No pattern looks for the same end from two places, so that what is never closed is read in linear time.
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*$")
_TARGET = r"""\(\s*+(?:[^()\s]|\([^()\s]*+\))*+(?:\s++(?:"[^"\n]*+"|'[^'\n]*+'))?\s*+\)"""
_ASIDE = re.compile(
    r"(?P<code>`[^`\n]++`)|<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\2\s*>|\Z)|!\[\[[^\[\]\n]*+\]\]"
    rf"|!\[(?P<alt>[^\[\]]*+)\]{_TARGET}|\{{\{{[<%](?:[^{{}}])*+\}}\}}|\{{%[^{{}}]*+\}}"
    r"|</?(?P<tag>[a-z][\w-]*+)(?:[^<>\n]|\n(?!\n))*+>",
    re.DOTALL | re.IGNORECASE,
)
_LINK = re.compile(rf"\[\[(?:[^\[\]|\n]*+\|)?([^\[\]|\n]*+)\]\]|(?<!\])\[([^\[\]]*+)\](?:{_TARGET}|\[[^\[\]\n]*+\])")
_DEFINITION = re.compile(
    r"^ {0,3}\[[^\[\]^\n][^\[\]\n]*+\]:[ \t]*+\S++(?:[ \t]++[\"'(][^\n]*+)?[ \t]*$\n?", re.MULTILINE
)
_TITLE = re.compile(r"^ {0,3}#[ \t]+(.+)$|^(.+)\n=+[ \t]*$|\A\s*#{2,6}[ \t]+(.+)$", re.MULTILINE)
_MARKS = re.compile(
    r"^ {0,3}#{1,6}(?:[ \t]+|$)|(?<![ \t])[ \t]++#++[ \t]*$|^ {0,3}(?:=+|-+|\*{3,}|_{3,})[ \t]*$\n?"
    r"|(?<![\w*])[*_]{1,3}(?=[^\s*_])|(?<=[^\s*_])[*_]{1,3}(?!\w)|\\(?=[!-/:-@\[-`{-~])",
    re.MULTILINE,
)


_BREAKING = re.compile("br|p|div|li|[uod]l|d[td]|t[dhr]|table|h[1-6r]|section|fig.*", re.IGNORECASE)


def plain_markdown(text: str) -> tuple[str, str]:
    r"""Return a text without the signs of Markdown, and its first heading; code stays as it is.

    >>> plain_markdown("# The *ferry*\n\nIt [sails](http://a.org) to<br>Skerrow.\n\n```sh\nsail --now\n```")
    ('The ferry\n\nIt sails to Skerrow.\n\nsail --now\n', 'The ferry')
    """
    pieces: list[tuple[bool, list[str]]] = [(False, [])]
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if match is not None and (not fence or match[1].startswith(fence)):
            fence = "" if fence else match[1]
            pieces.append((bool(fence), []))
        else:
            pieces[-1][1].append(line)
    title, texts = "", []
    for is_code, lines in pieces:
        piece = "\n".join(lines)
        if not is_code:
            piece = _DEFINITION.sub("", _LINK.sub(lambda link: link[1] or link[2] or "", _ASIDE.sub(_shown, piece)))
            heading = None if title else _TITLE.search(piece)
            title = title or (_MARKS.sub("", unescape(heading[0])).strip() if heading is not None else "")
            piece = unescape(_MARKS.sub("", piece))
        texts.append(piece)
    return "\n".join(texts), title


def _shown(match: re.Match[str]) -> str:
    if match["tag"]:
        return " " if _BREAKING.fullmatch(match["tag"]) else ""
    return match["code"].strip("`") if match["code"] else match["alt"] or ""


def read_markdown(file: InputFile, options: ReadOptions) -> Iterator[Draft]:
    """Return the one document that the file is, under its title; its front matter gives columns and labels."""
    source = _LINE_END.sub("\n", file.text(options.document_bytes))
    facts, unread, body = front_matter(source, is_markdown=_is_named_so(str(file.place))) or ({}, [], source)
    file.is_partly_read = bool(unread)
    body, heading = plain_markdown(body)
    row: dict[str, object] = {_column(name): value for name, value in facts.items()}
    absent: dict[str, Any] = {option: None for option in ONE_COLUMN if getattr(options, option) not in row}
    row_options = replace(
        options,
        text_column="text",
        label_columns=options.label_names and [name for name in options.label_names if name in row],
        keep_columns=[name for name in options.kept_columns if name in row],
        **absent,
    )
    columns = choose_columns([*row, "text"], row_options, table=file.name, first_rows=[row])
    for name, value in row.items():
        if name in columns.labels and isinstance(value, str) and plain_name(name) in _WITH_COMMAS:
            row[name] = value.split(",")
        elif name not in columns.labels and isinstance(value, list):
            row[name] = "; ".join(value)
    draft = row_draft(row, columns, row_options, file.name)
    title = draft.title or heading
    text = "\n".join([with_title(title, body.strip()), *unread])
    yield replace(draft, text=text, title=title, id=str(file.place), is_whole_file=True, text_columns=())


def _column(name: str) -> str:
    """Return the name of the column of a key; the text and the id of a file are its own."""
    return f"source.{name}" if plain_name(name) in ("text", *PLAIN_IDS) else name


def _is_named_so(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES)


def _is_markdown(beginning: Beginning) -> bool:
    if beginning.name.endswith((".yaml", ".yml")):  # several values, with such lines between them
        return False
    return front_matter(beginning.text, is_markdown=_is_named_so(beginning.name)) is not None


MARKDOWN = Format(
    "markdown",
    read_markdown,
    "a file",
    "title, date, link; the keys of front matter as columns, tags and categories as labels",
    suffixes=_SUFFIXES,
    aliases=("md",),
    recognises=_is_markdown,
)
