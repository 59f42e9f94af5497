"""A page for each public name, from its docstring, and one list of them for each package."""

from __future__ import annotations

import inspect

from website.public_names import PACKAGES, PublicName, public_names


def api_pages() -> dict[str, str]:
    """Return the pages of the Python reference."""
    names = public_names()
    pages = {"reference/python.md": _index(names)}
    for package in PACKAGES:
        mine = [one for one in names if one.package == package]
        pages[f"reference/python/{package}.md"] = _package(package, mine)
        pages |= {f"reference/python/{one.path}.rst": _page(one) for one in mine}
    return pages


def _index(names: list[PublicName]) -> str:
    lines = [
        "# Python",
        "",
        f"{len(names)} public names, each with an example that the tests run. What is not listed here may change "
        "without notice. How they go together: [use it from Python](../how-to/use-from-python.md).",
        "",
    ]
    for package, question in PACKAGES.items():
        links = ", ".join(f"[`{one.name}`](python/{one.path}.rst)" for one in names if one.package == package)
        lines += [f"## {question}", "", f"[`{package}`](python/{package}.md): {links}", ""]
    packages = [f"python/{package}" for package in PACKAGES]
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *packages, "```", ""])


def _package(package: str, names: list[PublicName]) -> str:
    lines = [f"# {package}", "", PACKAGES[package], "", "| name | |", "|---|---|"]
    lines += [f"| [`{one.name}`]({one.path}.rst) | {_first_sentence(one)} |" for one in names]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *(one.path for one in names), "```", ""])


def _first_sentence(one: PublicName) -> str:
    if one.kind == "data":
        return f"The constant {one.value!r}." if isinstance(one.value, str | int | float) else "A table."
    text = " ".join((inspect.getdoc(one.value) or "").split("\n\n")[0].split())
    return text.replace("|", r"\|").replace("``", "`").replace("*", r"\*")


def _page(one: PublicName) -> str:
    title = one.name
    options = {
        "class": ["   :members:"],
        "exception": ["   :show-inheritance:"],
        "function": [],
        "data": ["   :no-value:"],
    }[one.kind]
    lines = [title, "=" * len(title), "", f".. currentmodule:: {one.package}", ""]
    lines += [f".. auto{one.kind}:: {one.name}", *options, ""]
    if not one.has_own_example:
        code = [f"   {line}".rstrip() for line in one.example.splitlines()]
        lines += ["Example", "-------", "", ".. code-block:: pycon", "", *code, ""]
    return "\n".join(lines)
