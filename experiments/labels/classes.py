"""Labels of the true classes of 20 Newsgroups: do they say what the groups are called?

``python -m experiments.labels.classes [ARCHIVE]`` (by default ../shared/corpora/newsgroups20/20news-18828.tar.xz)
labels the 20 groups, with whole messages and without headers, signatures and quotations, by words as they are and by
stems. For several ways to rank terms, of which the last is that of a run, it prints

- Match@1, 3, 5 and 20: the share of groups whose name is among the first terms, and MRR@5, the mean reciprocal rank of
  the name among the first five (Carmel, Roitman & Zwerdling 2009, doi:10.1145/1571941.1571967); `NAMES` count;
- P@10 and MRR of a search for the label, three terms, where the messages of the group are relevant.
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import doccluster
from doccluster.geometry import ClusterEvidence
from doccluster.labeling import ClusterProfiles, LabelTerm, short_labels
from doccluster.labeling.label_phrases import LabelQueries
from doccluster.labeling.label_terms import is_content, rank_label_terms
from doccluster.labeling.profiles import largest_per_row
from doccluster.pipeline.naming import in_written_forms, phrases_of, title_counts, unwanted_words
from doccluster.pipeline.vectorizing import vectorize_texts
from doccluster.text.analysis import build_stemmer

NAMES = {
    "alt.atheism": ("atheism", "atheist"),
    "comp.graphics": ("graphics", "computer graphics"),
    "comp.os.ms-windows.misc": ("windows", "MS Windows", "Microsoft Windows"),
    "comp.sys.ibm.pc.hardware": ("IBM", "PC", "IBM PC", "hardware", "PC hardware"),
    "comp.sys.mac.hardware": ("Mac", "Macintosh", "Apple Mac", "hardware", "Mac hardware"),
    "comp.windows.x": ("X", "X11", "windows", "X Windows", "X Window System"),
    "misc.forsale": ("for sale", "sale", "forsale"),
    "rec.autos": ("auto", "car", "automobile"),
    "rec.motorcycles": ("motorcycle", "motorbike", "bike"),
    "rec.sport.baseball": ("baseball",),
    "rec.sport.hockey": ("hockey", "ice hockey"),
    "sci.crypt": ("crypt", "crypto", "cryptography", "cryptology", "encryption"),
    "sci.electronics": ("electronics", "electronic"),
    "sci.med": ("med", "medicine", "medical"),
    "sci.space": ("space", "outer space"),
    "soc.religion.christian": ("Christian", "Christianity", "religion", "Christian religion"),
    "talk.politics.guns": ("gun", "firearm", "gun politics"),
    "talk.politics.mideast": ("Mideast", "Middle East", "Middle Eastern", "Near East"),
    "talk.politics.misc": ("politics", "political"),
    "talk.religion.misc": ("religion", "religious"),
}
MESSAGES = {"whole": (), "stripped": ("headers", "footers", "quotes")}
TERMS = {"words": "none", "stems": "english"}
MATCH_AT = (1, 3, 5, 20)
RANKS_COUNTED = 5  # of the mean reciprocal rank
PRECISION_AT = 10
N_TERMS = 20

Ranked = Sequence[Sequence[LabelTerm]]


def main(arguments: list[str]) -> None:
    """Print the table."""
    shared = pathlib.Path(__file__).resolve().parents[3] / "shared"
    archive = arguments[0] if arguments else shared / "corpora" / "newsgroups20" / "20news-18828.tar.xz"
    lines = []
    for messages, strip in MESSAGES.items():
        corpus = doccluster.read_corpus(archive, format="newsgroups", strip=strip)
        for terms, stemming in TERMS.items():
            lines += [{"messages": messages, "terms": terms, **line} for line in compared(corpus, stemming)]
    print(pd.DataFrame(lines).round(3).to_string(index=False))


def compared(corpus: doccluster.Corpus, stemming: str) -> list[dict[str, Any]]:
    """Return a line for each way to rank the terms of the true classes."""
    made = vectorize_texts(corpus, language="english", options={"stemming": stemming}, n_threads=1)
    kept = np.flatnonzero(~made.vectors.is_empty)
    texts = [corpus.texts[row] for row in kept]
    titles = [corpus.column("title")[row] for row in kept]
    partition = doccluster.Partition.from_labels([corpus.labels["class"][row][0] for row in kept])
    vectors = in_written_forms(made, made.vectors.take(kept), texts[::10])
    evidence = ClusterEvidence(vectors.documents, partition, n_threads=1)
    profiles, names = ClusterProfiles.from_evidence(evidence), vectors.display_terms
    unwanted = made.function_words | unwanted_words(made, texts, None)
    phrases = phrases_of(made, vectors, partition, texts, titles, unwanted)
    how: dict[str, Any] = {"rows": evidence.rows.matrix, "partition": partition, "function_words": unwanted}
    ways = {
        **plain_rankings(profiles, names, unwanted),
        "words, as queries": rank_label_terms(profiles, names, **how),
        "and phrases": rank_label_terms(profiles, names, phrases=phrases, **how),
        "and titles": rank_label_terms(
            profiles, names, phrases=phrases, in_titles=title_counts(made, partition, titles), **how
        ),
    }
    return [{"ranked by": way, **judged(ranked, made, evidence)} for way, ranked in ways.items()]


def plain_rankings(profiles: ClusterProfiles, names: Any, unwanted: frozenset[str]) -> dict[str, Ranked]:
    """Return words by mutual information, times coverage, and times what no sibling covers."""
    information, support = profiles.mutual_information(), profiles.support
    shares = support.data / np.repeat(profiles.sizes, np.diff(support.indptr))
    coverage = sparse.csr_array((shares, support.indices, support.indptr), shape=support.shape)
    alone = []
    for cluster in range(profiles.n_clusters):
        siblings = sparse.vstack([coverage[:cluster], coverage[cluster + 1 :]]).max(axis=0).toarray().ravel()
        own = slice(coverage.indptr[cluster], coverage.indptr[cluster + 1])
        alone.append(np.maximum(shares[own] - siblings[coverage.indices[own]], 0.0))
    factors = {"": np.ones_like(shares), "times coverage": shares, "times coverage beyond siblings": np.hstack(alone)}
    rankings = {}
    for way, values in factors.items():
        scores = information.copy()
        scores.data = information.data * values
        rankings[way or "mutual information"] = [
            [LabelTerm(str(names[column]), float(value), 0.0) for column, value in zip(*terms, strict=True)]
            for terms in largest_per_row(scores, 3 * N_TERMS)
        ]
    return {
        way: [[term for term in terms if is_content(term.term, unwanted)][:N_TERMS] for terms in ranked]
        for way, ranked in rankings.items()
    }


def judged(ranked: Ranked, made: Any, evidence: ClusterEvidence) -> dict[str, float]:
    """Return the measures of one way."""
    stem, names = build_stemmer("english"), evidence.partition.names
    accepted = [{key(name, stem) for name in NAMES[str(group)]} for group in names]
    ranks = [
        next((place for place, term in enumerate(terms, 1) if key(term.term, stem) in own), np.inf)
        for terms, own in zip(ranked, accepted, strict=True)
    ]
    columns = [sorted(made.vectorizer.transform([label]).indices.tolist()) for label in short_labels(ranked)]
    queries = LabelQueries(evidence.rows.matrix, evidence.labels, {column for label in columns for column in label})
    precision, first = [], []
    for cluster, label in enumerate(columns):
        is_own = queries.labels[queries.rank(label, queries.labels.size)] == cluster
        precision.append(is_own[:PRECISION_AT].sum() / PRECISION_AT)
        first.append(1 / (1 + int(np.argmax(is_own))) if is_own.any() else 0.0)
    return {
        **{f"Match@{at}": float(np.mean(np.less_equal(ranks, at))) for at in MATCH_AT},
        f"MRR@{RANKS_COUNTED}": float(np.mean([1 / rank if rank <= RANKS_COUNTED else 0.0 for rank in ranks])),
        f"P@{PRECISION_AT}": float(np.mean(precision)),
        "MRR": float(np.mean(first)),
    }


def key(name: str, stem: Any) -> tuple[str, ...]:
    """Return the stems of the words of a name, so that forms of it count as one."""
    return tuple(stem(word) for word in re.findall(r"\w+", name.casefold()))


if __name__ == "__main__":
    main(sys.argv[1:])
