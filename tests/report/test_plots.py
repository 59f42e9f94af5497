"""Figures for papers can be compared byte by byte, and draw any text and any number without a complaint."""

from __future__ import annotations

import itertools
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.text import Text

import doccluster
from doccluster.base.text_table import shortened
from doccluster.errors import DocclusterWarning, InputError
from doccluster.report import canvas, plots
from doccluster.report.canvas import category_style, figure_bytes, sequential_colormap
from tests.conftest import ROOT
from tests.report.conftest import run_of_themes


def draw_all(folder, kind):
    random = np.random.default_rng(5)
    plots.heat_map(random.random((4, 6)), title="table", path=folder / f"h.{kind}")
    plots.silhouette_plot(random.random(60) - 0.2, random.integers(0, 4, 60), mean=0.3, path=folder / f"w.{kind}")
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
    plots.heat_map([[1.0, 2.0]], column_names=["wheat", "<oil> & gas"], title="Shares", path=tmp_path / "h.svg")
    svg = (tmp_path / "h.svg").read_text(encoding="utf-8")
    assert ">Shares</text>" in svg
    assert "&lt;oil&gt; &amp; gas" in svg
    assert "<oil>" not in svg


def test_values_beside_undefined_ones_are_still_drawn():
    figure = plots.silhouette_plot([np.nan, 0.5, 0.4], [0, 0, 1], mean=0.45)
    assert len(figure.axes[0].collections) >= 2
    figure = plots.heat_map([[np.nan, np.nan]])
    assert figure_bytes(figure, "svg").startswith(b"<?xml")


def test_values_below_zero_centre_the_scale_at_zero():
    image = plots.heat_map([[-0.2, 0.6]]).axes[0].images[0]
    assert image.get_clim() == (-0.6, 0.6)
    assert plots.heat_map([[0.2, 0.6]]).axes[0].images[0].get_clim() == (0.2, 0.6)


def test_a_large_table_stays_small_in_a_vector_figure():
    table = np.arange(300 * 300, dtype=float).reshape(300, 300)
    assert len(figure_bytes(plots.heat_map(table), "svg")) < 600_000


def test_an_outline_keeps_its_shape_when_only_some_documents_are_drawn():
    values = np.sort(np.random.default_rng(0).random(50_000))
    whole = plots.silhouette_plot(values, np.zeros(50_000), mean=0.5, max_points=50_000)
    thin = plots.silhouette_plot(values, np.zeros(50_000), mean=0.5, max_points=500)
    assert len(figure_bytes(thin, "svg")) < 60_000
    extents = [figure.axes[0].collections[0].get_datalim(figure.axes[0].transData).extents for figure in (whole, thin)]
    np.testing.assert_allclose(*extents)


def test_drawing_leaves_the_settings_of_matplotlib_alone(tmp_path):
    before = matplotlib.rcParams.copy()
    draw_all(tmp_path, "svg")
    assert matplotlib.rcParams.copy() == before


def test_the_scale_of_shades_grows_darker_all_the_way():
    colours = sequential_colormap()(np.linspace(0, 1, 60))[:, :3]
    luminance = colours @ np.array([0.2126, 0.7152, 0.0722])
    assert (np.diff(luminance) < 0).all()


def plain_label(cluster):
    return shortened(cluster.label, plots.WIDEST_NAME)


def test_a_dendrogram_has_a_leaf_for_each_cluster_and_joins_sections_last():
    run = run_of_themes(4)
    (axes,) = plots.dendrogram(run).axes
    shown = [text.get_text() for text in axes.get_yticklabels()]
    parents = run.levels[1].parents_on(run.levels[0]).tolist()
    section_of = dict(zip(map(plain_label, run.clusters), parents, strict=True))
    assert sorted(shown) == sorted(section_of)
    order = [section_of[name] for name in shown]
    assert sum(before != after for before, after in itertools.pairwise(order)) == run.levels[0].n_clusters - 1
    with pytest.raises(InputError, match="cannot be drawn"):
        plots.dendrogram(doccluster.run(CHINESE, n_clusters=1))


def test_many_series_can_be_told_apart():
    styles = {tuple(sorted(category_style(index).items())) for index in range(28)}
    assert len(styles) == 28


def test_a_silhouette_plot_has_lines_at_zero_and_at_the_mean_and_a_gap_between_clusters():
    widths, labels = [0.5, -0.3, 0.2, 0.4, np.nan], [0, 0, 1, 1, 1]
    axes = plots.silhouette_plot(widths, labels, mean=0.2).axes[0]
    assert [line.get_xdata()[0] for line in axes.lines] == pytest.approx([0.2, 0.0])
    gap = 0.012 * 5
    assert axes.get_ylim() == pytest.approx((4 + 2 * gap, -gap))
    assert axes.get_yticks() == pytest.approx([1, 3 + gap])
    reach = [drawn.get_paths()[0].get_extents().extents.round(6).tolist() for drawn in axes.collections]
    assert reach == [[0, 0, 0.5, 2], [-0.3, 0, 0, 2], [0, 2.06, 0.4, 4.06]]


def test_a_title_that_is_too_long_for_its_figure_is_broken_into_lines():
    names = [f"a rather long name of row {n}" for n in range(4)]
    text = "rank correlation with adjusted Rand"
    figure = plots.heat_map(np.eye(4)[:, :1], row_names=names, column_names=["c"], title=text)
    figure.draw_without_rendering()
    written = figure.axes[0].get_title(loc="left")
    assert written.split() == text.split()
    assert "\n" in written
    title = next(one for one in figure.axes[0].findobj(Text) if one.get_text() == written)
    assert title.get_window_extent().x1 <= figure.bbox.x1


def test_names_that_are_formulas_or_in_another_script_are_drawn_as_they_are(tmp_path):
    plots.heat_map([[1.0, 2.0, 3.0]], column_names=["$x^", "_hidden", "日本語"], title="$", path=tmp_path / "h.svg")
    svg = (tmp_path / "h.svg").read_text(encoding="utf-8")
    assert "$x^" in svg
    assert "_hidden" in svg


def test_what_is_no_table_and_an_unknown_format_are_refused():
    with pytest.raises(InputError, match="rows and columns"):
        plots.heat_map([1.0, 2.0])
    with pytest.raises(InputError, match=r"\.svg, \.png or \.pdf"):
        plots.heat_map([[1.0, 2.0]], path="figure.docx")


WITHOUT_MATPLOTLIB = "import sys; sys.modules['matplotlib'] = None\n"


def printed_by(code, *arguments):
    """Return what a process of its own prints that runs the code."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_without_matplotlib_plots_say_what_to_install_and_a_run_and_its_report_are_whole(tmp_path):
    code = WITHOUT_MATPLOTLIB + (
        "import doccluster\ntry: doccluster.plots\nexcept ImportError as error: print(error)\n"
        "doccluster.run(sys.argv[1], n_clusters=3, quality='fast', levels='none', output=sys.argv[2])"
    )
    said = printed_by(code, ROOT / "corpora" / "samples" / "tiny", tmp_path / "run")
    assert said == 'doccluster.plots needs matplotlib; install it with: pip install "doccluster[plots]".\n'
    assert 'class="figure"' in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_the_figures_have_a_module_at_the_root_and_do_without_pyplot():
    code = (
        "import sys, doccluster.plots as named; from doccluster import plots; print(named is plots, named.__name__); "
        "plots.heat_map([[1.0]]); print([*sys.modules])"
    )
    said, loaded = printed_by(code).splitlines()
    assert said == "True doccluster.report.plots"
    assert "'matplotlib.figure'" in loaded
    assert "'matplotlib.pyplot'" not in loaded


CHINESE = ["渡轮 港口 乘客", "渡轮 港口 船长", "议会 海堤 水泵", "议会 海堤 居民"] * 6


@pytest.fixture
def without_other_fonts(monkeypatch):
    usual = [font for font in canvas.fontManager.ttflist if font.name in ("DejaVu Sans", "Last Resort High-Efficiency")]
    monkeypatch.setattr(canvas.fontManager, "ttflist", usual)


def test_letters_that_no_font_has_are_said_and_an_svg_keeps_them(tmp_path, without_other_fonts):
    run = doccluster.run(CHINESE, n_clusters=2)
    with pytest.warns(
        DocclusterWarning, match="no font of this machine has the Chinese letters of this figure; install"
    ):
        plots.document_map(run, path=tmp_path / "map.png")
    plots.document_map(run, path=tmp_path / "map.svg")
    page = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert all(word in page for cluster in run.clusters for word in cluster.label.split(", "))
    assert "\ufffd" not in page


def test_letters_that_the_usual_font_lacks_are_drawn_in_another_that_is_there(tmp_path, monkeypatch):
    sign = "\N{MATHEMATICAL SANS-SERIF BOLD SMALL ALPHA}"
    monkeypatch.setattr(canvas, "_signs", lambda path: frozenset(sign) if "STIXGeneral" in path else frozenset("a "))
    figure = plots.heat_map([[1.0, 2.0]], title=f"a {sign}", path=tmp_path / "h.png")
    title = figure.axes[0].get_title(loc="left")
    assert title == f"a {sign}"
    drawn = next(text for text in figure.findobj(Text) if text.get_text() == title)
    assert drawn.get_family() == [canvas.FONT, "STIXGeneral"]


def test_the_graph_of_a_clustering_has_a_line_for_each_pair_within_a_cluster():
    points, labels = np.random.default_rng(0).random((12, 2)), ["a", "b", "c"] * 4
    axes = plots.cluster_graph(points, labels).axes[0]
    for line, name in zip(axes.lines, "abc", strict=True):
        own = points[[label == name for label in labels]]
        drawn = line.get_xydata().reshape(-1, 3, 2)
        assert np.isnan(drawn[:, 2]).all()
        pairs = {frozenset(map(tuple, ends)) for ends in drawn[:, :2].tolist()}
        assert pairs == {frozenset(map(tuple, ends)) for ends in itertools.combinations(own.tolist(), 2)}
    assert not plots.cluster_graph(points, labels, with_edges=False).axes[0].lines
    with pytest.raises(InputError, match="two numbers and a label"):
        plots.cluster_graph(points[:, :1], labels)
    with pytest.raises(InputError, match="text"):
        plots.cluster_graph([["a", "b"]], [0])
    with pytest.raises(InputError, match="no edges"):
        plots.cluster_graph(np.zeros((1000, 2)), [0] * 1000)
