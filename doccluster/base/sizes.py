"""Numbers of bytes as people write and read them: one unit system, powers of 1024."""

from __future__ import annotations

import math
import re

from doccluster.errors import InputError, shown

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)


def parse_size(size: str | int | float) -> int:
    """Return a number of bytes from a number or a text such as ``500M``, ``2G`` or ``1.5 GiB`` (powers of 1024).

    Raises InputError if the text is not a size, or the size is not positive.

    >>> parse_size("2G")
    2147483648
    """
    if isinstance(size, bool) or not isinstance(size, str | int | float):
        raise InputError(f"{shown(size)} is not a size in bytes", remedy="write for instance 500M or 2G")
    if isinstance(size, int | float):
        number, unit = float(size), ""
    else:
        match = _SIZE.fullmatch(size)
        if match is None:
            raise InputError(f"{size!r} is not a size in bytes", remedy="write for instance 500M or 2G")
        number, unit = float(match[1]), match[2].lower()
    if not 0 < number < math.inf:
        raise InputError(f"{size!r} is not a positive size", remedy="write for instance 500M or 2G")
    return int(number * 1024 ** " kmgt".index(unit or " "))


def format_size(n_bytes: float, *, up: bool = False) -> str:
    """Return a number of bytes in the unit that suits it, as `parse_size` reads it; rounded up with `up`.

    >>> format_size(3 * 2**29), format_size(123_456), format_size(0), format_size(2**30 + 1, up=True)
    ('1.5 GiB', '121 KiB', '0 B', '1.1 GiB')
    """
    power = min(max(int(n_bytes).bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    number = n_bytes / 1024**power
    digits = 1 if power > 1 else 0
    if up:
        number = math.ceil(number * 10**digits) / 10**digits
    return f"{number:.{digits}f} {_UNITS[power]}"
