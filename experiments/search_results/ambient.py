"""AMBIENT (Carpineto and Romano 2008): 44 ambiguous queries with 100 search results each and the subtopics of each."""

from __future__ import annotations

import collections
import csv
import gzip
import io
import pathlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.retrieval import SearchHit
from doccluster.retrieval.hits import as_hits


@dataclass(frozen=True)
class AmbientQuery:
    """A query with its hits, best first, and the positions of the hits of each subtopic that has any."""

    text: str
    hits: tuple[SearchHit, ...]
    descriptions: tuple[str, ...]
    relevant: tuple[frozenset[int], ...]

    @property
    def classes(self) -> npt.NDArray[np.int64]:
        """The first subtopic of each hit, -1 for none, int64 array of shape (n_hits,)."""
        found = np.full(len(self.hits), -1, dtype=np.int64)
        for number in range(len(self.relevant) - 1, -1, -1):
            found[sorted(self.relevant[number])] = number
        return found


def read_ambient(folder: pathlib.Path) -> list[AmbientQuery]:
    """Return the queries of the collection's four tab-separated files."""
    topics = dict(_rows((folder / "topics.txt").read_text(encoding="utf-8")))
    descriptions = dict(_rows((folder / "subtopics.txt").read_text(encoding="utf-8")))
    hits: dict[str, dict[int, SearchHit]] = collections.defaultdict(dict)
    for name, url, *texts in _rows(gzip.decompress((folder / "results.txt.gz").read_bytes()).decode("utf-8")):
        topic, rank = name.split(".")
        title, snippet = (*texts, "", "")[:2]
        hits[topic][int(rank)] = as_hits([{"title": title, "snippet": snippet, "url": url, "id": name}])[0]
    relevant: dict[str, dict[str, set[int]]] = collections.defaultdict(lambda: collections.defaultdict(set))
    for subtopic, result in _rows((folder / "strel.txt").read_text(encoding="utf-8")):
        topic, rank = result.split(".")
        relevant[topic][subtopic].add(sorted(hits[topic]).index(int(rank)))
    return [
        AmbientQuery(
            text=text,
            hits=tuple(hits[topic][rank] for rank in sorted(hits[topic])),
            descriptions=tuple(descriptions[name] for name in relevant[topic]),
            relevant=tuple(map(frozenset, relevant[topic].values())),
        )
        for topic, text in topics.items()
    ]


def _rows(text: str) -> list[list[str]]:
    rows = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row for row in rows[1:] if row]
