"""How hard made corpora are for algorithms: kappa x dimensions x clusters, each seed with a corpus of its own.

The standard sets never change: another grid or another way to draw gets another version, so a paper can name them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from doccluster.base.parameter_fields import at_the_door
from doccluster.base.progress import Progress, silent
from doccluster.clustering.mixtures.vmf_functions import MAX_CONCENTRATION, concentration, mean_resultant
from doccluster.errors import Argument, InputError
from doccluster.lab.clusterers import as_clusterers
from doccluster.lab.comparison import LabelledCorpus, compare
from doccluster.lab.comparison_result import Comparison
from doccluster.lab.synthetic import (
    SyntheticVectors,
    fit_corpus_model,
    make_sharma,
    make_sparse_vmf,
    make_vmf_mixture,
    sample_twin,
)
from doccluster.vectors import DocumentVectors

N_DOCUMENTS = 1_000
MEASURES = ("adjusted_rand", "nmi")
ALGORITHMS = ("spherical-k-means", "smoothed", "k-means")


@dataclass(frozen=True)
class Cell:
    """One corpus of the table, to be drawn for any seed."""

    name: str
    draw: Callable[..., SyntheticVectors]  # takes random_state
    about: Mapping[str, object]  # set, and kappa or overlap


@dataclass(frozen=True)
class StandardSet:
    """A grid of corpora of one kind; `spreads` are expected cosines of a document to its mean, or gamma."""

    spreads: tuple[float, ...]
    n_terms: tuple[int, ...]
    n_clusters: tuple[int, ...]


STANDARD_SETS = {
    "vmf-1": StandardSet((0.2, 0.4, 0.6), (10, 100, 1_000), (5, 20)),
    "sparse-vmf-1": StandardSet((0.2, 0.25, 0.3), (5_000, 20_000), (10, 20)),
    "sharma-1": StandardSet((0.3, 0.6, 1.0), (), (5, 20)),
}


@at_the_door
def benchmark_synthetic(
    sets: str | Iterable[str] = tuple(STANDARD_SETS),
    *,
    like: DocumentVectors | None = None,
    kappa: Sequence[float] | None = None,
    n_terms: Sequence[int] | None = None,
    n_clusters: Sequence[int] | None = None,
    n_documents: int = N_DOCUMENTS,
    algorithms: Iterable[object] | Mapping[str, object] = ALGORITHMS,
    seeds: Iterable[int] | int = 10,
    checkpoint: str | Path | None = None,
    n_threads: int | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Return adjusted Rand, NMI and seconds of algorithms on corpora with a known truth, over seeds.

    Parameters
    ----------
    sets : names of `STANDARD_SETS`
        "vmf-1" (von Mises-Fisher), "sparse-vmf-1", "sharma-1" (Algorithm 1 of Sharma & Sharma). A corpus of 1,000
        documents is drawn for each seed; of Algorithm 1 it has 12 for each cluster.
    like : DocumentVectors, optional
        Also twins of this corpus, of as many clusters as `n_clusters` says; see `doccluster.lab.synthetic.make_twin`.
    kappa, n_terms, n_clusters : sequence of numbers, optional
        A grid of your own in place of that of the sets; the names then end in "own".
    n_documents : int
        Another number makes it a grid of your own too.
    algorithms, n_threads
        As for `compare`.
    seeds : whole numbers, or how many from 0 on
    checkpoint : path, optional
        A folder for finished fits; the same call goes on from there.

    Returns
    -------
    Comparison
        `corpora` says for each corpus which set it is of, kappa (or overlap) and its size; `summary()` has means and
        intervals over seeds.

    Raises
    ------
    InputError
        If there is no such set, or a corpus cannot be drawn as the grid says.

    Examples
    --------
    >>> table = benchmark_synthetic("vmf-1", kappa=[200], n_terms=[20], n_clusters=[3], seeds=2).summary()
    >>> table[["algorithm", "measure"]].drop_duplicates().shape
    (9, 2)
    """
    numbers = list(range(seeds) if isinstance(seeds, int) else map(int, seeds))
    names = [sets] if isinstance(sets, str) else list(sets)
    unknown = [name for name in names if name not in STANDARD_SETS]
    if unknown:
        raise InputError(
            "is no set", argument="sets", received=unknown[0], expected=f"one of {', '.join(STANDARD_SETS)}"
        )
    cells = [cell for name in names for cell in cells_of(name, kappa, n_terms, n_clusters, n_documents)]
    if like is not None:
        if not n_clusters:
            raise InputError("a twin needs a number of clusters", remedy=("give ", Argument("n_clusters")))
        cells += [_twin(like, k, n_threads) for k in n_clusters]
    n_fits = len(cells) * len(as_clusterers(algorithms))  # for each seed
    frames: list[Comparison] = []
    for place, seed in enumerate(numbers):
        frames.append(
            compare(
                _corpora(cells, seed),
                algorithms=algorithms,
                seeds=[seed],
                measures=list(MEASURES),
                checkpoint=None if checkpoint is None else Path(checkpoint) / f"seed-{seed}",
                n_threads=n_threads,
                progress=partial(_progress, progress, place * n_fits, len(numbers) * n_fits),
            )
        )
    runs, failures = (pd.concat([getattr(frame, part) for frame in frames]) for part in ("runs", "failures"))
    order = {cell.name: place for place, cell in enumerate(cells)}
    runs = runs.sort_values("corpus", key=lambda column: column.map(order), kind="stable", ignore_index=True)
    return Comparison(runs, failures.reset_index(drop=True), frames[0].corpora)


def _progress(progress: Progress, n_before: int, n_fits: int, stage: str, n_done: int, _: int | None = None) -> None:
    progress(stage, n_before + n_done, n_fits)


def _corpora(cells: Iterable[Cell], seed: int) -> Iterator[LabelledCorpus]:
    """Yield the corpus of each cell for a seed, one after another."""
    for cell in cells:
        sample = cell.draw(random_state=seed)
        k = int(sample.parameters["n_clusters"])
        yield LabelledCorpus(cell.name, sample.vectors.matrix, sample.truth.tolist(), k, about=cell.about)


def cells_of(
    name: str,
    kappa: Sequence[float] | None,
    n_terms: Sequence[int] | None,
    n_clusters: Sequence[int] | None,
    n_documents: int,
) -> Iterator[Cell]:
    """Yield the corpora of a set, or of a grid of your own."""
    grid, is_own = STANDARD_SETS[name], bool(kappa or n_terms or n_clusters) or n_documents != N_DOCUMENTS
    title = f"{name.rpartition('-')[0]}-own" if is_own else name
    for k in n_clusters or grid.n_clusters:
        if name.startswith("sharma"):
            for overlap in grid.spreads:
                draw: Callable[..., SyntheticVectors] = partial(make_sharma, k, overlap=overlap, beta=0.0, scale=3)
                yield Cell(f"{title} overlap={overlap:g} k={k}", draw, {"set": title, "overlap": overlap})
            continue
        for d, spread in itertools.product(n_terms or grid.n_terms, kappa or grid.spreads):
            concentrated = spread if kappa else concentration(d, spread, MAX_CONCENTRATION)
            if name.startswith("vmf"):
                draw = partial(make_vmf_mixture, n_documents, d, k, kappa=concentrated)
            else:
                cosine = mean_resultant(d, spread) if kappa else spread
                draw = partial(make_sparse_vmf, n_documents, d, k, mean_resultant_length=cosine)
            about = {"set": title, "kappa": concentrated}
            yield Cell(f"{title} kappa={concentrated:.4g} d={d} k={k}", draw, about)


def _twin(like: DocumentVectors, k: int, n_threads: int | None) -> Cell:
    """Return twins of a corpus, all drawn from one description of it."""
    model = fit_corpus_model(like, k, random_state=0, n_threads=n_threads)
    kappa = float(model.weights @ model.kappas)
    draw = partial(sample_twin, model, like.n_documents, n_threads=n_threads)
    return Cell(f"twin kappa={kappa:.4g} d={model.n_terms} k={k}", draw, {"set": "twin", "kappa": kappa})
