"""Every criterion over k from what the fits gave, as one table, and what each criterion chooses alone."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from experiments.choosing_k import rules
from experiments.choosing_k.chains import Chain
from experiments.choosing_k.stability import Stability


def criteria_table(chains: list[Chain], *, n_documents: int, n_terms: int, steady: Stability | None) -> pd.DataFrame:
    """Return one row per k with every criterion; the first chain is of the data, the others of reference data."""
    data, nulls = chains[0], chains[1:]
    table = pd.DataFrame([{"k": k, **values} for k, values in data.items()])
    ch = {k: values["calinski_harabasz"] for k, values in data.items() if not math.isnan(values["calinski_harabasz"])}
    rss = {k: values["rss"] for k, values in data.items()}
    _add(table, "delta", rules.delta_ch(ch))
    _add(table, "hartigan", rules.hartigan(rss, n_documents=n_documents))
    _add(table, "krzanowski_lai", rules.krzanowski_lai(rss, n_terms=n_terms))
    parts = (_known(data, "sd_scat"), _known(data, "sd_dis"))
    _add(table, "sd", rules.sd_index(*parts))
    table = table.drop(columns=["sd_scat", "sd_dis"])
    if nulls:
        _add_reference(table, data, nulls)
    if steady is not None:
        _add(table, "stability", steady.values)
        _add(table, "stability_se", steady.standard_errors)
    return table


def _add(table: pd.DataFrame, name: str, values: Mapping[int, float]) -> None:
    table[name] = table["k"].map(dict(values)).astype(float)


def _known(data: Chain, name: str) -> dict[int, float]:
    return {k: values[name] for k, values in data.items() if math.isfinite(values[name])}


def _add_reference(table: pd.DataFrame, data: Chain, nulls: list[Chain]) -> None:
    for name, form in (("gap", "within"), ("gap_rss", "rss")):
        drawn = [{k: values[form] for k, values in null.items()} for null in nulls]
        gap, sd = rules.gap_statistic({k: values[form] for k, values in data.items()}, drawn)
        _add(table, name, gap)
        _add(table, f"{name}_sd", sd)
    silhouettes = np.array([[null[k]["silhouette"] for k in data] for null in nulls])
    table["null_silhouette"] = silhouettes.mean(axis=0)
    table["null_silhouette_sd"] = silhouettes.std(axis=0)


def choices_alone(
    table: pd.DataFrame, *, n_null: int, penalty: float | None, steady: Stability | None
) -> dict[str, int | None]:
    """Return the choice of each criterion alone; None where no k qualifies."""

    def curve(name: str) -> dict[int, float]:
        return {int(k): float(v) for k, v in zip(table["k"], table[name], strict=True) if not math.isnan(v)}

    rss = curve("rss")
    choices = {
        "silhouette": rules.best_k(curve("silhouette")),
        "calinski_harabasz": rules.best_k(curve("calinski_harabasz")),
        "delta": rules.best_k(curve("delta"), largest=False),
        "hartigan": rules.hartigan_k(curve("hartigan")),
        "krzanowski_lai": rules.best_k(curve("krzanowski_lai")),
        "sd": rules.best_k(curve("sd"), largest=False),
        "knee": rules.knee_k(rss),
    }
    if penalty is not None:
        choices["penalised_rss"] = rules.penalised_k(rss, penalty=penalty)
    for name in ("gap", "gap_rss") if n_null else ():
        gap, sd = curve(name), curve(f"{name}_sd")
        choices[f"{name}_zaki"] = rules.gap_k(gap, sd, rule="zaki")
        choices[f"{name}_zaki_2sd"] = rules.gap_k(gap, sd, rule="zaki_2sd")
        choices[f"{name}_tibshirani"] = rules.gap_k(gap, sd, rule="tibshirani", n_samples=n_null)
        choices[f"{name}_max"] = rules.gap_k(gap, sd, rule="max")
    if steady is not None:
        choices["stability"] = steady.chosen
    return choices
