"""What a file looks like whose lines are no documents: records, code and data in forms that no reader here takes.

A file that is the only source is read line by line where no format is recognised. Of these it would make hundreds of
documents that are none, so it is refused with what it looks like. What a reader recognises does not come so far: a form
that gets its `Format` may leave the table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from doccluster.corpus.reader import HEAD_SIZE, Beginning

_CODE = (
    *(".py", ".js", ".mjs", ".ts", ".jsx", ".tsx", ".java", ".c", ".cc", ".cpp", ".h", ".hpp", ".cs", ".go", ".rs"),
    *(".rb", ".php", ".pl", ".sh", ".bash", ".ps1", ".bat", ".css", ".scss", ".kt", ".swift", ".scala", ".lua"),
)


@dataclass(frozen=True)
class LookAlike:
    """A kind of file, in words, and by what it is known: the end of its name, or its first lines."""

    what: str
    pattern: str
    min_lines: int = 1  # that the pattern covers
    min_share: float = 0.0  # of the lines that are not blank
    suffixes: tuple[str, ...] = ()


_STAMP = r"(?:\d+:)?\d\d:\d\d[.,]\d{3}"
_SUBTITLE = rf"^{_STAMP}(?:[ \t]*-->[ \t]*|,){_STAMP}|^\[\d\d:\d\d[.:]\d\d\d?\]|^Dialogue: \d+,\d"
LOOK_ALIKES = (
    LookAlike("subtitles", _SUBTITLE, suffixes=(".srt", ".vtt", ".sbv", ".ass", ".lrc")),
    LookAlike("a web archive (WARC)", r"\AWARC/\d", suffixes=(".warc",)),
    LookAlike("a collection of <DOC> elements", r"^<(?i:DOC)(?:\s[^<>\n]*)?>"),
    LookAlike("a test collection (SMART)", r"\A\.I \d+\s*\n\.[A-Z]\b"),
    LookAlike("contacts or a calendar", r"\ABEGIN:V[A-Z]+\s*\n", suffixes=(".vcf", ".ics")),
    LookAlike("clippings of an e-reader", r"^={10}[ \t]*$", 2),
    LookAlike("an export of Nexis", r"^[ \t]*\d+ (?:of|de|von) \d+ (?:DOCUMENT|DOKUMENT)\w*\s*$|^(?i:LOAD-DATE): ", 2),
    LookAlike("an export of Factiva", r"^(?:Document|Dokument) [A-Z]{2,}\w{15,}[ \t]*$"),
    LookAlike("an export of ProQuest", r"^(?:Document|Dokument) \d+ (?:of|von|de) \d+[ \t]*$"),
    LookAlike("abstracts of PubMed or Ovid", r"^PMID: \d+|^<\d+>[ \t]*$", 2),
    LookAlike("references of EndNote", r"^%[A-Z0-9@] ", 4, 0.5, suffixes=(".enw",)),
    LookAlike("a chess or family database", r'\A0 HEAD\b|^\[Event "', suffixes=(".pgn", ".ged")),
    LookAlike("translations (gettext)", r'^msgid "', 2, suffixes=(".po", ".pot")),
    LookAlike("a dump of a database (SQL)", r"^(?i:CREATE TABLE )[^\n;]*\([ \t]*$", suffixes=(".sql",)),
    LookAlike("a dump of a database (SQL)", r"^(?i:INSERT INTO )\S+[ \t]*(?:\([^()\n]*\)[ \t]*)?(?i:VALUES)\b", 2, 0.1),
    LookAlike("LaTeX", r"^\\(?:documentclass|begin\{document\})", suffixes=(".tex", ".ltx")),
    LookAlike("a patch", r"^@@ -\d+(?:,\d+)? \+\d+", suffixes=(".patch", ".diff")),
    LookAlike("XML or HTML", r"^[ \t]*</?[A-Za-z][^<>\n]*>[ \t]*$", 3, 0.15, suffixes=(".xml",)),
    LookAlike("XML or HTML", r"\A<(?:\?xml\b|!DOCTYPE\b)"),
    LookAlike("source code", r"\A#![ \t]*/|\A<\?php\b", suffixes=_CODE),
    LookAlike("source code or data in brackets", r"^[ \t]*[}\])]+[;,)]*[ \t]*$", 2, 0.05),
    LookAlike(
        "source code",
        r"^(?:async|def|class|if|elif|else|for|while|with|try|except)\b.*:[ \t]*(?:#.*)?\n(?:[ \t]+\S.*\n+)+",
        *(4, 0.3),
    ),
    LookAlike("settings", r"^\[[^\]\n]+\]\n(?:[\w.-]+[ \t]*[:=].*\n?)+", 4, 0.5, suffixes=(".toml", ".ini", ".cfg")),
    LookAlike(
        "YAML",
        r"^(?:- )?[\w\"'-]+:(?:[ \t].*)?\n(?:[ \t]+(?:- )?\S.*\n?)+",
        4,
        0.5,
        suffixes=(".yaml", ".yml"),
    ),
    LookAlike("columns of words (CoNLL)", r"^\d+(?:-\d+)?\t\S+(?:\t\S*){4,}[ \t]*$", 5, 0.5, suffixes=(".conllu",)),
    LookAlike("columns of words (CoNLL)", r"^\S+[ \t](?:\S+[ \t])*(?:O|[BIESLU]-\w+)[ \t]*$", 5, 0.6),
    LookAlike("records with tags", r"^(?:[A-Z][A-Z0-9]{1,3} {0,3}-(?=[ \t]|$)|=\d{3}  ).*", 6, 0.5),
    LookAlike(  # blocks of lines whose first line begins alike
        "records with tags",
        r"(?:\A|(?<=\n\n))(\w[\w .-]{0,20}(?::|=| {1,3}-)[ \t]).*\n(?:(?!\1).+\n)+\n+(?:\1.*\n(?:(?!\1).+\n?)+\n*){2,}",
        *(6, 0.6),
    ),
    LookAlike("texts between lines of signs", r"^(?:%+|={3,}|-{3,}|\*{3,}|_{3,}|~{3,}|#{3,})[ \t]*$", 3, 0.04),
)


def looks_like(beginning: Beginning) -> str | None:
    r"""Return the kind, in words, of a file whose lines cannot be documents; None where they may well be.

    >>> looks_like(Beginning("1\n00:00:01,000 --> 00:00:02,000\nThe ferry sails.\n", "a.txt"))
    'subtitles'
    """
    text = re.sub(r"\r\n?", "\n", beginning.text)
    whole, end, rest = text.rpartition("\n")
    lines = f"{whole}{end}" if len(beginning.head) >= HEAD_SIZE and whole else f"{whole}{end}{rest}"
    n_lines = sum(map(bool, map(str.strip, lines.split("\n"))))
    for kind in LOOK_ALIKES:
        if beginning.name.endswith(kind.suffixes):
            return kind.what
        matches = re.finditer(kind.pattern, lines, re.MULTILINE)
        if sum(match[0].strip("\n").count("\n") + 1 for match in matches) >= max(
            kind.min_lines, kind.min_share * n_lines
        ):
            return kind.what
    return None
