"""Between reading and vectorizing: lines that outlets repeat are left out of the texts, and listed."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from dataclasses import replace

from doccluster.corpus import Corpus
from doccluster.corpus.stored_texts import StoredTexts
from doccluster.overview import outlets_of
from doccluster.record import Documents
from doccluster.text.boilerplate import Repeated, find_repeated, without_repeated

N_SHOWN = 2
LONGEST_SHOWN = 50  # characters
N_KEPT = 200  # in run.json


def leave_out_boilerplate(corpus: Corpus) -> tuple[Corpus, tuple[Repeated, ...]]:
    """Return a corpus without what its outlets repeat, and what that was, the commonest first.

    Documents without an outlet are looked at together. Texts that lie on disk, in blocks, stay as they are.
    """
    if isinstance(corpus.texts, StoredTexts):
        return corpus, ()
    rows_of: defaultdict[str, list[int]] = defaultdict(list)
    known = replace(Documents.from_ids(corpus.ids, {}), sources=corpus.column("source"))
    for row, outlet in enumerate(outlets_of(known)):
        rows_of[outlet].append(row)
    texts, titles = list(corpus.texts), corpus.column("title")
    found: list[Repeated] = []
    for outlet, rows in rows_of.items():
        repeated = find_repeated([texts[row] for row in rows], outlet=outlet)
        found.extend(repeated.values())
        for row in rows if repeated else ():
            texts[row] = without_repeated(texts[row], repeated, title=str(titles[row]))
    if not found:
        return corpus, ()
    return corpus.with_texts(tuple(texts)), tuple(sorted(found, key=lambda one: -one.n_documents))


def boilerplate_note(found: tuple[Repeated, ...]) -> str | None:
    """Return the note of a run; None where nothing was left out.

    >>> note = boilerplate_note((Repeated("Gazette", "Sign up now!", 12), Repeated("Post", "Photo", 7)))
    >>> note.partition("; ")[0]
    'Left out as boilerplate: 2 lines that outlets repeat ("Sign up now!" in 12 documents, "Photo" in 7)'
    """
    if not found:
        return None
    times: Counter[str] = Counter()
    for one in found:
        times[textwrap.shorten(one.text, LONGEST_SHOWN, placeholder=" …")] += one.n_documents
    (first, count), *others = times.most_common(N_SHOWN)
    shown = [f'"{first}" in {count:,} documents', *(f'"{text}" in {n:,}' for text, n in others)]
    lines = "1 line" if len(found) == 1 else f"{len(found):,} lines"
    who = "outlets repeat" if any(one.outlet for one in found) else "many documents share"
    return f"Left out as boilerplate: {lines} that {who} ({', '.join(shown)}); --keep-boilerplate keeps them."
