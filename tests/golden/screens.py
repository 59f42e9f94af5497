"""Every screen of the command line, kept whole in `tests/golden/cli`; `make screens` writes them again.

Each verb is called on the bundled samples, plain and with --json, first into a pipe (120 columns), then on a terminal
of 80 columns. One file holds the calls of one verb. What differs from machine to machine is `#` there (`SHOWN_AS`).
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from contextlib import chdir, contextmanager
from pathlib import Path
from unittest import mock

from doccluster.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "corpora" / "samples"
KEPT = ROOT / "tests" / "golden" / "cli"
NARROW = {"COLUMNS": "80", "LINES": "25", "TERM": "dumb"}

# The calls in their order: later ones use what earlier ones have written. `| words` are typed.
CALLS = """
algorithms
algorithms --json
measures --family topic
measures --family topic --json
explain nmi
explain nmi --json
explain silhouette
cite nmi spherical-k-means
inspect tiny
inspect tiny --json
inspect articles.jsonl
inspect articles.jsonl --json
run tiny -o run -k 3 --truth class
run tiny -o run-of-one -k 1
run articles.jsonl -o stories -k 8 --truth story --algorithm spherical-k-means:n_init=2 --seed 7
run articles.jsonl -o coarse -k 5 --algorithm smoothed:n_init=1 --no-report --measures silhouette,ics --json
run nowhere -o half -k 3
run tiny -o run -k 3
vectorize tiny -o tiny.npz
vectorize tiny -o tiny.mtx --json
cluster tiny.npz -o clusters -k 3 --no-report
cluster tiny.npz -o clusters-json -k 3 --no-report --measures silhouette,ics --json
cluster tiny.npz -o cluster-of-one -k 1 --no-report
assign run tiny
assign run tiny --json
evaluate run/assignments.csv --truth tiny.csv
evaluate run/assignments.csv --truth tiny.csv --measures purity,nmi,bcubed --json
evaluate run/assignments.csv --truth tiny.csv --csv
evaluate run/assignments.csv --truth tiny.csv --latex
evaluate run/assignments.csv --vectors run --column cluster
evaluate run-of-one/assignments.csv --vectors run --column cluster --measures silhouette,ics --json
explain stories 0
explain stories 0 --json
explain stories 0 1
explain stories 0 1 --json
choose-k tiny --k 2-4
choose-k tiny --k 2-4 --json
choose-k tiny --k 2-4 --criterion silhouette --criterion knee
tendency articles.jsonl --sample 60
tendency articles.jsonl --sample 60 --json
reproduce iir
reproduce iir --json
reproduce retrieval
prevalence stories --by source
prevalence stories --by topic --words 0
prevalence stories --by month --json
compare tiny -o compared --seeds 1 --truth class --measures nmi,ari --algorithm spherical-k-means
compare tiny -o compared-json --seeds 1 --truth class --measures nmi --algorithm spherical-k-means --json
validate stories -o sheets --clusters 3
validate stories -o sheets-json --tests words,names --coders 1 --json
validate stories --score sheets
benchmark synthetic -o made --set vmf-1 --kappa 100 -d 10 -k 3 -n 60 --algorithm k-means:n_init=1 --seeds 2 --json
search harbour tiny
search harbour tiny --json
search "rye bread" run
browse tiny --cards 3 | list 1; gather 1 2; search rye; back; show; help; fly; quit
report run
report run --json
report run --map-file map.svg --json
rerun run/run.json
rerun run/run.json --json
diff stories coarse
diff run run-of-one --json
diff stories stories
label stories --with "python3 namer.py" --model tiny
label stories --with "python3 namer.py" --model tiny --json
undo stories
label run 0 Boats
label run 1 Bread --json
merge run 0 1
merge run 0 1 --json
rerun run --keep-corrections
rerun run --keep-corrections --json
undo run
undo run --json
stream replay articles.jsonl --store news.db --batch 1d
stream replay feeds --store feeds.db --batch 1d --json
stream report --store news.db -o front.html
stream report --store news.db -o front.html --json
stream export --store news.db -o tables
stream export --store news.db -o tables-json --at 2026-03-03T08:00:00Z --json
stream backup --store news.db -o copy.db
stream backup --store news.db -o copy-json.db --json
stream check --store news.db
stream check --store news.db --json
stream upgrade --store news.db
stream upgrade --store news.db --json
diff news.db@2026-04-04T08:00:00Z news.db
stream prune --store news.db --older-than 7d
stream prune --store news.db --older-than 7d --json
stream list --store news.db
stream feed viaduct --store news.db -o stories.atom
stream find viaduct lorries --store news.db
stream show q2jpg45t --store news.db
stream merge q2jpg45t jv4qmt3l --store news.db
stream split q2jpg45t --documents cul-012 cul-013 --store news.db
stream move cul-014 --to pfe6kjq6 --store news.db
stream rename q2jpg45t "The viaduct" --store news.db
stream pin q2jpg45t --store news.db
stream mute --title "Morning briefing*" --store news.db
stream undo --store news.db
stream undo --store news.db --json
stream rebuild --store news.db
stream rebuild --store news.db --write --json
stream learn tables/documents.csv --store news.db
stream learn tables/documents.csv --store news.db --json
stream poll http://127.0.0.1:9/feed.xml --store polled.db --spacing 0
stream poll http://127.0.0.1:9/feed.xml --store polled-json.db --spacing 0 --json
generate vmf -n 30 -d 5 -k 3 -o vmf.npy
generate vmf -n 30 -d 5 -k 3 -o vmf.npz --json
generate sparse-vmf -n 30 -d 200 -k 3 -o sparse.npz
generate sparse-vmf -n 30 -d 200 -k 3 -o sparse.mtx --json
generate sharma -o sharma.npz
generate sharma -o sharma.mtx --json
generate zipf -n 30 -k 2 -o zipf.jsonl
generate zipf -n 30 -k 2 -o zipf.jsonl.gz --json
generate long-documents -n 6 -k 3 --words 400 -o long.jsonl
generate long-documents -n 6 -k 3 --words 400 -o long-json.jsonl --json
run long.jsonl -o parts -k 3 --parts auto
explain parts document1
explain parts document1 --json
prevalence parts --by part_of
generate like tiny -k 3 -o like.npz
generate like tiny -k 3 -o like.mtx --json
"""

# A program that names clusters, for `label --with`.
NAMER = """
import json, sys
for line in sys.stdin:
    cluster = json.loads(line)
    print(json.dumps("" if "rye" in line.lower() else f"About {cluster['terms'][0]}"), flush=True)
"""
# What differs between machines and days: a pattern, and what is kept in its place.
SHOWN_AS = (
    (r"(?m)^  compile  .*\n", ""),  # only the first call on a machine says it
    (r"\b\d+(\.\d+)? (s|KiB)\b", r"# \2"),
    (r'("n_bytes\w*"|"seconds"): [\d.e-]+', r"\1: #"),
    (r'("timings"|"seconds"): \{[^}]*\}', r"\1: {#}"),
    (r'("measure": "(?:seconds|peak_memory)")[^}]*', r"\1, # "),
    (r"(?m)^  (seconds \(s\)|peak memory \(MiB\)) .*", r"  \1 #"),
)
LONG_NUMBER = re.compile(r"-?\d+\.\d{6,}(?:e-?\d+)?|-?\d\.\d*e-\d+")


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def screens(*, narrow):
    """Run all calls in a folder of their own; return what each shows, by its call.

    Parameters
    ----------
    narrow : bool
        Whether standard output is a terminal of 80 columns; else it is a pipe, which gets 120. JSON knows no width,
        and `compare` draws figures: both are called once.
    """
    calls = CALLS.strip().splitlines()
    if narrow:
        calls = [call for call in calls if "--json" not in call and not call.startswith("compare")]
    with tempfile.TemporaryDirectory() as folder, chdir(folder), mock.patch.dict(os.environ, NARROW):
        shutil.copytree(SAMPLES / "tiny", "tiny")
        shutil.copytree(SAMPLES / "newsroom" / "feeds", "feeds")
        shutil.copyfile(SAMPLES / "newsroom" / "articles.jsonl", "articles.jsonl")
        Path("namer.py").write_text(NAMER, encoding="utf-8")
        classes = [f"{path.parent.name}/{path.name},{path.parent.name}\n" for path in sorted(Path().glob("tiny/*/*"))]
        Path("tiny.csv").write_text("".join(["id,class\n", *classes]), encoding="utf-8")
        return {call: show(call, narrow=narrow) for call in calls}


def show(call, *, narrow):
    """Run one call in this process; return both streams as text, and the exit code if it is not 0."""
    words, _, typed = call.partition(" | ")
    with captured(typed.replace("; ", "\n"), Terminal if narrow else io.TextIOWrapper) as read:
        code = None
        try:
            main(shlex.split(words))
        except SystemExit as stopped:
            code = stopped.code
    out, err = read()
    shown = out + "".join(f"! {line}\n" for line in err.splitlines()) + (f"exit code {code}\n" if code else "")
    for pattern, kept in SHOWN_AS:
        shown = re.sub(pattern, kept, shown)
    if call.startswith("compare"):
        shown = re.sub(r"(?<=\S) {2,}", "  ", shown)  # how wide its columns are depends on the times in them
    return LONG_NUMBER.sub(_rounded, shown)


def _rounded(match):
    """Return six digits of a number: the last of seventeen differ between processors, and so does what is nearly 0."""
    number = float(match[0])
    return f"{number:.6g}" if abs(number) > 1e-12 else "0.0"


@contextmanager
def captured(typed, kind):
    """Put files in place of the standard streams, for child processes too; yield a function that returns both texts."""
    kept, numbers = (sys.stdin, sys.stdout, sys.stderr), (os.dup(1), os.dup(2))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdin = io.StringIO(typed)
        sys.stdout = kind(io.FileIO(1, "w", closefd=False), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8")
        try:
            yield lambda: texts
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            sys.stdin, sys.stdout, sys.stderr = kept
            for number, copy in enumerate(numbers, 1):
                os.dup2(copy, number)
                os.close(copy)
            texts = [os.pread(file.fileno(), 1 << 30, 0).decode() for file in (out, err)]


def kept_screens(*, narrow):
    """Return what is kept in `tests/golden/cli`, by the call; what 80 columns do not change is kept once."""
    wide, changed = {}, {}
    for path in sorted(KEPT.glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        for width, call, shown in re.findall(r"^\$(80)? doccluster (.*)\n((?:(?!\$).*\n)*)", text, re.MULTILINE):
            (changed if width else wide)[call] = shown
    return {**wide, **changed} if narrow else wide


def write_screens():
    """Write all screens to `tests/golden/cli`, one file for each verb."""
    wide, narrow = screens(narrow=False), screens(narrow=True)
    texts = {}
    for call, shown in wide.items():
        text = f"$ doccluster {call}\n{shown}"
        if narrow.get(call, shown) != shown:
            text += f"$80 doccluster {call}\n{narrow[call]}"
        texts.setdefault(call.split()[0], []).append(text)
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir()
    for verb, parts in texts.items():
        (KEPT / f"{verb}.txt").write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    write_screens()
