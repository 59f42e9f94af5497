"""The loops over text and rows of counts, ready to be called; their sources are in `word_runs` and `tokens`."""

from __future__ import annotations

from doccluster.kernels.machine_code import LoopLibrary

# What is kept of each token in one entry: its first 16 bytes, its hash, and its last place in the output.
LOW, HIGH, HASH, SEEN = range(4)
SPAN = SEEN  # of a token that is being looked up: its place in the text and its size
# Where the counting loop stands, in its `state`.
DOCUMENT, PLACE, KEPT, FIRST, PENDING, N_TOKENS, ARENA_USED, COUNTED = range(8)

PIECE = 1 << 14  # bytes of text that are taken apart before they are counted
PADDING = 88  # bytes after the text: its last 64 are looked at together, and eight bytes can be read at any place

_LIBRARY = LoopLibrary("text", package="doccluster.kernels", sources=("word_runs", "tokens", "bits", "text_loops"))
_TABLE = "int32[:] uint64[:,:4] int32[:] int64[:] uint8[:]"  # slots, entries, sizes, starts, arena

count_runs = _LIBRARY.loop(
    "word_runs.count_runs",
    f"uint8[:] int64 uint8[:] int64[:] int64 uint8[:] uint8[:] {_TABLE} "
    "int32[:] uint64[:,:4] int32[:] int32[:] int32[:] int64[:]",
    returns=True,
)
fill_slots = _LIBRARY.loop("word_runs.fill_slots", "int32[:] uint64[:,:4] int64")
absorb_tokens = _LIBRARY.loop(
    "word_runs.absorb_tokens", f"{_TABLE} uint64[:,:4] int32[:] int64[:] uint8[:] int64[:] int32[:]"
)
copy_tokens = _LIBRARY.loop("word_runs.copy_tokens", "int64[:] int32[:] int64[:] uint8[:] uint8[:]")

count_distinct = _LIBRARY.loop("tokens.count_distinct", "int32[:] int64[:] int32[:] int32[:] int32[:]", returns=True)
renumber = _LIBRARY.loop("tokens.renumber", "int32[:] int32[:]")
settle_rows = _LIBRARY.loop(
    "tokens.settle_rows", "int32[:] int32[:] int64[:] int64 int64 int32[:] int32[:] int64[:]", returns=True
)
add_frequencies = _LIBRARY.loop("tokens.add_frequencies", "int32[:] int32[:] int64[:] int64[:]")
drop_columns = _LIBRARY.loop("tokens.drop_columns", "int32[:] int32[:] int32[:] int32[:]", returns=True)
normalize_rows = {
    "float32": _LIBRARY.loop(
        "tokens.normalize_rows", "float32[:] int32[:] float32[:] int64[:] int64", name="normalize_rows_32"
    ),
    "float64": _LIBRARY.loop(
        "tokens.normalize_rows", "float64[:] int32[:] float64[:] int64[:] int64", name="normalize_rows_64"
    ),
}
