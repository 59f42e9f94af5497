"""What the recipes of the well-known corpora share: where a copy comes from, whether it is right, what is written.

A recipe is a folder with `corpus.toml` (source, licence, citation, expected counts, checksums) and `prepare.py`. The
copy is one that the user has, or is fetched because the user gave the address; nothing is fetched otherwise.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import hashlib
import json
import lzma
import pathlib
import sys
import tarfile
import tomllib
import urllib.parse
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

from doccluster.corpus import Corpus

LARGEST_DOWNLOAD = 500 * 1024**2  # bytes; the largest of these corpora is a tenth of it
CHUNK = 1 << 20


class RecipeError(Exception):
    """The copy is not the corpus that the recipe describes; the message says what differs."""


def load_recipe(folder: pathlib.Path) -> dict[str, Any]:
    """Return `corpus.toml` of a recipe."""
    return tomllib.loads((folder / "corpus.toml").read_text(encoding="utf-8"))


def main(folder: pathlib.Path, prepare: Callable[..., list[str]], arguments: Sequence[str] | None = None) -> int:
    """Run a recipe from the command line: 0 when what was written is the corpus, 2 with one sentence otherwise."""
    recipe = load_recipe(folder)
    parser = argparse.ArgumentParser(
        prog=f"python -m corpora.{folder.name}.prepare",
        description=f"{recipe['name']}: check a copy and make it canonical.",
    )
    parser.add_argument("copy", nargs="?", type=pathlib.Path, help="a folder or archive that you already have")
    parser.add_argument(
        "--fetch", metavar="URL", help="fetch the copy from this address first (into the output folder)"
    )
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="the folder to write")
    parser.add_argument("--accept-changes", action="store_true", help="go on when checksums or counts differ")
    given = parser.parse_args(arguments)
    if (given.copy is None) == (given.fetch is None):
        parser.error("give either a copy that you have or --fetch URL")
    try:
        copy = given.copy if given.fetch is None else fetch(given.fetch, given.output)
        if not copy.exists():
            raise RecipeError(f"{copy} does not exist; see {recipe['source']} for where the corpus can be had.")
        for line in prepare(copy, given.output, recipe, accept_changes=given.accept_changes):
            print(line)
    except (RecipeError, OSError, ValueError) as error:
        print(f"{folder.name}: {error}", file=sys.stderr)
        return 2
    return 0


def fetch(url: str, folder: pathlib.Path) -> pathlib.Path:
    """Return the file fetched from an http(s) address into `folder`, of at most `LARGEST_DOWNLOAD` bytes.

    Raises
    ------
    RecipeError
        If the address is of another kind, or gives too much; nothing is left in the folder then.
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise RecipeError(f"{url!r} is not an http or https address.")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (pathlib.PurePosixPath(urllib.parse.unquote(parts.path)).name or "download")
    partial = target.with_name(target.name + ".part")
    try:
        with urllib.request.urlopen(url, timeout=60) as answer, partial.open("wb") as file:
            size = 0
            while chunk := answer.read(CHUNK):
                size += len(chunk)
                if size > LARGEST_DOWNLOAD:
                    raise RecipeError(f"{url} gives more than {LARGEST_DOWNLOAD:,} bytes; that is not this corpus.")
                file.write(chunk)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def files_of(copy: pathlib.Path) -> Iterator[tuple[str, bytes]]:
    """Return name and content of every file of a folder, tar or zip; a compressed file under its name without .gz."""
    if copy.is_dir():
        for path in sorted(path for path in copy.rglob("*") if path.is_file()):
            yield _expanded(path.name, path.read_bytes())
    elif zipfile.is_zipfile(copy):
        with zipfile.ZipFile(copy) as archive:
            for name in sorted(archive.namelist()):
                if not name.endswith("/"):
                    yield _expanded(pathlib.PurePosixPath(name).name, archive.read(name))
    elif tarfile.is_tarfile(copy):
        with tarfile.open(copy) as archive:
            for member in archive:
                content: BinaryIO | None = archive.extractfile(member) if member.isfile() else None
                if content is not None:
                    yield _expanded(pathlib.PurePosixPath(member.name).name, content.read())
    else:
        yield _expanded(copy.name, copy.read_bytes())


def _expanded(name: str, content: bytes) -> tuple[str, bytes]:
    openers = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
    for ending, expand in openers.items():
        if name.endswith(ending):
            return name.removesuffix(ending), expand(content)
    return name, content


def check_files(copy: pathlib.Path, expected: dict[str, str]) -> list[str]:
    """Return one sentence for each file that is missing or is not, byte for byte, the one with the stated sha256."""
    found = {name: hashlib.sha256(content).hexdigest() for name, content in files_of(copy) if name in expected}
    missing = [f"{name} is missing" for name in expected if name not in found]
    changed = [
        f"{name} differs from the file with sha256 {expected[name]}" for name in found if found[name] != expected[name]
    ]
    return missing + changed


def check_counts(found: dict[str, int], expected: dict[str, int]) -> list[str]:
    """Return one sentence for each count that is not as expected."""
    return [
        f"{name.replace('_', ' ')}: {found.get(name, 0):,}, expected {number:,}"
        for name, number in expected.items()
        if found.get(name) != number
    ]


def refuse_or_list(problems: list[str], *, accept_changes: bool) -> list[str]:
    """Return the problems as lines to print; raise RecipeError for them unless changes are accepted."""
    if problems and not accept_changes:
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        raise RecipeError(f"{'; '.join(problems[:3])}{more}; --accept-changes goes on all the same.")
    return [f"changed: {problem}" for problem in problems]


def count_corpus(corpus: Corpus) -> dict[str, int]:
    """Return the counts that a recipe may expect; `documents` includes those that were listed as empty."""
    empty = sum(one.reason == "empty" for one in corpus.skipped)
    counts = {"documents": len(corpus) + empty, "empty": empty}
    for column, values in corpus.labels.items():
        counts[f"{column}_names"] = len({label for labels in values for label in labels})
        counts[f"one_{column}"] = sum(len(labels) == 1 for labels in values)
        counts[f"several_{column}"] = sum(len(labels) > 1 for labels in values)
    if "split" in corpus.metadata:
        counts |= {f"split_{name}": number for name, number in Counter(corpus.metadata["split"]).items()}
    return counts


def write_json_lines(corpus: Corpus, path: pathlib.Path) -> None:
    """Write a corpus in canonical form: one record for each document, labels as lists, no empty fields."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = corpus.metadata.to_dict("records")
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number, (name, text, row) in enumerate(zip(corpus.ids, corpus.texts, rows, strict=True)):
            labels = {column: list(values[number]) for column, values in corpus.labels.items() if values[number]}
            kept = {key: value for key, value in row.items() if value and key != "source"}
            file.write(json.dumps({"id": name, **kept, **labels, "text": text}, ensure_ascii=False) + "\n")
