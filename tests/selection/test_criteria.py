"""The rules that choose k, against values worked by hand and the printed tables."""

from __future__ import annotations

import json
import math

import pytest

from doccluster.errors import InputError
from doccluster.lab import criteria as rules

# Zaki & Meira, table 17.1
PRINTED_GAP = {1: 0.093, 2: 0.346, 3: 0.679, 4: 0.753, 5: 0.586, 6: 0.715, 7: 0.808, 8: 0.68, 9: 0.632}
PRINTED_SD = {1: 0.0456, 2: 0.0486, 3: 0.0529, 4: 0.0701, 5: 0.0711, 6: 0.0654, 7: 0.0611, 8: 0.0597, 9: 0.0606}
# Zaki & Meira, example 17.8
PRINTED_CH = {2: 570.25, 3: 692.40, 4: 717.79, 5: 683.14, 6: 708.26, 7: 700.17, 8: 738.05, 9: 728.63}
RSS = {1: 100.0, 2: 60.0, 3: 35.0, 4: 30.0, 5: 28.0}


@pytest.mark.parametrize(("n_sd", "chosen"), [(1, 4), (2, 3), (math.sqrt(1 + 1 / 200), 4)])
def test_gap_rules_choose_as_the_book_does(n_sd, chosen):
    assert rules.gap_k(PRINTED_GAP, PRINTED_SD, n_sd=n_sd) == chosen


def test_gap_by_hand():
    gap, sd = rules.gap_statistic({2: 4.0, 3: 0.0}, [{2: 8.0, 3: 1.0}, {2: 16.0, 3: 1.0}])
    assert gap[2] == pytest.approx(1.5)
    assert sd[2] == pytest.approx(0.5)
    assert math.isnan(gap[3])


def test_gap_says_none_when_no_k_qualifies():
    assert rules.gap_k({1: 0.0, 2: 1.0, 3: 2.0}, {1: 0.0, 2: 0.0, 3: 0.0}) is None


def test_delta_of_the_book_chooses_three():
    delta = rules.delta_ch(PRINTED_CH)
    printed = {3: -96.78, 4: -60.03, 5: 59.78, 6: -33.22, 7: 45.97, 8: -47.30}
    assert delta.keys() == printed.keys()
    for k, value in printed.items():
        assert delta[k] == pytest.approx(value, abs=0.03)  # printed from unrounded CH
    assert rules.best_k(delta, largest=False) == 3


@pytest.mark.parametrize(("penalty", "chosen"), [(1.0, 5), (4.0, 4), (10.0, 3), (50.0, 1)])
def test_penalised_rss_by_hand(penalty, chosen):
    assert rules.penalised_k(RSS, penalty=penalty) == chosen


def test_negative_penalty_is_refused():
    with pytest.raises(InputError):
        rules.penalised_k(RSS, penalty=-1)


def test_knee_is_the_bend_and_a_straight_line_has_none():
    assert rules.knee_k(RSS) == 3
    assert rules.knee_k({1: 3.0, 2: 2.0, 3: 1.0}) is None
    assert rules.knee_k({1: 3.0, 2: 2.0}) is None


def test_hartigan_and_krzanowski_lai_by_hand():
    values = rules.hartigan(RSS, n_documents=50)
    assert values[1] == pytest.approx((100 / 60 - 1) * 48)
    assert rules.hartigan_k(values) == 3
    assert rules.hartigan({1: 1.0, 2: 0.0}, n_documents=5)[1] == math.inf
    assert rules.krzanowski_lai(RSS, n_terms=2)[2] == pytest.approx(abs((100 - 120) / (120 - 105)))


def test_best_k_ignores_nan_and_prefers_the_smaller_k():
    assert rules.best_k({2: math.nan, 4: 1.0, 3: 1.0}) == 3
    assert rules.best_k({2: math.nan}) is None


def test_gap_looks_at_the_next_k_that_was_tried():
    gap, sd = {2: 0.1, 5: 0.4, 9: 0.3}, {2: 0.0, 5: 0.0, 9: 0.01}
    assert rules.gap_k(gap, sd) == 5
    assert rules.gap_k({2: 0.1, 5: 0.4}, sd) is None


def test_reference_values(oracle):
    cases = json.loads((oracle / "relative_and_misc.json").read_text())

    def ints(mapping):
        return {int(k): v for k, v in mapping.items()}

    assert rules.delta_ch(ints(cases["delta_ch"]["ch"])) == pytest.approx(ints(cases["delta_ch"]["delta"]), abs=1e-9)
    rss = ints(cases["penalised_rss"]["rss"])
    chosen = [rules.penalised_k(rss, penalty=penalty) for penalty in cases["penalised_rss"]["lam"]]
    assert chosen == cases["penalised_rss"]["choice"]
    assert rules.hartigan(rss, n_documents=cases["hartigan"]["n"]) == pytest.approx(
        ints(cases["hartigan"]["value"]), rel=1e-12
    )
    assert rules.krzanowski_lai(rss, n_terms=cases["krzanowski_lai"]["p"]) == pytest.approx(
        ints(cases["krzanowski_lai"]["value"]), rel=1e-12
    )
