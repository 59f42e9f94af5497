"""`run`, `report`, `rerun` and `demo`: a whole run, its page again, the same run again, and a first look."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from doccluster.cli.console import (
    Command,
    arguments_of,
    clusters_option,
    granularity_option,
    json_option,
    options,
    overwrite_option,
    print_json,
    progress_shown,
    say,
    seed_option,
    threads_option,
)
from doccluster.cli.output import write_error
from doccluster.cli.source_options import (
    language_argument,
    reader_arguments,
    reader_options,
    typed_source,
    vectorizer_arguments,
    vectorizer_options,
)
from doccluster.cli.values import Whole, check_named_algorithm, check_size, checked, measure_names
from doccluster.cli.verb import MEANING, SectionedOption, Verb

clustering_options = options(
    clusters_option,
    granularity_option,
    seed_option,
    click.option(
        "--quality",
        type=click.Choice(["fast", "default"]),
        help="fast: k-means refined by term counts. default: the same on vectors smoothed over nearest neighbours.",
    ),
    click.option(
        "--algorithm",
        callback=checked(check_named_algorithm),
        metavar="NAME",
        help="Instead of a quality, one of `doccluster algorithms`, with options such as smoothed:n_init=3. "
        "spherical-k-means is the algorithm of the papers.",
    ),
    click.option(
        "--max-memory",
        callback=checked(check_size),
        metavar="SIZE",
        help="The most memory that clustering may use, such as 2G.",
    ),
    click.option(
        "--other/--no-other",
        default=True,
        help="Without -k: show documents that fit no cluster as Other (the default), or put each into its "
        "nearest cluster.",
    ),
    click.option(
        "--fold-copies",
        is_flag=True,
        help="Cluster one document of each group of near-copies; the others get its cluster.",
    ),
    click.option(
        "--truth",
        multiple=True,
        metavar="COLUMN",
        help="Compare the clusters with the classes in this column (may be repeated).",
    ),
    click.option(
        "--measures",
        callback=measure_names,
        metavar="NAMES",
        help="Compute only these measures (separated by commas), or all.",
    ),
    threads_option,
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


def worker_options(of_scheduler: str = "", of_scratch: str = "") -> Callable[[Command], Command]:
    """Return the options for workers; what a command needs beside them ends their help."""
    where = "Work on a Dask cluster: tcp://HOST:8786, or local:W for W processes of this machine."
    blocks = "Divide the documents into blocks in this folder, which all workers see."
    return options(
        click.option("--scheduler", metavar="ADDRESS", help=f"{where}{of_scheduler}"),
        click.option("--scratch", metavar="DIR", help=f"{blocks}{of_scratch}"),
    )


block_options = options(
    worker_options(" Needs -k.", " Needs -k. Files far larger than --max-memory are divided without it."),
    click.option(
        "--checkpoint",
        type=Whole(min=1),
        metavar="N",
        help="Save progress every N iterations and resume from it (--overwrite starts anew). Implies blocks; needs -k.",
    ),
)


embeddings_option = click.option(
    "--embeddings",
    cls=SectionedOption,
    section=MEANING,
    metavar="FILE",
    help="Embeddings of the documents: .npy, .npz, Parquet or Arrow, one row per document in their order "
    "or with their ids; or a column of SRC with a list of numbers.",
)


def _download(context: click.Context, _: click.Parameter, is_allowed: bool) -> None:
    name = context.params.get("encoder")
    if not is_allowed:
        return
    if name is None:
        raise click.UsageError("--allow-download downloads the model that --encoder names; give --encoder too.")
    from doccluster.vectors.encoders import fetch_model

    fetch_model(name)


encoder_option = options(
    click.option(
        "--encoder",
        cls=SectionedOption,
        section=MEANING,
        is_eager=True,  # read before the option that downloads it
        metavar="NAME",
        help='Embed the texts: static (pip install "doccluster[meaning]"), minilm, or your own model: '
        "model2vec:DIR, onnx:DIR, sentence-transformers:DIR (which may run code).",
    ),
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
    click.option(
        "--space",
        cls=SectionedOption,
        section=MEANING,
        type=click.Choice(["both", "words", "meaning"]),
        default="both",
        help="What to cluster by (default: both). Labels and measures always use the words.",
    ),
)


@click.command("run", cls=Verb, short_help="Read, vectorize, cluster, evaluate and report in one command.")
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option(
    "-o", "--output", required=True, metavar="DIR", help="The folder to write, with tables, model and report."
)
@clustering_options
@block_options
@reader_options
@vectorizer_options
@meaning_options
@click.option(
    "--labels",
    cls=SectionedOption,
    section=MEANING,
    metavar="FILE",
    help="Name, explain and judge the clusters in this file instead: a table of ids and labels, or one label per line.",
)
@overwrite_option
@click.option("--report/--no-report", default=True, help="Whether to write report.html (the default is yes).")
@texts_option
@click.option("--parquet", is_flag=True, help="Write the assignments as Parquet parts too.")
@json_option
def run_command(sources: tuple[str, ...], **given: Any) -> None:
    """Turn documents into clusters with names, explanations and scores, in one command.

    SRC is a folder, a table (csv, json lines, parquet), feeds, mail, an archive, a matrix (CLUTO, Matrix Market, npz),
    or - for standard input.
    """
    execute(sources, given, reader=reader_arguments(given), vectorizer=vectorizer_arguments(given))


def execute(
    sources: tuple[str, ...], given: dict[str, Any], *, reader: dict[str, Any], vectorizer: dict[str, Any]
) -> None:
    """Make the run that the options of a command describe, and print what came of it."""
    from doccluster.cli.run_summary import print_run, run_as_json
    from doccluster.pipeline.main_line import RunInterrupted, run_pipeline

    interrupted = False
    with progress_shown(quiet=given["as_json"]) as progress:
        try:
            asked = arguments_of(run_pipeline, given) | {
                "reader": reader,
                "vectorizer": vectorizer,
                "language": language_argument(given) if "language" in given else "auto",
                "clustering": None if given["max_memory"] is None else {"max_memory": given["max_memory"]},
                "command": typed_command(),
                "began": click.get_current_context().obj,
                "announce": None if given["as_json"] else write_error,
                "progress": progress,
            }
            run = run_pipeline(typed_source(sources), **asked)
        except RunInterrupted as stopped:
            run, interrupted = stopped.run, True
    if given["as_json"]:
        print_json(run_as_json(run, Path(given["output"])))
    else:
        print_run(run, Path(given["output"]))
    if interrupted:
        raise KeyboardInterrupt


def typed_command() -> str:
    """Return the command line as it can be typed again."""
    return shlex.join(["doccluster", *sys.argv[1:]])


@click.command("report", cls=Verb, short_help="Write the report of a finished run again.")
@click.argument("sources", nargs=-1, required=True, metavar="RUN_DIR|SRC...")
@click.option("-o", "--output", metavar="FILE", help="The file to write. The default is report.html in the run folder.")
@click.option("--labels", metavar="FILE", help="Report the clusters in this file of the documents in SRC, as run does.")
@map_option
@texts_option
@json_option
def report_command(
    sources: tuple[str, ...],
    output: str | None,
    labels: str | None,
    with_map: bool | None,
    with_texts: bool,
    as_json: bool,
) -> None:
    """Write the report of a finished run again, from what is in its folder.

    With --with-texts the documents are read again from where the run found them. With --labels the report is of
    clusters that another program found, and needs no run; `run --labels` has more options, and keeps the run.
    """
    from doccluster.base.new_folder import check_file, new_file
    from doccluster.pipeline.main_line import run_pipeline
    from doccluster.pipeline.repeating import texts_of_run
    from doccluster.report import write_report
    from doccluster.results.run_folder import load_run

    if labels is None and len(sources) > 1:
        raise click.UsageError("a report is of one run; give its folder alone, or --labels of these documents.")
    if labels is not None and with_texts:
        raise click.UsageError("--labels and --with-texts go together in `doccluster run`.")
    path = Path(output or ("report.html" if labels else Path(sources[0]) / "report.html"))
    check_file(path, overwrite=True)
    with progress_shown(quiet=as_json) as progress:
        run = (
            load_run(sources[0])
            if labels is None
            else run_pipeline(typed_source(sources), labels=labels, progress=progress)
        )
    texts = texts_of_run(sources[0], run) if with_texts else None
    with new_file(path) as unfinished:
        write_report(run, unfinished, with_map=with_map, texts=texts)
    if as_json:
        print_json({"output": str(path), "n_documents": run.n_documents, "n_clusters": run.n_clusters})
    else:
        say(str(path))


@click.command("rerun", cls=Verb, short_help="Repeat a run from its run.json and report what differs.")
@click.argument("record", metavar="RUN.JSON")
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="PATH",
    help="Where the documents are now (may be repeated); by default where the run found them, or beside RUN.JSON.",
)
@click.option("-o", "--output", metavar="DIR", help="Also write the new run to this folder.")
@overwrite_option
@threads_option
@json_option
def rerun_command(record: str, sources: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Repeat a run from its run.json. The exit code is 0 if every document has the same label, otherwise 1."""
    from doccluster.pipeline.repeating import repeat_run

    with progress_shown(quiet=as_json) as progress:
        source = typed_source(sources) if sources else None
        asked = arguments_of(repeat_run, given) | {"source": source, "command": typed_command(), "progress": progress}
        again = repeat_run(record, **asked)
    if as_json:
        print_json({"same_labels": again.same_labels, "differences": again.differences, "output": given["output"]})
    else:
        verdict = "the same labels" if again.same_labels else "other labels"
        say(f"{verdict} for {again.run.n_documents:,} documents in {again.run.n_clusters} clusters")
        for difference in again.differences:
            say(f"  {difference}")
    if not again.same_labels:
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
    from doccluster.corpus.sample import sample_path

    sample = sample_path()
    words = [str(sample), "--output", output, "--clusters", "32", "--truth", "story", "--seed", "7"]
    say(f"$ doccluster run {shlex.join(words)}")
    run_command.main([*words, "--overwrite"], prog_name="doccluster run", standalone_mode=False, obj=ctx.obj)
    shutil.copyfile(sample, Path(output) / sample.name)
    say()
    say(f"Open {Path(output) / 'report.html'} in a browser.")
    say(f"The articles are in {Path(output) / sample.name}.")
    say("Your own documents: doccluster run FOLDER --output out")
