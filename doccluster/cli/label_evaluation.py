"""`evaluate labels`: how good the labels of the clusters of a run, or of the classes of documents, are."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from doccluster.cli.console import print_json, print_table, say
from doccluster.text_table import Column

if TYPE_CHECKING:
    from doccluster.labeling.label_quality import LabelScores

SHOWN = 5  # terms of a cluster


def print_label_evaluation(
    source: str, truth_column: str | None, synonyms: str | None, n_threads: int | None, *, as_json: bool
) -> None:
    """Print the scores of the labels, and the labels beside the classes."""
    from doccluster.pipeline.label_evaluation import evaluate_labels, read_synonyms

    names = None if synonyms is None else read_synonyms(synonyms)
    found = evaluate_labels(source, truth=truth_column, synonyms=names, n_threads=n_threads)
    if as_json:
        print_json(asdict(found))
        return
    names_of_rows, values = zip(*_rows(found.scores), strict=True)
    print_table([Column("", names_of_rows, "left"), Column("", values, "left")], has_rule=False, indent=2)
    say()
    print_table(
        [
            Column("cluster", [str(one.cluster) for one in found.labels]),
            Column("class", [one.class_name or "" for one in found.labels], "left", fit="cut"),
            Column("label", [", ".join(one.terms[:SHOWN]) for one in found.labels], "left", fit="cut"),
        ]
    )


def _rows(scores: LabelScores) -> list[tuple[str, str]]:
    rows = [("clusters", f"{scores.n_clusters:,}")]
    if scores.n_named:
        rows += [(f"Match@{at}", f"{value:.3f}") for at, value in scores.match.items()]
        rows += [("MRR@5", f"{scores.reciprocal_rank:.3f}")]
    return [
        *rows,
        ("found by its label, P@10", f"{scores.precision:.3f}"),
        ("found by its label, MRR", f"{scores.first_found:.3f}"),
        ("labels of one word", f"{scores.one_word:.1%}"),
        ("labels that another cluster has", f"{scores.duplicate:.1%}"),
        ("labels with function words", f"{scores.function_word:.1%}"),
    ]
