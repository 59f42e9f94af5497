"""Count how many feed files are read as their authors expect, and list the others with the reason.

    python -m experiments.feeds.run FOLDER

FOLDER holds the test files of feedparser (github.com/kurtmckee/feedparser, `tests/`).
"""

from __future__ import annotations

import pathlib
import sys
from collections import Counter
from dataclasses import dataclass

from doccluster.corpus.document import Skipped
from doccluster.corpus.feeds import read_feed
from doccluster.corpus.json_records import read_json
from doccluster.corpus.reader import Draft, ReadFailure
from doccluster.corpus.reader_options import ReadOptions
from doccluster.corpus.walking import Walk
from experiments.feeds.expectations import expression_in, judge, needs_http


@dataclass(frozen=True)
class Verdict:
    """One file: whether we agree (None: not about what we read), and why not."""

    name: str
    agrees: bool | None
    expression: str
    reason: str = ""


def main(folder: pathlib.Path) -> None:
    """Print the counts and the disagreements."""
    verdicts = judge_folder(folder)
    counts = Counter(verdict.agrees for verdict in verdicts)
    print(f"{len(verdicts):,} files that state what they expect")
    print(f"  agree                    {counts[True]:,}")
    print(f"  disagree                 {counts[False]:,}")
    print(f"  not about what we read   {counts[None]:,}")
    for verdict in verdicts:
        if verdict.agrees is False:
            print(f"\n{verdict.name}\n  expects  {verdict.expression}\n  reason   {verdict.reason}")


def judge_folder(folder: pathlib.Path) -> list[Verdict]:
    """Return a verdict for each feed file below a folder, in the order of names."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".xml", ".json"))
    return [judge_file(path, folder) for path in paths]


def judge_file(path: pathlib.Path, folder: pathlib.Path) -> Verdict:
    """Return whether our documents agree with what the file expects."""
    name = path.relative_to(folder).as_posix()
    data = path.read_bytes()
    expression = expression_in(data)
    if expression is None:
        return Verdict(name, None, "", "no expectation")
    drafts = _drafts(path)
    agrees, failed = judge(expression, drafts)
    if agrees is not False:
        return Verdict(name, agrees, expression)
    return Verdict(name, False, expression, _reason(data, drafts, failed))


def _drafts(path: pathlib.Path) -> list[Draft]:
    options = ReadOptions()
    read = read_json if path.suffix == ".json" else read_feed
    found: list[Draft] = []
    for file in Walk([path], options.expanded_size).files():
        if isinstance(file, Skipped):
            continue
        try:
            found.extend(item for item in read(file, options) if isinstance(item, Draft))
        except ReadFailure:
            continue
    return found


def _reason(data: bytes, drafts: list[Draft], failed: list[str]) -> str:
    if needs_http(data) or "127.0.0.1" in " ".join(failed):
        return "it depends on the address the feed was fetched from, or on an HTTP header; a file has neither"
    if b"content" in data and any("summary" in part for part in failed):
        return "the entry has a summary beside its content; the content is the text, the summary is left out"
    if not drafts:
        return "no entry was found"
    shown = drafts[0]
    return f"{failed[0]} - ours: title {shown.title!r}, text {shown.text[:80]!r}, link {shown.link!r}, id {shown.id!r}"


if __name__ == "__main__":
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("usage: python -m experiments.feeds.run FOLDER")
    main(pathlib.Path(sys.argv[1]))
