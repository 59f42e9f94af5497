"""A page for each verb of the command line, its options declared so that the search finds each of them."""

from __future__ import annotations

import re

from doccluster.cli.main import COMMANDS
from experiments.cli_page import cli_page

row = re.compile(r"^\| (?P<names>`-.*?`)(?P<value>(?: (?!\|)(?:[^|\\]|\\\|)*?)?) \| (?P<text>.*) \|$")
heading = re.compile(r"^(#{2,4}) (.+)$")


def command_pages() -> dict[str, str]:
    """Return the page of the command line and one for each verb."""
    introduction, *parts = re.split(r"^(?=## )", cli_page(), flags=re.MULTILINE)
    introduction = re.sub(r"\]\(#([\w-]+)\)", r"](cli/\1.md)", introduction)
    names = [f"cli/{verb}" for verb in COMMANDS]
    pages = {"reference/cli.md": "\n".join([introduction, "```{toctree}", ":hidden:", "", *names, "```", ""])}
    for part in parts:
        verb = part.split("\n", 1)[0].removeprefix("## ")
        pages[f"reference/cli/{verb}.md"] = _verb(part)
    return pages


def _verb(text: str) -> str:
    lines: list[str] = []
    for line in text.splitlines():
        found = heading.match(line)
        if found:
            lines += [f"{found[1][1:]} {found[2]}", "", "```{program} doccluster " + found[2], "```"]
        elif line in ("| option | |", "|---|---|"):
            continue
        elif option := row.match(line):
            lines += _option(option)
        else:
            lines.append(line)
    return "\n".join(lines).replace("](files.md)", "](../files.md)") + "\n"


def _option(found: re.Match[str]) -> list[str]:
    value = found["value"].strip().replace(r"\|", "|")
    names = [name.strip("`") for name in found["names"].split(", ")]
    shown = ", ".join(f"{name} {value}".strip() for name in names)
    return ["", f":::{{option}} {shown}", found["text"].replace(r"\|", "|"), ":::", ""]
