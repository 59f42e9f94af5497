"""`choose-k`: how many clusters the data support."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from doccluster.base.choices import CRITERIA
from doccluster.base.text_table import Column
from doccluster.cli.console import (
    WHOLE_WORDS,
    json_option,
    print_json,
    print_table,
    progress_shown,
    say,
)
from doccluster.cli.output import table_room
from doccluster.cli.run import letters_option, meaning_options
from doccluster.cli.source_options import (
    OptionSpec,
    made_options,
    parts_option,
    reader_options,
    typed_source,
    vectorizer_options,
    with_source,
)
from doccluster.cli.verb import Verb, Whole, all_but, numbers_of_clusters
from doccluster.pipeline.run_settings import GRANULARITIES, RunSettings

if TYPE_CHECKING:
    from doccluster.pipeline.choosing import Choice
    from doccluster.selection import CriteriaOverK

seed_setting = made_options(RunSettings, {"random_state": OptionSpec(option="--seed", shows_default=True)})
threads_setting = made_options(RunSettings, {"n_threads": OptionSpec(option="--threads", is_number=True)})

# what each column is called, how its numbers are written, and what they say; choose_k.csv has the figures as they are
COLUMNS = {
    "as": ("level", "{}", "topics and sections from the smoothed vectors, subtopics from the words"),
    "k": ("clusters", "{:,}", "the number of clusters"),
    "largest": ("largest", "{:.0%}", "share of the documents in the largest cluster"),
    "agreement": (
        "stability",
        "{:.2f}",
        "mean adjusted Rand between clusterings of random 70 % samples",
    ),
}


GATHERS = {"settings": with_source(all_but("sources", "output", "criterion", "as_json"))}


@click.command("choose-k", cls=Verb, gathers=GATHERS)
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option("-o", "--output", metavar="DIR", help="A folder for the table and the figure.")
@click.option(
    "--granularity",
    type=click.Choice(GRANULARITIES[:-1]),  # stories have a rule of their own
    help="Which number to recommend: that of sections (broad), topics or subtopics (narrow). By default subtopics "
    "where the documents are dated, else the broadest that are found.",
)
@click.option(
    "--k",
    "ks",
    callback=numbers_of_clusters,
    metavar="NUMBERS",
    help="Choose only from these numbers, such as 2-10 or 5,10,20.",
)
@click.option(
    "--criterion",
    type=click.Choice(["all", *CRITERIA]),
    multiple=True,
    help="Say too what a criterion of the textbooks chooses (may be repeated).",
)
@click.option("--penalty", type=float, metavar="X", help="The penalty of 'penalised-rss': RSS + X k.")
@click.option("--sample", "max_documents", type=Whole(min=4), metavar="N", help="Use a random sample of N documents.")
@seed_setting
@reader_options
@parts_option
@vectorizer_options
@meaning_options
@letters_option
@threads_setting
@json_option
def choose_k_command(
    sources: tuple[str, ...],
    output: str | None,
    criterion: tuple[str, ...],
    settings: dict[str, Any],
    as_json: bool,
) -> None:
    """Find how many sections, topics and subtopics there are: clusters that are stable in random samples.

    `doccluster run` without -k chooses the same number; of dated articles of three outlets or more it shows stories.
    """
    from doccluster.pipeline.choosing import choose_clusters

    with progress_shown(quiet=as_json) as progress:
        choice = choose_clusters(
            typed_source(sources),
            output=output,
            criterion="all" if "all" in criterion else criterion or None,
            progress=progress,
            **settings,
        )
    recommendation, criteria = choice.recommendation, choice.criteria
    if as_json:
        numbers = ("k", "sections", "topics", "subtopics", "granularity", "reason", "has_structure", "p_value")
        names = (*numbers, "sentence", "n_documents", "n_looked_at", "examples")
        values = {name: getattr(recommendation, name) for name in names}
        values["table"] = recommendation.table.to_dict("records")
        if criteria is not None:
            table = criteria.table.to_dict("records")
            values["criteria"] = {"choices": dict(criteria.choices), "table": table}
        print_json(values)
        return
    print_choice(choice)
    # criteria of the textbooks stand below the recommendation: they never change it
    if criteria is not None:
        print_criteria(criteria)
    if output:
        say()
        files = "choose_k.csv, choose_k.svg" + ("" if criteria is None else ", criteria.csv, criteria.svg")
        say(f"  {output}/{files}")


def print_choice(choice: Choice) -> None:
    """Print the answer, the levels there are, and the figures they rest on; a star marks the level that is shown."""
    recommendation = choice.recommendation
    for line in textwrap.wrap(f"{recommendation.sentence}.", table_room()["width"] - 2, **WHOLE_WORDS):
        say(f"  {line}")
    if choice.is_news:
        say()
        say("  Without -k, `doccluster run` shows the stories of these articles, which are")
        say("  dated and come from several outlets.")
    say()
    # without clusters to speak of there is no level to show
    if recommendation.k is not None:
        names = list(recommendation.numbers)
        largest = [recommendation.examples.get(name, ("", 0)) for name in names]
        stars = ["* " if number == recommendation.k else "  " for number in recommendation.numbers.values()]
        columns = [
            Column("  level", [f"{star}{name}" for star, name in zip(stars, names, strict=True)], "left"),
            Column("clusters", [f"{number:,}" for number in recommendation.numbers.values()]),
            Column(
                "mean size",
                [f"{max(1, round(recommendation.n_documents / n)):,}" for n in recommendation.numbers.values()],
            ),
            Column("largest", [f"{label} ({n:,})" if label else "" for label, n in largest], "left", fit="cut"),
        ]
        print_table(columns, has_rule=False)
        say()
    # what was seen at each level with some clusters, and what the columns say
    frame = recommendation.table[recommendation.table["k"] > 1]
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


def print_criteria(criteria: CriteriaOverK) -> None:
    """Print the k that each criterion chooses."""
    names = list(criteria.choices)
    ks = criteria.table["k"].tolist()
    say()
    columns = [
        Column("criterion", names, "left"),
        Column("k", ["none" if k is None else f"{k:,}" for k in criteria.choices.values()]),
        Column("it chooses", [CRITERIA[name] for name in names], "left", fit="wrap"),
    ]
    print_table(columns, has_rule=False, indent=2)
    say()
    say(f"  Of {len(ks):,} numbers from {ks[0]:,} to {ks[-1]:,}.")
