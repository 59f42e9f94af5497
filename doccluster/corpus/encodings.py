"""Bytes to text, in one order for every reader: BOM, declared, utf-8, detection, cp1252. Never the locale.

A text with a few control characters is a text. NULs are left out, as HTML's parser leaves them out; readers and
`clean_text` turn other controls into spaces.
"""

from __future__ import annotations

import codecs
import re
import tomllib
import unicodedata
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

BOMS = (  # utf-32-le begins with the mark of utf-16-le, so it is tried first
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_TABLE = tomllib.loads(resources.files("doccluster.corpus").joinpath("encodings.toml").read_text("utf-8"))
UNKNOWN = "unknown, read as cp1252"
_X = re.compile(r"^(?:x-)+")
# These "encodings" of Python are not for files: they read escapes, or depend on the machine.
_NOT_FOR_FILES = {"unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined", "mbcs", "oem"}

# Seven-bit encodings look like ASCII, so they are recognised by their escape sequences before utf-8 is tried.
_ESCAPED = (
    (re.compile(rb"\x1b\$[@B]|\x1b\([BJI]"), "iso2022_jp_2"),
    (re.compile(rb"\x1b\$\)C"), "iso2022_kr"),
)
_ESCAPING = {"iso2022_jp_2", "iso2022_kr", "hz"}  # a stray byte there must not turn the whole text into ASCII noise
_HZ = re.compile(rb"~\{(?:[\x21-\x77][\x21-\x7e])++~\}")  # pairs: the search ends soon after a "~{" without an end

_MULTI_BYTE = frozenset({"cp932", "euc_jp", "gb18030", "cp950", "cp949"})  # the names codecs give them
_EAST_ASIAN_SHARE = 0.1  # of the bytes: below it, a few accented letters look like one ideograph
_MISREAD, _WELL_READ = 0.2, 0.05  # of the characters beyond ASCII, that are where none of their kind is
_IN_WORDS = frozenset("’‘'-‐‑–—…·/")  # signs that may stand between two letters
_COHERENT = 60  # percent of the letters that are as frequent as in the language; Western texts often reach 50 elsewhere
_THRESHOLD = 0.35  # of disorder, above which charset-normalizer drops an encoding; old Cyrillic fonts are at 0.3
_XML_DECLARATION = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_META_CHARSET = re.compile(rb"""<meta[^>]*?charset\s*=\s*["']?([A-Za-z0-9._:-]+)""", re.IGNORECASE)
_SAMPLE = 16_384  # bytes of text around the non-ASCII characters; detection gets slower, not better, with more
_SPACES = re.compile(rb"[\r\n]+")
_CONTROL = re.compile(rb"\0+|[\x01-\x08\x10-\x1a\x1c-\x1f]")  # escapes and shifts (1b, e, f) have their place
_MAX_CONTROLS = 0.1  # of the bytes of a text in utf-8; in random bytes every tenth is one
_MAX_CONTROLS_ELSE = 0.02  # where nothing but its few controls says that it is a text


@dataclass(frozen=True)
class Decoded:
    """Text and the encoding it was in."""

    text: str
    encoding: str
    guess: str = ""  # the encoding, if only the bytes say so; UNKNOWN if they do not either
    n_nuls: int = 0  # how many were left out of it

    def without_nuls(self) -> Decoded:
        """Return the same without NULs, which are counted."""
        n_nuls = self.text.count("\0")
        return replace(self, text=self.text.replace("\0", ""), n_nuls=n_nuls) if n_nuls else self


def is_binary(head: bytes) -> bool:
    """Say whether the first bytes of a file, in no encoding of two or four bytes, have more controls than a text has.

    >>> is_binary(b"The \\0wall"), is_binary(b"\\x7fELF\\2\\1\\1\\0\\0\\3\\0>\\0")
    (False, True)
    """
    n_controls = len(_CONTROL.findall(head))  # NULs that follow one another, as where a disk was full, are one
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
        max_share = _MAX_CONTROLS
    except UnicodeDecodeError:
        max_share = _MAX_CONTROLS_ELSE
    return n_controls > 1 + max_share * len(head) or not head.strip(b"\0")


def decode(data: bytes, *, declared: str | None = None) -> Decoded:
    """Return `data` as text: by its BOM, else as declared, else utf-8, else as detected, else cp1252."""
    return _decoded(data, declared).without_nuls()


def _decoded(data: bytes, declared: str | None) -> Decoded:
    marked = encoding_by_mark(data)
    if marked is not None:
        encoding, skip = marked
        return Decoded(data[skip:].decode(encoding, "replace"), encoding)
    stated, escaped = codec_name(declared), _escaped_encoding(data)
    if stated is not None and stated.startswith(("utf-16", "utf-32")) and b"\0" not in data:
        stated = None  # the declaration was ASCII: the text was saved as something else since
    is_seven_bit = escaped is not None and data.isascii() and not str(stated).startswith("iso2022")
    for attempt in (escaped, stated, "utf-8") if is_seven_bit else (stated, escaped, "utf-8"):
        text = _attempt(data, attempt)
        if text is not None:
            return Decoded(text, str(attempt))
    detected = detect(data)
    text = _attempt(data, detected)
    if text is not None:
        return Decoded(text, str(detected), str(detected))
    return Decoded(data.decode("cp1252", "replace"), "cp1252", UNKNOWN)


def encoding_by_mark(data: bytes) -> tuple[str, int] | None:
    """Return the encoding and the length of its BOM, or one whose zero bytes give it away; None otherwise."""
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return encoding, len(mark)
    unmarked = _unmarked_wide(data[:4096])
    return None if unmarked is None else (unmarked, 0)


def _unmarked_wide(head: bytes) -> str | None:
    """Return utf-16 or utf-32 when zero bytes stand where Latin text in these encodings has them."""
    if len(head) < 4 or b"\0" not in head:
        return None
    head = head[: len(head) // 4 * 4]
    filled = [1 - head[place::4].count(0) / (len(head) / 4) for place in range(4)]
    texts = {"utf-32-le": (0,), "utf-32-be": (3,), "utf-16-le": (0, 2), "utf-16-be": (1, 3)}
    for encoding, places in texts.items():
        empty = [filled[place] for place in range(4) if place not in places]
        if max(empty) <= 0.2 and min(filled[place] for place in places) >= 0.95 and _reads_as_text(head, encoding):
            return encoding
    return None


def _reads_as_text(head: bytes, encoding: str) -> bool:
    text = head.decode(encoding, "replace")
    odd = sum((character < " " and character not in "\t\r\n\f") or character == "\ufffd" for character in text)
    return odd <= len(text) * 0.02 + 1


def declared_encoding(data: bytes) -> str | None:
    """Return the encoding that an XML declaration or an HTML meta element states, or None.

    >>> declared_encoding(b'<?xml version="1.0" encoding="koi8-r"?><rss/>')
    'koi8-r'
    """
    match = _XML_DECLARATION.search(data[:1024]) or _META_CHARSET.search(data[:4096])
    return match[1].decode("ascii") if match is not None else None


def codec_name(declared: str | None) -> str | None:
    """Return Python's name of a declared encoding, its everyday superset where people mean that, or None."""
    if not declared:
        return None
    label = _X.sub("", declared.strip().strip("'\"").lower())
    try:
        name = codecs.lookup(_charset_names().get(label, label)).name
    except (LookupError, ValueError):  # ValueError: a NUL in the name
        return None
    return None if name.replace("_", "-") in _NOT_FOR_FILES else _TABLE["meant"].get(name, name)


@cache
def _charset_names() -> dict[str, str]:
    """Return the codecs of names that Python does not know."""
    listed = resources.files("doccluster.corpus").joinpath("charset_names.txt").read_text("utf-8").splitlines()
    lines = (line.partition(": ") for line in listed if not line.startswith("#"))
    return {name: codec for codec, _, names in lines for name in names.split()}


def _attempt(data: bytes, encoding: str | None) -> str | None:
    if encoding is None:
        return None
    try:
        return data.decode(encoding, "replace" if encoding in _ESCAPING else "strict")
    except (UnicodeError, LookupError):  # LookupError: a codec that does not make text, such as base64
        return None


def _escaped_encoding(data: bytes) -> str | None:
    """Return the seven-bit encoding whose escape sequences are in `data`, or None."""
    if b"\x1b" in data:
        for pattern, encoding in _ESCAPED:
            if pattern.search(data):
                return encoding
    if b"~{" in data and data.isascii() and sum(map(len, _HZ.findall(data))) > len(data) / 4:
        return "hz"
    return None


def detect(data: bytes) -> str | None:
    """Return the likeliest encoding of bytes that are not utf-8, or None when none makes sense of them.

    Most Western texts read as well in cp1250, cp1257 or cp1258: these are believed where a language needs them.
    """
    sample = _telling_sample(data)
    name = _likeliest(sample)
    # each line of these files ends in a return alone, unless something else has saved them since
    misread = _WELL_READ if b"\r" in sample and b"\n" not in sample else _MISREAD
    if name not in _MULTI_BYTE and _share_misread(sample, name or "cp1252")[0] > misread:
        readings = ((_share_misread(sample, macintosh), macintosh) for macintosh in _TABLE["macintosh"])
        return next((macintosh for (share, fits), macintosh in readings if share <= _WELL_READ and fits), name)
    return name


def _likeliest(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes

    high = sum(byte > 127 for byte in sample)
    candidates = _TABLE["single_byte"] + (_TABLE["east_asian"] if high >= _EAST_ASIAN_SHARE * len(sample) else [])
    matches = from_bytes(sample, cp_isolation=candidates, threshold=_THRESHOLD, preemptive_behaviour=False)
    best = matches.best()
    if best is None:
        return None
    name = codec_name(best.encoding) or best.encoding
    if name == "cp1251" and _is_hebrew(sample):
        return "cp1255"
    # few letters of a rare alphabet are more likely accents of a western text
    if name != "cp1252" and name not in _TABLE["latin_languages"]:
        return name if name in _MULTI_BYTE or best.percent_coherence >= 30 or _is_mostly_high(sample) else "cp1252"
    western = min((match.percent_chaos for match in matches if "cp1252" in match.could_be_from_charset), default=100.0)
    coherence = _COHERENT if western <= best.percent_chaos + 5 else 0.0
    for match in matches:
        languages = _TABLE["latin_languages"].get(codec_name(match.encoding) or "", ())
        close = match.percent_chaos <= best.percent_chaos + 1
        if close and match.language in languages and match.percent_coherence >= coherence:
            return codec_name(match.encoding)
    return "cp1252"


def _share_misread(sample: bytes, encoding: str) -> tuple[float, bool]:
    """Return the share of the characters beyond ASCII that are where none of their kind is, and if any is sure to fit.

    >>> _share_misread(b"caf\\x8e, d\\x8ej", "cp1252"), _share_misread(b"caf\\x8e, d\\x8ej", "mac-roman")
    ((1.0, False), (0.0, True))
    """
    text = f" {sample.decode(encoding, 'replace')} "
    n_high = n_misread = n_fitting = 0
    for before, here, after in filter(lambda three: three[1] > "\x7f", zip(text, text[1:], text[2:], strict=False)):
        n_high += 1
        if here.isalpha() and unicodedata.category(here) != "Lm":
            among_capitals = before.isupper() and after.isupper()
            n_misread += before.islower() if here.isupper() else here.islower() and among_capitals
            n_fitting += here.islower() and (before.islower() or after.islower())
        else:
            is_between = before.isalpha() and after.isalpha()
            n_misread += here == "\ufffd" or here < "\xa0" or (is_between and here not in _IN_WORDS)
            n_fitting += is_between and here == "’"
    return n_misread / max(n_high, 1), n_fitting > 0


def _is_hebrew(sample: bytes) -> bool:
    """Say whether all letters are among the 27 of Hebrew: Russian in the same bytes would have no ы, ь, ю, я."""
    high = [byte for byte in sample if byte >= 0xC0]
    latin = sum(65 <= byte & 0xDF <= 90 for byte in sample)
    return len(high) >= 60 and latin < len(high) and all(0xE0 <= byte <= 0xFA for byte in high)


def _is_mostly_high(sample: bytes) -> bool:
    """Say whether the lines with non-ASCII bytes are written in another script, not in Latin letters with accents."""
    lines = [line for line in _SPACES.split(sample) if not line.isascii()]
    high: int = sum(byte > 127 for line in lines for byte in line)
    latin = sum(65 <= byte & 0xDF <= 90 for line in lines for byte in line)
    return bool(high >= 0.25 * (high + latin))


def _telling_sample(data: bytes) -> bytes:
    """Return the lines with non-ASCII bytes, up to a fixed size: the others say nothing about the encoding."""
    if len(data) <= _SAMPLE:
        return data
    lines: list[bytes] = []
    size = 0
    for line in _SPACES.split(data[: 64 * _SAMPLE]):
        if not line.isascii():
            lines.append(line)
            size += len(line) + 1
            if size >= _SAMPLE:
                break
    return b"\n".join(lines)[: 2 * _SAMPLE] if lines else data[:_SAMPLE]
