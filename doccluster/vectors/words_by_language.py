"""Function words left out of each document by its own language, on counts: the text is not looked at again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from doccluster.text.function_words import FunctionWords
from doccluster.vectors.row_store import RowStore


def leave_out_function_words(
    rows: RowStore,
    forms: Sequence[str],
    numbers: Sequence[npt.NDArray[np.int32]],
    function_words: FunctionWords,
    *,
    n_threads: int | None = None,
) -> set[str]:
    """Settle rows by written form, and drop from each the function words of the language it is in.

    Parameters
    ----------
    rows : RowStore
        Not settled; afterwards its columns are places in `forms`.
    forms : sequence of str
        The written forms.
    numbers : sequence of int32 arrays
        The place of the tokens of each counter in `forms`.

    Returns
    -------
    set of str
        The function words that were met and left out.

    Notes
    -----
    The language is that of `FunctionWords.leave_out`: the one the distinct forms of the document give most votes.
    """
    rows.settle(numbers, len(forms), n_threads=n_threads)
    votes, on_list = function_words.tables(forms)
    telling: npt.NDArray[np.bool_] = np.abs(votes).max(axis=1, initial=0) > 0
    met = np.zeros(len(forms), dtype=bool)

    def left_out(columns: npt.NDArray[np.int32], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        row_of = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        tells = telling[columns]
        voters, rows_of_voters = columns[tells], row_of[tells]
        total = [
            np.bincount(rows_of_voters, weights=votes[voters, place], minlength=starts.size - 1)
            for place in range(votes.shape[1])
        ]
        language = np.array(total).argmax(axis=0)
        dropped: npt.NDArray[np.bool_] = on_list[columns, language[row_of]]
        met[columns[dropped]] = True
        return dropped

    rows.drop_entries(left_out)
    return {forms[place] for place in np.flatnonzero(met).tolist()}
