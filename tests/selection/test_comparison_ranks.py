"""Algorithms over corpora: what Demšar (2006) prints, scipy, and arrangements gone through by hand."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats

from doccluster import plots
from doccluster.errors import InputError
from doccluster.lab.comparing import write_comparison
from doccluster.lab.comparison_ranks import nemenyi_p, rank_test
from doccluster.selection import Comparison

ALGORITHMS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
# Demšar (2006), table 6; in the row "voting" the two .975 have the ranks 2 and 3
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
# table 5 (a): critical values for 2 to 10 algorithms
CRITICAL = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}


def made(values=AUC, algorithms=ALGORITHMS, measure="adjusted_rand", **more):
    """A comparison with three seeds, whose means over them are the given values."""
    rows = [
        (f"set {corpus}", name, seed, measure, value + (seed - 1) * 0.001)
        for corpus, line in enumerate(values)
        for name, value in zip(algorithms, line, strict=True)
        for seed in range(3)
    ]
    return Comparison(pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure", "value"]), **more)


def test_the_example_of_the_paper_comes_out_as_printed():
    test = rank_test(AUC)
    assert test.mean_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert (round(test.friedman_chi_squared, 2), round(test.friedman_f, 2), round(test.critical_difference, 2)) == (
        9.28,
        3.69,
        1.25,
    )
    assert not test.is_exact
    assert test.friedman_p == pytest.approx(stats.f.sf(test.friedman_f, 3, 39))
    assert round(rank_test(AUC, level=0.10).critical_difference, 2) == 1.12


@pytest.mark.parametrize("level", CRITICAL)
def test_critical_values_are_those_of_the_printed_table(level):
    for k, printed in enumerate(CRITICAL[level], 2):
        values = np.tile(np.arange(k, dtype=float), (40, 1))
        standard_error = np.sqrt(k * (k + 1) / (6 * 40))
        test = rank_test(values, level=level)
        assert test.critical_difference / standard_error == pytest.approx(printed, abs=1e-3)
        assert nemenyi_p(test.critical_difference, k, 40) == pytest.approx(level, abs=1e-6)


def test_without_ties_the_statistic_is_scipy_s():
    values = np.random.default_rng(0).normal(size=(9, 5))
    assert rank_test(values).friedman_chi_squared == pytest.approx(stats.friedmanchisquare(*values.T).statistic)
    assert rank_test(-values, higher_is_better=False).mean_ranks == pytest.approx(rank_test(values).mean_ranks)


@pytest.mark.parametrize("values", [[[3, 2, 1], [3, 1, 2], [3, 2, 1]], [[1, 1, 2], [2, 0, 2], [0, 1, 3], [1, 2, 3]]])
def test_p_of_few_corpora_is_the_share_of_all_arrangements(values):
    test = rank_test(values)
    ranks = [stats.rankdata(np.negative(row)) for row in values]
    arrangements = itertools.product(*(itertools.permutations(row) for row in ranks))
    spreads = [np.var(np.sum(rows, axis=0)) for rows in arrangements]
    assert test.is_exact
    assert test.friedman_p == pytest.approx(np.mean(np.array(spreads) >= np.var(np.sum(ranks, axis=0)) - 1e-9))


def test_bars_join_what_is_not_told_apart_and_no_bar_is_part_of_another():
    names = "abcdefg"
    found = made(np.random.default_rng(5).normal(size=(30, 7)) + np.arange(7) / 4, tuple(names))
    row = found.ranks().iloc[0]
    ranks, difference = row[[*names]].astype(float).sort_values().tolist(), row["critical_difference"]
    thick = [line for line in plots.critical_difference(found).axes[0].lines if line.get_linewidth() == 3]
    bars = [(line.get_xdata()[0] + 0.03, line.get_xdata()[1] - 0.03) for line in thick]
    pairs = set(itertools.combinations(ranks, 2))
    alike = {pair for pair in pairs if pair[1] - pair[0] < difference}
    assert len(bars) > 1
    under = {pair for pair in pairs if any(low - 1e-9 <= pair[0] and pair[1] <= high + 1e-9 for low, high in bars)}
    assert under == alike  # also of an algorithm that is called f
    assert not any(a != b and b[0] <= a[0] and a[1] <= b[1] for a, b in itertools.permutations(bars, 2))


def test_ranks_and_tests_are_of_the_means_over_seeds():
    found = made()
    ranks = found.ranks().iloc[0]
    assert ranks["measure"] == "adjusted_rand"
    assert ranks[[*ALGORITHMS]].astype(float).tolist() == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert (ranks["n_corpora"], round(ranks["friedman_chi_squared"], 2), round(ranks["critical_difference"], 2)) == (
        14,
        9.28,
        1.25,
    )
    tests = found.corpus_tests().set_index(["first", "second"])
    row = tests.loc[("C4.5", "C4.5+m")]
    # as in table 2 of the paper, but the two equal pairs are left out: Wilcoxon (1945)
    difference = AUC[:, 0] - AUC[:, 1]
    expected = stats.wilcoxon(difference[difference != 0], method=stats.PermutationMethod()).pvalue
    assert row["p"] == pytest.approx(expected, abs=1e-3)  # differences are equal only up to their last digit
    assert (row["n"], round(row["rank_difference"], 3)) == (14, 1.143)
    assert row["p_nemenyi"] > 0.05 > row["p"]
    assert (tests["p_holm"] >= tests["p"]).all()


def test_what_lacks_a_value_on_a_corpus_has_no_rank_and_a_ceiling_none_either():
    values = np.column_stack([AUC[:4], np.ones(4)])
    values[3, 1] = np.nan
    found = made(values, (*ALGORITHMS, "oracle"), ceiling="oracle")
    assert [*found.ranks().columns][6:] == ["C4.5", "C4.5+cf", "C4.5+m+cf"]
    assert "oracle" not in set(found.tests()["first"]) | set(found.tests()["second"])
    assert "oracle" in found.to_latex()
    one = made(AUC[:1])
    assert one.ranks().empty
    assert one.corpus_tests().empty


def test_a_measure_that_is_better_when_lower_is_ranked_so():
    higher, lower = made(), made(-AUC, measure="rss")
    assert lower.ranks().iloc[0, 6:].tolist() == higher.ranks().iloc[0, 6:].tolist()


def test_figures_of_ranks_name_every_algorithm_and_join_what_is_alike(tmp_path):
    found = made()
    figure = plots.critical_difference(found, path=tmp_path / "ranks.svg")
    words = " ".join(ElementTree.parse(tmp_path / "ranks.svg").getroot().itertext())
    assert all(name in words for name in (*ALGORITHMS, "critical difference 1.25"))
    thick = [line for line in figure.axes[0].lines if line.get_linewidth() == 3]
    assert [line.get_xdata().tolist() for line in thick] == [
        pytest.approx([1.964 - 0.03, 3.143 + 0.03], abs=1e-3),
    ]
    into = Figure().add_subplot()
    assert plots.critical_difference(found, ax=into).axes == [into]
    write_comparison(made(AUC[:3]), tmp_path / "out")
    words = " ".join(ElementTree.parse(tmp_path / "out" / "adjusted_rand-ranks.svg").getroot().itertext())
    assert all(name in words for name in (*ALGORITHMS, "critical difference 2.71"))
    with pytest.raises(InputError, match="no ranks of nmi to draw"):
        plots.critical_difference(found, measure="nmi")
