"""Names that come more than once get a number, in time that does not depend on how often they come."""

from __future__ import annotations


class UniqueNames:
    """The names that are taken: a second "a" becomes "a#2" (with the separator "#"), a third "a#3".

    >>> names = UniqueNames("#")
    >>> [names.take(name) for name in ("a", "a", "a#2", "a")]
    ['a', 'a#2', 'a#2#2', 'a#3']
    """

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._last: dict[str, int] = {}  # the number given last for each name; every taken name is a key
        self.n_tries = 0

    def take(self, wanted: str) -> str:
        """Return `wanted`, or with the lowest number that makes it new; it is taken from now on."""
        chosen, number = wanted, self._last.get(wanted, 0)
        while chosen in self._last:
            number += 1
            self.n_tries += 1
            chosen = f"{wanted}{self._separator}{number}"
        if chosen != wanted:
            self._last[wanted] = number
        self._last[chosen] = 1
        return chosen
