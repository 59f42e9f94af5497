"""The general counter: numbers the tokens that any analyzer finds, in Python, and counts them per document."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.errors import InputError
from doccluster.kernels.tokens import count_distinct


@dataclass
class CountedBlock:
    """The counts of consecutive documents, row after row.

    Attributes
    ----------
    lengths : int32 array of shape (n_documents,)
        How many entries each document has.
    columns, counts : int32 arrays of shape (sum of lengths,)
        The token (a number of `counter`, later a column of the matrix) and how often it occurs.
    counter : int
        Which counter numbered the tokens.
    """

    lengths: npt.NDArray[np.int32]
    columns: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    counter: int = 0


class AnalyzerCounter:
    """The general counter: any function from a document to a list of written forms."""

    def __init__(self, analyze: Callable[[str], Sequence[str]]) -> None:
        self._analyze = analyze
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__

    def count(self, documents: Sequence[str]) -> CountedBlock:
        """Return the counts of `documents`; new written forms get the next numbers."""
        occurrences, ends = array("i"), array("q")
        number_of = self._numbers.__getitem__
        for document in documents:
            occurrences.extend(map(number_of, self._analyze(document)))
            ends.append(len(occurrences))
        seen = np.full(len(self._numbers), -1, dtype=np.int32)
        columns = np.frombuffer(occurrences, dtype=np.int32).copy() if occurrences else np.empty(0, dtype=np.int32)
        counts = np.empty_like(columns)
        lengths = np.empty(len(documents), dtype=np.int32)
        kept = count_distinct(columns, np.frombuffer(ends, dtype=np.int64), seen, counts, lengths)
        return CountedBlock(lengths, columns[:kept], counts[:kept])

    def sorted_forms(self) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return the written forms in the order of their characters, and the place of each number in that order.

        Raises InputError if the caller's analyzer returned something that is not a string.
        """
        strange = next((form for form in self._numbers if not isinstance(form, str)), None)
        if strange is not None:
            raise InputError(
                f"the analyzer returned {strange!r}", remedy="it must return a list of strings for each document"
            )
        forms = sorted(self._numbers)
        rank = np.empty(len(forms), dtype=np.int32)
        rank[np.fromiter(map(self._numbers.__getitem__, forms), dtype=np.intp, count=len(forms))] = np.arange(
            len(forms)
        )
        return forms, rank
