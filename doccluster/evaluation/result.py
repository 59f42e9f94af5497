"""What comes out of judging: one Score per measure, and an Evaluation that holds them and travels anywhere."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from doccluster.base.short_repr import cut
from doccluster.errors import InputError
from doccluster.measures.registry import Measure

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]

MAX_TABLE_CELLS = 10_000  # of a table per pair in JSON
COLUMNS = (
    *("measure", "variant", "family", "source", "value", "direction", "range", "note"),
    *("truth", "standard_error", "status"),
)
Status = Literal["computed", "undefined", "skipped"]
PARTS = ("per_cluster", "per_class", "per_document", "per_pair")


@dataclass(frozen=True, eq=False)
class Score:
    """What one measure says of one partition; parts that the measure does not have are None.

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
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_skipped: bool = False

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

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        against = "" if self.truth is None else f", truth={self.truth!r}"
        note = "" if self.note is None else f", note={self.note!r}"
        return f"Score({self.name}={self.value:.6g}{against}{note})"

    def as_row(self) -> dict[str, Any]:
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
    """

    scores: tuple[Score, ...]
    clusters: tuple[Any, ...] = ()
    classes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    coverage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __repr__(self) -> str:
        defined = [score for score in self.scores if score.is_defined]
        shown = ", ".join(f"{score.name}={score.value:.4g}" for score in defined[:5])
        more = ", ..." if len(defined) > 5 else ""
        return cut(f"Evaluation({len(self.scores)} scores of {len(self.clusters):,} clusters: {shown}{more})")

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
            "clusters": [_plain(name) for name in self.clusters],
            "classes": {column: [_plain(name) for name in names] for column, names in self.classes.items()},
            "coverage": {column: dict(counts) for column, counts in self.coverage.items()},
            "scores": [_score_as_dict(score, documents) for score in self.scores],
            "provenance": dict(self.provenance),
        }

    def to_json(self, *, indent: int | None = 2, documents: bool = False) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(documents=documents), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_latex(self) -> str:
        """Return a LaTeX table (package booktabs) with one line per measure, grouped by family."""
        from doccluster.evaluation.score_tables import latex_table

        return latex_table(self)

    def _repr_html_(self) -> str:
        from doccluster.evaluation.score_tables import notebook_table

        return notebook_table(self)

    def __str__(self) -> str:
        from doccluster.evaluation.score_tables import text_table

        return text_table(self)


def _score_as_dict(score: Score, documents: bool) -> dict[str, Any]:
    row = {name: _plain(value) for name, value in score.as_row().items()}
    row["notes"] = list(score.notes)
    row["parameters"] = {name: _plain(value) for name, value in score.parameters.items()}
    for part in PARTS:
        values = getattr(score, part)
        is_wanted = documents if part == "per_document" else part != "per_pair" or np.size(values) <= MAX_TABLE_CELLS
        if values is not None and is_wanted:
            row[part] = _plain(values)
    return row


def _plain(value: Any) -> Any:
    """Return `value` as JSON can hold it."""
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
