"""Build the site of every version: ``python -m website.versions``, which needs git and `make`, and nothing else.

`main` stands at /dev/, each minor version at /1.0/ and so on, from its newest tag without a release candidate; the root
leads to the newest of them, or to /dev/ where none was released.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import shutil
import subprocess
import tempfile

RELEASE = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
LEADING = """<!doctype html>
<meta charset="utf-8"><title>doccluster</title><meta http-equiv="refresh" content="0; url={target}/">
<link rel="canonical" href="{target}/"><p><a href="{target}/">doccluster</a>: {links}</p>
"""


def newest_tags(tags: list[str]) -> dict[str, str]:
    """Return the newest tag of each minor version, the newest version first.

    >>> newest_tags(["v1.0.0", "v1.0.10", "v1.0.9", "v1.1.0rc1", "v1.10.0", "v1.2.0", "other"])
    {'1.10': 'v1.10.0', '1.2': 'v1.2.0', '1.0': 'v1.0.10'}
    """
    found = {tuple(map(int, match.groups())): tag for tag in tags if (match := RELEASE.fullmatch(tag))}
    newest: dict[str, str] = {}
    for version in sorted(found, reverse=True):
        newest.setdefault(f"{version[0]}.{version[1]}", found[version])
    return newest


def build(place: str, state: str, address: str, output: pathlib.Path) -> None:
    """Build the site of one state of the repository in a worktree of its own."""
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(tree), state], check=True)
        try:
            subprocess.run(["make", "site", f"ADDRESS={address.rstrip('/')}/{place}/"], cwd=tree, check=True)
            shutil.copytree(tree / "out" / "site", output / place)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], check=True)


def main() -> None:
    """Build all versions below one folder."""
    parser = argparse.ArgumentParser(prog="python -m website.versions", description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the folder to write")
    parser.add_argument("--address", default="http://localhost:8000/", help="where the sites will be found")
    given = parser.parse_args()
    tags = subprocess.run(["git", "tag"], check=True, capture_output=True, text=True).stdout.split()
    places = newest_tags(tags) | {"dev": "HEAD"}
    shutil.rmtree(given.output, ignore_errors=True)
    given.output.mkdir(parents=True)
    for place, state in places.items():
        build(place, state, given.address, given.output)
    links = ", ".join(f'<a href="{place}/">{place}</a>' for place in places)
    page = LEADING.format(target=next(iter(places)), links=links)
    (given.output / "index.html").write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
