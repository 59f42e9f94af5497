"""Small things about the pages that neither Sphinx nor its theme lets one say.

Names for what a screen reader meets, and which cells of a table hold a number, that stays on one line on a phone too.
"""

from __future__ import annotations

import pathlib
import re

from website.checks import pages_of

empty_heading = re.compile(r"<th([^>]*)>\s*(?:<p>\s*</p>)?\s*</th>")
bare_summary = re.compile(r"<summary>(?=<span class=\"toctree-toggle\")")
number = re.compile(r"<td>(?=(?:<p>)?[-+]?\.?\d[\d.,:]*(?: ?(?:±|%|to|of|x|\(?[-+]?\d[\d.,:]*\)?))*(?:</p>)?\s*</td>)")
thumbnail = re.compile(
    r'(<a class="reference internal" href="[^"]*")(><span class="doc">)([^<]*)(</span></a></p>\s*<div class="sphx-glr)'
)


def finish(output: pathlib.Path) -> None:
    """Change the pages of the site in place."""
    for path in pages_of(output):
        text = path.read_text(encoding="utf-8")
        finished = finished_page(text)
        if finished != text:
            path.write_text(finished, encoding="utf-8", newline="\n")


def finished_page(text: str) -> str:
    """Return the page with names where they are missing, and with its numbers marked.

    >>> finished_page('<th class="head"><p></p></th><th>k</th>')
    '<td class="head"></td><th>k</th>'
    >>> finished_page("<td><p>0.493 ± 0.008</p></td><td>3 of the 7</td>")
    '<td class="number"><p>0.493 ± 0.008</p></td><td>3 of the 7</td>'
    """
    text = number.sub('<td class="number">', text)
    text = empty_heading.sub(r"<td\1></td>", text)
    text = bare_summary.sub('<summary aria-label="Show or hide what is below">', text)
    return thumbnail.sub(r'\1 aria-label="\3"\2\3\4', text)
