"""`tendency`: whether there are clusters at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from doccluster.base.parameter_fields import described_by
from doccluster.base.progress import Progress, silent
from doccluster.base.text_table import Column
from doccluster.cli.choose_command import GATHERS, seed_setting, threads_setting
from doccluster.cli.console import json_option, print_json, print_table, progress_shown, say, say_below
from doccluster.cli.source_options import reader_options, typed_source, vectorizer_options
from doccluster.cli.verb import Verb, Whole
from doccluster.lab.tendency_tests import Tendency, tendency
from doccluster.pipeline.in_process import Stages
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.vectorizing import vectorizer_options as checked_options


@described_by(RunSettings)
def tendency_of(
    source: object,
    *,
    max_documents: int = 1000,
    random_state: int | None = 0,
    reader: Mapping[str, object] | None = None,
    language: str | Sequence[str] = "auto",
    vectorizer: object = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> list[Tendency]:
    """Return three tests of whether the documents of a source have clusters at all.

    Parameters
    ----------
    source : path, paths, Corpus, DataFrame, texts, or a matrix file
    max_documents
        As for `doccluster.tendency`.
    """
    options = checked_options(vectorizer)
    settings = RunSettings(reader=reader, language=language, vectorizer=options, space="words", n_threads=n_threads)
    vectors = Stages(settings, progress=progress).prepare(source).vectors
    return tendency(vectors, max_documents=max_documents, random_state=random_state, progress=progress)


@click.command("tendency", cls=Verb, gathers=GATHERS)
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option(
    "--sample",
    "max_documents",
    type=Whole(min=4),
    default=1000,
    show_default=True,
    metavar="N",
    help="Use a random sample of N documents.",
)
@seed_setting
@reader_options
@vectorizer_options
@threads_setting
@json_option
def tendency_command(sources: tuple[str, ...], settings: dict[str, Any], as_json: bool) -> None:
    """Test whether documents have clusters at all, each test against data without clusters (Zaki & Meira, 17.3.2).

    A small p says that data without clusters seldom reach the value of these documents.
    """
    with progress_shown(quiet=as_json) as progress:
        tests = tendency_of(typed_source(sources), progress=progress, **settings)
    if as_json:
        names = ("name", "mean", "sd", "null_mean", "null_interval", "p_value", "note")
        print_json([{name: getattr(test, name) for name in names} for test in tests])
        return
    meanings = {
        "hopkins": "how much farther random points lie from documents than documents do",
        "distance_kl": "how far the distances of pairs differ, in bits",
        "spatial_kl": "how unevenly documents fill two latent dimensions, in bits",
    }
    columns = [
        Column("test", [test.name for test in tests], "left"),
        Column("value", [f"{test.mean:.3f}" for test in tests]),
        # the interval in which the value falls for data without clusters
        Column("no clusters", ["{:.3f} to {:.3f}".format(*test.null_interval) for test in tests]),
        Column("p", [f"{test.p_value:.3f}" for test in tests]),
        Column("what it says", [meanings[test.name] for test in tests], "left", fit="wrap"),
    ]
    print_table(columns, has_rule=False, indent=2)
    say()
    for test in tests:
        say_below(f"{test.name}: {test.note}", 2)
