"""Real text that every Debian machine has: the descriptions of the packages, with their sections as classes.

The package records name their description by its md5 sum; the long English texts come from the Translation files.
Nothing is fetched: what `apt-get update` has put on the machine is read. Images for containers leave the translations
out; `apt-get -o Acquire::Languages=en update` brings them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_APT_HELPER = Path("/usr/lib/apt/apt-helper")
_LANGUAGE = ["-o", "Acquire::Languages=en"]


class DescriptionsMissing(RuntimeError):
    """This machine has no package descriptions; the message says what brings them."""


@dataclass(frozen=True)
class DebianDescriptions:
    """The packages in alphabetical order: name, description (first line and body), section."""

    packages: tuple[str, ...]
    texts: tuple[str, ...]
    sections: tuple[str, ...]


def load_debian_descriptions() -> DebianDescriptions:
    """Return the description of every package apt knows, one per package name, in alphabetical order.

    Raises
    ------
    DescriptionsMissing
        If there is no apt, no package list, or no English translations.
    """
    if shutil.which("apt-cache") is None or not _APT_HELPER.exists():
        raise DescriptionsMissing("this machine has no apt; the Debian descriptions need a Debian or Ubuntu system.")
    bodies = {record["Description-md5"]: record["Description-en"] for record in _translations()}
    if not bodies:
        raise DescriptionsMissing("no long descriptions here; run `apt-get -o Acquire::Languages=en update` first.")
    found: dict[str, tuple[str, str]] = {}
    for record in parse_records(_output(["apt-cache", "dumpavail"])):
        body = bodies.get(record.get("Description-md5", ""))
        if body is not None and record["Package"] not in found:
            found[record["Package"]] = (plain_description(body), record.get("Section", ""))
    names = sorted(found)
    return DebianDescriptions(
        tuple(names), tuple(found[name][0] for name in names), tuple(found[name][1] for name in names)
    )


def parse_records(text: str) -> Iterator[dict[str, str]]:
    """Yield the records of a control file: fields by name, continuation lines kept with their line breaks.

    >>> list(parse_records("Package: a\\nDescription-en: short\\n long\\n\\nPackage: b\\n"))
    [{'Package': 'a', 'Description-en': 'short\\n long'}, {'Package': 'b'}]
    """
    for block in text.split("\n\n"):
        fields = re.split(r"\n(?=\S)", block.strip("\n"))
        record = dict(field.split(":", 1) for field in fields if ":" in field)
        if record:
            yield {name: value.strip() for name, value in record.items()}


def plain_description(field: str) -> str:
    """Return a description without the marks of the format: leading blanks, and dots for empty lines.

    >>> plain_description("short\\n first\\n .\\n second")
    'short\\nfirst\\n\\nsecond'
    """
    lines = [line.strip() for line in field.split("\n")]
    return "\n".join("" if line == "." else line for line in lines)


def _translations() -> Iterator[dict[str, str]]:
    listed = _output(["apt-get", *_LANGUAGE, "indextargets", "--format", "$(FILENAME)", "Created-By: Translations"])
    for name in sorted(set(listed.split())):
        for record in parse_records(_output([str(_APT_HELPER), "cat-file", name])):
            if "Description-md5" in record and "Description-en" in record:
                yield record


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        raise DescriptionsMissing(f"`{' '.join(command)}` failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode("utf-8", "replace")
