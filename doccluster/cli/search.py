"""`search`: documents for a query, or the results of another engine, in groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doccluster.cli.console import (
    arguments_of,
    json_option,
    overwrite_option,
    print_json,
    progress_shown,
    say,
    threads_option,
)
from doccluster.cli.source_options import language_argument, language_option, reader_arguments, reader_options
from doccluster.cli.values import Whole
from doccluster.cli.verb import Verb

if TYPE_CHECKING:
    from doccluster.retrieval import GroupedHits

SHOWN = 3  # hits of a group in the terminal; --json has all


@click.command("search", cls=Verb, short_help="Find documents, or read search results, in groups.")
@click.argument("words", nargs=-1, metavar="QUERY SRC...")
@click.option("--hits", metavar="FILE", help="Group these hits: JSON lines with title, snippet, url and rank.")
@click.option(
    "--top",
    "n_hits",
    type=Whole(min=1),
    default=100,
    show_default=True,
    help="How many of the best documents to group.",
)
@click.option(
    "--rank",
    "ranked_by",
    type=click.Choice(["neighbours", "bm25", "meaning"]),
    default="neighbours",
    show_default=True,
    help="How documents are ranked: by BM25 and the neighbours among the best, by BM25 alone, or by the first and what "
    "the query means (in a run with --encoder).",
)
@click.option("--max-groups", type=Whole(min=1), default=10, show_default=True, help="The most groups.")
@language_option
@click.option("-o", "--output", metavar="FILE", help="Also write a page: groups on the left, hits on the right.")
@overwrite_option
@threads_option
@reader_options
@json_option
def search_command(words: tuple[str, ...], as_json: bool, output: str | None, overwrite: bool, **given: Any) -> None:
    """Find documents for QUERY in SRC (documents or the folder of a run), or take the hits of another engine.

    The best of them are put into groups with labels; hits that fit no group follow as "Other". The number in brackets
    is the place of a document by BM25 alone. With --hits the one argument, if there is one, is the query the hits were
    found by.
    """
    from doccluster.artifacts.new_folder import check_file

    if output is not None:
        check_file(Path(output), overwrite=overwrite)
    with progress_shown(quiet=as_json) as progress:
        found = _found(words, given, progress)
    if output is not None:
        from doccluster.report.page import write_search_page

        write_search_page(found, output)
    if as_json:
        print_json(found.to_json())
    else:
        _print_groups(found)
        if output is not None:
            say()
            say(f"  {output}")


def _found(words: tuple[str, ...], given: dict[str, Any], progress: Any) -> GroupedHits:
    from doccluster.pipeline.grouping_hits import cluster_search_results
    from doccluster.pipeline.searching import search
    from doccluster.retrieval import read_hits

    if given["hits"] is not None:
        if len(words) > 1:
            raise click.UsageError("with --hits give the query alone, in quotes if it has several words.")
        asked = arguments_of(cluster_search_results, given) | {"language": language_argument(given)}
        asked |= {"hits": read_hits(given["hits"]), "n_threads": given["n_threads"] or 1}
        return cluster_search_results(**asked, query=words[0] if words else "")
    if len(words) < 2:
        raise click.UsageError("give a query (in quotes if it has several words) and a source, or --hits FILE.")
    source = words[1] if len(words) == 2 else [Path(word) for word in words[1:]]
    asked = arguments_of(search, given) | {"language": language_argument(given), "reader": reader_arguments(given)}
    return search(words[0], source, **asked, progress=progress)


def _print_groups(found: GroupedHits) -> None:
    say(f"  {len(found.hits):,} hits, {len(found.groups)} groups")
    for number, (label, documents) in enumerate(found.named_groups):
        say()
        say(f"{number:>3}  {label}  ({len(documents)})")
        shown = [place for place in documents if place not in found.copy_of][:SHOWN]
        for place in shown:
            hit = found.hits[place]
            by_words = found.bm25_places[place] if found.bm25_places else None
            by_bm25 = "" if by_words is None else f" [{by_words + 1}]"
            say(f"     {place + 1:>3}.{by_bm25} {hit.title or hit.snippet[:70] or hit.url or hit.id}")
        if len(documents) > len(shown):
            say(f"          and {len(documents) - len(shown)} more")
