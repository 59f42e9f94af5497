"""CLUTO's matrices to one folder: `python -m corpora.cluto.prepare COPY -o FOLDER`.

The .mat files are kept as they are, their counts are also written as `.npz` (scipy's sparse format, quick to read),
each beside its classes, so that `doccluster cluster FOLDER/tr11.npz` finds all it needs.
"""

from __future__ import annotations

import hashlib
import pathlib
import sys
from typing import Any

from scipy import sparse

from corpora.prepare_corpus import RecipeError, check_counts, files_of, main, refuse_or_list
from doccluster.vectors.matrix_files import load_matrix_file

HERE = pathlib.Path(__file__).resolve().parent


def prepare(copy: pathlib.Path, output: pathlib.Path, recipe: dict[str, Any], *, accept_changes: bool) -> list[str]:
    """Write every known set that is in the copy; raise RecipeError when there is none."""
    wanted = {f"{name}{ending}" for name in recipe["sets"] for ending in (".mat", ".rclass", ".mat.rclass")}
    files: dict[str, bytes] = {}
    for name, content in files_of(copy):
        if name in wanted:  # the first of equal names: a second copy in another layout is left out
            files.setdefault(name.replace(".mat.rclass", ".rclass"), content)
    lines: list[str] = []
    for name, expected in recipe["sets"].items():
        if f"{name}.mat" in files and f"{name}.rclass" in files:
            lines += _prepare_set(name, files, expected, output, accept_changes=accept_changes)
    if not lines:
        raise RecipeError(f"{copy} holds none of {', '.join(recipe['sets'])} (.mat and .rclass).")
    return lines


def _prepare_set(
    name: str, files: dict[str, bytes], expected: dict[str, Any], output: pathlib.Path, *, accept_changes: bool
) -> list[str]:
    output.mkdir(parents=True, exist_ok=True)
    lines = []
    for ending in ("mat", "rclass"):
        content = files[f"{name}.{ending}"]
        (output / f"{name}.{ending}").write_bytes(content)
        if hashlib.sha256(content).hexdigest() != expected[f"sha256_{ending}"]:
            lines.append(f"changed: {name}.{ending} is written differently from the copy that was seen")
    counts = sparse.csr_array(load_matrix_file(output / f"{name}.mat").matrix)
    classes = files[f"{name}.rclass"].decode("utf-8").split()
    if len(classes) != counts.shape[0]:
        raise RecipeError(f"{name}.rclass has {len(classes)} classes for {counts.shape[0]} documents.")
    n_documents, n_terms = counts.shape
    found = {"documents": n_documents, "terms": n_terms, "nonzeros": counts.nnz, "classes": len(set(classes))}
    lines += refuse_or_list(check_counts(found, {key: expected[key] for key in found}), accept_changes=accept_changes)
    sparse.save_npz(output / f"{name}.npz", counts)
    return [*lines, f"{output / name}.npz: {n_documents:,} documents, {n_terms:,} terms"]


if __name__ == "__main__":
    sys.exit(main(HERE, prepare))
