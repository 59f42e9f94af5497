"""`generate`: generated corpora with a known truth, as files that the other commands read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doccluster.base.paths import usable_path
from doccluster.base.progress import Progress, silent
from doccluster.cli.console import (
    json_option,
    options,
    overwrite_option,
    print_json,
    progress_shown,
    say,
    say_fact,
    seed_option,
    stage_shown,
    threads_option,
)
from doccluster.cli.source_options import reader_options, take_source, typed_source, vectorizer_options
from doccluster.cli.verb import Verb, Whole, all_but
from doccluster.errors import InputError

if TYPE_CHECKING:
    from doccluster.vectors import DocumentVectors


@click.group("generate", short_help="Make a synthetic corpus with a known truth.")
def generate_command() -> None:
    """Make a synthetic corpus with a known truth, and write all parameters to corpus.toml next to it.

    The same seed gives the same bytes, whatever the number of threads.
    """


def _output(default: str, endings: str, *, in_threads: bool = True) -> Callable[..., Any]:
    """Return the options that every kind has, and --threads for those that work in threads."""
    return options(
        click.option("-o", "--output", default=default, show_default=True, metavar="FILE", help=f"Ends in {endings}."),
        seed_option,
        overwrite_option,
        *((threads_option,) if in_threads else ()),
        json_option,
    )


def _count(flag: str, name: str, default: int | None, text: str) -> Callable[..., Any]:
    return click.option(flag, name, type=Whole(min=1), default=default, show_default=default is not None, help=text)


def _number(flag: str, default: float | None, text: str) -> Callable[..., Any]:
    return click.option(flag, type=float, default=default, show_default=default is not None, help=text)


def _place(output: str, overwrite: bool, endings: tuple[str, ...]) -> Path:
    """Return the path to write; a name that no new file can have is refused before any work."""
    place = usable_path(output)
    if not any(place.name.endswith(ending) and place.name != ending for ending in endings):
        raise InputError(f"{place} does not end in {' or '.join(endings)}", remedy="choose a name that does")
    if place.is_dir():
        raise InputError(f"{place} is a folder", remedy="choose another name")
    if place.exists() and not overwrite:
        raise InputError(f"{place} exists", remedy="choose another name, or give --overwrite")
    return place


def _numbers(_context: click.Context, _option: click.Parameter, value: str | None) -> float | list[float] | None:
    if value is None:
        return None
    try:
        numbers = [float(part) for part in value.split(",")]
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not a number, or numbers separated by commas.") from error
    return numbers[0] if len(numbers) == 1 else numbers


def _finish(files: Iterable[Path], parameters: Any, as_json: bool) -> None:
    if as_json:
        print_json({"files": [str(path) for path in files], "parameters": parameters})
        return
    shape = f"{parameters['n_documents']:,} documents"
    groups = "topics" if parameters["kind"] in ("zipf", "long-documents") else "clusters"
    if groups == "clusters":
        shape += f" x {parameters['n_terms']:,} terms"
    clusters = parameters[f"n_{groups}"]
    if parameters["kind"] == "sparse-vmf":
        shape += f" ({parameters['terms_per_document']:,} in each)"
    say(f"  {parameters['kind']}  {shape}, {clusters:,} {groups}")
    if parameters["kind"] == "like":
        # a twin is judged by how near its documents are, beside those of its source
        of_twin, of_source = (
            [parameters[f"cosine_{place}{end}"] for place in ("within", "between")] for end in ("", "_of_source")
        )
        cosines = "mean cosine of two documents {:.3f} in one cluster, {:.3f} in different ones"
        say_fact("twin", cosines.format(*of_twin))
        say_fact("source", cosines.format(*of_source))
    for path in files:
        say(f"  {path}")


# all but where to write are parameters of the corpus
PARAMETERS = {"parameters": all_but("output", "overwrite", "n_threads", "as_json")}


@generate_command.command("vmf", cls=Verb, gathers=PARAMETERS)
@_count("-n", "n_documents", 1000, "Documents.")
@_count("-d", "n_terms", 100, "Dimensions, 2 to 100,000.")
@_count("-k", "n_clusters", 5, "Clusters.")
@click.option(
    "--kappa", callback=_numbers, default="50", show_default=True, metavar="X[,X...]", help="Concentrations, 0 to 1e7."
)
@_number("--separation", None, "Cosine between any two mean directions. By default the directions are independent.")
@click.option("--weights", callback=_numbers, metavar="X,X...", help="Shares of the clusters, which sum to one.")
@_output("corpus.npy", ".npy (written block by block) or .npz")
def vmf_command(output: str, overwrite: bool, n_threads: int | None, as_json: bool, parameters: dict[str, Any]) -> None:
    """Dense unit rows of a mixture of von Mises-Fisher distributions."""
    from doccluster.lab.synthetic import plan_vmf_mixture, write_vectors, write_vmf_mixture

    place = _place(output, overwrite, (".npy", ".npz"))
    with progress_shown(quiet=as_json) as progress:
        progress("draw", 0)
        mixture = plan_vmf_mixture(**parameters)
        if place.name.endswith(".npz"):
            files = write_vectors(place, mixture.draw(n_threads=n_threads))
        else:
            files = write_vmf_mixture(place, mixture, n_threads=n_threads, progress=progress)
    _finish(files, mixture.parameters, as_json)


@generate_command.command("sparse-vmf", cls=Verb, gathers=PARAMETERS)
@_count("-n", "n_documents", 1000, "Documents.")
@_count("-d", "n_terms", 20_000, "Terms.")
@_count("-k", "n_clusters", 10, "Clusters.")
@_number("--mean-resultant-length", 0.3, "Length of the mean of a cluster's rows.")
@_count("--terms-per-document", "terms_per_document", None, "Terms of each document. The default is at most 100.")
@_number("--separation", 0.1, "Cosine between any two cluster means.")
@_number("--background", 0.3, "Share of a document's terms that all clusters share.")
@click.option("--weights", callback=_numbers, metavar="X,X...", help="Shares of the clusters, which sum to one.")
@_output("corpus.npz", ".npz or .mtx")
def sparse_vmf_command(
    output: str, overwrite: bool, n_threads: int | None, as_json: bool, parameters: dict[str, Any]
) -> None:
    """Sparse non-negative unit rows around sparse mean directions."""
    from doccluster.lab.synthetic import make_sparse_vmf, write_vectors

    place = _place(output, overwrite, (".npz", ".mtx"))
    with stage_shown("draw", quiet=as_json):
        vectors = make_sparse_vmf(**parameters, n_threads=n_threads)
        files = write_vectors(place, vectors)
    _finish(files, vectors.parameters, as_json)


@generate_command.command("sharma", cls=Verb, gathers=PARAMETERS)
@_count("-k", "n_clusters", 5, "Clusters.")
@_number("--overlap", 0.3, "gamma: overlap columns are twice this share of the documents.")
@_number("--alpha", 0.4, "Subtracted from the values of block columns.")
@_number("--beta", 0.3, "Subtracted from the values of overlap columns.")
@_number("--sigma", 1 / 6, "Standard deviation of the values before they are cut to 0..1.")
@click.option(
    "--structure",
    type=click.Choice(["block", "dense"]),
    default="block",
    show_default=True,
    help="Values in blocks, or everywhere as in the paper.",
)
@_count("--scale", "scale", 1, "Multiply 4 documents and 10 terms per cluster by this.")
@_output("corpus.npz", ".npz or .mtx", in_threads=False)
def sharma_command(output: str, overwrite: bool, as_json: bool, parameters: dict[str, Any]) -> None:
    """The matrices of Algorithm 1 of Sharma and Sharma."""
    from doccluster.lab.synthetic import make_sharma, write_vectors

    place = _place(output, overwrite, (".npz", ".mtx"))
    with stage_shown("draw", quiet=as_json):
        vectors = make_sharma(**parameters)
        files = write_vectors(place, vectors)
    _finish(files, vectors.parameters, as_json)


@generate_command.command("zipf", cls=Verb, gathers=PARAMETERS)
@_count("-n", "n_documents", 10_000, "Documents.")
@_count("-k", "n_topics", 20, "Topics.")
@_count("--stories", "n_stories", None, "Stories. The default is one for 50 documents, at most 5000.")
@_count("--vocabulary", "n_terms", 50_000, "Words.")
@_number("--overlap", 0.2, "Share of the topics' words that all topics have in common.")
@_number("--background", 0.4, "Share of words of no topic.")
@_number("--story-share", 0.3, "Share of words of the story.")
@_count("--median-length", "median_length", 120, "The number of words in a document (the median).")
@_number("--near-duplicates", 0.05, "Share of documents that repeat an earlier one with small edits.")
@_number("--days", 365.0, "Length of the period in days.")
@_output("corpus.jsonl.gz", ".jsonl or .jsonl.gz")
def zipf_command(
    output: str, overwrite: bool, n_threads: int | None, as_json: bool, parameters: dict[str, Any]
) -> None:
    """Documents of invented words: topics, stories that come and go, near-duplicates."""
    from doccluster.lab.synthetic import plan_zipf, write_zipf

    place = _place(output, overwrite, (".jsonl", ".jsonl.gz"))
    with progress_shown(quiet=as_json) as progress:
        progress("draw", 0)
        corpus = plan_zipf(**parameters)
        files = write_zipf(place, corpus, n_threads=n_threads, progress=progress)
    _finish(files, corpus.parameters, as_json)


@generate_command.command("long-documents", cls=Verb, gathers=PARAMETERS)
@_count("-n", "n_documents", 40, "Documents.")
@_count("-k", "n_topics", 6, "Topics.")
@_count("--words", "n_words", 1_500, "Words of a document, about.")
@_output("long.jsonl", ".jsonl", in_threads=False)
def long_documents_command(output: str, overwrite: bool, as_json: bool, parameters: dict[str, Any]) -> None:
    """Long documents of invented words, and beside them what share of each is on which topic."""
    from doccluster.lab.synthetic import make_long_documents
    from doccluster.lab.synthetic.files import write_long_documents

    place = _place(output, overwrite, (".jsonl",))
    with stage_shown("draw", quiet=as_json):
        made = make_long_documents(**parameters)
        files = write_long_documents(place, made)
    _finish(files, made.parameters, as_json)


@generate_command.command("like", cls=Verb, gathers={"reading": take_source})
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@click.option(
    "-k",
    "--clusters",
    "n_clusters",
    type=Whole(min=1),
    required=True,
    help="The number of clusters that the source is divided into.",
)
@_count("-n", "n_documents", None, "Documents. The default is as many as in the source.")
@reader_options
@vectorizer_options
@_output("corpus.npz", ".npz or .mtx")
def like_command(
    sources: tuple[str, ...],
    n_clusters: int,
    n_documents: int | None,
    output: str,
    random_state: int,
    overwrite: bool,
    n_threads: int | None,
    as_json: bool,
    reading: dict[str, Any],
) -> None:
    """A sparse corpus with known truth that resembles SRC (texts, or a matrix file)."""
    from doccluster.lab.synthetic import SyntheticVectors, make_twin, write_vectors

    place = _place(output, overwrite, (".npz", ".mtx"))
    with progress_shown(quiet=as_json) as progress:
        vectors = source_vectors(sources, **reading, progress=progress)
        progress("draw", 0)
        twin = make_twin(vectors, n_clusters, n_documents=n_documents, random_state=random_state, n_threads=n_threads)
        chosen = {**reading["reader"], **reading["vectorizer"], "language": reading["language"]}
        record = {"source": list(sources), "options": [f"{name}={value}" for name, value in chosen.items()]}
        twin = SyntheticVectors(twin.vectors, twin.truth, {**twin.parameters, **record})
        files = write_vectors(place, twin)
    _finish(files, twin.parameters, as_json)


def source_vectors(
    sources: tuple[str, ...],
    reader: dict[str, Any],
    language: str | list[str],
    vectorizer: dict[str, Any],
    *,
    progress: Progress = silent,
) -> DocumentVectors:
    """Return the vectors of a matrix file or of texts."""
    from doccluster.corpus import read_corpus
    from doccluster.pipeline.sources import Source
    from doccluster.vectors import read_matrix, vectorize

    progress("read", 0)
    source = Source(typed_source(sources), reader)
    if source.is_matrix:
        weighting = vectorizer.get("weighting", "tfidf")
        names = {name: reader[name] for name in ("classes", "terms") if name in reader}
        return read_matrix(source.matrix, weighting=weighting, drop_empty_columns=True, **names)[0]
    corpus = read_corpus(source.files or source.given, **reader, progress=progress)
    progress("vectorize", 0)
    return vectorize(corpus, language=language, **vectorizer)
