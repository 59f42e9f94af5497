"""`compare`: which algorithm finds the classes best, over seeds and corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doccluster.base.text_table import Column
from doccluster.cli.console import (
    json_option,
    print_json,
    print_table,
    progress_shown,
    say,
    say_items,
    threads_option,
)
from doccluster.cli.run import encoder_option
from doccluster.cli.source_options import reader_options, vectorizer_options, with_source
from doccluster.cli.verb import (
    MEANING,
    SectionedOption,
    Verb,
    Whole,
    all_but,
    checked,
    measure_names,
    only,
)
from doccluster.lab.generate import source_vectors

if TYPE_CHECKING:
    import pandas as pd

    from doccluster.lab.comparison_result import Comparison

ENOUGH_SEEDS = 20
NEAR_ZERO = 0.05
MAX_TESTS = 24  # lines that are printed for a corpus; --json has all


def check_algorithm(text: str) -> None:
    """Raise InputError if an algorithm or one of its parameters is not known, or a factory gives no clusterer."""
    from doccluster.lab.clusterers import as_clusterers

    as_clusterers([text])


def compared_names(context: click.Context, option: click.Parameter, value: str | None) -> Any:
    """Return the names of known measures, also of some of their clusters as in coherence:largest, or the word all."""
    from doccluster.lab.comparison_result import asked_measures

    return measure_names(context, option, value, asked_measures)


BY_NAME = only("n_clusters", "output", "algorithms", "measures", "checkpoint", "n_threads", "encoder")


@click.command("compare", cls=Verb, gathers={"settings": with_source(BY_NAME)})
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option("-o", "--output", required=True, metavar="DIR", help="A folder for tables, LaTeX and figures.")
@click.option(
    "--truth",
    multiple=True,
    metavar="[SRC=]COLUMN",
    help="The label column, for all sources or one as SOURCE=COLUMN (may be repeated); a matrix has its own classes.",
)
@click.option(
    "-k",
    "--clusters",
    "n_clusters",
    type=Whole(min=1),
    help="The number of clusters; by default the number of classes.",
)
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    default=("spherical-k-means", "k-means"),
    show_default=True,
    callback=checked(check_algorithm),
    metavar="NAME",
    help="An algorithm (may be repeated); parameters as in spherical-k-means:n_init=1,refine=true; your own as "
    "module:name.",
)
@click.option(
    "--labels",
    multiple=True,
    metavar="[SRC=]FILE",
    help="Labels made by another program, in a file as for evaluate (may be repeated).",
)
@click.option(
    "--seeds", type=Whole(min=1), default=10, show_default=True, help="Run every algorithm with the seeds 0 to N-1."
)
@click.option(
    "--measures",
    callback=compared_names,
    metavar="NAMES",
    help="Compute and show these measures (separated by commas; coherence:largest is that of the largest cluster), "
    "or compute all.",
)
@click.option("--checkpoint", metavar="DIR", help="Keep finished runs in this folder, and continue from them.")
@reader_options
@vectorizer_options
@click.option(
    "--embeddings",
    cls=SectionedOption,
    section=MEANING,
    multiple=True,
    metavar="[SRC=]FILE",
    help="Embeddings of the documents, as for run (may be repeated).",
)
@encoder_option
@click.option(
    "--space",
    cls=SectionedOption,
    section=MEANING,
    type=click.Choice(["both", "words", "meaning"]),
    multiple=True,
    default=("both",),
    help="What to cluster by (default: both); with several, each algorithm runs on each. Measures use the words.",
)
@threads_option
@json_option
def compare_command(
    sources: tuple[str, ...],
    truth: tuple[str, ...],
    labels: tuple[str, ...],
    embeddings: tuple[str, ...],
    seeds: int,
    space: tuple[str, ...],
    settings: dict[str, Any],
    as_json: bool,
) -> None:
    """Compare algorithms over seeds and corpora: means with intervals, paired tests, time, measure agreement.

    Each SRC is one corpus. --algorithm module:name imports the module and calls the class or function, so name only
    code you trust.
    """
    from doccluster.lab.comparing import compare_sources

    # an option may be of one source, as SRC=VALUE, or of all
    truth_by_source = _by_source(truth, sources)
    if len(truth_by_source.get(None, ())) > 1:
        raise click.UsageError("several columns are given with --truth for all sources; write SRC=COLUMN.")
    files_by_source = _by_source(embeddings, sources)
    with progress_shown(quiet=as_json) as progress:
        comparison = compare_sources(
            sources,
            truth={source: columns[-1] for source, columns in truth_by_source.items()},
            labels=_by_source(labels, sources),
            embeddings={source: files[-1] for source, files in files_by_source.items()} or None,
            seeds=range(seeds),
            spaces=space,
            progress=progress,
            **settings,
        )
    if as_json:
        over_corpora = {"ranks": comparison.ranks(), "corpus_tests": comparison.corpus_tests()}
        print_json(
            {
                "corpora": comparison.corpora.to_dict("records"),
                "summary": comparison.summary().to_dict("records"),
                "tests": comparison.tests(comparison.shown).to_dict("records"),
                "agreement": comparison.agreement().to_dict("records"),
                "failures": comparison.failures.to_dict("records"),
                **{name: rows.to_dict("records") for name, rows in over_corpora.items() if len(rows)},
            }
        )
    else:
        print_comparison(comparison)
        say(f"  {settings['output']}: runs (csv), tables (csv, tex, md), and figures (svg)")


@click.group("benchmark", short_help="Compare algorithms on standard made corpora.")
def benchmark_command() -> None:
    """Compare algorithms on corpora that are made, so that the truth is known."""


def _numbers(kind: type) -> Callable[..., Any]:
    """Return a callback that makes numbers of a text with commas."""

    def parse(context: click.Context, option: click.Parameter, value: str | None) -> list[object] | None:
        try:
            return None if value is None else [kind(part) for part in value.split(",")]
        except ValueError as error:
            raise click.BadParameter(f"{value!r} is not numbers separated by commas.") from error

    return parse


NO_GRID = ("labels", "output", "write", "score", "like", "seeds", "as_json")


@benchmark_command.command("synthetic", cls=Verb, gathers={"settings": all_but(*NO_GRID)})
@click.argument("labels", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[LABELS]...")
@click.option("-o", "--output", metavar="DIR", help="A folder for tables and for what is done so far.")
@click.option("--write", metavar="DIR", help="Write the corpora for other programs, and compare nothing.")
@click.option("--score", metavar="DIR", help="Score LABELS of the corpora written to DIR: a folder for each program.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    default=("vmf-1", "sparse-vmf-1", "sharma-1"),
    show_default=True,
    metavar="NAME",
    help="A standard set (may be repeated).",
)
@click.option("--like", metavar="SRC", help="Also twins of this corpus, as `generate like` makes them; needs -k.")
@click.option("--kappa", callback=_numbers(float), metavar="X[,X...]", help="Concentrations in place of the set's.")
@click.option("-d", "n_terms", callback=_numbers(int), metavar="N[,N...]", help="Dimensions in place of the set's.")
@click.option("-k", "n_clusters", callback=_numbers(int), metavar="N[,N...]", help="Clusters in place of the set's.")
@click.option("-n", "n_documents", type=Whole(min=1), default=1000, show_default=True, help="Documents.")
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    default=("spherical-k-means", "smoothed", "k-means"),
    show_default=True,
    callback=checked(check_algorithm),
    metavar="NAME",
    help="An algorithm (may be repeated), as for compare.",
)
@click.option("--seeds", type=Whole(min=1), default=10, show_default=True, help="Corpora of each kind, seeds 0 to N-1.")
@threads_option
@json_option
def synthetic_command(
    labels: tuple[Path, ...],
    output: str | None,
    write: str | None,
    score: str | None,
    like: str | None,
    seeds: int,
    as_json: bool,
    settings: dict[str, Any],
) -> None:
    """A table of difficulty: kappa x dimensions x clusters, with means and intervals over seeds.

    Each seed draws corpora of its own. After Ctrl-C the same command goes on from what is in the folder. The oracle
    knows what the documents were drawn from: more cannot be had. --score DIR LABELS... judges labels that other
    programs gave the corpora of --write DIR; a file is called as its corpus, with one label on each line.
    """
    from doccluster.lab import synthetic_benchmark as benchmark
    from doccluster.lab.comparing import write_comparison

    if (output is None and write is None and score is None) or bool(labels) != (score is not None):
        raise click.UsageError("give -o DIR, --write DIR, or --score DIR LABELS... with a folder of labels.")
    with progress_shown(quiet=as_json) as progress:
        if write is not None:
            grid = {name: settings[name] for name in ("sets", "kappa", "n_terms", "n_clusters", "n_documents")}
            files = benchmark.write_cells(Path(write), benchmark.cells_of(**grid), range(seeds), progress=progress)
        elif score is not None:
            comparison = benchmark.score_labels(Path(score), labels)
        else:
            twin_of, fits = (
                None if like is None else source_vectors((like,), {}, "auto", {}),
                Path(str(output)) / "fits",
            )
            comparison = benchmark.benchmark_synthetic(
                **settings, like=twin_of, seeds=seeds, checkpoint=fits, progress=progress
            )
    if write is not None:
        print_json({"files": files.to_dict("records")}) if as_json else _print_files(files)
        return
    if output is not None:
        write_comparison(comparison, Path(output), figures=False)
    if as_json:
        tables = {name: getattr(comparison, name)() for name in ("summary", "tests", "ranks", "corpus_tests")}
        tables = {"corpora": comparison.corpora, **tables, "failures": comparison.failures}
        print_json({name: table.to_dict("records") for name, table in tables.items()})
        return
    _print_by_corpus(comparison)
    if output is not None:
        say(f"  {output}: runs (csv), tables (csv, tex, md); the fits, from which the same command goes on")


def _print_files(files: pd.DataFrame) -> None:
    """Print how many files of each set were written, and how many have the checksum that is kept."""
    for title, rows in files.groupby("set", sort=False):
        n_kept, n_same = (rows["kept"] != "").sum(), (rows["kept"] == rows["sha256"]).sum()
        standard = f"{n_same:,} of {n_kept:,} as in the standard" if n_kept else "no checksums are kept"
        say(f"  {title}: {len(rows):,} files, {standard}")


def _print_by_corpus(comparison: Comparison) -> None:
    """Print a table for each measure, with a line for each corpus and a column for each algorithm; then the tests."""
    from doccluster.lab.comparison_tables import title_of

    summary = comparison.summary()
    for number, measure in enumerate(comparison.shown):
        if number:
            say()
        rows = summary[summary["measure"] == measure]
        _print_by_algorithm(rows, "corpus", comparison.corpora["corpus"].tolist(), title_of(measure))
    _say_least_p(comparison.tests(), "seeds")
    _print_over_corpora(comparison)
    _print_failures(comparison)


def _print_by_algorithm(summary: pd.DataFrame, line: str, names: Sequence[str], title: str = "") -> None:
    """Print means with intervals: a line for each of the names in one column of a summary, a column per algorithm."""
    from doccluster.lab.comparison_tables import mean_and_interval, title_of

    columns = [Column(title, list(map(title_of, names)) if line == "measure" else names, "left")]
    for algorithm, group in summary.groupby("algorithm", sort=False):
        cells = group.set_index(line)[["mean", "low", "high"]].T.to_dict("list")
        shown = [mean_and_interval(*cells[name]) if name in cells else "-" for name in names]
        columns.append(Column(str(algorithm), shown))
    print_table(columns, has_rule=False, indent=2)


def _by_source(texts: Iterable[str], sources: Sequence[str]) -> dict[str | None, list[str]]:
    """Return the value for each source given as SRC=VALUE, and under None the one for all."""
    spellings = {name for source in sources for name in (source, Path(source).name, Path(source).stem)}
    by_source: dict[str | None, list[str]] = {}
    for text in texts:
        source = next((name for name in sorted(spellings, key=len, reverse=True) if text.startswith(f"{name}=")), None)
        by_source.setdefault(source, []).append(text if source is None else text[len(source) + 1 :])
    return by_source


def print_comparison(comparison: Comparison) -> None:
    """Print for each corpus what it is, the headline measures with intervals, the tests, the agreement of measures."""
    from doccluster.lab.comparison_result import headline

    summary, agreement, tests = comparison.summary(), comparison.agreement(), comparison.tests()
    for number, row in enumerate(comparison.corpora.to_dict("records")):
        if number:
            say()
        corpus = row["corpus"]
        _print_corpus(row)
        means = summary[summary["corpus"] == corpus]
        _print_by_algorithm(means, "measure", headline(means, comparison.measures))
        _print_tests(tests[tests["corpus"] == corpus])
        _print_agreement(agreement[agreement["corpus"] == corpus])
    _print_over_corpora(comparison)
    coherent = summary.loc[summary["measure"] == "coherence", "mean"]
    if len(coherent) and coherent.max() < NEAR_ZERO:
        say("  coherence (Sharma & Sharma) is near 0 on text, whatever the algorithm")
    _print_failures(comparison)


def _print_failures(comparison: Comparison) -> None:
    alike = ["corpus", "algorithm", "kind", "message"]
    for (corpus, algorithm, kind, message), group in comparison.failures.groupby(alike, sort=False):
        seeds = ", ".join(map(str, group["seed"]))
        say(f"  failed: {algorithm} on {corpus}, seed{'' if len(group) == 1 else 's'} {seeds}: {kind}: {message}")


def _print_corpus(row: Mapping[object, object]) -> None:
    column, columns = row.get("truth"), row.get("label_columns")
    truth = f"truth: {column}" if isinstance(column, str) else "no truth"
    columns_left = [name for name in columns.split(", ") if name != column] if isinstance(columns, str) else []
    hint = f" (there is also {', '.join(columns_left)})" if columns_left else ""
    size = f"{row['n_documents']:,} documents x {row['n_terms']:,} terms, k={row['n_clusters']}"
    meaning = row.get("meaning")
    second = f"; meaning: {meaning}; measures are of the words" if isinstance(meaning, str) else ""
    say(f"  {row['corpus']}: {size}; {truth}{hint}{second}")


def _print_over_corpora(comparison: Comparison) -> None:
    """Print mean ranks over corpora, Friedman's p, Nemenyi's critical difference, and paired tests over corpora."""
    from doccluster.lab.comparison_result import STATISTICS
    from doccluster.lab.comparison_tables import title_of

    ranks = comparison.ranks()
    if ranks.empty:
        return
    say()
    n_corpora = int(ranks["n_corpora"].max())
    say(f"  ranks over {n_corpora} corpora, 1 is best (p: Friedman; critical difference: Nemenyi)")
    columns = [Column("", [title_of(name) for name in ranks["measure"]], "left")]
    own = {name: name for name in ranks.columns[1 + len(STATISTICS) :]}
    for name, title in {**own, "critical_difference": "critical difference", "friedman_p": "p"}.items():
        digits = 3 if name == "friedman_p" else 2
        columns.append(Column(title, ["-" if rank != rank else f"{rank:.{digits}f}" for rank in ranks[name]]))
    print_table(columns, has_rule=False, indent=2)
    _print_tests(comparison.corpus_tests(), "corpora")


def _print_tests(tests: pd.DataFrame, pairs: str = "seeds") -> None:
    """Print the paired tests of measures of quality, corrected for their number, and the least p of this many pairs."""
    from doccluster.lab.comparison_tables import title_of

    if tests.empty:
        return
    least, most = int(tests["n"].min()), int(tests["n"].max())
    n_paired = f"{most}" if least == most else f"{least} to {most}"
    say()
    paired = " paired" if pairs == "seeds" else ""  # the line has no room for more
    say(f"  Wilcoxon tests, {n_paired} {pairs}{paired} (p after Holm; effect +1: first always better)")
    for measure, group in tests.head(MAX_TESTS).groupby("measure", sort=False):
        rows = group.to_dict("records")
        print_table(
            [
                Column(title_of(str(measure)), [str(row["first"]) for row in rows], "left", fit="wrap"),
                Column("against", [str(row["second"]) for row in rows], "left", fit="wrap"),
                Column("difference", [f"{row['mean_difference']:+.3f}" for row in rows]),
                Column("effect", [f"{row['effect']:+.2f}" for row in rows]),
                Column("p", [f"{row['p_holm']:.3f}" for row in rows]),
            ],
            has_rule=False,
            indent=2,
        )
    if len(tests) > MAX_TESTS:
        say(f"  and {len(tests) - MAX_TESTS} more with --json")
    _say_least_p(tests, pairs)


def _say_least_p(tests: pd.DataFrame, pairs: str) -> None:
    """Say what no test of this many pairs can show."""
    from doccluster.lab.comparison_result import SIGNIFICANT

    if tests.empty:
        return
    most = int(tests["n"].max())
    n_pairs = int(tests.groupby([name for name in ("corpus", "measure") if name in tests]).size().max())
    smallest = min(1.0, n_pairs * 2.0 ** (1 - most))  # all seeds agree, and Holm multiplies by the number of pairs
    if smallest >= SIGNIFICANT:
        of_pairs = "one pair" if n_pairs == 1 else f"{n_pairs} pairs"
        more = f"give --seeds {ENOUGH_SEEDS}" if pairs == "seeds" else "add corpora"
        say(f"  {most} {pairs} can show no p below {smallest:.3f} with {of_pairs} of algorithms; {more}")


def _print_agreement(agreement: pd.DataFrame) -> None:
    """Print which measures without truth rank the runs of a corpus most and least like adjusted Rand."""
    import pandas as pd

    from doccluster.lab.comparison_result import MIN_RUNS

    if agreement.empty:
        return
    ranked = agreement.dropna(subset="correlation")
    say()
    if ranked.empty:
        few = f"fewer than {MIN_RUNS} runs differ" if agreement["n"].max() < MIN_RUNS else "nothing varies"
        say(f"  no rank correlation with adjusted Rand: {few}")
        return
    say(f"  which measures rank these {int(ranked['n'].max())} runs as adjusted Rand does (Spearman)")
    ordered = ranked.sort_values("correlation", ascending=False)
    shown = ordered if len(ordered) <= 8 else pd.concat([ordered.head(5), ordered.tail(3)])
    say_items(f"{row.measure} {row.correlation:+.2f}" for row in shown.itertuples())
