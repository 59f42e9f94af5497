"""A csv file of results that a long experiment appends to, one line per finished case, and goes on from."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence


def run_cases(
    path: pathlib.Path,
    cases: Sequence[Mapping[str, object]],
    measure: Callable[..., Iterable[Mapping[str, object]]],
    *,
    columns: Sequence[str],
    say: Callable[[str], None] = print,
) -> list[dict[str, str]]:
    """Measure the cases that are not in the file yet, append each as it ends, and return all lines of these cases.

    Parameters
    ----------
    path : path
        Of the csv file; a case is finished when its lines are there.
    cases : sequence of mapping
        The arguments of `measure`, which are also the first columns.
    measure : callable
        Returns one mapping for each line of a case.
    columns : sequence of str
        Of the mappings that `measure` returns.
    """
    names = [*cases[0], *columns]
    known = read_lines(path)
    wanted = {_key(case): case for case in cases}
    done = {_key({name: line[name] for name in cases[0]}) for line in known}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, names)
        if not known:
            writer.writeheader()
        for number, (key, case) in enumerate(wanted.items(), start=1):
            if key in done:
                continue
            for line in measure(**case):
                writer.writerow({**case, **line})
            handle.flush()
            say(f"[{number}/{len(wanted)}] " + ", ".join(f"{name}={value}" for name, value in case.items()))
    return [line for line in read_lines(path) if _key({name: line[name] for name in cases[0]}) in wanted]


def read_lines(path: pathlib.Path) -> list[dict[str, str]]:
    """Return the lines of a csv file; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def _key(case: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(str(value) for value in case.values())
