"""Whether a run goes in blocks, where these lie, and what that will take, said before any work."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doccluster.base.named_places import Announce
from doccluster.base.paths import CHECKPOINT, unfinished_folder
from doccluster.base.plain_values import format_size, listed, parse_size
from doccluster.base.validation import check_positive_int
from doccluster.clustering.algorithms import ALGORITHMS, QUALITIES, get_algorithm
from doccluster.corpus.named_files import Files
from doccluster.errors import Argument, InputError
from doccluster.pipeline.in_process import Stages
from doccluster.pipeline.run_arguments import RunWork
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.sources import Source

if TYPE_CHECKING:
    from doccluster.base.place import FilePlace
    from doccluster.distributed.block_clustering import Checkpoints
    from doccluster.pipeline.in_blocks import BlockStages

KEPT_BYTES = 2**30  # of rows and bounds, in each process, between iterations
SMALL_SOURCE = 16 * 2**20  # bytes of files that are never worth blocks unless they are asked for
# of text: what a run in one process holds at its peak, and one that smooths (`experiments.benchmarks scale_out`)
MEMORY_PER_BYTE, SMOOTHED_PER_BYTE = 14, 21
PACKED = (".gz", ".bz2", ".xz", ".zip", ".parquet")
UNPACKED_TIMES = 4  # what text in a packed file usually expands to


def check_block_settings(settings: RunSettings) -> None:
    """Raise InputError for what a run in blocks cannot do, before any work."""
    if not get_algorithm(settings.algorithm).works_in_blocks:
        raise InputError(
            "does not work in blocks",
            argument="algorithm",
            received=settings.algorithm,
            expected=listed([name for name, algorithm in ALGORITHMS.items() if algorithm.works_in_blocks]),
        )
    for name in ("refine", "size_penalty"):
        if value := (settings.clustering or {}).get(name):
            problem = "moves single documents, which blocks do not"
            raise InputError(problem, argument=name, received=value, remedy="leave it out")
    if settings.parts is not None:
        raise InputError(
            "are cut in memory, not in blocks", argument="parts", received=settings.parts, remedy="leave it out"
        )
    if settings.topics is not None:
        raise InputError("topics are grown in memory, not in blocks", remedy=("leave out ", Argument("topics")))
    if (other := getattr(settings.vectorizer, "other", None)) is not None:
        given = other.vectorizer
        raise InputError("counts no texts in blocks", argument="vectorizer", received=given, remedy="leave it out")
    if settings.labels is not None:
        raise InputError("are read in one process", argument="labels", remedy="leave out the scheduler or scratch")
    if settings.apart_columns:
        raise InputError(
            "is not done in blocks", argument="apart_from", received=settings.apart_from, remedy="leave it out"
        )


@contextmanager
def stages_for(
    source: Source,
    settings: RunSettings,
    work: RunWork,
    *,
    seed: int = 0,
    checkpoints: Checkpoints | None = None,
) -> Iterator[Stages]:
    """Yield where the stages of a run take place: in this process, or in blocks.

    Blocks are used with a scheduler, with a scratch folder, with checkpoints, and where the files are large and a run
    in one process would surely need more than `max_memory`.
    """
    limit = (settings.clustering or {}).get("max_memory")
    n_bytes = 0 if source.files is None else text_bytes(source.files)
    is_smoothed = settings.algorithm == QUALITIES["default"]
    n_bytes_in_memory = n_bytes * (SMOOTHED_PER_BYTE if is_smoothed else MEMORY_PER_BYTE)
    is_too_large = limit is not None and n_bytes > SMALL_SOURCE and n_bytes_in_memory > parse_size(limit)
    is_text = not (source.is_matrix or source.matrices)
    can_divide = is_text and get_algorithm(settings.algorithm).works_in_blocks
    can_divide &= getattr(settings.vectorizer, "other", None) is None and settings.parts is None
    how: dict[str, Any] = {"seed": seed, "progress": work.progress}
    is_asked_for = work.scheduler is not None or work.scratch is not None or checkpoints is not None
    if not is_asked_for and not (is_too_large and can_divide):
        yield Stages(settings, **how)
        return
    check_block_settings(settings)
    keep = KEPT_BYTES if limit is None else parse_size(limit) // 2
    how |= {"keep_bytes": keep, "checkpoints": checkpoints, "announce": work.announce}
    with block_stages(settings, work.scheduler, work.scratch, **how) as stages:
        if work.announce is not None:
            work.announce(_plan(n_bytes, stages.place, keep))
        yield stages


@contextmanager
def block_stages(
    settings: RunSettings,
    scheduler: object,
    scratch: str | Path | None,
    *,
    keep_bytes: int = KEPT_BYTES,
    announce: Announce | None = None,
    **how: Any,
) -> Iterator[BlockStages]:
    """Yield workers, of a cluster or of this process, and a folder that all of them see, removed at the end."""
    from doccluster.base.place import FilePlace  # most runs are in one process, and import none of this
    from doccluster.pipeline.in_blocks import BlockStages

    with ExitStack() as stack:
        folder = stack.enter_context(_scratch_folder(scheduler, scratch))
        if scheduler is None:
            place = FilePlace(folder, settings.n_threads)
        else:
            from doccluster.distributed.dask_workers import connect

            place = on_cluster = stack.enter_context(connect(scheduler, folder))
            if announce is not None and on_cluster.dashboard:
                announce(f"the dashboard of the scheduler: {on_cluster.dashboard}")
        yield BlockStages(place, settings, keep_bytes=keep_bytes, announce=announce, **how)


def begin_checkpoints(output: str | Path | None, every: int | None, *, overwrite: bool) -> Checkpoints | None:
    """Return where a run writes its checkpoints, None without; one that is there is gone on from, or overwritten.

    Raises InputError if there is no output folder to write to, or `every` is not a number of iterations.
    """
    if every is None:
        return None
    if output is None:
        raise InputError("checkpoints lie in the folder of the run", remedy=("name one with ", Argument("output")))
    from doccluster.distributed.block_clustering import Checkpoints

    path = Path(output) / CHECKPOINT
    if overwrite:
        path.unlink(missing_ok=True)
    return Checkpoints(path, check_positive_int(every, "checkpoint"))


def _plan(n_bytes: int, place: FilePlace, keep: int) -> str:
    reading = f"about {format_size(n_bytes)} of documents are read once" if n_bytes else "the documents are read once"
    return (
        f"{reading}, into blocks in {place.folder.parent} (the texts, and their rows twice); "
        f"{place.n_workers} at a time, which keep up to {format_size(keep)} in memory between iterations"
    )


@contextmanager
def _scratch_folder(scheduler: object, scratch: str | Path | None) -> Iterator[Path]:
    if scratch is None and scheduler is not None and not str(scheduler).startswith("local"):
        raise InputError(
            "the workers of a cluster and this machine need a folder that all of them see",
            remedy=("name one with ", Argument("scratch")),
        )
    above = Path(tempfile.gettempdir() if scratch is None else scratch).absolute()
    try:
        above.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(above / "doccluster-blocks") as folder:
            yield folder
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise InputError(
            f"no folder can be made there ({error.strerror})",
            argument="scratch",
            received=str(above),
            remedy="give another",
        ) from error


def text_bytes(files: Files) -> int:
    """Return about how many bytes of text files hold."""
    return sum(map(_text_bytes, files.paths))


def _text_bytes(path: Path) -> int:
    if os.path.isdir(path):  # noqa: PTH112  Path.is_dir raises where a name cannot be looked up
        return sum(_text_bytes(Path(folder) / name) for folder, _, names in os.walk(path) for name in names)
    try:
        return path.stat().st_size * (UNPACKED_TIMES if path.suffix.lower() in PACKED else 1)
    except OSError:
        return 0
