"""Reuters-21578 to JSON Lines: `python -m corpora.reuters21578.prepare COPY -o FOLDER`."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from corpora.prepare_corpus import check_counts, check_files, count_corpus, main, refuse_or_list, write_json_lines
from doccluster.corpus import read_corpus

HERE = pathlib.Path(__file__).resolve().parent


def prepare(copy: pathlib.Path, output: pathlib.Path, recipe: dict[str, Any], *, accept_changes: bool) -> list[str]:
    """Write `reuters21578.jsonl` (columns topics, places, people, orgs, exchanges, split) from a folder or archive."""
    lines = refuse_or_list(check_files(copy, recipe["sha256"]), accept_changes=accept_changes)
    corpus = read_corpus(copy)
    lines += refuse_or_list(check_counts(count_corpus(corpus), recipe["expected"]), accept_changes=accept_changes)
    write_json_lines(corpus, output / "reuters21578.jsonl")
    return [*lines, f"{output / 'reuters21578.jsonl'}: {len(corpus):,} documents"]


if __name__ == "__main__":
    sys.exit(main(HERE, prepare))
