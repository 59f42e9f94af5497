"""`choose-k`: how many clusters the data support."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doccluster.cli.console import (
    json_option,
    print_json,
    progress_shown,
    say,
    seed_option,
    standard_output,
    threads_option,
)
from doccluster.cli.source_options import (
    language_argument,
    reader_arguments,
    reader_options,
    vectorizer_arguments,
    vectorizer_options,
)
from doccluster.cli.streams import write_error
from doccluster.cli.values import Whole, number_range
from doccluster.cli.verb import Verb

if TYPE_CHECKING:
    from doccluster.selection import Recommendation

SHOWN = ("silhouette", "null_silhouette", "stability", "null_stability", "gap_rss", "calinski_harabasz", "rss")


@click.command("choose-k", cls=Verb, short_help="Find how many clusters the data support.")
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option("-o", "--output", metavar="DIR", help="A folder for the table and the figures.")
@click.option(
    "--k", "k_range", callback=number_range, metavar="A-B", help="The numbers to try; by default to 3 sqrt n."
)
@click.option(
    "--algorithm",
    type=click.Choice(["spherical-kmeans", "kmeans", "vmf"]),
    default="spherical-kmeans",
    show_default=True,
    help="What clusters.",
)
@click.option("--n-init", type=Whole(min=1), default=5, show_default=True, help="Starts per fit.")
@click.option(
    "--null",
    type=click.Choice(["deal", "permute", "uniform", "sphere"]),
    default="deal",
    show_default=True,
    help="Data without clusters: terms dealt anew, permuted one by one, uniform in the box, or directions.",
)
@click.option("--n-null", type=Whole(min=1), default=19, show_default=True, help="Data sets without clusters.")
@click.option("--n-stability", type=Whole(min=0), default=10, show_default=True, help="Resampled data sets.")
@click.option(
    "--resampling",
    type=click.Choice(["bootstrap", "subsample", "perturb"]),
    default="subsample",
    show_default=True,
    help="How data are resampled.",
)
@click.option("--sample", "max_documents", type=Whole(min=4), metavar="N", help="Look at N documents drawn at random.")
@click.option("--penalty", type=click.FloatRange(min=0), metavar="LAMBDA", help="Also choose by RSS(k) + LAMBDA k.")
@click.option("--checkpoint", metavar="DIR", help="Keep finished pieces here, and go on from them.")
@seed_option
@reader_options
@vectorizer_options
@threads_option
@json_option
def choose_k_command(sources: tuple[str, ...], **given: Any) -> None:
    """Find how many clusters the data support: every criterion over k, beside what data without clusters give."""
    from doccluster.pipeline import choose_clusters

    settings = {
        name: given[name]
        for name in ("algorithm", "n_init", "null", "n_null", "n_stability", "resampling", "penalty", "checkpoint")
    }
    if given["max_documents"] is not None:
        settings["max_documents"] = given["max_documents"]
    if given["k_range"] is not None:
        settings["ks"] = range(given["k_range"][0], given["k_range"][1] + 1)
    with progress_shown(quiet=given["as_json"]) as progress:
        choice = choose_clusters(
            [Path(source) for source in sources],
            output=given["output"],
            reader=reader_arguments(given),
            language=language_argument(given),
            vectorizer=vectorizer_arguments(given),
            n_threads=given["threads"],
            random_state=given["seed"],
            announce=write_error,
            progress=progress,
            **settings,
        )
    if given["as_json"]:
        print_json(choice_as_json(choice.recommendation))
    else:
        print_choice(choice.recommendation)
        if given["output"]:
            say(f"  {given['output']}/choose_k.csv and figures")


def choice_as_json(found: Recommendation) -> dict[str, Any]:
    """Return a recommendation as JSON values."""
    return {
        "k": found.k,
        "about_as_good": list(found.about_as_good),
        "has_structure": found.has_structure,
        "p_value": found.p_value,
        "sentence": found.sentence,
        "n_documents": found.n_documents,
        "n_looked_at": found.n_documents if found.rows is None else int(found.rows.size),
        "choices": dict(found.sweep.choices),
        "table": found.sweep.table.to_dict("records"),
        "seconds": found.sweep.seconds,
    }


def print_choice(found: Recommendation) -> None:
    """Print the table of criteria, what each chooses alone, and the answer."""
    from rich.table import Table

    shown = [name for name in SHOWN if name in found.sweep.table]
    table = Table(box=None, pad_edge=False)
    for name in ("k", *shown):
        table.add_column(name.replace("_", " "), justify="right")
    for row in found.sweep.table.to_dict("records"):
        table.add_row(f"{row['k']}{' *' if row['k'] == found.k else ''}", *(f"{row[name]:.4g}" for name in shown))
    standard_output().print(table)
    say()
    for name, k in found.sweep.choices.items():
        say(f"  {name.replace('_', ' '):<24}{'no k qualifies' if k is None else k}")
    say()
    say(f"  {found.sentence}")
