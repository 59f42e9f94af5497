"""Where sentences end: not after "U.S.", initials and titles such as "Mr."."""

from __future__ import annotations

import re

# what stands before the point of a shortened word, by its length, since a look back has one length
_INITIAL = r"(?<!\b\w\.)"
_TITLES = r"(?<!\b(?:Mr|Ms|Dr|St|Lt|vs)\.)(?<!\b(?:Mrs|Sen|Rep|Gov|Gen|Col|Sgt)\.)(?<!\bProf\.)"
_END = re.compile(rf"(?:(?<=[!?…])|(?<=\.){_INITIAL}{_TITLES}(?=\s+[^\sa-z]))\s+|(?<=[。！？])")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; what follows a shortened word goes on with its sentence.

    >>> sentences("The U.S. envoy met Mr. J. Hill. It rained! So what?")
    ['The U.S. envoy met Mr. J. Hill.', 'It rained!', 'So what?']
    """
    return [sentence for sentence in _END.split(text) if sentence]
