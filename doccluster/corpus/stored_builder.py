"""A corpus of documents whose texts lie on disk, put together from what was read elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from doccluster.corpus.assembly import CorpusBuilder, renamed
from doccluster.corpus.document import Corpus
from doccluster.corpus.draft import Draft
from doccluster.corpus.input_file import InputFile
from doccluster.corpus.stored_columns import RowCollector, StoredRows, joined_columns, unique_names
from doccluster.corpus.stored_texts import StoredTexts, TextBlock
from doccluster.packed_strings import CodedColumn

ROWS_AT_ONCE = 50_000


@dataclass(slots=True)
class StoredDraft(Draft):
    """A document whose text lies on disk: its number among the texts of the part, or why it is none."""

    number: int = -1
    refusal: tuple[str, str] | None = None


class StoredBuilder(CorpusBuilder):
    """Builds a corpus of documents whose texts lie on disk."""

    def __init__(self, *, max_length: int) -> None:
        super().__init__(max_length=max_length)
        self.blocks: dict[int, list[TextBlock]] = {}  # of each part
        self.part = 0  # whose documents come now
        self._groups: list[tuple[int, StoredRows]] = []  # with their parts
        self._n_grouped = 0
        self._few = RowCollector()  # documents that came one by one, of the part `_few_of`
        self._few_of = 0

    def __len__(self) -> int:
        return self._n_grouped + len(self._few)

    def add(self, draft: Draft, *, file: InputFile | None = None) -> bool:
        """Take one document in and return true, or list why not."""
        assert isinstance(draft, StoredDraft)  # what parts hold
        if draft.refusal is not None:
            self.skip(draft.where, *draft.refusal)
            return False
        if self._few_of != self.part or len(self._few) >= ROWS_AT_ONCE:
            self._end_few()
        self._few_of = self.part
        self._note_place(draft, len(self), file)
        self._few.add(draft, draft.number, None if file is None else file.name)
        return True

    def add_rows(self, rows: StoredRows) -> None:
        """Take in documents of the part that come now."""
        self._end_few()
        before = len(self)
        for after, one in rows.skipped:
            self.skip(one.source, one.reason, one.detail)
            self._skipped_after[-1] = before + after
        self._groups.append((self.part, rows))
        self._n_grouped += len(rows)

    def _end_few(self) -> None:
        if len(self._few):
            rows, self._few = self._few.rows(), RowCollector()
            self._groups.append((self._few_of, rows))
            self._n_grouped += len(rows)

    def build(self, *, stripped_html: bool = False) -> Corpus:
        """Return the corpus, its texts read from disk when they are asked for."""
        if not len(self):
            return super().build()  # which says why
        self._end_few()
        groups = [rows for _, rows in self._groups]
        ids = self._unique_ids(groups)
        labels = joined_columns([(len(rows), rows.labels) for rows in groups], ())
        metadata = joined_columns([(len(rows), rows.metadata) for rows in groups], "")
        if "class" not in labels and any(found := self._folder_classes()):
            labels["class"] = CodedColumn.of(found)
        numbers = self._text_numbers()
        left_out = self._leave_out_companions(ids)
        if left_out:
            kept = np.setdiff1d(np.arange(len(self)), list(left_out))
            ids, numbers = ids.take(kept), numbers[kept]
            labels, metadata = (
                {name: column.take(kept) for name, column in columns.items()} for columns in (labels, metadata)
            )
        texts = StoredTexts([block for part in sorted(self.blocks) for block in self.blocks[part]], numbers)
        return Corpus(ids, texts, labels, metadata, tuple(self.skipped), stripped_html=stripped_html)

    def _unique_ids(self, groups: Sequence[StoredRows]) -> CodedColumn[str]:
        """Return the ids, and list the documents that could not have the one they asked for where they were read."""
        wanted = CodedColumn.joined([rows.names for rows in groups])
        ids, changed = unique_names(wanted)
        where = CodedColumn.joined([rows.where or rows.names for rows in groups]) if changed else wanted
        listed = [(after, 0, one) for after, one in zip(self._skipped_after, self.skipped, strict=True)]
        listed += [(place, 1, renamed(where[place], wanted[place], chosen)) for place, chosen in changed.items()]
        self.skipped = [one for _, _, one in sorted(listed, key=lambda one: one[:2])]
        return ids

    def _text_numbers(self) -> npt.NDArray[np.int64]:
        """Return the number of the text of each document among those of all parts."""
        parts = sorted(self.blocks)
        sizes = [sum(block.n_texts for block in self.blocks[part]) for part in parts]
        before = dict(zip(parts, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
        return np.concatenate([rows.numbers + before[part] for part, rows in self._groups])
