"""`search` and `browse`: documents for a query or hits of another engine in groups, and a collection in clusters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from doccluster.cli.console import (
    json_option,
    overwrite_option,
    plain,
    print_json,
    progress_shown,
    say,
    say_below,
    say_note,
    seed_option,
    threads_option,
)
from doccluster.cli.output import write_error, write_out
from doccluster.cli.source_options import language_option, reader_options, take_language, take_reader, typed_source
from doccluster.cli.verb import Gather, Verb, Whole, only
from doccluster.errors import DocclusterError, InputError

if TYPE_CHECKING:
    from doccluster.retrieval import GroupedHits
    from doccluster.retrieval.browsing import Browser

SHOWN = 3  # hits of a group in the terminal; --json has all
LISTED = 20
HELP = """\
  open 2          the parts of cluster 2 of a run; of any other cluster, its documents scattered
  gather 1 3      put the documents of clusters 1 and 3 together, and scatter them
  search WORDS    gather those of the documents shown that fit some words
  list 2          the documents of cluster 2 (list 2 40: from the fortieth)
  back            take back the last step
  show            the clusters again
  quit"""


run_encoder_option = click.option(
    "--encoder",
    metavar="NAME",
    help="What embeds queries in a run that was made with it. Without it search takes the one that the run names, if "
    "that runs no code and is on this machine, and browse goes by words.",
)
SOURCE: dict[str, Gather] = {"language": take_language, "reader": take_reader}


@click.command(
    "search",
    cls=Verb,
    gathers={**SOURCE, "settings": only("n_hits", "ranked_by", "max_groups", "within", "encoder")},
)
@click.argument("words", nargs=-1, metavar="QUERY SRC...")
@click.option(
    "--hits",
    metavar="FILE",
    help="Group these hits: JSON lines with title, snippet, url and rank, or an answer of Solr, Elasticsearch, "
    "OpenSearch or SearXNG, or a request to Carrot2.",
)
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
    help="How documents are ranked: bm25; neighbours: BM25, then the neighbours of the best; meaning: neighbours plus "
    "the embedding of the query (in a run with --encoder).",
)
@click.option(
    "--in",
    "within",
    metavar="CLUSTER",
    help="Search the documents of one cluster of a run alone: its number, or section:3 for one of another level.",
)
@click.option("--max-groups", type=Whole(min=1), default=10, show_default=True, help="The largest number of groups.")
@run_encoder_option
@language_option
@click.option("-o", "--output", metavar="FILE", help="Also write a page: groups on the left, hits on the right.")
@overwrite_option
@threads_option
@reader_options
@json_option
def search_command(
    words: tuple[str, ...],
    hits: str | None,
    output: str | None,
    overwrite: bool,
    language: str | list[str],
    reader: dict[str, Any],
    settings: dict[str, Any],
    n_threads: int | None,
    as_json: bool,
) -> None:
    """Find documents for QUERY in SRC (documents or the folder of a run), or take the hits of another engine.

    The best of them are put into groups with labels; hits that fit no group follow as "Other". The number in brackets
    is the place of a document by BM25 alone; above are the section and the topic of a run that it is in. With
    --hits give no SRC, only the query that found the hits, if you like.
    """
    from doccluster.base.paths import check_file
    from doccluster.retrieval import read_hits
    from doccluster.retrieval.grouping import cluster_search_results
    from doccluster.retrieval.searching import search

    if hits is not None and len(words) > 1:
        raise click.UsageError("with --hits give the query alone, in quotes if it has several words.")
    for flag, name in (("--encoder", "encoder"), ("--in", "within")):
        if hits is not None and settings[name] is not None:
            raise click.UsageError(f"{flag} is for the folder of a run, not for --hits.")
    if hits is None and len(words) < 2:
        raise click.UsageError("give a query (in quotes if it has several words) and a source, or --hits FILE.")
    if output is not None:
        # before the search, so that no work is lost over a name
        check_file(Path(output), overwrite=overwrite)
    with progress_shown(quiet=as_json) as progress:
        if hits is not None:
            grouped_hits = cluster_search_results(
                read_hits(hits),
                query=words[0] if words else "",
                max_groups=settings["max_groups"],
                language=language,
                n_threads=n_threads or 1,
            )
        else:
            source = words[1] if len(words) == 2 else typed_source(words[1:])
            grouped_hits = search(
                words[0],
                source,
                language=language,
                reader=reader,
                n_threads=n_threads,
                announce=say_note,
                progress=progress,
                **settings,
            )
    if output is not None:
        from doccluster.retrieval.searching import write_search_page

        write_search_page(grouped_hits, output)
    if as_json:
        print_json(grouped_hits.to_json())
    else:
        _print_groups(grouped_hits)
        if output is not None:
            say()
            say(f"  {output}")


def _print_groups(grouped_hits: GroupedHits) -> None:
    say(f"  {len(grouped_hits.hits):,} hits in {grouped_hits.groups_in_words}")
    for number, (label, documents) in enumerate(grouped_hits.named_groups):
        say()
        say(f"{number:>3}  {label}  ({len(documents)})")
        shown = [place for place in documents if place not in grouped_hits.copy_of][:SHOWN]
        above = ""
        for place in shown:
            path = " › ".join(grouped_hits.paths[place]) if grouped_hits.paths else ""
            if path != above:
                say_below(path, indent=5)
            above = path
            hit = grouped_hits.hits[place]
            by_words = grouped_hits.bm25_places[place] if grouped_hits.bm25_places else None
            by_bm25 = "" if by_words is None else f" [{by_words + 1}]"
            say(f"     {place + 1:>3}.{by_bm25} {hit.title or hit.snippet[:70] or hit.url or hit.id}")
        if len(documents) > len(shown):
            say(f"          and {len(documents) - len(shown)} more")


@click.command("browse", cls=Verb, gathers={**SOURCE, "settings": only("n_clusters", "n_threads", "encoder")})
@click.argument("sources", nargs=-1, required=True, metavar="RUN|SRC...")
@click.option(
    "--cards",
    "n_clusters",
    type=Whole(min=2, max=100),
    default=10,
    show_default=True,
    help="The number of clusters of a scatter.",
)
@click.option("--serve", is_flag=True, help="Browse in a web browser on this machine; Ctrl-C ends it.")
@click.option("--port", type=Whole(min=1, max=65535), help="With --serve: the port; any free one by default.")
@run_encoder_option
@seed_option
@language_option
@threads_option
@reader_options
def browse_command(
    sources: tuple[str, ...],
    random_state: int,
    serve: bool,
    port: int | None,
    language: str | list[str],
    reader: Mapping[str, object],
    settings: dict[str, Any],
) -> None:
    """Browse documents, or those of the folder of a run, without a query (Scatter/Gather).

    The collection is scattered into clusters, each shown with its label and three titles. Gather the clusters that look
    right: their documents are scattered again. A run with sections shows these first; open one for its parts. Type help
    for what else there is. Commands are read from standard input.
    """
    from doccluster.retrieval.browsing import open_browser

    if port is not None and not serve:
        raise click.UsageError("--port is for --serve.")
    with progress_shown() as progress:
        browser = open_browser(
            sources[0] if len(sources) == 1 else list(sources),
            seed=random_state,
            language=language,
            reader=reader,
            progress=progress,
            **settings,
        )
    if serve:
        from doccluster.retrieval.browse_server import BrowseServer

        with BrowseServer(browser, port or 0) as server:
            say(f"  {server.address}")
            sys.stdout.flush()
            server.serve_forever()
    _show(browser)
    for line in _lines():
        verb, _, words = line.strip().partition(" ")
        if verb in ("quit", "exit", "q"):
            return
        if not verb:
            continue
        if verb not in VERBS:
            write_error(f"there is no command {plain(verb[:40])!r}; type help for the commands.")
            continue
        # an error of one step is said, and the next line is read
        try:
            VERBS[verb](browser, words.strip())
            if verb not in ("list", "help"):
                _show(browser)
        except DocclusterError as error:
            write_error(plain(str(error)))


def _lines() -> Iterator[str]:
    """Yield what is typed, until there is no more."""
    asks = sys.stdin.isatty()
    while True:
        if asks:
            write_out("> ")
            sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            return
        yield line


def _show(browser: Browser) -> None:
    say()
    say(f"  {browser.n_documents:,} documents: {browser.path}")
    for card in browser.cards:
        say()
        size = ", ".join(filter(None, (f"{card.size:,}", card.name)))
        say(f"{card.number:>3}  {card.label or 'without words'}  ({size})")
        for title in card.titles:
            say(f"       {title}")


def _list(browser: Browser, words: str) -> None:
    numbers = _numbers(words)
    if len(numbers) not in (1, 2):
        raise InputError("list takes the number of one cluster, and the document to begin with", remedy="list 2 40")
    card = browser.card(numbers[0])
    first = numbers[1] if len(numbers) == 2 else 1
    rows = card.members[max(first - 1, 0) :][:LISTED].tolist()
    for place, row in enumerate(rows, max(first, 1)):
        own_id, name = browser.documents.ids[row], browser.documents.name(row)
        say(f"{place:>7}  {own_id}" + ("" if name == own_id else f"  {name}"))
    n_left = card.size - (max(first, 1) - 1) - len(rows)
    if n_left > 0:
        say(f"         and {n_left:,} more: list {card.number} {max(first, 1) + len(rows)}")


def _numbers(text: str) -> list[int]:
    words = text.replace(",", " ").split()
    wrong = [word for word in words if not (word.isascii() and word.isdigit() and len(word) < 10)]
    if wrong:
        raise InputError(f"{wrong[0][:40]!r} is not a number", remedy="give numbers with blanks between them")
    return [int(word) for word in words]


def _open(browser: Browser, words: str) -> None:
    numbers = _numbers(words)
    if len(numbers) != 1:
        raise InputError("open takes the number of one cluster", remedy="open 2")
    browser.open(numbers[0])


VERBS: dict[str, Callable[[Any, str], None]] = {
    "open": _open,
    "gather": lambda browser, words: browser.gather(_numbers(words)),
    "search": lambda browser, words: browser.search(words),
    "back": lambda browser, words: browser.back(),
    "show": lambda browser, words: None,
    "list": _list,
    "help": lambda browser, words: write_out(f"{HELP}\n"),
}
