"""Results show themselves in a notebook, as data frames, as LaTeX and as figures in axes of the caller."""

from __future__ import annotations

import itertools
from html import unescape
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import doccluster
from doccluster import plots
from doccluster.base.text_table import html_table
from doccluster.errors import InputError
from doccluster.measures import list_measures
from doccluster.selection import Comparison
from website.notebook import run_cells, shown

HOSTILE = '<script>alert("x")</script>\u202e & _x_'


class Cells(HTMLParser):
    """The rows of a table as lists of texts, and every tag that was met."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        self._inside = tag in ("td", "th")
        if self._inside:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self._inside = False

    def handle_data(self, data):
        if self._inside:
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def run():
    corpus = doccluster.read_corpus("corpora/samples/newsroom/articles.jsonl")
    return doccluster.run(corpus, n_clusters=8, random_state=1, levels="none")


@pytest.fixture(scope="module")
def choice():
    return doccluster.choose_k("corpora/samples/newsroom/articles.jsonl", random_state=0)


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    algorithms, measures = ["spherical-k-means", "agglomerative"], ["nmi", "adjusted_rand", "silhouette", "seconds"]
    rows = itertools.product(["news_room"], algorithms, range(6), measures)
    runs = pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure"])
    return Comparison(runs.assign(value=rng.random(len(runs))))


def test_a_run_shows_its_clusters_largest_first(run):
    found = Cells(run._repr_html_())
    assert found.rows[0] == ["cluster", "label", "documents", "similarity"]
    assert [row[1] for row in found.rows[1:]] == [one.label for one in run.clusters]
    assert [int(row[2]) for row in found.rows[1:]] == run.partition.sizes.tolist()
    own = [run.similarity[run.partition.labels == k].mean() for k in range(8)]
    assert [float(row[3]) for row in found.rows[1:]] == pytest.approx(own, abs=1e-3)


def test_an_evaluation_shows_every_score_with_its_direction(run):
    found = Cells(run.evaluation._repr_html_())
    shown = {row[0]: row for row in found.rows}
    for score in run.evaluation.scores:
        assert score.name in shown
    assert shown["silhouette"][1] == "↑"


def test_a_comparison_shows_means_that_numpy_gives(comparison):
    found = Cells(comparison._repr_html_())
    row = next(row for row in found.rows if row[1] == "agglomerative")
    runs = comparison.runs.query("algorithm == 'agglomerative' and measure == 'nmi'")
    place = found.rows[0].index("nmi")
    assert float(row[place].split()[0]) == pytest.approx(runs["value"].mean(), abs=5e-4)


def test_a_choice_shows_its_sentence_and_a_row_for_each_k(choice):
    text = choice._repr_html_()
    assert choice.recommendation.sentence in unescape(text)
    assert len(Cells(text).rows) == 1 + len(choice.to_pandas())


def test_text_of_documents_is_only_text_in_a_table():
    text = html_table(["name", HOSTILE], [[HOSTILE, 3]], caption=HOSTILE, bar=HOSTILE)
    assert Cells(text).tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert "\u202e" not in text


def test_the_report_is_shown_in_a_frame_that_is_shut_off_from_the_notebook(run, tmp_path):
    shown = run.report()
    frame = shown._repr_html_()
    assert 'sandbox="allow-scripts allow-popups allow-downloads"' in frame
    assert shown.page in unescape(frame)
    doccluster.write_report(run, tmp_path / "one.html")
    assert shown.save(tmp_path / "two.html").read_bytes() == (tmp_path / "one.html").read_bytes()


def test_frames_have_the_rows_of_the_results(run, comparison, choice):
    assert len(run.to_pandas()) == 176
    assert run.evaluation.to_pandas()["measure"].tolist() == [score.name for score in run.evaluation.scores]
    assert set(comparison.to_pandas()["algorithm"]) == {"spherical-k-means", "agglomerative"}
    assert all(own["resolution"].is_monotonic_increasing for _, own in choice.to_pandas().groupby("as"))


@pytest.mark.parametrize("name", ["run", "evaluation", "comparison", "choice"])
def test_latex_tables_have_as_many_cells_in_each_row_and_escape_text(name, request, run):
    value = run.evaluation if name == "evaluation" else request.getfixturevalue(name)
    lines = [line for line in value.to_latex().splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert len(lines) > 2
    assert len({line.count(" & ") for line in lines}) == 1
    assert name != "comparison" or r"news\_room" in lines[1]


@pytest.mark.parametrize(
    ("draw", "source"),
    [
        (plots.silhouettes, "run"),
        (plots.confusion, "run"),
        (plots.document_map, "run"),
        (plots.k_curve, "choice"),
        (plots.agreement, "comparison"),
    ],
)
def test_figures_are_drawn_into_the_axes_they_are_given(draw, source, request):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert draw(request.getfixturevalue(source), ax=right) is figure
    assert right.has_data()
    assert not left.has_data()
    assert matplotlib.rcParams["axes.spines.top"] == matplotlib.rcParamsDefault["axes.spines.top"]


def test_figures_without_axes_have_one_of_their_own(run, tmp_path):
    figure = plots.confusion(run, "topic", path=tmp_path / "confusion.svg")
    counts = figure.axes[0].images[0].get_array()
    labels = np.array([row[0] for row in run.documents.labels["topic"]])
    assert counts.sum() == labels.size
    assert "topic" in (tmp_path / "confusion.svg").read_text("utf-8")


def test_what_cannot_be_drawn_is_one_sentence(run, comparison):
    one = doccluster.run(["harbour boat herring", "flour oven bread"] * 4, n_clusters=1, language="none")
    with pytest.raises(InputError, match="no silhouette"):
        plots.silhouettes(one)
    with pytest.raises(InputError, match="the run has no classes"):
        plots.confusion(one)
    with pytest.raises(InputError, match="topic, story"):
        plots.confusion(run, "colour")
    with pytest.raises(InputError, match="no measure has a correlation"):
        plots.agreement(Comparison(comparison.runs.query("seed == 0")))


def test_every_value_of_the_notebook_shows_itself():
    cells = run_cells()
    values = [cell.value for cell in cells if cell.is_code]
    kinds = [type(value).__name__ for value in values]
    assert {"Corpus", "Run", "DataFrame", "Evaluation", "Choice", "ShownFigure", "GroupedHits"} <= set(kinds)
    assert all(shown(value) for value in values), kinds
    assert "".join(cell.printed for cell in cells) == ""
    corpus = Cells(shown(values[0]))
    assert corpus.rows[0] == ["id", "title", "date", "source", "topic", "story", "text"]
    assert corpus.rows[1][0] == "eco-001"
    assert 'src="data:image/png;base64,' in shown(values[kinds.index("ShownFigure")])


def test_names_beside_a_table_of_two_classes_are_whole(tmp_path):
    texts = [text * n for text in ("rye bread of the oven ", "herring boats of the harbour ") for n in range(1, 5)]
    kinds = ["things that are eaten"] * 4 + ["things that are at sea"] * 4
    run = doccluster.run({"text": texts, "kind": kinds}, n_clusters=2, truth="kind")
    named = run.rename({0: "a cluster with a name of fifty characters in letters", 1: "another"})
    figure = plots.confusion(named, "kind")  # a warning that the axes have no room would be an error here
    figure.draw_without_rendering()
    axes = figure.axes[0]
    for label in (*axes.get_yticklabels(), *axes.get_xticklabels()):
        box = label.get_window_extent()
        assert box.x0 >= 0, label
        assert box.y0 >= 0, label
    assert {label.get_text() for label in axes.get_xticklabels()} == set(kinds)


def test_every_measure_of_an_agreement_has_its_name():
    rng, measures = np.random.default_rng(0), ["adjusted_rand", *(one.name for one in list_measures(family="internal"))]
    rows = itertools.product(["news"], ["k-means"], range(6), measures)
    runs = pd.DataFrame(rows, columns=["corpus", "algorithm", "seed", "measure"])
    found = Comparison(runs.assign(value=rng.random(len(runs))))
    names = set(found.agreement().dropna(subset="correlation")["measure"])
    assert {label.get_text() for label in plots.agreement(found).axes[0].get_yticklabels()} == names


def test_the_axis_of_a_choice_is_the_number_of_clusters(choice):
    axes = plots.k_curve(choice).axes[0]
    assert axes.get_xlabel() == "number of clusters k"
    table = choice.to_pandas()
    for name in set(table["as"]):
        (line,) = (one for one in axes.lines if one.get_label() == name)
        assert line.get_xdata().tolist() == table.query("`as` == @name and k > 1")["k"].tolist()
    assert f"chosen: {choice.recommendation.k}" in {text.get_text() for text in axes.get_legend().texts}
