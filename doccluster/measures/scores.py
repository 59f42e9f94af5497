"""The scores of a partition: a Score for each measure, and an Evaluation that holds and prints them."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from doccluster.base.arrays import Floats
from doccluster.base.choices import FAMILIES
from doccluster.base.json_values import jsonable
from doccluster.base.plain_values import cut
from doccluster.base.text_table import Column, html_table, latex_escaped, table_lines
from doccluster.errors import InputError
from doccluster.measures.registry import ARROWS, Measure
from doccluster.measures.truth import coverage_note

if TYPE_CHECKING:
    import pandas as pd


MAX_TABLE_CELLS = 10_000  # of a table per pair in JSON
COLUMNS = (
    *("measure", "variant", "family", "source", "value", "direction", "range", "note"),
    *("truth", "standard_error", "status"),
)
Status = Literal["computed", "undefined", "skipped"]
PARTS = ("per_cluster", "per_class", "per_document", "per_pair")


@dataclass(frozen=True, eq=False)
class Score(float):
    """The value of one measure for one partition, a float; parts that the measure does not have are None.

    Attributes
    ----------
    measure : Measure
        Its record: name, direction, range, source ...
    value : float
        nan where there is none; `status` and `notes` say why.
    per_cluster, per_class, per_document, per_pair : float64 arrays or None
        Of shapes (k,), (g,), (n,), and (k, k) or (k, g).
    notes : tuple of str
        Why it is undefined, what was left out: one note for each thing.
    standard_error : float or None
        Of the value, where it was sampled.
    truth : str or None
        The column of truth labels that an external measure was taken against.
    parameters : mapping
        What was asked for beyond the defaults.
    is_skipped : bool
        Whether it was left out for its cost, which a note gives.
    """

    measure: Measure
    value: float
    per_cluster: Floats | None = None
    per_class: Floats | None = None
    per_document: Floats | None = None
    per_pair: Floats | None = None
    notes: tuple[str, ...] = ()
    standard_error: float | None = None
    truth: str | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    is_skipped: bool = False

    def __new__(cls, measure: Any, value: float | None = None, *further: object, **parts: object) -> Any:
        if not isinstance(measure, Measure):
            return float(measure)  # `statistics.mean` makes its result by the type of the values
        return super().__new__(cls, math.nan if value is None else value)

    def __getnewargs__(self) -> tuple[Measure, float]:  # type: ignore[override]  # of pickle and copy
        return self.measure, self.value

    @property
    def name(self) -> str:
        """The name of the measure."""
        return self.measure.name

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def status(self) -> Status:
        """``"computed"`` where there is a value, ``"skipped"`` where nothing was computed, else ``"undefined"``."""
        if self.is_skipped:
            return "skipped"
        return "computed" if self.is_defined else "undefined"

    @property
    def note(self) -> str | None:
        """The notes in one line, for people; None where there is none."""
        return "; ".join(self.notes) or None

    def __repr__(self) -> str:
        against = "" if self.truth is None else f", truth={self.truth!r}"
        note = "" if self.note is None else f", note={self.note!r}"
        return f"Score({self.name}={self.value:.6g}{against}{note})"

    def as_row(self) -> dict[str, object]:
        """Return the score as one row of a tidy table."""
        record = self.measure
        return {
            "measure": record.name,
            "variant": record.variant or "",
            "family": record.family,
            "source": record.source,
            "value": self.value,
            "direction": record.direction,
            "range": record.range,
            "note": self.note or "",
            "truth": self.truth or "",
            "standard_error": math.nan if self.standard_error is None else self.standard_error,
            "status": self.status,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Many scores of one partition.

    Attributes
    ----------
    scores : tuple of Score
        In the order asked for; with several truth columns an external measure has one score for each.
    clusters : tuple of length k
        What the user called each cluster, in the order of `per_cluster`.
    classes : mapping of column name to tuple
        The classes of each truth column, in the order of `per_class`.
    coverage : mapping of column name to mapping
        n_documents, n_used, n_unlabelled, n_several and n_classes of each truth column.
    provenance : mapping
        Versions, metric, sizes.
    notes : tuple of str
        What may have been meant otherwise: documents with the label -1 count as a cluster.
    """

    scores: tuple[Score, ...]
    clusters: tuple[object, ...] = ()
    classes: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    coverage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    provenance: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __repr__(self) -> str:
        defined = [score for score in self.scores if score.is_defined]
        shown = ", ".join(f"{score.name}={score.value:.4g}" for score in defined[:5])
        ellipsis = ", ..." if len(defined) > 5 else ""
        return cut(f"Evaluation({len(self.scores)} scores of {len(self.clusters):,} clusters: {shown}{ellipsis})")

    def __contains__(self, name: object) -> bool:
        return any(score.name == name or name in score.measure.also_called for score in self.scores)

    def __getitem__(self, name: str) -> Score:
        return self.get(name)

    def get(self, name: str, *, truth: str | None = None) -> Score:
        """Return the score of a measure (against one truth column, where there are several).

        Raises
        ------
        InputError
            If it is not among the scores.
        """
        for score in self.scores:
            if (score.name == name or name in score.measure.also_called) and (truth is None or score.truth == truth):
                return score
        against = "" if truth is None else f" against {truth!r}"
        raise InputError(f"{name!r} was not evaluated{against}", remedy=f"ask for it with measures=[{name!r}]")

    def to_pandas(self) -> pd.DataFrame:
        """Return a tidy frame with a row for each score: measure, value, direction, note, truth column, status ..."""
        import pandas as pd  # few callers want a frame

        return pd.DataFrame([score.as_row() for score in self.scores], columns=list(COLUMNS))

    def to_dict(self, *, documents: bool = False) -> dict[str, Any]:
        """Return plain data for JSON: nan is None, infinity a word.

        Values per document are left out unless `documents` is true, and tables of more than 10,000 cells always.
        """
        return {
            "clusters": [jsonable(name) for name in self.clusters],
            "classes": {column: [jsonable(name) for name in names] for column, names in self.classes.items()},
            "coverage": {column: dict(counts) for column, counts in self.coverage.items()},
            "scores": [_score_as_dict(score, documents) for score in self.scores],
            "provenance": dict(self.provenance),
            "notes": list(self.notes),
        }

    def to_json(self, *, indent: int | None = 2, documents: bool = False) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(documents=documents), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_latex(self) -> str:
        """Return a LaTeX table (package booktabs) with one line per measure, grouped by family."""
        return latex_table(self)

    def _repr_html_(self) -> str:
        return notebook_table(self)

    def __str__(self) -> str:
        return text_table(self)


def _score_as_dict(score: Score, documents: bool) -> dict[str, object]:
    row = {name: jsonable(value) for name, value in score.as_row().items()}
    row["notes"] = list(score.notes)
    row["parameters"] = {name: jsonable(value) for name, value in score.parameters.items()}
    for part in PARTS:
        values = getattr(score, part)
        is_wanted = documents if part == "per_document" else part != "per_pair" or np.size(values) <= MAX_TABLE_CELLS
        if values is not None and is_wanted:
            row[part] = jsonable(values)
    return row


# for people: plain text, HTML and LaTeX, grouped by family, with the better direction

# truth columns, and the families of measures that have a value for each of them
Part = tuple[list[str | None], list[tuple[str, list[Score]]]]

HEADINGS = {
    "external": "External: against the truth",
    "internal": "Internal: from the vectors",
    "intrinsic": "Intrinsic: per cluster",
    "topic": "Topic words",
}


def format_score(score: Score) -> str:
    """Return the value of a score as `format_value` does; of one that was left out, that it was not computed."""
    return "not computed" if score.status == "skipped" else format_value(score.value)


def format_value(value: float) -> str:
    """Return a value in at most four decimals, or the word for one that is not finite.

    >>> format_value(0.36456), format_value(float("nan")), format_value(-12345.678)
    ('0.3646', 'undefined', '-12,345.7')
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4f}"


def families_of(evaluation: Evaluation) -> list[tuple[str, list[Score]]]:
    """Return the scores by family, in the order external, internal, intrinsic, topic."""
    groups = [(family, [s for s in evaluation.scores if s.measure.family == family]) for family in FAMILIES]
    return [(family, scores) for family, scores in groups if scores]


def truth_of(evaluation: Evaluation) -> list[str | None]:
    """Return the truth columns of the scores, or [None] if there is none: one column of values for each."""
    return list(dict.fromkeys(score.truth for score in evaluation.scores if score.truth)) or [None]


def by_measure(scores: list[Score], columns: list[str | None]) -> list[tuple[Score, list[Score | None]]]:
    """Return for each measure its first score and one score (or None) per truth column; [None] stands for no truth."""
    result = []
    for name in dict.fromkeys(score.name for score in scores):
        mine = {score.truth: score for score in scores if score.name == name}
        result.append((next(iter(mine.values())), [mine.get(column) for column in columns]))
    return result


def _parts(evaluation: Evaluation) -> list[Part]:
    """Return the families with their columns; what needs no truth stands apart where there are several truths."""
    columns, families = truth_of(evaluation), families_of(evaluation)
    external = [family for family in families if family[0] == "external"]
    without_truth = [family for family in families if family[0] != "external"]
    parts: list[Part] = [(columns, external), ([None], without_truth)]
    return [part for part in parts if part[1]]


def text_table(evaluation: Evaluation, *, width: int = 140, rule: str = "─", mark: str = "…") -> str:
    """Return the scores as plain text, by family; with several truth columns, what needs no truth stands below.

    `width`, `rule`, `mark`: as for `table_lines`.
    """
    parts = _parts(evaluation)
    # one column of values serves all families
    together = [(parts[0][0], parts)] if all(len(heads) == 1 for heads, _ in parts) else [(p[0], [p]) for p in parts]
    tables = [
        "\n".join(table_lines(_columns(evaluation, heads, group), width, rule=rule, mark=mark))
        for heads, group in together
    ]
    captions = _captions(evaluation)
    return "\n\n".join([tables[0] + (f"\n{captions}" if captions else ""), *tables[1:]])


def _columns(evaluation: Evaluation, heads: list[str | None], parts: list[Part]) -> list[Column]:
    """Return the columns of parts that have as many columns of values."""
    rows: list[list[str]] = []
    n_values = len(heads)
    for columns, families in parts:
        for family, scores in families:
            rows.append([HEADINGS[family], *[""] * (n_values + 3)])
            rows += ([f"  {name}", *cells] for name, *cells in _rows(evaluation, scores, columns))
    names, arrows, *values, ranges, notes = zip(*rows, strict=True)
    value_names = ["value"] if n_values == 1 else [str(head) for head in heads]
    return [
        Column("measure", names, "left"),
        Column("", arrows, "left"),
        *(Column(name, cells) for name, cells in zip(value_names, values, strict=True)),
        Column("range", ranges, "left", leaves=2),
        Column("note", notes, "left", fit="wrap", leaves=1),
    ]


def _rows(evaluation: Evaluation, scores: list[Score], columns: list[str | None]) -> Iterator[list[str]]:
    """Yield name, better direction, values, range and notes of each measure."""
    for first, cells in by_measure(scores, columns):
        shown = ["" if score is None else format_score(score) for score in cells]
        measure = first.measure
        yield [measure.name, ARROWS[measure.direction], *shown, measure.range, _notes(evaluation, cells)]


def _captions(evaluation: Evaluation) -> str:
    """Return one line for each truth column that leaves documents out."""
    notes = {column: coverage_note(counts) for column, counts in evaluation.coverage.items()}
    return "\n".join(f"{column}: {note}" for column, note in notes.items() if note)


def _notes(evaluation: Evaluation, cells: list[Score | None]) -> str:
    """Return the notes of a line, each once, without what the caption says."""
    captions = [coverage_note(counts) for counts in evaluation.coverage.values()]
    notes = [note for score in cells if score is not None for note in score.notes if note not in captions]
    return "; ".join(dict.fromkeys(notes))


def notebook_table(evaluation: Evaluation) -> str:
    """Return the scores as a piece of HTML for notebooks: value, better direction, range and notes of each measure."""
    tables = []
    for columns, families in _parts(evaluation):
        for family, scores in families:
            heads = ["measure", "", *(["value"] if len(columns) == 1 else map(str, columns)), "range", "note"]
            rows = list(_rows(evaluation, scores, columns))
            tables.append(html_table(heads, rows, caption=HEADINGS[family]))
    captions = _captions(evaluation)
    return "".join(tables) + (f"<p>{html.escape(captions)}</p>" if captions else "")


_LATEX_ARROWS = {"higher": r"$\uparrow$", "lower": r"$\downarrow$", "none": ""}


def latex_table(evaluation: Evaluation) -> str:
    """Return a booktabs table: one line per measure, one column of values per truth column.

    With several truth columns a value without truth spans them all, so that it stands under none of them.
    """
    truths = truth_of(evaluation)
    n = len(truths)
    heads = ["value"] if n == 1 else [latex_escaped(str(column)) for column in truths]
    lines = [r"\begin{tabular}{ll" + "r" * n + "}", r"\toprule"]
    lines += [" & ".join(["Measure", "", *heads]) + r" \\"]
    for columns, families in _parts(evaluation):
        for family, scores in families:
            lines += [r"\midrule", rf"\multicolumn{{{n + 2}}}{{l}}{{\emph{{{HEADINGS[family]}}}}} \\"]
            for first, cells in by_measure(scores, columns):
                values = ["" if score is None else _latex_value(score.value) for score in cells]
                if len(columns) < n:
                    values = [rf"\multicolumn{{{n}}}{{r}}{{{value}}}" for value in values]
                name = [latex_escaped(first.measure.title), _LATEX_ARROWS[first.measure.direction]]
                lines.append(" & ".join([*name, *values]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_value(value: float) -> str:
    if math.isnan(value):
        return "--"
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    return f"${format_value(value)}$".replace(",", "{,}")
