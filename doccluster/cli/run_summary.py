"""What a finished run says on the screen, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from doccluster.artifacts import per_cluster_values
from doccluster.cli.console import plain, say, standard_output

if TYPE_CHECKING:
    from doccluster.record import Run

FILES = ("report.html", "assignments.csv", "clusters.csv", "scores.csv", "skipped.csv", "model", "run.json")
SHOWN_PER_CLUSTER = ("coherence", "density", "silhouette")
HEADLINES = ("silhouette", "objective", "purity", "nmi", "adjusted_rand", "pair_f")


def print_run(run: Run, output: Path | None) -> None:
    """Print the first screen: what was read, vectorized and clustered, one line per cluster, scores, and files."""
    say(f"  read       {run.n_documents + len(run.empty_documents):,} documents{_skipped(run, output)}")
    say(f"  vectorize  {run.n_documents:,} x {run.vectors.n_terms:,}, {100 * _filled(run.vectors.matrix):.2f} % filled")
    say_analysis(run.parameters.get("resolved", {}).get("analysis", {}))
    say(f"  cluster    {_method(run)}")
    say()
    _print_clusters(run)
    say()
    for line in _headlines(run):
        say(f"  {line}")
    for note in run.notes:
        say(f"  note: {note}")
    if output is not None:
        say("  " + "  ".join(files_of(output)))


def say_analysis(told: Mapping[str, str]) -> None:
    """Print which languages and scripts the texts are in, and what was done about them."""
    for name, line in told.items():
        say(f"  {name:<10} {line}")


def run_as_json(run: Run, output: Path | None) -> dict[str, Any]:
    """Return what `print_run` prints, and all scores, as plain values."""
    values = per_cluster_values(run)
    return {
        "output": None if output is None else str(output),
        "files": [] if output is None else files_of(output),
        "interrupted": run.provenance.interrupted,
        "n_documents": run.n_documents,
        "n_empty": len(run.empty_documents),
        "n_skipped": sum(not one.is_renamed for one in run.skipped),
        "n_terms": run.vectors.n_terms,
        "n_clusters": run.n_clusters,
        "analysis": run.parameters.get("resolved", {}).get("analysis", {}),
        "seed": run.provenance.seed,
        "timings": dict(run.provenance.timings),
        "notes": list(run.notes),
        "clusters": [
            {
                "cluster": one.cluster,
                "size": one.size,
                "label": one.label,
                "terms": [term.term for term in one.descriptive],
                "measures": {name: values[name][one.cluster] for name in values},
            }
            for one in run.clusters
        ],
        "scores": run.evaluation.to_dict()["scores"],
    }


def files_of(output: Path) -> list[str]:
    """Return the files of a run folder that are there, the report first."""
    return [f"{output / name}{'/' if name == 'model' else ''}" for name in FILES if (output / name).exists()]


def _skipped(run: Run, output: Path | None) -> str:
    # skipped.csv lists the renamed ones too, but they are kept
    reasons = Counter(one.reason for one in run.skipped if not one.is_renamed)
    n_renamed = sum(one.is_renamed for one in run.skipped)
    told = []
    if reasons:
        counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())
        told.append(f"{reasons.total():,} skipped: {counts}")
    if n_renamed:
        told.append(f"{n_renamed:,} kept under a new id")
    where = "" if output is None else f" -> {output / 'skipped.csv'}"
    return f"   ({'; '.join(told)}{where})" if told else ""


def _filled(matrix: Any) -> float:
    stored = int(np.count_nonzero(matrix) if isinstance(matrix, np.ndarray) else matrix.nnz)
    return stored / int(matrix.shape[0] * matrix.shape[1])


def _method(run: Run) -> str:
    starts = (run.parameters.get("clustering") or {}).get("n_init", 10)
    seconds = run.provenance.timings.get("cluster", 0.0)
    return (
        f"spherical k-means, k={run.n_clusters}, best of {starts} starts, seed {run.provenance.seed}, {seconds:.1f} s"
    )


def _print_clusters(run: Run) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    values = {name: value for name, value in per_cluster_values(run).items() if name in SHOWN_PER_CLUSTER}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("cluster", justify="right")
    table.add_column("size", justify="right")
    table.add_column("label", overflow="fold")
    for name in values:
        table.add_column(name, justify="right")
    for one in run.clusters:
        numbers = (_number(value[one.cluster]) for value in values.values())
        table.add_row(str(one.cluster), f"{one.size:,}", Text(plain(one.label)), *numbers)
    standard_output().print(table)


def _headlines(run: Run) -> list[str]:
    lines = []
    for name in HEADLINES:
        for score in run.evaluation.scores:
            if score.name == name:
                against = f" against {score.truth}" if score.truth else ""
                note = f"   {score.note}" if score.note else ""
                lines.append(f"{name}{against}  {_number(score.value)}{note}")
    return lines


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"
