"""`python -m tests.plain_words`: phrases that readers stumbled over, wherever the sources and pages still have them.

`make check` runs it. A phrase joins the list when a reader had to stop at it; beside it is what a colleague would say.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
READ = ("doccluster/**/*.py", "doccluster/**/*.html", "experiments/**/*.py", "website/**/*.py", "docs/**/*.md", "*.md")
INSTEAD = {
    r"(?<!has |had )\bso many (?!that)\b": "the number itself, or 'this many'",
    r"\bReturn what\b": "the noun: 'Return the moves since the last sums'",
    r"\b[Ss]omebody\b|\b[Nn]obody\b(?! listened)": "who it is, or the passive: 'the default', 'no thread'",
    r"\b(is|are) told (the|in|of|how|that|what|which|a)\b": "'the error says', 'is called with'",
    r"\bof ours\b|\bin place of our own\b": "'that doccluster wrote', 'of the package', 'instead'",
    r"\bwhoever\b": "who it is",
    r"\bletter for letter\b|\bnearly word for word\b": "'exact copies', 'near-copies'",
    r"\bmade unit\b|\bmakes? (it|them) unit\b": "'normalised'",
    r"\b(?<!number )left to the data\b": "'chosen from the data'",
    r"\b(options|parameters) if wanted\b|\bwhere nothing else is asked for\b": "'measures', 'survives'",
    r"\bnone with a stop list\b|\bin documents of all kinds\b": "'unknown'",
    r"\bmeasures of their own\b|\b[Aa]s the registry has it\b|\blives on with\b": "'measures', 'survives'",
    r"(?<!\w: )\bas asked\b": "'as you asked'",
    r"\b(comes?|came) back (best|better|by)\b|\bfound again\b": "'stable', 'agrees'",
    r"\bthat says how surely\b|\bsays more of what you need\b": "'how clear it is', 'fits better'",
    r"\blets? go (of )?(the|its|what|rows)\b": "'free', 'release'",
    r"(?<!there )(?<!There )(?<!where )\b(is|are) no (table|array|number|text|word|term|feed|file|path|list|address|"
    r"day|moment|share|record|token|name|language)s?\b": "'is not a ...'",
}


def stumbles(root: Path = ROOT) -> Iterator[tuple[Path, int, str, str]]:
    """Yield file, line, phrase and what to say instead."""
    for pattern in READ:
        for path in sorted(root.glob(pattern)):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                for phrase, instead in INSTEAD.items():
                    for found in re.finditer(phrase, line):
                        yield path.relative_to(root), number, found[0], instead


def main() -> int:
    """Print every phrase with its place; the exit code is 1 if there is any."""
    found = [f"{path}:{number}: {phrase!r}: say {instead}\n" for path, number, phrase, instead in stumbles()]
    sys.stdout.writelines(found)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
