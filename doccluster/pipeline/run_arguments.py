"""What `run` takes beside its source: the settings of the run, where it is made, and what is written of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from doccluster.base.parameter_fields import part_of
from doccluster.base.progress import Progress, silent
from doccluster.clustering.algorithms import algorithm_of, chosen_algorithm
from doccluster.labeling.profiles import Namer
from doccluster.pipeline.known_topics import checked_topics
from doccluster.pipeline.run_settings import RunSettings
from doccluster.pipeline.vectorizing import vectorizer_options


@dataclass(frozen=True, kw_only=True, eq=False)
class RunWork:
    """Where a run is made, and what is written of it; `run_pipeline` describes each."""

    output: str | Path | None = None
    overwrite: bool = False
    namer: Namer | None = None
    scheduler: object = None
    scratch: str | Path | None = None
    checkpoint: int | None = None
    report: bool = True
    with_texts: bool = False
    parquet: bool = False
    command: str | None = None
    began: float | None = None
    announce: Callable[[str], None] | None = None
    progress: Progress = silent


@dataclass(frozen=True, kw_only=True, eq=False)
class RunArguments(RunWork, RunSettings):
    """The signature of `run`: its settings as a person may write them, and the work."""

    source: object = field(kw_only=False)
    algorithm: Any = None
    quality: str | None = None
    parts: str | int | None = None

    def settings(self) -> RunSettings:
        """Return the settings as they are kept: names instead of estimators, tuples instead of lists."""
        estimator, name, options = self.algorithm, self.algorithm, dict[str, object]()
        n_clusters, random_state = self.n_clusters, self.random_state
        if estimator is not None and not isinstance(estimator, str):
            name, options = algorithm_of(estimator)
            n_clusters = estimator.n_clusters if n_clusters == "auto" else n_clusters
            random_state = getattr(estimator, "random_state", None) or random_state
        chosen, of_quality = chosen_algorithm(name, self.quality)
        return replace(
            part_of(self, RunSettings),
            n_clusters=n_clusters,
            random_state=random_state,
            truth=_as_tuple(self.truth),
            apart_from=_as_tuple(self.apart_from),
            # anything else is refused in a sentence, where languages are looked up
            language=tuple(self.language) if isinstance(self.language, list | set) else self.language,
            algorithm=chosen.name,
            clustering={**of_quality, **options, **(self.clustering or {})} or None,
            vectorizer=vectorizer_options(self.vectorizer),
            reader=with_parts(self.reader, self.parts),
            topics=checked_topics(self.topics),
        )


def with_parts(reader: Mapping[str, object] | None, parts: str | int | None) -> Mapping[str, object] | None:
    """Return the arguments of reading with how documents are cut in parts, where that was said."""
    return reader if parts is None else {**(reader or {}), "parts": parts}


def _as_tuple(columns: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    return columns if columns is None or isinstance(columns, str) else tuple(columns)
