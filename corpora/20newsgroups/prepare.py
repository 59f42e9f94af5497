"""20 Newsgroups to JSON Lines: `python -m corpora.20newsgroups.prepare COPY -o FOLDER`.

Two files are written: the messages as they are, and without headers, signatures and quotations, the form in which they
are usually clustered (what is empty after that is left out).
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from corpora.prepare_corpus import check_counts, count_corpus, main, refuse_or_list, write_json_lines
from doccluster.corpus import read_corpus

HERE = pathlib.Path(__file__).resolve().parent


def prepare(copy: pathlib.Path, output: pathlib.Path, recipe: dict[str, Any], *, accept_changes: bool) -> list[str]:
    """Write `20newsgroups.jsonl` and `20newsgroups-stripped.jsonl` (columns class, split) from a folder or archive."""
    whole = read_corpus(copy, format="newsgroups")
    lines = refuse_or_list(_differences(count_corpus(whole), recipe), accept_changes=accept_changes)
    stripped = read_corpus(copy, format="newsgroups", strip=("headers", "footers", "quotes"))
    for corpus, name in ((whole, "20newsgroups.jsonl"), (stripped, "20newsgroups-stripped.jsonl")):
        write_json_lines(corpus, output / name)
        lines.append(f"{output / name}: {len(corpus):,} documents")
    return lines


def _differences(counts: dict[str, int], recipe: dict[str, Any]) -> list[str]:
    """Return nothing when the counts are those of a known version, else how they differ from the nearest one."""
    versions = recipe["versions"].values()
    nearest = min(versions, key=lambda expected: abs(expected["documents"] - counts["documents"]))
    return check_counts(counts, nearest)


if __name__ == "__main__":
    sys.exit(main(HERE, prepare))
