"""Build the site: ``python -m website`` writes it to out/site."""

from __future__ import annotations

import argparse
import pathlib
import shutil
import sys
import time

from sphinx.cmd.build import main as sphinx_build

from website.checks import broken_links, remote_parts
from website.finishing import finish
from website.gather import ROOT, gather
from website.listings import write_listings
from website.moved import write_moved


def main() -> int:
    """Build the site and check it; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m website", description="Build the site, without a network.")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "out" / "site", help="the folder to write")
    parser.add_argument("--without-gallery", action="store_true", help="do not run the scripts of the gallery")
    parser.add_argument("--address", default="http://localhost:8000/", help="where the site will be found, for its map")
    arguments = parser.parse_args()
    output = arguments.output.resolve()
    sources = output.with_name(f"{output.name}-sources")
    began = time.monotonic()
    gather(sources)
    shutil.rmtree(output, ignore_errors=True)
    options = ["-D", "plot_gallery=False"] if arguments.without_gallery else []
    # -W: a warning fails the build, at its end; -n: every reference has to lead somewhere
    code = sphinx_build(
        [
            "-b",
            "html",
            "-W",
            "--keep-going",
            "-n",
            "-q",
            "-d",
            str(sources / ".doctrees"),
            *options,
            str(sources),
            str(output),
        ]
    )
    if code:
        return code
    finish(output)
    write_listings(output, f"{arguments.address.rstrip('/')}/")
    write_moved(output)  # after the lists, which do not name them
    wrong = [*broken_links(output), *remote_parts(output)]
    for line in wrong:
        print(line, file=sys.stderr)
    pages = sum(1 for _ in output.rglob("*.html"))
    print(f"{pages} pages in {time.monotonic() - began:.0f} s: {output / 'index.html'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
