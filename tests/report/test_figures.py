"""Figures as SVG show each value where the names of the axes say it lies, and any text as it is."""

from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from doccluster.errors import InputError
from doccluster.report import figures, svg

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?[\d.]+")


@pytest.fixture
def drawn(tmp_path):
    """Return the elements of a figure, as a viewer reads its file."""
    return lambda figure: ElementTree.parse(figure.save(tmp_path / "figure.svg")).getroot()


def texts(root):
    return {"".join(text.itertext()): (float(text.get("x")), float(text.get("y"))) for text in root.iter(f"{SVG}text")}


def paths(root, **attributes):
    found = root.iter(f"{SVG}path")
    return [path.get("d") for path in found if all(path.get(name) == value for name, value in attributes.items())]


def points(path):
    numbers = list(map(float, NUMBER.findall(path)))
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def scale(root, names, axis):
    """Return the function from a place to the value there, as two names of an axis say."""
    places = texts(root)
    (low, at_low), (high, at_high) = ((float(name), places[name][axis]) for name in names)
    return lambda place: low + (place - at_low) / (at_high - at_low) * (high - low)


def test_lines_go_through_their_values_and_undefined_ones_leave_a_gap(drawn):
    root = drawn(figures.line_chart({"a": ([0, 2, 4, 6, 8], [30.0, 10.0, np.nan, 20.0, 0.0])}, has_markers=False))
    (line,) = paths(root, stroke=svg.CATEGORIES[0])
    x, y = scale(root, "28", 0), scale(root, ("10", "30"), 1)
    shift = 0.36 * svg.TEXT_SIZE  # from the middle of a name to its foot
    read = [(x(at), y(place + shift)) for at, place in points(line)]
    np.testing.assert_allclose(read, [(0, 30), (2, 10), (6, 20), (8, 0)], atol=0.2)
    assert line.count("M") == 2


def test_a_logarithmic_axis_gives_equal_ratios_equal_room(drawn):
    root = drawn(figures.line_chart({"a": ([1, 10, 100], [1, 2, 3])}, log_x=True, has_markers=False))
    (line,) = paths(root, stroke=svg.CATEGORIES[0])
    first, second, third = (x for x, _ in points(line))
    assert second - first == pytest.approx(third - second, abs=0.11)
    assert texts(root)["10"][0] == pytest.approx(second, abs=0.11)


def test_bars_stand_on_zero_and_end_at_their_values(drawn):
    root = drawn(figures.bar_chart("xyz", {"a": [1, 2, 3], "b": [3, -1, 1]}))
    y, shift = scale(root, ("0", "2"), 1), 0.36 * svg.TEXT_SIZE
    for colour, expected in zip(svg.CATEGORIES, ([1, 2, 3], [3, -1, 1]), strict=False):
        path = next(path for path in paths(root, fill=colour) if "h-12z" not in path)
        bars = [list(map(float, NUMBER.findall(bar))) for bar in path.split("M")[1:]]
        assert [y(foot + shift) for _, foot, *_ in bars] == pytest.approx([0, 0, 0], abs=0.02)
        assert [y(foot + height + shift) for _, foot, _, height, _ in bars] == pytest.approx(expected, abs=0.03)


def test_error_bars_and_bands_may_reach_further_to_one_side(drawn):
    uneven = np.array([[0.5, 0.2, 1.0], [0.0, 0.1, 0.0]])
    root = drawn(figures.bar_chart(["a", "b", "c"], {"x": [1.0, 2.0, 3.0]}, spread={"x": uneven}))
    y, shift = scale(root, "02", 1), 0.36 * svg.TEXT_SIZE
    (errors,) = paths(root, stroke=svg.INK)
    ends = re.findall(r"M[\d.]+ ([\d.]+)h4m-2 0V([\d.]+)", errors)
    read = [[y(float(low) + shift), y(float(high) + shift)] for low, high in ends]
    np.testing.assert_allclose(read, [[0.5, 1.0], [1.8, 2.1], [2.0, 3.0]], atol=0.02)
    root = drawn(figures.line_chart({"x": ([10, 20, 30], [1.0, 2.0, 3.0])}, spread={"x": uneven}))
    (band,) = (path.get("d") for path in root.iter(f"{SVG}path") if path.get("opacity"))
    y = scale(root, ("0.5", "2.5"), 1)
    np.testing.assert_allclose([y(place + shift) for _, place in points(band)], [0.5, 1.8, 2, 3, 2.1, 1], atol=0.02)


def test_a_silhouette_plot_has_lines_at_zero_and_at_the_mean_and_a_gap_between_clusters(drawn):
    root = drawn(figures.silhouette_plot([0.5, -0.25, 0.2, 0.4, np.nan], [0, 0, 1, 1, 1], mean=0.2))
    x = scale(root, ("0.0", "0.4"), 0)
    (mean,) = paths(root, stroke=svg.INK)
    assert {round(x(at), 2) for at, _ in points(mean)} == {0.2}
    first, second = (points(path) for path in paths(root, fill=svg.ACCENT))
    (below,) = (points(path) for path in paths(root, fill=svg.WARNING))
    assert max(x(at) for at, _ in first) == pytest.approx(0.5, abs=0.005)
    assert min(x(at) for at, _ in below) == pytest.approx(-0.25, abs=0.005)
    assert max(x(at) for at, _ in second) == pytest.approx(0.4, abs=0.005)
    heights = [[place for _, place in outline] for outline in (first, second)]
    n_points = (max(heights[0]) - min(heights[0])) / 2  # of one document
    assert min(heights[1]) - max(heights[0]) == pytest.approx(0.012 * 5 * n_points, abs=0.11)


def test_an_outline_keeps_its_shape_when_only_some_documents_are_drawn(drawn):
    values = np.sort(np.random.default_rng(0).random(50_000))
    extents = []
    for max_points in (50_000, 500):
        (outline,) = paths(
            drawn(figures.silhouette_plot(values, np.zeros(50_000), mean=0.5, max_points=max_points)), fill=svg.ACCENT
        )
        xs, ys = zip(*points(outline), strict=True)
        extents.append((min(xs), max(xs), min(ys), max(ys)))
    assert len(outline) < 60_000
    np.testing.assert_allclose(*extents)


def test_a_heat_map_has_a_pixel_for_each_cell_the_darker_the_more(drawn):
    table = np.array([[np.nan, 0.2, 0.9], [0.1, np.nan, 0.5], [0.3, 0.7, np.nan]])
    root = drawn(figures.heat_map(table, names=[4, 7, 9], label="cluster", scale_label="separation"))
    cells, bar = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(image.get("href").split(",")[1]))).convert("RGB"), int)
        for image in root.iter(f"{SVG}image")
    )
    assert cells.shape == (3, 3, 3)
    luminance = cells @ [0.2126, 0.7152, 0.0722]
    order = np.argsort(table, axis=None)[:6]
    assert (np.diff(luminance.ravel()[order]) < 0).all()
    missing = [int(svg.MISSING[place : place + 2], 16) for place in (1, 3, 5)]
    assert (cells[np.eye(3, dtype=bool)] == missing).all()
    assert (np.diff(bar[:, 0] @ [0.2126, 0.7152, 0.0722]) >= 0).all()  # from much, at the top, to little


def test_a_large_table_stays_small():
    table = np.arange(200 * 200, dtype=float).reshape(200, 200)
    figure = figures.heat_map(table, names=range(200), label="cluster", scale_label="adherence")
    assert len(figure.inline("a table")) < 200_000


@pytest.mark.parametrize(
    ("n", "max_names", "step"), [(1, 40, 1), (40, 40, 1), (41, 40, 2), (200, 40, 5), (201, 40, 10), (1000, 20, 50)]
)
def test_names_on_an_axis_are_thinned_out_by_round_steps(n, max_names, step):
    assert svg.tick_step(n, max_names) == step


@pytest.mark.parametrize(
    ("low", "high", "names"),
    [
        (0, 10, ["0", "2", "4", "6", "8", "10"]),
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-1, 1, ["−1.0", "−0.5", "0.0", "0.5", "1.0"]),
        (0.011, 0.0152, ["0.011", "0.012", "0.013", "0.014", "0.015"]),
        (0, 12_000, ["0", "2,000", "4,000", "6,000", "8,000", "10,000", "12,000"]),
    ],
)
def test_names_of_values_are_round_and_no_longer_than_they_must(low, high, names):
    assert list(svg.scale_of([low, high], margin=0).names) == names


def test_a_scale_of_one_value_and_of_none_has_two_ends():
    for values in ([3.0, 3.0], [0.0], [np.nan], []):
        scale = svg.scale_of(values)
        assert scale.low < scale.high
    assert svg.scale_of([5.0], is_log=True).ticks == (5.0, 10.0)
    assert svg.scale_of([0.0, -1.0], is_log=True).ticks == (0.5, 1.0, 2.0)


@pytest.mark.parametrize("lengths", [[0, 0], [-1, -2], [np.nan, 0], [np.nan, np.nan], [1e-300, 0], [1e12, 5]])
def test_bars_of_any_lengths_are_drawn(drawn, lengths):
    root = drawn(figures.bar_chart("ab", {"": lengths}))
    assert not any("nan" in path for path in paths(root))
    assert {"a", "b"} < set(texts(root))


def test_what_is_chosen_beyond_the_places_is_inside_the_figure(drawn):
    root = drawn(figures.line_chart({"a": ([1, 2, 4], [1, 2, 3])}, chosen=9, log_x=True))
    (line,) = (
        path.get("d")
        for path in root.iter(f"{SVG}path")
        if path.get("d").startswith("M") and path.get("stroke-dasharray") == "2 3" and "h18" not in path.get("d")
    )
    assert all(0 < x < svg.WIDTH for x, _ in points(line))


def test_many_series_can_be_told_apart_and_all_are_named(drawn):
    series = {f"series {number}": ([0, 1], [number, 0]) for number in range(28)}
    root = drawn(figures.line_chart(series))
    styles = {(path.get("stroke"), path.get("stroke-dasharray")) for path in root.iter(f"{SVG}path")} - {("none", None)}
    assert len({style for style in styles if style[0] in svg.CATEGORIES}) == 28
    places = texts(root)
    assert all(0 <= places[name][0] < svg.WIDTH - 30 for name in series)
    assert len({places[name] for name in series}) == 28


def test_texts_are_drawn_as_they_are_and_open_no_element(drawn):
    names = ["<script>alert(1)</script>", "a & b", "日本語", "a\x0cb"]
    figure = figures.bar_chart(names, {"<b>": [1, 2, 3, 4], "c": [1, 1, 1, 1]}, title='"quoted"')
    assert {'"quoted"', "<script>alert(1)</script>", "a & b", "日本語", "<b>"} <= set(texts(drawn(figure)))
    inline = figure.inline('of "x" > <y>')
    assert "<script" not in inline
    ElementTree.fromstring(inline)


def test_names_longer_than_the_figure_leave_room_for_its_bars(drawn):
    names = ["a name of a corpus " * 20, "b"]
    root = drawn(figures.bar_chart(names, {"x " * 200: [1, 2], "y": [2, 1]}))
    bars = [points(path) for colour in svg.CATEGORIES[:2] for path in paths(root, fill=colour) if "h-12z" not in path]
    assert len(bars) == 2
    assert all(0 < y < svg.HEIGHT for path in bars for _, y in path[:1])
    (axes,) = (points(path) for path in paths(root, stroke=svg.MUTED))
    assert max(y for _, y in axes) - min(y for _, y in axes) > svg.HEIGHT / 3


def test_a_figure_in_a_page_has_the_colours_of_the_page():
    inline = figures.bar_chart("ab", {"": [1, 2]}).inline("bars")
    assert "var(--accent)" in inline
    assert "#" not in inline


def test_the_same_figure_has_the_same_bytes(tmp_path):
    first, second = (
        figures.line_chart({"a": ([1, 2], [3, 4])}, chosen=2).save(tmp_path / f"{turn}.svg").read_bytes()
        for turn in "ab"
    )
    assert first == second


def test_a_series_of_another_length_and_another_format_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"b has shape \(3,\), expected \(2,\)"):
        figures.line_chart({"b": ([1, 2], [1, 2, 3])})
    with pytest.raises(InputError, match="the spread of x has shape"):
        figures.bar_chart("abc", {"x": [1.0, 2.0, 3.0]}, spread={"x": [0.1, 0.2]})
    with pytest.raises(InputError, match=r"ends in \.svg"):
        figures.bar_chart("ab", {"": [1, 2]}).save(tmp_path / "figure.docx")
