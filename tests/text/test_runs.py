"""The compiled counter beside `re`, where its pieces, its eight bytes and its tables end."""

import collections
import re

import numpy as np
import pytest

from doccluster.text.analysis import analysis_of
from doccluster.text.counting import RunCounter
from doccluster.vectors import TfidfVectorizer

PIECE = 1 << 14  # bytes
LONG = "x" * (3 * PIECE + 5)
AWKWARD = {
    "a word over the edge of a piece": ["a " * (PIECE // 2 - 3) + "edge of it", "and on"],
    "a word longer than pieces": ["ab", f"some {LONG} words {LONG}y {LONG}", LONG],
    "as many words as there can be": ["a b " * PIECE],
    "a document that ends with a piece": ["x" * (PIECE - 1), "y" * (PIECE - 1), "z z"],
    "documents without words": ["", "!", "", "one", "", "..."],
    "words around eight and sixteen bytes": [" ".join("abcdefghijklmnopqrstuvwxyz"[:size] for size in range(1, 26))]
    * 2,
    "characters of two, three and four bytes": ["é ñé 東 東京 𝒳 𝒳𝒴 aé éa a𝒳", "ÉÑ « 東京 » ña—éa …", "İstanbul ΑΣ ΑΣΑ"],
    "halves of surrogate pairs": ["\ud800 a\ud800b \udfff\udfff cd"],
}


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("shortest", [1, 2, 5])
@pytest.mark.parametrize("lowercase", [True, False])
def test_the_tokens_are_those_of_the_regular_expression(case, shortest, lowercase):
    documents = AWKWARD[case]
    analysis = analysis_of(TfidfVectorizer(token_pattern=rf"\w{{{shortest},}}", lowercase=lowercase))
    counter = RunCounter(analysis, capacity=1)
    for _ in range(2):  # the second text meets the tokens of the first
        block = counter.count(documents)
    forms, place = counter.sorted_forms()
    ends = np.cumsum(block.lengths)
    for document, start, end in zip(documents, ends - block.lengths, ends, strict=True):
        columns = place[block.columns[start:end]]
        found = dict(zip([forms[column] for column in columns], block.counts[start:end].tolist(), strict=True))
        text = document.lower() if lowercase else document
        assert found == collections.Counter(re.findall(rf"\w{{{shortest},}}", text))
    assert forms == sorted(forms)
