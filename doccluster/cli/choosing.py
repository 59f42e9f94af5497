"""`choose-k`: how many clusters the data support."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doccluster.cli.console import (
    granularity_option,
    json_option,
    print_json,
    print_table,
    progress_shown,
    say,
    seed_option,
    threads_option,
)
from doccluster.cli.source_options import (
    language_argument,
    reader_arguments,
    reader_options,
    vectorizer_arguments,
    vectorizer_options,
)
from doccluster.cli.values import Whole, check_algorithm, checked, numbers_of_clusters
from doccluster.cli.verb import Verb
from doccluster.errors import InputError
from doccluster.text_table import Column

if TYPE_CHECKING:
    import pandas as pd

    from doccluster.pipeline import Choice
    from doccluster.selection import Recommendation

# what each column is called, how its numbers are written, and what they say; choose_k.csv has the figures as they are
COLUMNS = {
    "as": ("as", "{}", "topics: neighbours in meaning; stories: neighbours in words, at finer levels only"),
    "k": ("clusters", "{:,}", "how many there are at this level"),
    "largest": ("largest", "{:.0%}", "the share of the documents that the largest one has"),
    "agreement": (
        "found again",
        "{:.2f}",
        "how alike the clusters of random parts of the documents are: 0 chance, 1 the same",
    ),
}
RULE_COLUMNS = (
    "silhouette",
    "null_silhouette",
    "stability",
    "gap_rss",
    "calinski_harabasz",
    "rss",
)
ONLY_WITH_RULES = ("algorithm", "n_init", "null", "n_null", "n_stability", "resampling", "penalty", "checkpoint")


@click.command("choose-k", cls=Verb, short_help="Find how many clusters the data support.")
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option("-o", "--output", metavar="DIR", help="A folder for the table and the figures.")
@granularity_option
@click.option(
    "--k",
    "ks",
    callback=numbers_of_clusters,
    metavar="NUMBERS",
    help="Choose only from these numbers, such as 2-10 or 5,10,20: the one nearest to the free choice.",
)
@click.option(
    "--algorithm",
    callback=checked(check_algorithm),
    metavar="NAME",
    help="With --all-rules: the algorithm, one of `doccluster algorithms`.  [default: spherical-k-means]",
)
@click.option("--sample", "max_documents", type=Whole(min=4), metavar="N", help="Look at N documents drawn at random.")
@click.option("--all-rules", is_flag=True, help="Also print what 16 known criteria choose; this takes much longer.")
@click.option("--n-init", type=Whole(min=1), metavar="N", help="With --all-rules: starts per fit.  [default: 5]")
@click.option(
    "--null",
    type=click.Choice(["deal", "permute", "uniform", "sphere"]),
    help="With --all-rules: how data without clusters are made: terms dealt again (the default), permuted one by one, "
    "uniform in the box, or random directions.",
)
@click.option(
    "--n-null",
    type=Whole(min=1),
    metavar="N",
    help="With --all-rules: the number of data sets without clusters.  [default: 19]",
)
@click.option(
    "--n-stability",
    type=Whole(min=0),
    metavar="N",
    help="With --all-rules: the number of resampled data sets.  [default: 10]",
)
@click.option(
    "--resampling",
    type=click.Choice(["bootstrap", "subsample"]),
    help="With --all-rules: how data are resampled.  [default: subsample]",
)
@click.option(
    "--penalty",
    type=click.FloatRange(min=0),
    metavar="LAMBDA",
    help="With --all-rules: also choose by RSS(k) + LAMBDA k.",
)
@click.option(
    "--checkpoint", metavar="DIR", help="With --all-rules: keep finished pieces in this folder, and continue from them."
)
@seed_option
@reader_options
@vectorizer_options
@threads_option
@json_option
def choose_k_command(sources: tuple[str, ...], **given: Any) -> None:
    """Find how many topics and how many stories there are: clusters that random parts of the documents find again.

    `doccluster run` without -k chooses the same number.
    """
    from doccluster.pipeline import choose_clusters

    settings = {name: given[name] for name in ONLY_WITH_RULES if given[name] is not None}
    if settings and not given["all_rules"]:
        option = "--" + next(iter(settings)).replace("_", "-")
        raise InputError(f"{option} belongs to --all-rules", remedy="give that too, or leave it out")
    with progress_shown(quiet=given["as_json"]) as progress:
        choice = choose_clusters(
            [Path(source) for source in sources],
            granularity=given["granularity"],
            ks=given["ks"],
            max_documents=given["max_documents"],
            all_rules=given["all_rules"],
            output=given["output"],
            reader=reader_arguments(given),
            language=language_argument(given),
            vectorizer=vectorizer_arguments(given),
            n_threads=given["threads"],
            random_state=given["seed"],
            progress=progress,
            **settings,
        )
    if given["as_json"]:
        print_json(choice_as_json(choice))
        return
    print_choice(choice)
    if given["output"]:
        say()
        say(f"  {given['output']}/choose_k.csv and figures")


def choice_as_json(choice: Choice) -> dict[str, Any]:
    """Return a choice as JSON values."""
    found = choice.recommendation
    told: dict[str, Any] = {
        "k": found.k,
        "topics": found.topics,
        "stories": found.stories,
        "granularity": found.granularity,
        "reason": found.reason,
        "has_structure": found.has_structure,
        "p_value": found.p_value,
        "sentence": found.sentence,
        "n_documents": found.n_documents,
        "n_looked_at": found.n_looked_at,
        "table": found.table.to_dict("records"),
    }
    if choice.rules is not None:
        told["rules"] = {
            "choices": dict(choice.rules.choices),
            "table": choice.rules.table.to_dict("records"),
            "seconds": choice.rules.seconds,
        }
    return told


def print_choice(choice: Choice) -> None:
    """Print the answer, the figures it rests on, and where they were asked for all rules."""
    found = choice.recommendation
    say(f"  {found.sentence}")
    say()
    _print_evidence(found)
    if choice.rules is None:
        return
    say()
    _print_rules(choice.rules.table)
    say()
    for name, k in choice.rules.choices.items():
        say(f"  {name.replace('_', ' '):<24}{'no k qualifies' if k is None else k}")


def _print_evidence(found: Recommendation) -> None:
    """Print what was seen at each level with some clusters, and what the columns say; a star marks the chosen ones."""
    frame = found.table[found.table["k"] > 1]
    columns = []
    for name, (head, form, _) in COLUMNS.items():
        shown = [form.format(value) for value in frame[name]]
        if name == "k":
            shown = [f"{'* ' if star else ''}{text}" for star, text in zip(frame["chosen"], shown, strict=True)]
        columns.append(Column(head, shown, "left" if name == "as" else "right"))
    print_table(columns, has_rule=False, indent=2)
    say()
    words = Column("", [head for head, _, _ in COLUMNS.values()], "left")
    meanings = Column("", [meaning for _, _, meaning in COLUMNS.values()], "left", fit="wrap")
    print_table([words, meanings], has_rule=False, indent=2)


def _print_rules(frame: pd.DataFrame) -> None:
    shown = [name for name in RULE_COLUMNS if name in frame]
    columns = [Column(name.replace("_", " "), [_readable(value) for value in frame[name]]) for name in shown]
    print_table([Column("clusters", [f"{k:,}" for k in frame["k"]]), *columns], has_rule=False, indent=2)


def _readable(value: float) -> str:
    """Return a figure without powers of ten.

    >>> _readable(0.01234), _readable(12345.6), _readable(float("nan"))
    ('0.012', '12,346', '-')
    """
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3f}"
