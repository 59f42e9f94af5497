"""Sentences that an outlet repeats over the excerpts of its articles, with boilerplate kept and left out.

``python -m experiments.labels.repeated [FOLDER]`` reads the articles of BASIL and AllSides in FOLDER (by default
../shared/corpora/news_stories_basil), and counts for each outlet the sentences that the excerpts of at least
`MIN_ARTICLES` of its articles have, and the excerpts that show one of them; the commonest stand below.
"""

from __future__ import annotations

import pathlib
import sys
from collections import Counter, defaultdict

import doccluster
from doccluster.pipeline.sources import leave_out_boilerplate
from doccluster.results.document_table import DocumentTable
from doccluster.text.boilerplate import line_key
from doccluster.text.tokens import sentences

MIN_ARTICLES = 5
N_SHOWN = 3


def main(arguments: list[str]) -> None:
    """Print the counts."""
    default = pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpora" / "news_stories_basil"
    for path in sorted(pathlib.Path(arguments[0] if arguments else default).glob("*.jsonl.gz")):
        corpus = doccluster.read_corpus(path)
        for title, articles in {"kept": corpus, "left out": leave_out_boilerplate(corpus)[0]}.items():
            documents = DocumentTable.from_corpus(articles)
            showing = excerpts_with(documents)
            n_excerpts = len(set().union(*showing.values()))
            print(
                f"{path.name}, boilerplate {title}: {len(showing)} sentences in {n_excerpts} of {len(documents):,} "
                f"excerpts of {len(set(documents.sources))} outlets"
            )
            commonest = Counter({sentence: len(rows) for sentence, rows in showing.items()}).most_common(N_SHOWN)
            for (outlet, sentence), count in commonest:
                print(f"    {count:>4} {outlet}: {sentence[:80]}")


def excerpts_with(documents: DocumentTable) -> dict[tuple[str, str], set[int]]:
    """Return the rows whose excerpt has a sentence, for each outlet and sentence that enough of its articles have."""
    showing: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row, (outlet, excerpt) in enumerate(zip(documents.sources, documents.excerpts, strict=True)):
        for sentence in sentences(excerpt):
            if not sentence.endswith("…"):
                showing[outlet, line_key(sentence)].add(row)
    return {sentence: rows for sentence, rows in showing.items() if len(rows) >= MIN_ARTICLES}


if __name__ == "__main__":
    main(sys.argv[1:])
