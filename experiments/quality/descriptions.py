"""What the packages of a Debian release say of themselves in many languages, and their sections.

``apt-get -o Acquire::Languages=cs,de,ja,ko,pl,ru,uk,zh_CN update`` fetches them; they lie in /var/lib/apt/lists.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
from collections import Counter
from functools import cache

LISTS = pathlib.Path("/var/lib/apt/lists")
SHORTEST, LONGEST = 12, 160  # characters of a text
LEAST = 15  # packages of a section
# sections that say what software is for, not what form it has, as libs and doc do
SUBJECTS = """
    admin database editors education electronics fonts games graphics hamradio java javascript kde gnome mail math net
    news otherosfs perl php python ruby science shells sound tex text utils vcs video web x11 devel httpd comm cli-mono
    lisp haskell ocaml r golang rust interpreters
"""


def descriptions(language: str, *, lines: bool, lists: pathlib.Path = LISTS) -> tuple[list[str], list[str]]:
    """Return a text of one package of each source that is described in a language, and their sections.

    The text is the line that says what the package is, or how the description below begins.
    """
    sections, texts, sources = sections_of_packages(lists), list[tuple[str, str]](), set[str]()
    for entry in read_list(lists, f"main_i18n_Translation-{language.replace('_', '%5f')}").split("\n\n"):
        parts = re.match(r"Package: (.*)\nDescription-md5: .*\nDescription-\w+: (.*)((?:.|\n)*)", entry)
        section, source = sections.get(parts[1], ("", "")) if parts else ("", "")
        if parts and section in SUBJECTS.split() and source not in sources and "<trans>" not in entry:
            sources.add(source)
            text = parts[2] if lines else beginning_of(parts[3])
            texts += [(text, section)] if len(text) >= SHORTEST else []
    sizes = Counter(section for _, section in texts)
    texts = [(text, section) for text, section in texts if sizes[section] >= LEAST]
    return [text for text, _ in texts], [section for _, section in texts]


def beginning_of(body: str) -> str:
    """Return the whole words at the beginning of a description, whose empty lines are dots."""
    text = " ".join(line.strip() for line in body.splitlines() if line.strip() != ".").strip()
    return text[:LONGEST].rsplit(" ", 1)[0] if len(text) > LONGEST else text


@cache
def sections_of_packages(lists: pathlib.Path) -> dict[str, tuple[str, str]]:
    """Return the section and the source of each package."""
    sections = {}
    for entry in read_list(lists, "main_binary-*_Packages").split("\n\n"):
        fields = dict(re.findall(r"(?m)^(Package|Section|Source): (\S+)", entry))
        if fields:
            sections[fields["Package"]] = fields.get("Section", ""), fields.get("Source", fields["Package"])
    return sections


def read_list(lists: pathlib.Path, name: str) -> str:
    """Return the largest list of a name, as apt unpacks it."""
    path = max(lists.glob(f"*{name}*"), key=lambda file: file.stat().st_size)
    command = ["/usr/lib/apt/apt-helper", "cat-file", str(path)]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")
