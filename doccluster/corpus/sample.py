"""The newsroom sample that comes with the package, for a first look and for examples."""

from __future__ import annotations

from pathlib import Path

from doccluster.corpus.document import Corpus
from doccluster.corpus.reading import read_corpus
from doccluster.errors import InputError

_PACKAGE = Path(__file__).parents[1]


def load_sample() -> Corpus:
    """Return 176 short news articles of four outlets over five weeks, written for this project.

    Returns
    -------
    Corpus
        With titles, dates, outlets and two label columns: ``topic`` (8 classes) and ``story`` (32).

    Raises
    ------
    InputError
        If the file is missing from the installed package.

    Examples
    --------
    >>> from doccluster import load_sample
    >>> corpus = load_sample()
    >>> len(corpus), corpus[0].metadata["title"]
    (176, 'Crane operators walk out at Port Ellery container terminal')
    """
    return read_corpus(sample_path(), label_columns=["topic", "story"])


def sample_path() -> Path:
    """Return the file of the sample: in the wheel beside the package, in a checkout among the corpora."""
    places = (_PACKAGE / "samples/articles.jsonl", _PACKAGE.parent / "corpora/samples/newsroom/articles.jsonl")
    for path in places:
        if path.is_file():
            return path
    raise InputError("the sample that comes with doccluster is missing; install doccluster again.")
