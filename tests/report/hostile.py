"""Titles, links and texts that try to get out of their place on the page; the texts are about two things."""

from __future__ import annotations

HOSTILE = {
    "script": "<script>document.title='owned'</script> markets fall",
    "closing": "</script></style></title><img src=x onerror=\"document.title='owned'\"> rates rise",
    "quotes": "\" onmouseover=\"document.title='owned'\" ' rates",
    "bidi": "invoice \u202egpj.exe\u202c of the bank \u2067abc",
    "template": "{{ 7 * 7 }} {% raw %} shares",
    "control": "bell \x07 and null \x00 in a title",
    "entity": "&lt;b&gt; stays &amp; as written",
}
LINKS = (
    "javascript:document.title='owned'",
    " JaVaScRiPt:document.title='owned'",
    "data:text/html,<script>document.title='owned'</script>",
    "https://example.org/?q=\"><script>document.title='owned'</script>",
    "//example.org/without-scheme",
    "https://example.org/fine?a=1&b=2",
    "ftp://example.org/file",
)
TEXTS = ("oil prices and crude markets", "wheat harvest and rain", "oil exports of crude", "rain on the wheat fields")
