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
    r"\b(at (most|least)|about|of|after|from|until|in|only|for) so many\b": "the number itself, or 'this many'",
    r"\bReturn what\b": "the noun: 'Return the moves since the last sums'",
    r"\b[Ss]omebody\b|\b[Nn]obody\b(?! listened)": "who it is, or the passive: 'the default', 'no thread'",
    r"\b(is|are) told (the|in|of|how|that|what|which|a)\b": "'the error says', 'is called with'",
    r"\b(files?|errors?|pages?|ones|scripts?|sheets?) of ours\b": "'that doccluster wrote', 'of the package'",
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
