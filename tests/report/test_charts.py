"""Figures are files that can be compared byte by byte, and draw any text and any number without a complaint."""

from __future__ import annotations

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.text import Text

from doccluster.errors import InputError
from doccluster.report import charts
from doccluster.report.canvas import category_style, figure_bytes, sequential_colormap


def draw_all(folder, kind):
    random = np.random.default_rng(5)
    ks = [2, 4, 8, 16]
    charts.line_chart(
        ks, {"a": [1, 2, np.nan, 4], "b": ks}, spread={"a": [0.1] * 4}, chosen=8, path=folder / f"l.{kind}"
    )
    charts.bar_chart("xyz", {"a": [1, 2, 3], "b": [3, 2, 1]}, spread={"a": [1, 1, 1]}, path=folder / f"b.{kind}")
    charts.heat_map(random.random((4, 6)), title="table", path=folder / f"h.{kind}")
    charts.silhouette_plot(random.random(60) - 0.2, random.integers(0, 4, 60), path=folder / f"w.{kind}")
    return sorted(folder.iterdir())


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_figure_has_the_same_bytes(tmp_path, kind):
    for turn in ("first", "second"):
        (tmp_path / turn).mkdir()
        draw_all(tmp_path / turn, kind)
    for first, second in zip(
        sorted((tmp_path / "first").iterdir()), sorted((tmp_path / "second").iterdir()), strict=True
    ):
        assert first.read_bytes() == second.read_bytes(), first.name


def test_text_of_a_vector_figure_stays_text(tmp_path):
    charts.heat_map([[1.0, 2.0]], column_names=["wheat", "<oil> & gas"], title="Shares", path=tmp_path / "h.svg")
    svg = (tmp_path / "h.svg").read_text(encoding="utf-8")
    assert ">Shares</text>" in svg
    assert "&lt;oil&gt; &amp; gas" in svg
    assert "<oil>" not in svg


def test_names_that_are_formulas_hidden_or_in_another_script_are_drawn_as_they_are(tmp_path):
    names = ["$x^", "_hidden", "日本語", "a\tb"]
    charts.line_chart([1, 2], {name: [1, 2] for name in names}, title="$", path=tmp_path / "l.svg")
    svg = (tmp_path / "l.svg").read_text(encoding="utf-8")
    assert "$x^" in svg
    assert "_hidden" in svg


def test_values_beside_undefined_ones_are_still_drawn():
    figure = charts.silhouette_plot([np.nan, 0.5, 0.4], [0, 0, 1])
    assert len(figure.axes[0].collections) >= 2
    figure = charts.heat_map([[np.nan, np.nan]])
    assert figure_bytes(figure, "svg").startswith(b"<?xml")


def test_values_below_zero_centre_the_scale_at_zero():
    image = charts.heat_map([[-0.2, 0.6]]).axes[0].images[0]
    assert image.get_clim() == (-0.6, 0.6)
    assert charts.heat_map([[0.2, 0.6]]).axes[0].images[0].get_clim() == (0.2, 0.6)


def test_a_large_table_stays_small_in_a_vector_figure():
    table = np.arange(300 * 300, dtype=float).reshape(300, 300)
    assert len(figure_bytes(charts.heat_map(table), "svg")) < 600_000


def test_an_outline_keeps_its_shape_when_only_some_documents_are_drawn():
    values = np.sort(np.random.default_rng(0).random(50_000))
    whole = charts.silhouette_plot(values, np.zeros(50_000), max_points=50_000)
    thin = charts.silhouette_plot(values, np.zeros(50_000), max_points=500)
    assert len(figure_bytes(thin, "svg")) < 60_000
    extents = [figure.axes[0].collections[0].get_datalim(figure.axes[0].transData).extents for figure in (whole, thin)]
    np.testing.assert_allclose(*extents)


@pytest.mark.parametrize(
    ("n", "most", "step"), [(1, 40, 1), (40, 40, 1), (41, 40, 2), (200, 40, 5), (201, 40, 10), (1000, 20, 50)]
)
def test_names_on_an_axis_are_thinned_out_by_round_steps(n, most, step):
    from doccluster.report.canvas import tick_step

    assert tick_step(n, most) == step


def test_drawing_leaves_the_settings_of_matplotlib_alone(tmp_path):
    before = matplotlib.rcParams.copy()
    draw_all(tmp_path, "svg")
    assert matplotlib.rcParams.copy() == before


def test_drawing_does_without_pyplot():
    code = "import sys, doccluster.report.charts as c; c.line_chart([1], {'a': [1]}); print([*sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'matplotlib.figure'" in loaded
    assert "'matplotlib.pyplot'" not in loaded


def test_the_scale_of_shades_grows_darker_all_the_way():
    colours = sequential_colormap()(np.linspace(0, 1, 60))[:, :3]
    luminance = colours @ np.array([0.2126, 0.7152, 0.0722])
    assert (np.diff(luminance) < 0).all()


def test_many_series_can_be_told_apart():
    styles = {tuple(sorted(category_style(index).items())) for index in range(28)}
    assert len(styles) == 28


def test_a_series_of_another_length_is_refused():
    with pytest.raises(InputError, match=r"'?b'? has shape \(3,\), expected \(2,\)"):
        charts.line_chart([1, 2], {"b": [1, 2, 3]})
    with pytest.raises(InputError, match="rows and columns"):
        charts.heat_map([1.0, 2.0])
    with pytest.raises(InputError, match=r"\.svg, \.png or \.pdf"):
        charts.bar_chart("ab", [1, 2], path="figure.docx")


def test_error_bars_and_bands_may_reach_further_to_one_side():
    uneven = np.array([[0.1, 0.2, 0.3], [0.0, 0.1, 0.0]])
    figure = charts.bar_chart(["a", "b", "c"], {"x": [1.0, 2.0, 3.0]}, spread={"x": uneven})
    ends = [segment[:, 1].tolist() for segment in figure.axes[0].collections[0].get_segments()]
    assert np.array(ends) == pytest.approx(np.array([[0.9, 1.0], [1.8, 2.1], [2.7, 3.0]]))
    band = charts.line_chart([1, 2, 3], {"x": [1.0, 2.0, 3.0]}, spread={"x": uneven}).axes[0].collections[0]
    corners = {(round(x, 6), round(y, 6)) for x, y in band.get_paths()[0].vertices}
    assert corners == {(1, 0.9), (2, 1.8), (3, 2.7), (1, 1.0), (2, 2.1), (3, 3.0)}
    with pytest.raises(InputError, match="the spread of x has shape"):
        charts.bar_chart(["a", "b", "c"], {"x": [1.0, 2.0, 3.0]}, spread={"x": [0.1, 0.2]})


def test_a_chart_shows_its_values_where_they_belong():
    axes = charts.line_chart([1, 2, 4], {"x": [3.0, 1.0, 2.0]}, chosen=2, y_range=(0, 5)).axes[0]
    assert [line.get_xydata().tolist() for line in axes.lines] == [[[1, 3], [2, 1], [4, 2]], [[2, 0], [2, 1]]]
    assert axes.get_ylim() == (0, 5)
    axes = charts.bar_chart("xyz", {"a": [1, 2, 3], "b": [3, 2, 1]}).axes[0]
    middles = [[round(bar.get_x() + bar.get_width() / 2, 6) for bar in group] for group in axes.containers]
    assert middles == [[-0.195, 0.805, 1.805], [0.195, 1.195, 2.195]]
    assert [[bar.get_height() for bar in group] for group in axes.containers] == [[1, 2, 3], [3, 2, 1]]
    assert all(bar.get_width() < 0.39 for group in axes.containers for bar in group)


def test_a_silhouette_plot_has_lines_at_zero_and_at_the_mean_and_a_gap_between_clusters():
    widths, labels = [0.5, -0.3, 0.2, 0.4, np.nan], [0, 0, 1, 1, 1]
    axes = charts.silhouette_plot(widths, labels).axes[0]
    assert [line.get_xdata()[0] for line in axes.lines] == pytest.approx([0.2, 0.0])
    assert [line.get_xdata()[0] for line in charts.silhouette_plot(widths, labels, mean=0.1).axes[0].lines] == [0.1, 0]
    gap = 0.012 * 5
    assert axes.get_ylim() == pytest.approx((4 + 2 * gap, -gap))
    assert axes.get_yticks() == pytest.approx([1, 3 + gap])
    reach = [drawn.get_paths()[0].get_extents().extents.round(6).tolist() for drawn in axes.collections]
    assert reach == [[0, 0, 0.5, 2], [-0.3, 0, 0, 2], [0, 2.06, 0.4, 4.06]]


def test_a_title_that_is_too_long_for_its_figure_is_broken_into_lines():
    names = [f"a rather long name of row {n}" for n in range(4)]
    text = "rank correlation with adjusted Rand"
    figure = charts.heat_map(np.eye(4)[:, :1], row_names=names, column_names=["c"], title=text)
    figure.draw_without_rendering()
    written = figure.axes[0].get_title(loc="left")
    assert written.split() == text.split()
    assert "\n" in written
    title = next(one for one in figure.axes[0].findobj(Text) if one.get_text() == written)
    assert title.get_window_extent().x1 <= figure.bbox.x1


@pytest.mark.parametrize("log", ["x", "y"])
def test_only_the_axis_that_is_asked_for_is_logarithmic(log):
    figure = charts.line_chart([1, 10, 100], {"a": [1, 2, 3]}, **{f"log_{log}": True})
    (axes,) = figure.axes
    scales = {"x": axes.get_xscale(), "y": axes.get_yscale()}
    assert scales == {"x": "linear", "y": "linear"} | {log: "log"}
