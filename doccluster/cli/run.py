"""`run`, `demo`, `report` and `rerun`: a run, its page again, the same again."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import click

from doccluster.cli.console import (
    Command,
    json_option,
    options,
    overwrite_option,
    print_json,
    progress_shown,
    say,
    say_note,
    threads_option,
)
from doccluster.cli.source_options import (
    OptionSpec,
    made_options,
    parts_option,
    reader_options,
    take_source,
    typed_source,
    vectorizer_options,
)
from doccluster.cli.verb import (
    MEANING,
    Gather,
    SectionedOption,
    Verb,
    Whole,
    all_but,
    check_named_algorithm,
    check_size,
    checked,
    measure_names,
    number_of_clusters,
    only,
)
from doccluster.corpus.reader_options import SourceParameters
from doccluster.pipeline.run_settings import RunSettings

memory_option = click.option(
    "--max-memory",
    callback=checked(check_size),
    metavar="SIZE",
    help="The most memory that clustering may use, such as 2G.",
)
# how settings of a run are typed; what they say is written at the fields of `RunSettings`
letters_option = made_options(RunSettings, {"letters": OptionSpec()})
clustering_options = options(
    made_options(
        RunSettings,
        {
            "n_clusters": OptionSpec(
                option="-k/--clusters", callback=number_of_clusters, value="N", shows_default=True
            ),
            "granularity": OptionSpec(),
            "random_state": OptionSpec(option="--seed", shows_default=True),
        },
    ),
    click.option(
        "--quality",
        type=click.Choice(["fast", "default"]),
        help="fast: k-means refined by term counts. default: the same on vectors smoothed over nearest neighbours.",
    ),
    made_options(RunSettings, {"algorithm": OptionSpec(callback=checked(check_named_algorithm))}),
    memory_option,
    made_options(
        RunSettings,
        {
            "other": OptionSpec(),
            "fold_copies": OptionSpec(),
            "truth": OptionSpec(is_repeated=True, value="COLUMN"),
            "measures": OptionSpec(callback=measure_names, value="NAMES"),
            "n_threads": OptionSpec(option="--threads", is_number=True),
        },
    ),
)


map_option = click.option(
    "--map/--no-map",
    "with_map",
    default=None,
    help="Whether the report has a map of the documents. The default is yes up to 50,000 documents.",
)
texts_option = click.option(
    "--with-texts", is_flag=True, help="Put the whole text of each document into the report, to be read there."
)


def worker_options(of_scratch: str = "") -> Callable[[Command], Command]:
    """Return the options for workers; what a command does without them ends their help."""
    where = "Work on a Dask cluster: tcp://HOST:8786, or local:W for W processes of this machine."
    blocks = "Divide the documents into blocks in this folder, which all workers see."
    return options(
        click.option("--scheduler", metavar="ADDRESS", help=where),
        click.option("--scratch", metavar="DIR", help=f"{blocks}{of_scratch}"),
    )


block_options = options(
    worker_options(" Files far larger than --max-memory are divided without it."),
    click.option(
        "--checkpoint",
        type=Whole(min=1),
        metavar="N",
        help="Save progress every N iterations and resume from it (--overwrite starts anew). Implies blocks.",
    ),
)


embeddings_option = made_options(RunSettings, {"embeddings": OptionSpec(value="FILE")}, section=MEANING)


def _download(context: click.Context, _: click.Parameter, is_allowed: bool) -> None:
    name = context.params.get("encoder")
    if not is_allowed:
        return
    if name is None:
        raise click.UsageError("--allow-download downloads the model that --encoder names; give --encoder too.")
    from doccluster.vectors.encoders import fetch_model

    fetch_model(name)


encoder_option = options(
    made_options(RunSettings, {"encoder": OptionSpec(is_eager=True)}, section=MEANING),
    click.option(
        "--allow-download",
        cls=SectionedOption,
        section=MEANING,
        is_flag=True,
        expose_value=False,
        callback=_download,
        help="Download the model that --encoder names (minilm, onnx:OWNER/NAME, ...) from the Hugging Face Hub, unless "
        "it is on this machine. Nothing is downloaded without this.",
    ),
)
meaning_options = options(
    embeddings_option,
    encoder_option,
    made_options(RunSettings, {"space": OptionSpec(shows_default=True)}, section=MEANING),
)


def take_settings(typed: dict[str, Any]) -> dict[str, object]:
    """Take the settings of a run out of what was typed: the fields of `RunSettings`, and what stands for some."""
    settings = take_source(typed)
    max_memory = typed.pop("max_memory")
    settings["clustering"] = None if max_memory is None else {"max_memory": max_memory}
    names = ["quality", *(field.name for field in fields(RunSettings))]
    values = {name: typed.pop(name) for name in names if name in typed}
    return settings | {name: value for name, value in values.items() if value is not None}


# what `run` and `cluster` gather: the settings of the run, and the options on where it works and what it writes
RUN: dict[str, Gather] = {"settings": take_settings, "options": all_but("matrix", "sources", "output", "as_json")}


@click.command("run", cls=Verb, gathers=RUN)
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option(
    "-o", "--output", required=True, metavar="DIR", help="The folder to write, with tables, model and report."
)
@clustering_options
@letters_option
@block_options
@reader_options
@parts_option
@vectorizer_options
@meaning_options
@made_options(
    RunSettings,
    {"labels": OptionSpec(value="FILE"), "topics": OptionSpec(value="FILE"), "only_topics": OptionSpec()},
    section=MEANING,
)
@click.option(
    "--name-with",
    cls=SectionedOption,
    section=MEANING,
    metavar="COMMAND",
    help="Name the clusters by a program; see `doccluster label`.",
)
@made_options(
    RunSettings, {"apart_from": OptionSpec(is_repeated=True, value="COLUMN"), "levels": OptionSpec(shows_default=True)}
)
@overwrite_option
@click.option("--report/--no-report", default=True, help="Whether to write report.html (the default is yes).")
@texts_option
@click.option("--parquet", is_flag=True, help="Write the assignments as Parquet parts too.")
@json_option
def run_command(
    sources: tuple[str, ...], settings: Mapping[str, object], output: str, options: dict[str, Any], as_json: bool
) -> None:
    """Turn documents into clusters with names, explanations and scores, in one command.

    SRC is a folder, a table (csv, json lines, parquet), feeds, mail, an archive, a matrix (CLUTO, Matrix Market, npz),
    or - for standard input.
    """
    from doccluster.pipeline.model_names import ProgramNamer

    command = options.pop("name_with")
    with nullcontext() if command is None else closing(ProgramNamer(command)) as namer:
        execute(sources, {**settings, **options, "namer": namer, "output": Path(output)}, as_json=as_json)


def execute(sources: tuple[str, ...], arguments: dict[str, Any], *, as_json: bool) -> None:
    """Make the run that the options of a command describe, and print its first screen or its JSON."""
    from doccluster.cli._run_summary import print_run, run_as_json
    from doccluster.pipeline.main_line import run_pipeline
    from doccluster.pipeline.model_names import RunInterrupted

    interrupted = False
    with progress_shown(quiet=as_json) as progress:
        try:
            run = run_pipeline(
                typed_source(sources),
                **arguments,
                command=typed_command(),
                began=click.get_current_context().obj,
                announce=None if as_json else say_note,
                progress=progress,
            )
        except RunInterrupted as stopped:
            run, interrupted = stopped.run, True
    if as_json:
        print_json(run_as_json(run, arguments["output"]))
    else:
        print_run(run, arguments["output"])
    # the best partition so far is printed before the exit code says that it was stopped
    if interrupted:
        raise KeyboardInterrupt


def typed_command() -> str:
    """Return the command line as it can be typed again."""
    return shlex.join(["doccluster", *sys.argv[1:]])


def _picture_file(_context: click.Context, _option: click.Parameter, value: Any) -> Any:
    """Return a file, or a cluster and a file, as it was typed; the name has to end as a picture's does."""
    name = value[1] if isinstance(value, tuple) else value
    if name is not None and Path(name).suffix.lower() not in (".svg", ".png", ".pdf"):
        raise click.BadParameter(f"{name!r} is no picture; give a file name that ends in .svg, .png or .pdf.")
    return value


picture_options = options(
    click.option("--map-file", metavar="FILE", callback=_picture_file, help="Draw the map with names into FILE."),
    click.option(
        "--time-file",
        metavar="FILE",
        callback=_picture_file,
        help="Draw how common the largest clusters are in each year (month or day) into FILE.",
    ),
    click.option(
        "--timeline",
        nargs=2,
        type=(Whole(min=0), str),
        metavar="CLUSTER FILE",
        callback=_picture_file,
        help="Draw when the documents of a cluster appeared, with titles, into FILE.",
    ),
    click.option("--dark", is_flag=True, help="Draw pictures for a dark ground."),
)
PICTURES: dict[str, Gather] = {"pictures": only("map_file", "time_file", "timeline", "dark")}


@click.command("report", cls=Verb, gathers=PICTURES)
@click.argument("sources", nargs=-1, required=True, metavar="RUN_DIR|SRC...")
@click.option("-o", "--output", metavar="FILE", help="The file to write. The default is report.html in the run folder.")
@click.option(
    "--source",
    multiple=True,
    metavar="PATH",
    help="With --with-texts: where the documents of the run are now (may be repeated).",
)
@click.option("--labels", metavar="FILE", help="Report the clusters in this file of the documents in SRC, as run does.")
@map_option
@texts_option
@picture_options
@json_option
def report_command(
    sources: tuple[str, ...],
    output: str | None,
    source: tuple[str, ...],
    labels: str | None,
    with_map: bool | None,
    with_texts: bool,
    pictures: Mapping[str, Any],
    as_json: bool,
) -> None:
    """Write the report of a finished run again, from what is in its folder.

    With --with-texts the documents are read again from --source, or from where the run found them. With --labels the
    report is of clusters that another program found, and needs no run; `run --labels` has more options, and keeps the
    run. The options for pictures (.svg, .png or .pdf) write these instead; with --output the report too.
    """
    from doccluster.base.paths import check_file, new_file, usable_path
    from doccluster.pipeline.main_line import run_pipeline
    from doccluster.pipeline.repeating import texts_of_run
    from doccluster.report import write_report
    from doccluster.results.run_folder import load_run

    if labels is None and len(sources) > 1:
        raise click.UsageError("a report is of one run; give its folder alone, or --labels of these documents.")
    if labels is not None and with_texts:
        raise click.UsageError("--labels and --with-texts go together in `doccluster run`.")
    if source and not with_texts:
        raise click.UsageError("--source is where --with-texts finds the texts; give that too.")
    if labels is None and not usable_path(sources[0]).exists():
        load_run(sources[0])  # which says that there is none
    drawings = _drawings(**pictures)
    # without a run there is no folder to write into: the page lies where the command is typed
    path = Path(output or ("report.html" if labels else Path(sources[0]) / "report.html"))
    page = [] if drawings and output is None else [path]
    for file in (*page, *drawings):
        check_file(file, overwrite=True)
    with progress_shown(quiet=as_json) as progress:
        progress("read", 0)
        run = (
            load_run(sources[0])
            if labels is None
            else run_pipeline(typed_source(sources), labels=labels, progress=progress)
        )
        documents = typed_source(source) if source else None
        texts = texts_of_run(run, source=documents, announce=say_note) if with_texts else None
        progress("report", 0)
        for file in page:
            with new_file(file) as unfinished:
                write_report(run, unfinished, with_map=with_map, texts=texts)
        for file, draw in drawings.items():
            with new_file(file) as unfinished:
                draw(run, path=unfinished)
    if as_json:
        files = {"output": str(path) if page else None, "pictures": [str(file) for file in drawings]}
        print_json({**files, "n_documents": run.n_documents, "n_clusters": run.n_clusters})
        return
    for file in (*page, *drawings):
        say(str(file))


def _drawings(
    *, map_file: str | None, time_file: str | None, timeline: tuple[int, str] | None, dark: bool
) -> dict[Path, Callable[..., object]]:
    """Return the files of the pictures to draw, and for each a function that draws a run into a path."""
    if not map_file and not time_file and not timeline:
        if dark:
            raise click.UsageError("--dark is for pictures; give --map-file, --time-file or --timeline too.")
        return {}
    from doccluster.report import plots  # refused before a run is read: matplotlib may not be there

    drawings: dict[Path, Callable[..., object]] = {}
    if map_file:
        drawings[Path(map_file)] = partial(plots.document_map, is_dark=dark)
    if time_file:
        drawings[Path(time_file)] = partial(plots.over_time, is_dark=dark)
    if timeline:
        drawings[Path(timeline[1])] = partial(plots.timeline, cluster=timeline[0], is_dark=dark)
    return drawings


@click.command("rerun", cls=Verb, gathers={"settings": all_but("record", "source", "as_json")})
@click.argument("record", metavar="RUN.JSON")
@click.option(
    "--source",
    multiple=True,
    metavar="PATH",
    help="Where the documents are now (may be repeated); by default where the run found them, or beside RUN.JSON.",
)
@embeddings_option
@encoder_option
@made_options(RunSettings, {"labels": OptionSpec(value="FILE")}, section=MEANING)
@made_options(SourceParameters, {"labels_file": OptionSpec(), "max_expanded_size": OptionSpec()})
@memory_option
@click.option(
    "--keep-corrections",
    is_flag=True,
    help="Start from what `label` and `merge` changed: each such cluster is a topic, its documents are examples.",
)
@click.option("-o", "--output", metavar="DIR", help="Also write the new run to this folder.")
@overwrite_option
@threads_option
@json_option
def rerun_command(record: str, source: tuple[str, ...], settings: dict[str, Any], as_json: bool) -> None:
    """Repeat a run from its run.json. The exit code is 0 if every document has the same label, otherwise 1.

    What RUN.JSON names is read from this machine, and said. An address, a model that may run code (of --encoder) and a
    higher limit count only where you give them here. With --output, documents that are not those of RUN.JSON any more
    are written only where you give their --source; else the exit code is 1.
    """
    from doccluster.pipeline.repeating import repeat_run
    from doccluster.report.wording import counted

    with progress_shown(quiet=as_json) as progress:
        again = repeat_run(
            record,
            source=typed_source(source) if source else None,
            command=typed_command(),
            announce=say_note,
            progress=progress,
            **settings,
        )
    names = {topic.name for topic in again.corrections}
    corrected = [cluster for cluster in again.run.clusters if cluster.name in names]
    if as_json:
        rows = [{"cluster": cluster.cluster, "size": cluster.size, "label": cluster.label} for cluster in corrected]
        answer = {"same_labels": again.same_labels, "differences": again.differences, "output": again.output}
        print_json({**answer, "corrected": rows} if settings["keep_corrections"] else answer)
    else:
        what = "clusters" if settings["keep_corrections"] else "labels"
        verdict = f"the same {what}" if again.same_labels else f"other {what}"
        say(f"{verdict} for {again.run.n_documents:,} documents in {counted(again.run.n_clusters, 'cluster')}")
        for difference in again.differences:
            say(f"  {difference}")
        for cluster in corrected:
            say(f"  cluster {cluster.cluster}: {cluster.label}, {cluster.size:,} documents")
    if not again.same_labels or (settings["output"] is not None and again.output is None):
        # as `diff` and `cmp` do, so that a script can tell
        sys.exit(1)


@click.command("demo", cls=Verb)
@click.option(
    "-o", "--output", default="doccluster-demo", show_default=True, metavar="DIR", help="The folder to write."
)
@click.pass_context
def demo_command(ctx: click.Context, output: str) -> None:
    """Cluster 176 articles that come with doccluster into 32 stories, and write the report.

    The folder is written again if it holds an earlier run. The first time takes longer, since functions are compiled.
    """
    from doccluster.corpus.reading import sample_path

    sample = sample_path()
    words = [str(sample), "--output", output, "--clusters", "32", "--truth", "story", "--seed", "7"]
    say(f"$ doccluster run {shlex.join(words)}")
    run_command.main([*words, "--overwrite"], prog_name="doccluster run", standalone_mode=False, parent=ctx)
    shutil.copyfile(sample, Path(output) / sample.name)
    say()
    say(f"Open {Path(output) / 'report.html'} in a browser.")
    say(f"The articles are in {Path(output) / sample.name}.")
    say("Your own documents: doccluster run FOLDER --output out")
