"""Sentences that an outlet repeats over the excerpts of its articles, with boilerplate kept and left out.

``python -m experiments.labels.repeated [FOLDER]`` reads the articles of BASIL and AllSides in FOLDER (by default
../shared/corpora/news_stories_basil) as a run does, and counts for each outlet the sentences that the excerpts of at
least `LEAST` of its articles have, and the excerpts that show one of them.
"""

from __future__ import annotations

import pathlib
import sys
from collections import Counter, defaultdict

from doccluster.pipeline.sources import read_source
from doccluster.text.boilerplate import line_key
from doccluster.text.tokens import sentences

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAST = 5  # articles


def main(arguments: list[str]) -> None:
    """Print the counts."""
    folder = pathlib.Path(arguments[0] if arguments else ROOT.parent / "shared" / "corpora" / "news_stories_basil")
    for path in sorted(folder.glob("*.jsonl.gz")):
        for kept in (True, False):
            documents = read_source(path, reader={"keep_boilerplate": kept}).documents
            n_strings, n_excerpts, commonest = repeated(documents.sources, documents.excerpts)
            told = f"{n_strings} sentences in {n_excerpts} of {len(documents)} excerpts"
            print(f"{path.name}, boilerplate {'kept' if kept else 'left out'}: {told}")
            for (outlet, sentence), count in commonest:
                print(f"    {count:>4} {outlet}: {sentence[:80]}")


def repeated(outlets: tuple[str, ...], excerpts: tuple[str, ...]) -> tuple[int, int, list[tuple[tuple[str, str], int]]]:
    """Return how many sentences are repeated, how many excerpts show one, and the ten commonest."""
    showing: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row, (outlet, excerpt) in enumerate(zip(outlets, excerpts, strict=True)):
        for sentence in sentences(excerpt):
            if not sentence.endswith("…"):
                showing[outlet, line_key(sentence)].add(row)
    found = {one: rows for one, rows in showing.items() if len(rows) >= LEAST}
    counts = Counter({one: len(rows) for one, rows in found.items()})
    return len(found), len(set().union(*found.values())), counts.most_common(10)


if __name__ == "__main__":
    main(sys.argv[1:])
