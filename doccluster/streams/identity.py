"""Which article is which: a key that the same article has wherever it is met, and names that are never given twice."""

from __future__ import annotations

import base64
import re
from hashlib import blake2b
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

# parameters that say where a reader came from, never which article it is
_TRACKING = re.compile(r"^(utm_\w+|fbclid|gclid|cmpid|cmp|ref|source|ftag|ncid|icid|mc_[ce]id|at_\w+)$", re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def normal_link(link: str) -> str:
    """Return the one form of the addresses under which a page is known: "" unless it is an address of the web.

    The scheme, a leading ``www.``, the port of the scheme, the fragment, parameters that only track readers, and a
    slash at the end make no difference.

    >>> normal_link("HTTP://www.Example.org:80/a/?utm_source=feed&id=7#top")
    'example.org/a?id=7'
    """
    try:
        parts = urlsplit(link.strip())
        host = (parts.hostname or "").removeprefix("www.")
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        return ""
    if parts.scheme.lower() not in _DEFAULT_PORTS or not host:
        return ""
    port = "" if port == _DEFAULT_PORTS[parts.scheme.lower()] else port
    kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.match(pair[0])]
    return urlunsplit(("", "", f"{host}{port}{parts.path.rstrip('/')}", urlencode(kept), ""))


def text_hash(title: str, text: str) -> str:
    """Return the key that two articles of the same words share: case and white space make no difference."""
    return _digest(" ".join(title.casefold().split()), " ".join(text.casefold().split()))


def document_key(*, link: str, guid: str, source: str, title: str, text: str) -> str:
    """Return the key of an article: of its link, else of its guid within its source, else of its words."""
    address = normal_link(link)
    if address:
        return _digest("link", address)
    return _digest("guid", source, guid) if guid else _digest("text", text_hash(title, text))


def story_id(founding_key: str, attempt: int = 0) -> str:
    """Return the id of the story that a document founds; the same stream gives the same ids.

    `attempt` tells apart the stories one document founds again after a split.
    """
    return base64.b32encode(blake2b(f"{founding_key}:{attempt}".encode(), digest_size=5).digest()).decode().lower()


def _digest(*parts: str) -> str:
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=10).hexdigest()
