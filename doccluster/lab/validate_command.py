"""`validate`: questions about the clusters of a run for people, and what their answers say."""

from __future__ import annotations

from typing import Any

import click

from doccluster.base.text_table import Column
from doccluster.cli.console import json_option, print_json, print_table, say, say_below, stage_shown
from doccluster.cli.output import write_out
from doccluster.cli.verb import Verb, Whole, only, some_names

DRAWING = only("n_coders", "tests", "n_clusters", "per_cluster", "random_state")
FORMS = only("as_json", "latex", "markdown")


@click.command("validate", cls=Verb, gathers={"settings": DRAWING, "forms": FORMS})
@click.argument("run", metavar="RUN")
@click.option("-o", "--output", metavar="DIR", help="A new folder for the pages and sheets of coders, and the key.")
@click.option("--score", "answers", metavar="DIR", help="Judge the answers in such a folder.")
@click.option("--coders", "n_coders", type=Whole(min=1), default=2, show_default=True, help="How many people answer.")
@click.option("--tests", callback=some_names, default="words,documents,names", show_default=True, help="Which to ask.")
@click.option("--clusters", "n_clusters", type=Whole(min=1), default=20, show_default=True, help="Ask about this many.")
@click.option("--per-cluster", type=Whole(min=1), default=1, show_default=True, help="Questions of a test about each.")
@click.option("--seed", "random_state", type=Whole(min=0), default=0, show_default=True, help="The seed of the draw.")
@json_option
@click.option("--latex", is_flag=True, help="Print the scores as a LaTeX table.")
@click.option("--markdown", is_flag=True, help="Print the scores as a Markdown table.")
def validate_command(
    run: str, output: str | None, answers: str | None, settings: dict[str, Any], forms: dict[str, bool]
) -> None:
    """Let people judge the clusters of a finished RUN: write questions with -o, judge the answers with --score.

    Each coder is asked the same in another order: which word, which document does not belong; which name fits.
    """
    from doccluster.lab.coders import score_validation
    from doccluster.results.run_folder import load_run

    if (output is None) == (answers is None) or sum(forms.values()) > (forms["as_json"] if output else 1):
        raise click.UsageError("give -o DIR, or --score DIR and at most one of --json, --latex and --markdown.")
    with stage_shown("read", quiet=any(forms.values())):
        result: Any = score_validation(run, answers) if answers else load_run(run).validation(str(output), **settings)
    tests = [] if answers else [question.test for question in result.questions]
    n_of_test = {test: tests.count(test) for test in dict.fromkeys(tests)}
    if forms["as_json"]:
        content = {"scores": result.table.to_dict("records")} if answers else {"output": output, "questions": n_of_test}
        print_json({**content, "notes": result.notes})
    elif any(forms.values()):
        write_out(result.to_latex() if forms["latex"] else result.to_markdown())
    else:
        if answers:
            columns = [Column(name, cells, "left", fit="cut") for name, *cells in zip(*result.rows(), strict=True)]
            print_table(columns, indent=2)
        else:
            counts = ", ".join(f"{n} of {test}" for test, n in n_of_test.items())
            say_below(f"{output}/coder-1 ...: page.html to answer by keyboard; sheet.csv, the same as a table", 2)
            say_below(f"{len(tests)} questions for each: {counts}", 2)
            say_below(f"{output}/key: what is right; keep it from the coders", 2)
            say("  with the answers in their folders:")
            say(f"  doccluster validate {run} --score {output}")  # to be copied, so on one line
        for note in result.notes:
            say_below(note, 2)
