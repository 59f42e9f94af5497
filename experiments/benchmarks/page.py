"""From the results of benchmarks to docs/evidence/performance.md: every figure on that page comes from here.

A row's `<figure>_times_ours` is a contender's figure over ours (above 1: we are better); a module may also record
`<contender>_<figure>_times` under our own name. The newest figure of each name is shown.
"""

from __future__ import annotations

import importlib
import itertools
import json
import math
import operator
import pathlib
import re
from collections import Counter
from collections.abc import Iterable

from experiments.benchmarks.age import MAX_CHANGED, ages, has_history
from experiments.benchmarks.harness import RESULTS, ROOT, ROWS, Row, read_results
from experiments.benchmarks.scaling_figure import draw, points_of

PAGE = ROOT / "docs" / "evidence" / "performance.md"
UNITS = {"peak_bytes": "peak", "peak_bytes_beyond_data": "peak beyond data"}
FIRST = ("clustering", "engine", "default_run")  # whose tables come first
HEAD = """# Performance

Spherical k-means takes {fit-debian-100} times less time than scikit-learn's k-means for Debian's package descriptions
in 100 clusters, {fit-reuters-66} times less for Reuters in 66, and {fit-cluto} times less for CLUTO's small matrices.
With 2,000 clusters and 200 thousand terms it needs {memory-2000} times less memory beyond the matrix. All external
measures of a million labels take {external-1m} times less time than the functions that scikit-learn has for some of
them (without and with its adjusted mutual information), and the cosine silhouette of 20,000 documents
{silhouette-cosine-20k} times less. Of the {n_targets} ratios with a target {n_missed} miss it; each is in the first
table. All else is in the tables after it, by module.

Contenders run in turn in one session; times are medians, and the ratios of medians are what to trust: the machines
these ran on are shared, and seconds drift. A ratio of 3 means that the other needs three times as much as we do. Each
table tells the day and the commit it was measured at; tables whose commit is no longer in the history are dropped.

`python -m experiments.benchmarks` (or `make bench`) measures all and writes this page from
`experiments/benchmarks/results`; `MODULE --only ROW` measures one row again. No time or ratio here is typed by hand.
"""
TABLES = """## The tables

A cell has the median, then the lowest and the highest in brackets, then how many times ours it is. The machine, where
a table does not name another: {machine}
"""
EARLIER = f"""## Measured on earlier code

More than {MAX_CHANGED} files of what these tables time have changed since they were measured. They say how fast that
code was, and may not hold for today's.
"""


def write_page(modules: Iterable[str]) -> pathlib.Path:
    """Write the page for the modules that have results, and return its path."""
    modules = sorted(modules, key=lambda module: (FIRST.index(module) if module in FIRST else len(FIRST), module))
    ratios, headline = _ratios(modules), _headline(modules)
    said = {name: _between(values) for name, values in ratios.items()}
    said |= {"n_targets": str(sum(map(len, ratios.values()))), "n_missed": str(headline.count("| missed |"))}
    head = re.sub(r"\{([a-z0-9_-]+)\}", lambda found: said[found[1]], HEAD)
    results = {module: read_results(RESULTS / f"{module}.csv") for module in modules}
    machine = Counter(_environment(module) for module, own in results.items() if own).most_common(1)[0][0]
    sections = [_section(module, own, machine) for module, own in results.items() if own]
    tables = TABLES.format(machine=machine)
    PAGE.write_text("\n".join([head, headline, _earlier(modules), tables, *sections]), encoding="utf-8")
    return PAGE


def _ratios(modules: Iterable[str]) -> dict[str, list[float]]:
    """Return the ratios of each row that has a target."""
    found: dict[str, list[float]] = {}
    for name, ratio in re.findall(r"(?m)^\| .*\(`([a-z0-9-]+)`\) \| [^|]* \| ([\d.e+]+)x", _headline(modules)):
        found.setdefault(name, []).append(float(ratio))
    return found


def _between(values: list[float]) -> str:
    """Return one ratio, or the lowest and the highest of several, as one says them."""
    said = [f"{value:.2g}" if value < 100 else f"{value:.0f}" for value in (min(values), max(values))]
    return " to ".join(dict.fromkeys(said))


def _earlier(modules: Iterable[str]) -> str:
    """Return the list of tables that were measured on earlier code."""
    old = [age for age in ages(modules) if age.is_of_earlier_code] if has_history() else []
    lines = [
        f"- {module}: " + ", ".join(f"`{age.row}`" for age in rows)
        for module, rows in itertools.groupby(old, key=operator.attrgetter("module"))
    ]
    return "\n".join([EARLIER, *lines, ""]) if lines else ""


def _headline(modules: Iterable[str]) -> str:
    """Return a table of every ratio that has a target, reached or missed."""
    lines = ["## Every target, reached or missed", ""]
    lines += ["| what | against | ratio | target | |", "|---|---|---|---|---|"]
    for module in modules:
        results = read_results(RESULTS / f"{module}.csv")
        loaded = importlib.import_module(f"experiments.benchmarks.{module}")
        for row in ROWS.get(loaded.__name__, []):
            if row.target is not None:
                lines += _headlines(row, row.target, _newest(results, row.name))
    return "\n".join([*lines, ""])


def _headlines(row: Row, target: float, newest: dict[tuple[str, str], dict[str, str]]) -> list[str]:
    """Return a line for each contender that the target of a row is about, by the figure that it is about."""
    figures = [f"{figure}_times_ours" for figure in (row.figure, "processor_seconds", "seconds") if figure]
    found = {who: line for figure in reversed(figures) for (who, name), line in newest.items() if name == figure}
    if row.no_target_for:
        found = {who: line for who, line in found.items() if not who.startswith(row.no_target_for)}
    others = [who for who in found if not who.startswith("doccluster")] or list(found)
    ratios = [(who, float(found[who]["value"])) for who in others]
    return [
        f"| {row.title if place == 0 else 'the same'} (`{row.name}`) | {who} | {ratio:.3g}x | {target:.3g}x "
        f"| {'' if ratio >= target else 'missed'} |"
        for place, (who, ratio) in enumerate(ratios)
    ]


def _section(module: str, results: list[dict[str, str]], usual_machine: str) -> str:
    """Return the tables of a module; the machine is named where it is not the usual one."""
    loaded = importlib.import_module(f"experiments.benchmarks.{module}")
    title = (loaded.__doc__ or module).strip().splitlines()[0].rstrip(".")
    machine = _environment(module)
    elsewhere = "" if machine == usual_machine else f" On {machine}"
    lines = [f"### {title}", "", f"`python -m experiments.benchmarks {module}`.{elsewhere}", ""]
    for row in ROWS.get(loaded.__name__, []):
        newest = _newest(results, row.name)
        if newest:
            lines += [*_row_table(row, newest, _environment(module, row.name)), ""]
        if newest and row.name == "scaling":
            figure = draw(points_of(results))
            lines += [f"![Seconds against documents, clusters and entries]({figure.name})", ""]
    return "\n".join(lines)


def _environment(module: str, row_name: str | None = None) -> str:
    """Return the machine that a module was measured on, or the other one that a row was, if it was another."""
    path = RESULTS / f"{module}.environment.json"
    if not path.exists():
        return ""
    facts = json.loads(path.read_text(encoding="utf-8"))
    if row_name is not None:
        facts = facts.get("rows", {}).get(row_name)
        if facts is None:
            return ""
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items() if name != "doccluster")
    memory = facts["memory_bytes"] / 2**30
    return f"{facts['processor']}, {facts['cores']} cores, {memory:.0f} GiB, Python {facts['python']}, {packages}."


def _newest(results: list[dict[str, str]], name: str) -> dict[tuple[str, str], dict[str, str]]:
    return {
        (line["contender"], line["figure"]): line
        for line in results
        if line["row"] == name and line["contender"] != "harness"
    }


def _row_table(row: Row, newest: dict[tuple[str, str], dict[str, str]], elsewhere: str) -> list[str]:
    """Return the title of a row, its day, and its table: contenders and figures, the more of them as lines."""
    but = f", none for {row.no_target_for}" if row.no_target_for else ""
    target = "" if row.target is None else f" Target: {row.target:g}x{but}."
    place = f" On {elsewhere}" if elsewhere else ""
    last = max(newest.values(), key=lambda line: line["measured_at"])
    lines = [
        f"**{row.title}** (`{row.name}`).{target} Measured {last['measured_at'][:10]} at `{last['commit']}`.{place}",
        "",
    ]
    failed = [f"- {who}: {_plain(figure)}" for who, figure in newest if figure.startswith("failed")]
    measured = [(who, figure) for who, figure in newest if "_times" not in figure and not figure.startswith("failed")]
    contenders, figures = (
        (list(dict.fromkeys(names)) for names in zip(*measured, strict=True)) if measured else ([], [])
    )
    shown = {who: _plain(who) for who in contenders}
    named = {figure: UNITS.get(figure, figure.replace("_", " ")) for figure in figures}
    if len(figures) > len(contenders):
        cells = {named[figure]: [_cell(newest, contenders, who, figure) for who in contenders] for figure in figures}
        heads = list(shown.values())
    else:
        cells = {shown[who]: [_cell(newest, contenders, who, figure) for figure in figures] for who in contenders}
        heads = list(named.values())
    if measured:
        lines += [f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    return [*lines, *(f"| {name} | {' | '.join(own)} |" for name, own in cells.items()), *failed]


def _cell(newest: dict[tuple[str, str], dict[str, str]], contenders: list[str], who: str, figure: str) -> str:
    """Return the median of a figure of a contender, lowest and highest where they differ, and how many times ours."""
    line = newest.get((who, figure))
    if line is None:
        return ""
    lowest, highest = _value(figure, line["lowest"]), _value(figure, line["highest"])
    has_spread = line["repeats"] != "1" and lowest != highest
    spread = f" ({lowest.split()[0]} to {highest.split()[0]})" if has_spread else ""  # without their unit
    ratio = newest.get((who, f"{figure}_times_ours")) or newest.get((contenders[0], f"{who}_{figure}_times"))
    times = "" if ratio is None else f", {float(ratio['value']):.3g}x"
    return f"{_value(figure, line['value'])}{spread}{times}"


def _plain(text: str) -> str:
    """Return a text that fits in a cell: a bar would begin another."""
    return text.replace("|", "\\|").replace("\n", " ")


def _value(figure: str, text: str) -> str:
    value = float(text)
    if math.isnan(value):
        return "-"
    if "as_share_of" in figure:
        return f"{value:.2f}"
    if "bytes" in figure:
        return f"{value / 2**20:,.0f} MiB"
    if figure == "seconds" or figure.endswith("_seconds"):
        return f"{value:.3g} s"
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e12 else f"{value:.6g}"
