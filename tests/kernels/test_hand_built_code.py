"""The hand-built code of the sweep and its plain twins, beside the same sums and bounds written out with numpy."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

from doccluster.clustering import SphericalKMeans
from doccluster.clustering.k_means.pruning import padded_groups
from doccluster.clustering.k_means.pruning.movement import choose_places, measure_chords
from doccluster.kernels import hand_built
from doccluster.kernels.assignment import peaks_of, write_bounds
from doccluster.kernels.half_table import round_to_halves
from doccluster.kernels.jit import jit
from doccluster.kernels.pruning.bounds import carry_by_changes, carry_by_chords
from doccluster.kernels.simd import line_extremes, line_sums, twins
from doccluster.kernels.simd.lanes import LINE, OCTET, WIDE_LINE
from tests.clustering.test_exact_labels import topics

ROOT = Path(__file__).parents[2]
BOTH = pytest.mark.parametrize("built", ["by hand", "twin"])


@jit
def round_by_twin(singles, halves):
    flat, rounded = singles.ravel(), halves.ravel()
    for first in range(0, flat.size, LINE):
        twins.round_line_to_half(flat, rounded, first)


def callers(line_sums, line_extremes):
    """Return kernels that call the code of these modules."""
    add, add_peaks = line_sums.sum_lines, line_sums.sum_lines_and_peaks
    highest, holding = line_extremes.highest_of_lines, line_extremes.lane_holding

    @jit
    def sums(values, columns, head, first_lane, n_lines, start, has_begun, sums):
        add(values, columns, 0, values.size, head, first_lane, n_lines, start, has_begun, sums)

    @jit
    def sums_and_peaks(values, columns, head, start, has_begun, sums, peaks):
        add_peaks(values, columns, 0, values.size, head, start, has_begun, sums, peaks)

    @jit
    def by_chords(chords, own_lower, upper, row, before):
        return carry_by_chords(chords, own_lower, upper, row, before)

    @jit
    def by_changes(before, changes, error, rest, lanes, own, bounds):
        return carry_by_changes(before, changes, error, rest, lanes, own, bounds)

    @jit
    def written(highest, error, upper, row):
        write_bounds(highest, error, upper, row)

    @jit
    def extremes(sums, first, last, left_out):
        top = highest(sums, first, last, left_out)
        return top, holding(top, sums, first, last)

    return {f.__name__: f for f in (sums, sums_and_peaks, by_chords, by_changes, written, extremes)}


KERNELS = {"by hand": callers(line_sums, line_extremes), "twin": callers(twins, twins)}


@BOTH
@pytest.mark.parametrize("n_terms", [0, 1, 3, 4, 9])
@pytest.mark.parametrize("n_lines", [*range(1, 10), 16, 17, 25])
def test_sums_and_their_highest_are_those_of_the_definition(n_lines, n_terms, built):
    rng = np.random.default_rng(n_lines)
    head = rng.normal(size=(50, n_lines * LINE)).astype(np.float32)
    values = rng.normal(size=n_terms).astype(np.float32)
    columns = rng.choice(50, n_terms, replace=False).astype(np.int32)
    start = rng.normal(size=head.shape[1]).astype(np.float32)
    for has_begun in (False, True):
        sums, peaks = np.full(start.size, 0.25, np.float32), peaks_of(start.size)
        KERNELS[built]["sums_and_peaks"](values, columns, head, start, has_begun, sums, peaks)
        expected = (0.25 if has_begun else start) + values @ head[columns]
        assert sums == pytest.approx(expected, abs=1e-5)
        assert np.array_equal(peaks[:n_lines], sums.reshape(n_lines, LINE).max(axis=1))
        assert (peaks[n_lines:] == -np.inf).all()


@pytest.mark.parametrize("n_lines", [1, 7, 8, 17])
def test_sums_with_a_table_in_half_precision_are_those_with_its_values(n_lines):
    rng = np.random.default_rng(n_lines)
    halves = rng.random((50, n_lines * LINE)).astype(np.float16)
    values, columns = rng.random(9).astype(np.float32), rng.choice(50, 9, replace=False).astype(np.int32)
    start = np.zeros(halves.shape[1], np.float32)
    found = []
    for table in (halves.view(np.uint16), halves.astype(np.float32)):
        sums, peaks = np.empty_like(start), peaks_of(start.size)
        KERNELS["by hand"]["sums_and_peaks"](values, columns, table, start, False, sums, peaks)
        found.append((sums, peaks))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])


def test_a_table_is_rounded_to_half_precision_as_numpy_rounds_it():
    rng = np.random.default_rng(2)
    head = (rng.random((40, 3 * LINE)) * 10.0 ** rng.integers(-9, 1, (40, 3 * LINE))).astype(np.float32)
    halves = np.zeros(head.shape, np.uint16)
    for rounded in (round_to_halves, round_by_twin):
        halves[:] = 0
        rounded(head, halves)
        assert np.array_equal(halves.view(np.float16), head.astype(np.float16))


def test_the_twin_rounds_ties_and_edges_to_half_precision_as_numpy_does():
    edges = [0.0, 2.0**-25, 3 * 2.0**-25, 2.0**-24, 2.0**-14, 1023.5 * 2.0**-24, 1.0, 1 + 2.0**-11, 1 + 3 * 2.0**-11]
    edges += [65504.0, 65519.9, 65520.0, 1e9, np.inf, 1e-30, 1e-40]
    values = np.array([*edges, *(-edge for edge in edges)], np.float32)
    assert values.size == 2 * LINE
    halves = np.zeros(values.size, np.uint16)
    round_by_twin(values, halves)
    with np.errstate(over="ignore"):
        assert halves.tolist() == values.astype(np.float16).view(np.uint16).tolist()
    halves[:] = 0
    round_by_twin(np.full(LINE, np.nan, np.float32), halves[:LINE])
    assert np.isnan(halves[:LINE].view(np.float16)).all()


@BOTH
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_some_lines_are_summed_and_the_others_stay(kind, built):
    rng = np.random.default_rng(3)
    width = LINE if kind == np.float32 else WIDE_LINE
    head = rng.normal(size=(40, 5 * width)).astype(np.float32)
    values, columns = rng.normal(size=11).astype(np.float32), rng.choice(40, 11, replace=False).astype(np.int32)
    sums, start = np.full(5 * width, 7.0, kind), rng.normal(size=5 * width).astype(kind)
    KERNELS[built]["sums"](values, columns, head, width, 3, start, False, sums)
    expected = start + values.astype(kind) @ head[columns].astype(kind)
    some = slice(width, 4 * width)
    assert sums[some] == pytest.approx(expected[some], abs=1e-5 if kind == np.float32 else 1e-13)
    assert (sums[:width] == 7.0).all()
    assert (sums[4 * width :] == 7.0).all()


@BOTH
def test_the_highest_lane_is_found_but_for_the_one_left_out(built):
    sums = np.random.default_rng(4).permutation(np.arange(80, dtype=np.float32))
    for first, last in ((0, 16), (16, 80), (48, 64)):
        part = sums[first:last]
        for left_out in (-1, first + int(part.argmax()), 79):
            shown = np.where(np.arange(first, last) == left_out, -np.inf, part)
            found = KERNELS[built]["extremes"](sums, first, last, left_out)
            assert found == (shown.max(), first + shown.argmax())


@pytest.mark.parametrize("only_shared", [False, True])
@pytest.mark.parametrize("k", [5, 100, 128, 300, 400, 1000])
def test_bounds_are_carried_as_defined(k, only_shared):
    rng = np.random.default_rng(k)
    lanes = rng.permutation(k).astype(np.int32)
    moved = np.flatnonzero(rng.random(k) < 0.3)
    movements = np.zeros(k)
    movements[moved] = rng.random(moved.size)
    places = choose_places(moved, movements, lanes, LINE, only_shared=only_shared)
    chords = measure_chords(moved, movements, places, lanes, LINE)
    n_groups = padded_groups(k, LINE)
    changes = rng.random(places.lane.size).astype(np.float32)
    assert places.lane.size % LINE == 0  # the table of changes has whole lines, and each of its places is described
    assert n_groups % OCTET == 0
    upper = rng.random((3, n_groups)).astype(np.float32)
    before, given = np.empty(n_groups, np.float32), upper.copy()
    reaching = KERNELS["twin"]["by_chords"](chords.of_group, np.float32(0.9), upper, 1, before)
    assert np.array_equal(before, given[1])
    assert np.array_equal(upper[1], given[1] + chords.of_group)
    assert np.array_equal(upper[[0, 2]], given[[0, 2]])
    assert reaching == np.count_nonzero(upper[1] >= np.float32(0.9))

    own, error = int(lanes[moved[0]]), np.float32(0.01)
    errors = (error, np.float32(0.02))
    given = (before, changes, errors, chords.of_rest, places.lane, own, (np.float32(0.9), upper[1]))
    reaching = KERNELS["twin"]["by_changes"](*given)
    expected = before.copy()
    for group in range(n_groups):
        if places.lane[group] < 0:
            expected[group] += min(changes[group] + errors[1], chords.of_rest[group])
    for place, lane in enumerate(places.lane):
        if lane >= 0 and lane != own:
            expected[lane // LINE] = max(expected[lane // LINE], changes[place] + error)
    assert np.array_equal(upper[1], expected)
    assert reaching == np.count_nonzero(expected >= np.float32(0.9))

    KERNELS["twin"]["written"](changes[:n_groups], error, upper, 2)
    assert np.array_equal(upper[2], changes[:n_groups] + error)


FIT = """
import sys
from doccluster.clustering import SphericalKMeans
from doccluster.kernels.simd import sum_lines
from doccluster.vectors import TfidfVectorizer
from tests.clustering.test_exact_labels import topics
assert "twins" in sum_lines.__module__
assert TfidfVectorizer().fit_transform(["two naïve", "words, two words"]).nnz == 4
assert "numba" in sys.modules
rows = topics()
print(*SphericalKMeans(30, init=rows[:30], algorithm="pruned").fit(rows).labels_)
"""


def test_a_fit_with_the_twins_gives_the_same_labels(tmp_path):
    environment = {**os.environ, hand_built.VARIABLE: "plain", "NUMBA_CACHE_DIR": str(tmp_path)}
    environment["NUMBA_OPT"] = "0"  # it is run once
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    rows = topics()  # with seeds, which need no code of their own
    ours = SphericalKMeans(30, init=rows[:30], algorithm="pruned").fit(rows).labels_
    assert np.array_equal(np.array(done.stdout.split(), np.int32), ours)


def test_the_twins_are_used_with_versions_of_llvmlite_that_are_not_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (declared,) = [one for one in map(Requirement, project["dependencies"]) if one.name == "llvmlite"]
    for version in ("0.44.0", "0.50.0", "0.50.1", "0.51.0", "0.60.0", "1.0.0"):
        assert hand_built.is_tested(version) == declared.specifier.contains(version)
