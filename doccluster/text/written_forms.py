"""How terms are written in the texts: with capitals and accents, in the commonest form."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

# A word that begins a text, a line, a sentence or a quotation may have a capital for that reason alone; the other words
# are in the group.
_WORDS = re.compile(r"(?:\A|[.!?:;…\n\"“”„«»‘(\[]\s*)\w+|(\w+)")
_ANY_WORD = re.compile(r"\w+")


def written_forms(
    terms: Sequence[str], texts: Iterable[str], *, prepare: Callable[[str], str] = str.lower
) -> list[str]:
    """Return each term as it is most often written in `texts`, or as it is where no text has it.

    Notes
    -----
    Of equally common forms the one with the fewest capitals is taken, then the first in alphabetical order.

    Examples
    --------
    >>> written_forms(["nasa", "moon", "são paulo"], ["The moon mission of NASA left São Paulo. Moon rock!"])
    ['NASA', 'moon', 'São Paulo']
    """
    inside: Counter[str] = Counter()
    anywhere: Counter[str] = Counter()
    for text in texts:
        anywhere.update(_ANY_WORD.findall(text))
        inside.update(_WORDS.findall("\n".join(line for line in text.split("\n") if not line.isupper())))
    wanted = {word for term in terms for word in term.split(" ")}
    best = _commonest(anywhere, wanted, prepare) | _commonest(inside, wanted, prepare)
    return [" ".join(best.get(word, word) for word in term.split(" ")) for term in terms]


def _commonest(counts: Counter[str], wanted: set[str], prepare: Callable[[str], str]) -> dict[str, str]:
    forms: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for form, times in counts.items():
        word = prepare(form)
        if word in wanted:
            forms[word].append((-times, sum(map(str.isupper, form)), form))
    return {word: min(found)[2] for word, found in forms.items()}
