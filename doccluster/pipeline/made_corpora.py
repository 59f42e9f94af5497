"""Generated corpora for a comparison: one for each setting of a generator's knobs and each seed."""

from __future__ import annotations

import difflib
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from doccluster.errors import InputError
from doccluster.pipeline.vectorizing import vectorize_texts
from doccluster.selection import LabelledCorpus
from doccluster.synthetic import make_sharma, make_sparse_vmf, make_vmf_mixture, make_zipf_corpus, plan_zipf

Made = tuple[Any, Sequence[Any], int]

SHORT = {"n": "n_documents", "d": "n_terms", "k": "n_clusters"}
NOT_KNOBS = frozenset({"random_state", "dtype", "n_threads", "weights", "overlap_rows"})


def made_corpora(
    kind: str,
    *,
    vary: Mapping[str, Sequence[Any]],
    fixed: Mapping[str, Any],
    n_clusters: int | None = None,
    seeds: Sequence[int],
) -> Iterator[LabelledCorpus]:
    """Return an iterator over the corpora, each made when it is asked for; all settings of one seed come first.

    Parameters
    ----------
    kind : {"vmf", "sparse-vmf", "sharma", "zipf"}
    vary : mapping of knob to values
    fixed : mapping of knob to value
    n_clusters : int, optional
        What algorithms are asked for; by default as many as were made.
    seeds : whole numbers

    Raises
    ------
    InputError
        If the generator or a knob is not known, or a knob has no value, before anything is made.
    """
    if kind not in KINDS:
        raise InputError(f"there is no generator {kind!r} to compare over", remedy=f"choose one of {', '.join(KINDS)}")
    make, defaults, of_arguments = KINDS[kind]
    arguments = {typed: _argument(kind, of_arguments, typed) for typed in (*fixed, *vary)}
    for typed in vary:
        if not len(vary[typed]):
            raise InputError(f"the knob {typed!r} has no value to vary over", remedy="give one or more")
        if typed in fixed:
            raise InputError(f"the knob {typed!r} is both fixed and varied", remedy="give it once")
    settings = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]

    def draw() -> Iterator[LabelledCorpus]:
        for seed, varied in itertools.product(seeds, settings):
            typed = {**fixed, **varied}
            matrix, truth, made_with = make({**defaults, **{arguments[name]: typed[name] for name in typed}}, seed)
            name = " ".join([kind, *(f"{knob}={value}" for knob, value in varied.items())])
            about = {"truth": "as made", "n_classes": len(set(truth)), **varied}
            yield LabelledCorpus(name, matrix, truth, n_clusters or made_with, seeds=(seed,), about=about)

    return draw()


def _argument(kind: str, function: Callable[..., Any], typed: str) -> str:
    """Return the argument of the generator that a knob stands for."""
    known = [name for name in inspect.signature(function).parameters if name not in NOT_KNOBS]
    short = {**SHORT, **({"k": "n_topics"} if "n_topics" in known else {})}
    name = short.get(typed, typed.replace("-", "_"))
    if name in known:
        return name
    usable = [*(letter for letter, argument in short.items() if argument in known), *known]
    near = difflib.get_close_matches(typed, usable, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(usable)}."
    raise InputError(f"the generator {kind} has no knob {typed!r}", remedy=hint)


def _vectors_of(function: Callable[..., Any]) -> Callable[[Mapping[str, Any], int], Made]:
    def make(arguments: Mapping[str, Any], seed: int) -> Made:
        made = function(**arguments, random_state=seed)
        return made.vectors.matrix, made.truth.tolist(), int(made.parameters["n_clusters"])

    return make


def _texts(arguments: Mapping[str, Any], seed: int) -> Made:
    corpus = make_zipf_corpus(**arguments, random_state=seed)
    matrix = vectorize_texts(corpus, language="none", options={}, n_threads=None).vectors.matrix
    return matrix, [topics[0] for topics in corpus.labels["topic"]], int(arguments["n_topics"])


# kind: (what makes a corpus, what it is made with by default, the function whose arguments are the knobs)
KINDS: dict[str, tuple[Callable[[Mapping[str, Any], int], Made], dict[str, Any], Callable[..., Any]]] = {
    "vmf": (
        _vectors_of(make_vmf_mixture),
        {"n_documents": 1000, "n_terms": 100, "n_clusters": 5, "kappa": 50.0},
        make_vmf_mixture,
    ),
    "sparse-vmf": (
        _vectors_of(make_sparse_vmf),
        {"n_documents": 1000, "n_terms": 20_000, "n_clusters": 10},
        make_sparse_vmf,
    ),
    "sharma": (_vectors_of(make_sharma), {"n_clusters": 5}, make_sharma),
    "zipf": (_texts, {"n_documents": 1000, "n_topics": 20}, plan_zipf),
}
