"""`python -m tests.core_lines`: how many lines the core has, those between the ground and the trades, held to a limit.

`make check` runs it. The ground reads documents and knows nothing of clusters; a trade is what some people do with
clusters. Whoever changes the core may have to hold all of it in the head; a change that passes the limit says what it
takes out.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "doccluster"
GROUND = ("base", "text", "corpus", "errors.py")
TRADES = ("streams", "lab", "retrieval")
LIMIT = 46_000


def n_lines() -> dict[str, tuple[int, int]]:
    """Return lines and files of each part."""
    counts = {"ground": [0, 0], "core": [0, 0], "trades": [0, 0]}
    for path in ROOT.rglob("*.py"):
        room = path.relative_to(ROOT).parts[0]
        part = counts["ground" if room in GROUND else "trades" if room in TRADES else "core"]
        part[0] += len(path.read_text(encoding="utf-8").splitlines())
        part[1] += 1
    return {name: (lines, files) for name, (lines, files) in counts.items()}


def main() -> int:
    """Print lines and files of each part; the exit code is 1 if the core has too many."""
    counts = n_lines()
    print(", ".join(f"{name} {lines:,} lines in {files} files" for name, (lines, files) in counts.items()))
    if counts["core"][0] <= LIMIT:
        return 0
    print(f"the core may have {LIMIT:,}: take something out, or move it to the trade it belongs to")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
