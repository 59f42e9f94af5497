"""An explanation in words: of all clusters, of one, of a document, or of two clusters side by side.

`pipeline/explaining.py` finds what is said, and knows no sentences; here are the sentences, and nothing of the run.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

from doccluster.base.plain_values import cut

Data = Mapping[str, Any]

N_REASONS = 5
TOGETHER = "words that hold it together (share of its similarity; documents with the word)"
APART = "words that set it apart (share of its distance to the others; documents)"
TYPICAL = "most typical documents (similarity to the cluster)"
BY_COUNTS, BY_ROWS = "how often its words occur", "more than its similarity"


@dataclass(frozen=True, repr=False)
class Explanation:
    """What is said of a cluster, a document or two clusters; ``print(explanation)`` shows it.

    Attributes
    ----------
    kind : {"clusters", "tree", "node", "cluster", "document", "document in parts", "two clusters"}
        What is explained.
    content : mapping
        As ``doccluster explain --json`` prints it.
    beside : mapping
        What `lines` say more, such as the names of documents.
    lines : tuple of str
        The same for people.
    """

    kind: str
    content: Data
    beside: Data = field(default_factory=dict)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The explanation in words."""
        return tuple(_WORDS[self.kind]({**self.content, **self.beside}))

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return cut(f"Explanation({self.lines[0]}; print() shows {len(self.lines)} lines)")

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _clusters(facts: Data) -> Iterator[str]:
    clusters = facts["clusters"]
    yield f"{len(clusters):,} clusters: number, documents, headline (label)"
    for part, beneath in zip(clusters, facts["beneath"], strict=True):
        yield f"{part['cluster']:>7}  {part['size']:>6,}  {part['name']}" + (f"  ({beneath})" if beneath else "")


def _tree(facts: Data) -> Iterator[str]:
    numbers = ", ".join(f"{n_clusters:,} {plural}" for n_clusters, plural in facts["levels"])
    yield f"{numbers}: number, documents, label"
    yield from _branches(facts["tree"], "  ")


def _branches(parts: Sequence[Data], indent: str) -> Iterator[str]:
    for part in parts:
        yield f"{indent}{part['level']} {part['cluster']}  {part['size']:,}  {part['label']}"
        yield from _branches(part.get("parts", ()), indent + "  ")


def _node(facts: Data) -> Iterator[str]:
    yield f"{facts['level']} {facts['cluster']}: {facts['label']}"
    yield f"  {facts['headline']}"
    yield f"  {facts['size']:,} of {facts['n_documents']:,} documents"
    yield from _around(facts)
    yield from _terms(TOGETHER, facts["descriptive"])
    yield from _typical(facts)


def _cluster(facts: Data) -> Iterator[str]:
    number = f"cluster {facts['cluster']}"
    yield number if facts["called"] == number else f"{number}: {facts['called']}"
    if facts["beneath"]:
        yield f"  {facts['beneath']}"
    of_documents = facts.get("of_documents")
    origin = "" if of_documents is None else f", of {of_documents:,} document{'' if of_documents == 1 else 's'}"
    remark = f" ({facts['remark']})" if facts.get("remark") else ""
    yield f"  {facts['size']:,} of {facts['n_documents']:,} {facts.get('rows', 'documents')}{origin}{remark}"
    meaning = f" of words, {facts['meaning']['similarity']:.3f} of meaning" if "meaning" in facts else ""
    yield f"  similarity {facts['similarity']:.3f}{meaning}"
    several = facts["n_clusters"] > 1
    if several and "margins" in facts:
        words, meaning = facts["margins"]
        by, than = _stronger(words, meaning)
        margins = f"mean margin {words:.3f} by words, {meaning:.3f} by meaning"
        yield f"  held together by {by} more than by {than}: {margins}"
    yield from (f"  {name} {facts['measures'][name]:.3f}" for name in facts["leading"])
    yield from _around(facts)
    yield from _terms(TOGETHER, facts["descriptive"])
    yield from _terms(APART, facts["discriminating"])
    yield from _typical(facts)
    if facts["borderline"]:
        yield "close to another cluster (margin, the other cluster)"
    elif several:
        yield f"every document is nearest to this cluster (smallest margin {facts['smallest_margin']:.3f})"
    for near in facts["borderline"]:
        other = near["runner_up"]
        yield f"  {near['margin']:+.3f}  {other} ({facts['labels'][other]})  {_named(*facts['shown'][near['row']])}"


def _document(facts: Data) -> Iterator[str]:
    itself, *nearest = facts["shown"]
    yield _named(*itself)
    for part in facts.get("path", ()):
        yield f"  {part['level']} {part['cluster']}: {part['label']}"
    home, runner_up = facts["cluster"], facts.get("runner_up", {})
    number, next_best = home["cluster"], runner_up.get("cluster")
    if facts["other"]:
        without = f"without it, {number} is less similar ({facts['without']:.3f}) than {next_best}"
        yield f"  fits no cluster (Other): {without}"
    yield from _reasons("nearest cluster" if facts["other"] else "cluster", home)
    if runner_up:
        yield from _reasons("next cluster", runner_up)
    margin = facts["margin"]
    if meaning := facts.get("meaning"):
        yield f"  by meaning: similarity {meaning['similarity']:.3f}, nearest documents"
        for near, names in zip(meaning["nearest"], nearest, strict=True):
            yield f"    {near['similarity']:.3f}  {_named(*names)}"
        if not math.isnan(margin):  # there are several clusters
            by, than = _stronger(margin, meaning["margin"])
            margins = f"margin {margin:+.3f} by words, {meaning['margin']:+.3f} by meaning"
            yield f"  {by} decides more than {than}: {margins}"
    if facts["by_counts"] is not None and margin < 0:
        yield f"  it is in {number} by {BY_COUNTS if facts['by_counts'] else BY_ROWS}; {next_best} is more similar"


def _document_in_parts(facts: Data) -> Iterator[str]:
    yield facts["id"]
    n_parts = len(facts["parts"])
    yield f"  {facts['words']:,} words in {n_parts:,} part{'' if n_parts == 1 else 's'}"
    for share in facts["shares"]:
        place = "" if share["cluster"] is None else f"  cluster {share['cluster']}"
        yield f"  {share['share']:6.1%}{place}  {share['label'] or 'no known word'}"
    yield "its parts in order (part: cluster)"
    numbers = [
        f"{place}: {'-' if part['cluster'] is None else part['cluster']}"
        for place, part in enumerate(facts["parts"], 1)
    ]
    yield from textwrap.wrap(", ".join(numbers), 76, initial_indent="  ", subsequent_indent="  ")


def _two_clusters(facts: Data) -> Iterator[str]:
    first, second = (f"{each['cluster']} ({each['label']})" for each in facts["clusters"])
    sizes = "{:,} and {:,} documents".format(*facts["sizes"])
    yield f"clusters {first} and {second}"
    yield f"  {sizes}; cosine {facts['similarity']:.3f}"
    for heading, terms in (
        ("they share (share of the cosine)", facts["shared"]),
        (f"more in {first} (share of the squared distance)", facts["first_only"]),
        (f"more in {second} (share of the squared distance)", facts["second_only"]),
    ):
        yield heading if terms else f"{heading}: no term"
        yield from (f"  {term['share']:6.1%}  {term['term']}" for term in terms)
    between = facts["between"]
    floor = math.floor(10 * between[0]["margin"]) / 10
    yield f"nearest to the border (margin, cluster){f'; none is below {floor}' if floor > 0 else ''}"
    for near in between:
        yield f"  {near['margin']:+.3f}  {near['cluster']}  {facts['shown'][near['row']][1]}"


def _around(facts: Data) -> Iterator[str]:
    yield from (f"  in {whole['level']} {whole['cluster']} ({whole['label']})" for whole in facts["path"])
    yield from _branches(facts["parts"], "  ")


def _typical(facts: Data) -> Iterator[str]:
    yield TYPICAL
    for near in facts["representatives"]:
        n_copies = 0 if "level" in facts else near["n_copies"]  # shown for the clusters of the run alone
        copies = f"   and {n_copies:,} {'near-copy' if n_copies == 1 else 'near-copies'}" if n_copies else ""
        yield f"  {near['similarity']:.3f}  {_named(*facts['shown'][near['row']])}{copies}"


def _terms(heading: str, terms: Sequence[Data]) -> Iterator[str]:
    if terms:
        yield heading
        yield from (f"  {term['share']:6.1%}  {term['support']:>6,}  {term['term']}" for term in terms)


def _reasons(role: str, cluster: Data) -> Iterator[str]:
    yield f"  {role} {cluster['cluster']} ({cluster['label']}): similarity {cluster['similarity']:.3f}, made up of"
    yield from (f"    {reason['contribution']:.3f}  {reason['term']}" for reason in cluster["terms"][:N_REASONS])


def _stronger(words: float, meaning: float) -> tuple[str, str]:
    return ("meaning", "words") if meaning > words else ("words", "meaning")


def _named(name: str, title: str) -> str:
    return name if title == name else f"{name}  {title}"


_WORDS = {
    "clusters": _clusters,
    "tree": _tree,
    "node": _node,
    "cluster": _cluster,
    "document": _document,
    "document in parts": _document_in_parts,
    "two clusters": _two_clusters,
}
