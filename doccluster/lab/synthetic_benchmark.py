"""How hard made corpora are for algorithms: kappa x dimensions x clusters, each seed with a corpus of its own.

The standard sets are the files that `write_cells` writes, whose checksums are kept: another grid or another way to draw
gets another version, so a paper can name them. A seed is a convenience; numpy promises the same numbers for one build.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from doccluster.base.package import __version__
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.paths import new_files
from doccluster.base.progress import Progress, silent
from doccluster.base.validation import check_choice
from doccluster.clustering.mixtures.vmf_functions import MAX_CONCENTRATION, concentration, mean_resultant
from doccluster.errors import Argument, InputError
from doccluster.lab import synthetic
from doccluster.lab.clusterers import as_clusterers
from doccluster.lab.comparison import LabelledCorpus, compare
from doccluster.lab.comparison_result import NO_SEED, Comparison
from doccluster.lab.synthetic import (
    SyntheticVectors,
    fit_corpus_model,
    make_sharma,
    make_sparse_vmf,
    make_vmf_mixture,
    sample_twin,
)
from doccluster.lab.synthetic.files import RECORD, matrix_lines, record_text
from doccluster.measures import evaluate
from doccluster.measures.label_files import read_labels
from doccluster.vectors import DocumentVectors

ORACLE = "oracle"  # knows what the documents were drawn from
N_DOCUMENTS = 1_000
KEPT_SEEDS, ENDINGS = 10, ("mat", "mtx", "rclass")  # of which checksums are kept: CLUTO, Matrix Market, classes
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
    # hard for all algorithms, while the oracle is near 1: many cells of vmf-1 are solved, or cannot be
    "vmf-2": StandardSet((0.225, 0.25, 0.275), (400,), (20, 40)),
}


@at_the_door
def benchmark_synthetic(
    sets: str | Iterable[str] = ("vmf-1", "sparse-vmf-1", "sharma-1"),
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
    """Return adjusted Rand, NMI and seconds of algorithms, and of an oracle, on corpora with a known truth, over seeds.

    Parameters
    ----------
    sets : names of `STANDARD_SETS`
        "vmf-1" and "vmf-2" (von Mises-Fisher), "sparse-vmf-1", "sharma-1" (Algorithm 1 of Sharma & Sharma). A corpus of
        1,000 documents is drawn for each seed; of Algorithm 1 it has 12 for each cluster.
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
        intervals over seeds. "oracle" knows what the documents were drawn from, the most that can be known.

    Raises
    ------
    InputError
        If there is no such set, or a corpus cannot be drawn as the grid says.

    Examples
    --------
    >>> table = benchmark_synthetic("vmf-1", kappa=[200], n_terms=[20], n_clusters=[3], seeds=2).summary()
    >>> table[["algorithm", "measure"]].drop_duplicates().shape
    (11, 2)
    """
    numbers = list(range(seeds) if isinstance(seeds, int) else map(int, seeds))
    cells = cells_of(sets, kappa=kappa, n_terms=n_terms, n_clusters=n_clusters, n_documents=n_documents)
    if like is not None:
        if not n_clusters:
            raise InputError("a twin needs a number of clusters", remedy=("give ", Argument("n_clusters")))
        cells += [_twin(like, k, n_threads) for k in n_clusters]
    n_fits = len(cells) * len(as_clusterers(algorithms))  # for each seed
    frames: list[Comparison] = []
    for place, seed in enumerate(numbers):
        comparison = compare(
            _corpora(cells, seed),
            algorithms=algorithms,
            seeds=[seed],
            measures=list(MEASURES),
            checkpoint=None if checkpoint is None else Path(checkpoint) / f"seed-{seed}",
            n_threads=n_threads,
            progress=partial(_progress, progress, place * n_fits, len(numbers) * n_fits),
        )
        comparison.runs["seed"] = comparison.runs["seed"].replace(NO_SEED, seed)  # the oracle has seen this corpus too
        frames.append(comparison)
    runs, failures = (pd.concat([getattr(frame, part) for frame in frames]) for part in ("runs", "failures"))
    order = {cell.name: place for place, cell in enumerate(cells)}
    runs = runs.sort_values("corpus", key=lambda column: column.map(order), kind="stable", ignore_index=True)
    return Comparison(runs, failures.reset_index(drop=True), frames[0].corpora, MEASURES, ceiling=ORACLE)


def _progress(progress: Progress, n_before: int, n_fits: int, stage: str, n_done: int, _: int | None = None) -> None:
    progress(stage, n_before + n_done, n_fits)


def _corpora(cells: Iterable[Cell], seed: int) -> Iterator[LabelledCorpus]:
    """Yield the corpus of each cell for a seed, one after another."""
    for cell in cells:
        sample = cell.draw(random_state=seed)
        k = int(sample.parameters["n_clusters"])
        labels = {ORACLE: sample.oracle()}
        yield LabelledCorpus(cell.name, sample.vectors.matrix, sample.truth.tolist(), k, labels, cell.about)


def cells_of(sets: str | Iterable[str], **grid: Any) -> list[Cell]:
    """Return the corpora of sets, or of a grid of your own; raise InputError if there is no such set."""
    names = [sets] if isinstance(sets, str) else list(sets)
    for name in names:
        check_choice(name, STANDARD_SETS, "sets")
    return [cell for name in names for cell in _cells_of_set(name, **grid)]


def _cells_of_set(
    name: str,
    kappa: Sequence[float] | None = None,
    n_terms: Sequence[int] | None = None,
    n_clusters: Sequence[int] | None = None,
    n_documents: int = N_DOCUMENTS,
) -> Iterator[Cell]:
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


def stem_of(corpus: str, seed: int) -> str:
    """Return how the files of a corpus begin.

    >>> stem_of("sharma-1 overlap=0.3 k=5", 0)
    'sharma-1_overlap-0.3_k-5_seed-0'
    """
    return f"{corpus} seed {seed}".replace(" ", "_").replace("_seed_", "_seed-").replace("=", "-")


@cache
def kept_checksums(name: str) -> dict[str, str]:
    """Return the SHA-256 of each file of a standard set that is kept; of a grid of your own none are."""
    kept = json.loads((Path(synthetic.__file__).parent / "sha256.json").read_text(encoding="utf-8")).get(name, [])
    cells = cells_of(name) if kept else ()
    corpora = itertools.product(cells, range(KEPT_SEEDS), ENDINGS)
    return dict(zip((f"{stem_of(cell.name, seed)}.{ending}" for cell, seed, ending in corpora), kept, strict=True))


def write_cells(
    folder: Path, cells: Sequence[Cell], seeds: Sequence[int], *, progress: Progress = silent
) -> pd.DataFrame:
    """Write corpora for other programs, a folder for each set; return set, name and sha256 of each file, and that kept.

    A corpus is a matrix in the form of CLUTO (.mat) and of Matrix Market (.mtx), the classes (.rclass) and what the
    oracle says (.oracle), one on each line; `corpus.toml` has all numbers in full, SHA256SUMS the checksums.
    """
    rows = []
    for title, of_title in itertools.groupby(cells, key=lambda cell: str(cell.about["set"])):
        kept, entries, sums = kept_checksums(title), {}, ""
        with new_files(folder / title) as beside:
            for cell, seed in itertools.product(list(of_title), seeds):
                sample, stem = cell.draw(random_state=seed), stem_of(cell.name, seed)
                matrices = (matrix_lines(sample.vectors.matrix, is_cluto=is_cluto) for is_cluto in (True, False))
                texts: tuple[Iterable[object], ...] = (*matrices, sample.truth, sample.oracle())
                for ending, lines in zip((*ENDINGS, ORACLE), texts, strict=True):
                    name, content = f"{stem}.{ending}", "".join(f"{line}\n" for line in lines).encode()
                    (beside / name).write_bytes(content)
                    if ending in ENDINGS:
                        rows.append((title, name, hashlib.sha256(content).hexdigest(), kept.get(name, "")))
                        sums += f"{rows[-1][2]}  {name}\n"
                made_by = {"doccluster": __version__, "numpy": np.__version__}
                entries[stem] = {"corpus": cell.name, "seed": seed, **made_by, **sample.parameters, **cell.about}
                progress("write", len(rows) // len(ENDINGS), len(cells) * len(seeds))
            (beside / RECORD).write_text(record_text(entries), encoding="utf-8", newline="\n")
            (beside / "SHA256SUMS").write_text(sums, encoding="utf-8", newline="\n")
    return pd.DataFrame(rows, columns=["set", "file", "sha256", "kept"])


def score_labels(folder: Path, places: Iterable[Path]) -> Comparison:
    """Return adjusted Rand and NMI of labels that other programs gave the corpora that `write_cells` wrote.

    Each place is a folder called as a program, or a file in one; a file is that of a corpus if its name begins with the
    corpus's, and has one label on each line. Raises InputError if no file is, or one does not fit.
    """
    corpora, runs = list(_written_corpora(folder)), []
    files: dict[str, list[Path]] = {ORACLE: oracles} if (oracles := sorted(folder.rglob(f"*.{ORACLE}"))) else {}
    for place in places:
        program = (place if place.is_dir() else place.parent).resolve().name
        files.setdefault(program, []).extend(sorted(place.rglob("*")) if place.is_dir() else [place])
    for about, stem, truth in corpora:
        for program, of_program in files.items():
            for file in (file for file in of_program if f"{file.name}.".startswith(f"{stem}.")):
                labels = next(iter(read_labels(file).columns.values()))
                if len(labels) != len(truth):
                    raise InputError(f"{file} has {len(labels):,} labels for {len(truth):,} documents")
                scores = evaluate(labels, truth=truth, measures=MEASURES)
                runs += [(about["corpus"], program, about["seed"], score.name, score.value) for score in scores]
    if not corpora or (lacking := files.keys() - {program for _, program, *_ in runs}):
        whose = f"no file of {min(lacking)} is called as a corpus of" if corpora else "no corpora are written in"
        raise InputError(f"{whose} {folder}", remedy="name labels as in vmf-1_kappa-2.07_d-10_k-5_seed-0.labels")
    table = pd.DataFrame(runs, columns=["corpus", "algorithm", "seed", "measure", "value"])
    abouts = pd.DataFrame([about for about, *_ in corpora]).drop(columns="seed").drop_duplicates("corpus")
    return Comparison(table, corpora=abouts, measures=MEASURES, ceiling=ORACLE)


def _written_corpora(folder: Path) -> Iterator[tuple[dict[str, Any], str, list[str]]]:
    """Yield what the record says of each corpus that was written to a folder, how its files begin, and its classes."""
    for record in sorted(folder.rglob(RECORD)):
        try:
            entries = tomllib.loads(record.read_text(encoding="utf-8"))
            for stem, entry in ((stem, entry) for stem, entry in entries.items() if "corpus" in entry):
                content = (record.parent / f"{stem}.rclass").read_bytes()
                kept = kept_checksums(entry["set"]).get(f"{stem}.rclass")
                if kept and hashlib.sha256(content).hexdigest() != kept:
                    raise ValueError(f"{stem}.rclass is not that of the standard set")
                about = {name: value for name, value in entry.items() if not isinstance(value, list)}
                yield {"seed": 0, **about}, stem, content.decode().split()
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise InputError(f"{record} and its files cannot be used: {error}", remedy="write the set again") from error
