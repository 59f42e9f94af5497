"""Why a fit failed, as data that travels between processes."""

from __future__ import annotations

from dataclasses import dataclass

_LONGEST = 500  # characters of a message


@dataclass(frozen=True)
class FitFailure:
    """The end of a fit that gave no labels.

    Attributes
    ----------
    kind : str
        The name of the exception, of the signal that ended the process (SIGKILL), or ``exit 3`` for its status.
    message : str
        What was said of it, in one line.

    Examples
    --------
    >>> print(FitFailure.of(ValueError("no such\\nluck")))
    ValueError: no such luck
    """

    kind: str
    message: str

    @classmethod
    def of(cls, error: Exception) -> FitFailure:
        """Return the failure that an exception is."""
        return cls(type(error).__name__, " ".join(str(error).split())[:_LONGEST])

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"
