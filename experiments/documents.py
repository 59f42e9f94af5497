"""How much of the words of PDF files the reader finds, beside pdftotext of Poppler.

``python -m experiments.documents FOLDER`` reads every PDF of a folder with both and prints, of the words that pdftotext
finds, the share that `read_corpus` finds too, and the reverse. A word counts as often as both have it. The figures in
docs/how-to/read-your-documents.md are of manuals from packages of the Debian archive.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections import Counter

import numpy as np

from doccluster import read_corpus
from doccluster.errors import NothingUsable

_WORD = re.compile(r"\w+")


def main(arguments: list[str]) -> None:
    """Print a line for each file, the medians and the least."""
    shares: list[tuple[float, float]] = []
    for path in sorted(pathlib.Path(arguments[0]).glob("*.pdf")):
        theirs = words_of(subprocess.run(["pdftotext", path, "-"], capture_output=True, check=True).stdout.decode())
        try:
            ours = words_of("\n".join(read_corpus(path).texts))
        except NothingUsable as error:
            print(f"{path.name:<40} {theirs.total():>8,} words  {error}")
            continue
        both = (ours & theirs).total()
        shares.append((both / max(theirs.total(), 1), both / max(ours.total(), 1)))
        found, also = shares[-1]
        print(f"{path.name:<40} {theirs.total():>8,} words  found {found:.3f}  found by both {also:.3f}")
    for name, (found, also) in (("median", np.median(shares, axis=0)), ("least", np.min(shares, axis=0))):
        print(f"{f'{name} of {len(shares)} files':<55} found {found:.3f}  found by both {also:.3f}")


def words_of(text: str) -> Counter[str]:
    """Return the words of a text, words that are divided at the end of a line joined."""
    return Counter(_WORD.findall(re.sub(r"(?<=\w)[-\u00ad]\n(?=\w)", "", text).casefold()))


if __name__ == "__main__":
    main(sys.argv[1:])
