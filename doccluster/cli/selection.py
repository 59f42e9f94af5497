"""`choose-k` and `compare`: how many clusters the data support, and which algorithm finds them best."""

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
from doccluster.cli.values import Whole, check_algorithm, checked, measure_names, number_range
from doccluster.cli.verb import Verb

if TYPE_CHECKING:
    from doccluster.selection import Comparison, Recommendation

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


@click.command("compare", cls=Verb, short_help="Compare algorithms over seeds and corpora.")
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option("-o", "--output", required=True, metavar="DIR", help="A folder for tables, LaTeX and figures.")
@click.option("--truth", metavar="COLUMN", help="The classes; a matrix with classes has its own.")
@click.option("-k", "--clusters", "n_clusters", type=Whole(min=1), help="By default the number of classes.")
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    default=("spherical-kmeans", "kmeans"),
    show_default=True,
    callback=checked(check_algorithm),
    metavar="NAME",
    help="May be repeated; with parameters as in spherical-kmeans:n_init=1,refine=true.",
)
@click.option("--seeds", type=Whole(min=1), default=10, show_default=True, help="Seeds 0 to N-1, for all.")
@click.option(
    "--measures", callback=measure_names, metavar="NAMES", help="Only these measures (commas between them), or all."
)
@click.option("--checkpoint", metavar="DIR", help="Keep finished runs here, and go on from them.")
@reader_options
@vectorizer_options
@threads_option
@json_option
def compare_command(sources: tuple[str, ...], **given: Any) -> None:
    """Compare algorithms over seeds and corpora: means with intervals, paired tests, time, memory, measure agreement.

    Each SRC is a corpus of its own. Every fit runs in a process of its own.
    """
    from doccluster.pipeline import compare_sources

    with progress_shown(quiet=given["as_json"]) as progress:
        found = compare_sources(
            sources,
            truth=given["truth"],
            n_clusters=given["n_clusters"],
            output=given["output"],
            reader=reader_arguments(given),
            language=language_argument(given),
            vectorizer=vectorizer_arguments(given),
            algorithms=given["algorithms"],
            seeds=range(given["seeds"]),
            measures=given["measures"],
            checkpoint=given["checkpoint"],
            n_threads=given["threads"],
            progress=progress,
        )
    if given["as_json"]:
        headline = headline_measures(found)
        tables = {"summary": found.summary(), "tests": found.tests(headline), "agreement": found.agreement()}
        print_json({name: table.to_dict("records") for name, table in tables.items()})
    else:
        print_comparison(found)
        say(f"  {given['output']}: runs, summary, tests, agreement, ranks (csv), summary.tex, figures (svg)")


def print_comparison(found: Comparison) -> None:
    """Print the headline measures of each algorithm on each corpus, mean and t interval."""
    from rich.table import Table

    summary = found.summary()
    shown = headline_measures(found)
    table = Table(box=None, pad_edge=False)
    table.add_column("corpus")
    table.add_column("algorithm")
    for name in shown:
        table.add_column(name.replace("_", " "), justify="right")
    for (corpus, algorithm), group in summary.groupby(["corpus", "algorithm"], sort=False):
        own = group.set_index("measure")
        cells = [_with_half(own.loc[name, "mean"], own.loc[name, "high"], name) for name in shown]
        table.add_row(str(corpus), str(algorithm), *cells)
    standard_output().print(table)
    print_agreement(found)


def headline_measures(found: Comparison) -> list[str]:
    """Return the measures that are shown and tested, of those that were found."""
    from doccluster.pipeline.comparing import HEADLINE

    return [name for name in HEADLINE if name in set(found.runs["measure"])]


def print_agreement(found: Comparison) -> None:
    """Print which measures without truth rank the runs of a corpus most and least like adjusted Rand."""
    import pandas as pd

    agreement = found.agreement().dropna(subset="correlation")
    for corpus, group in agreement.groupby("corpus", sort=False):
        ordered = group.sort_values("correlation", ascending=False)
        say()
        say(f"  {corpus}: rank correlation with adjusted Rand over {int(group['n'].max())} runs")
        shown = ordered if len(ordered) <= 8 else pd.concat([ordered.head(5), ordered.tail(3)])
        told = (f"{row.measure} {row.correlation:+.2f}" for row in shown.itertuples())
        say("  " + ", ".join(told))


def _with_half(mean: Any, high: Any, name: str) -> str:
    mean, half = float(mean), float(high) - float(mean)
    if name == "peak_memory":
        return f"{mean / 2**20:.1f} MiB"
    return f"{mean:.3f}" if half != half else f"{mean:.3f} ± {half:.3f}"
