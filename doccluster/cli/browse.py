"""`browse`: a collection in clusters on the terminal; choose some, look into them, go back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from doccluster.cli.console import arguments_of, plain, progress_shown, say, seed_option, threads_option
from doccluster.cli.output import write_error, write_out
from doccluster.cli.source_options import language_argument, language_option, reader_arguments, reader_options
from doccluster.cli.values import Whole
from doccluster.cli.verb import Verb
from doccluster.errors import DocclusterError, InputError

if TYPE_CHECKING:
    from doccluster.pipeline.browsing import Browser

LISTED = 20
HELP = """\
  gather 1 3      put the documents of clusters 1 and 3 together, and scatter them
  search WORDS    gather those of the documents shown that fit some words
  list 2          the documents of cluster 2 (list 2 40: from the fortieth)
  back            take back the last step
  show            the clusters again
  quit"""


@click.command("browse", cls=Verb, short_help="Browse a collection: scatter, gather, scatter again.")
@click.argument("sources", nargs=-1, required=True, metavar="RUN|SRC...")
@click.option(
    "--cards",
    "n_clusters",
    type=Whole(min=2, max=100),
    default=10,
    show_default=True,
    help="How many clusters a scatter makes.",
)
@click.option("--serve", is_flag=True, help="Browse in a web browser on this machine; Ctrl-C ends it.")
@click.option("--port", type=Whole(min=1, max=65535), help="With --serve: the port; any free one by default.")
@seed_option
@language_option
@threads_option
@reader_options
def browse_command(sources: tuple[str, ...], serve: bool, port: int | None, **given: Any) -> None:
    """Browse documents, or those of the folder of a run, without a query (Scatter/Gather).

    The collection is scattered into clusters, each shown with its label and three titles. Gather the clusters that look
    right: their documents are scattered again. Type help for what else there is. Commands are read from standard input.
    """
    from doccluster.pipeline.browsing import open_browser

    if port is not None and not serve:
        raise click.UsageError("--port is for --serve.")
    with progress_shown() as progress:
        asked = {"language": language_argument(given), "reader": reader_arguments(given), "progress": progress}
        source = sources[0] if len(sources) == 1 else list(sources)
        browser = open_browser(source, seed=given["random_state"], **(arguments_of(open_browser, given) | asked))
    if serve:
        _serve(browser, port or 0)
        return
    _show(browser)
    for line in _lines():
        verb, _, rest = line.strip().partition(" ")
        if verb in ("quit", "exit", "q"):
            return
        if not verb:
            continue
        if verb not in VERBS:
            write_error(f"there is no command {plain(verb[:40])!r}; type help for the commands.")
            continue
        try:
            VERBS[verb](browser, rest.strip())
        except DocclusterError as error:
            write_error(plain(str(error)))


def _serve(browser: Browser, port: int) -> None:
    from doccluster.cli.browse_server import BrowseServer

    with BrowseServer(browser, port) as server:
        say(f"  {server.address}")
        sys.stdout.flush()
        server.serve_forever()


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
        say(f"{card.number:>3}  {card.label or 'without words'}  ({card.size:,})")
        for title in card.titles:
            say(f"       {title}")


def _gather(browser: Browser, rest: str) -> None:
    browser.gather(_numbers(rest))
    _show(browser)


def _search(browser: Browser, rest: str) -> None:
    browser.search(rest)
    _show(browser)


def _back(browser: Browser, rest: str) -> None:
    browser.back()
    _show(browser)


def _list(browser: Browser, rest: str) -> None:
    numbers = _numbers(rest)
    if len(numbers) not in (1, 2):
        raise InputError("list takes the number of one cluster, and the document to begin with", remedy="list 2 40")
    card = browser.card(numbers[0])
    first = numbers[1] if len(numbers) == 2 else 1
    rows = card.members[max(first - 1, 0) :][:LISTED].tolist()
    for place, row in enumerate(rows, max(first, 1)):
        own_id, name = browser.documents.ids[row], browser.documents.name(row)
        say(f"{place:>7}  {own_id}" + ("" if name == own_id else f"  {name}"))
    left = card.size - (max(first, 1) - 1) - len(rows)
    if left > 0:
        say(f"         and {left:,} more: list {card.number} {max(first, 1) + len(rows)}")


def _help() -> None:
    for line in HELP.splitlines():  # `say` writes one line, whatever is in it
        say(line)


def _numbers(text: str) -> list[int]:
    words = text.replace(",", " ").split()
    wrong = [word for word in words if not (word.isascii() and word.isdigit() and len(word) < 10)]
    if wrong:
        raise InputError(f"{wrong[0][:40]!r} is not a number", remedy="give numbers with blanks between them")
    return [int(word) for word in words]


VERBS: dict[str, Callable[[Any, str], None]] = {
    "gather": _gather,
    "search": _search,
    "list": _list,
    "back": _back,
    "show": lambda browser, rest: _show(browser),
    "help": lambda browser, rest: _help(),
}
