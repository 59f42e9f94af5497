"""Clusters over time and the timeline of one: what is drawn is what the dates say."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import doccluster
from doccluster.cli._run_summary import print_run
from doccluster.errors import InputError
from doccluster.report import plots, write_report
from doccluster.report.explore import _dates
from doccluster.report.wording import date_words
from doccluster.results.overview import days_of, overview
from doccluster.results.run_tables import clusters_columns


@pytest.fixture(scope="module")
def of_years():
    """A run of two clusters over three years, one of which has no document; the second has one from long before."""
    rows = [
        {"text": f"{words} number{number}", "title": f"Title {number} of {words}", "date": day, "source": "Post"}
        for words, years in (
            ("wheat rain harvest field", (2020, 2020, 2022)),
            ("oil crude barrel price", (2022, 2022, 2022)),
        )
        for number, day in enumerate(f"{year}-0{1 + turn % 3}-1{turn % 7}" for year in years for turn in range(10))
    ]
    rows[-1]["date"] = "1999-01-01"
    return doccluster.run(rows, labels=[0] * 30 + [1] * 30, language="none", vectorizer={"min_df": 1})


def bars(axes):
    """Width and height of each bar of the axes, by the place where it begins."""
    return [(bar.get_x(), bar.get_y(), bar.get_width(), bar.get_height()) for bar in axes.patches]


def test_each_row_has_the_shares_of_its_cluster_in_all_years_and_says_the_highest(of_years):
    figure = plots.over_time(of_years, by="year")
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2020", "2021", "2022"]
    heights = -np.array([bar[3] for bar in bars(axes)]).reshape(2, 3)
    # of 20 documents of 2020 all are of the first; of 39 of 2022 ten
    np.testing.assert_allclose(heights[0] / heights[0].max(), [1, 0, 10 / 39])
    np.testing.assert_allclose(heights[1] / heights[1].max(), [0, 0, 1])
    said = [text.get_text() for text in axes.texts]
    assert said == ["100.0 % in 2020", f"{100 * 29 / 39:.1f} % in 2022"]
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert "wheat" in names[0] or "rain" in names[0] or "harvest" in names[0]
    figure.draw_without_rendering()
    for name, peak in zip(axes.get_yticklabels(), axes.texts, strict=True):  # level with each other
        assert name.get_window_extent().y0 < peak.get_window_extent().y1
        assert peak.get_window_extent().y0 < name.get_window_extent().y1


def test_the_period_is_the_longest_of_which_there_are_three_or_what_is_asked_for(of_years, newsroom_run):
    by_month = plots.over_time(of_years).axes[0]  # two years have documents
    assert by_month.get_xticklabels()[0].get_text() == "2020-01"
    by_day = plots.over_time(newsroom_run).axes[0]
    first = by_day.get_xticklabels()[0].get_text()
    days, counts = np.unique(days_of(newsroom_run.documents.dates), return_counts=True)
    assert date.fromisoformat(first).toordinal() == days[counts >= 5].min()
    with pytest.raises(InputError, match="year, month or day"):
        plots.over_time(newsroom_run, by="topic")


def test_a_timeline_has_each_document_in_a_bar_and_titles_in_their_order(newsroom_run, tmp_path):
    figure = plots.timeline(newsroom_run, 1, path=tmp_path / "line.svg")
    axes = figure.axes[0]
    members = newsroom_run.members(1)
    lengths = np.array([-bar[2] for bar in bars(axes)])
    days = days_of(newsroom_run.documents.dates)[members]
    counts = np.bincount(days - days.min())
    np.testing.assert_allclose(lengths / lengths.max(), counts / counts.max())
    titles = {newsroom_run.documents.titles[row] for row in members}
    assert sum(text.get_text() in titles for text in axes.texts) >= 8
    day_of = {date_words(date.fromordinal(day)): day for day in days.tolist()}
    beside = [text for text in axes.texts if text.get_text() in day_of and text.get_ha() == "left"]
    dates = [day_of[text.get_text()] for text in sorted(beside, key=lambda text: text.get_position()[1])]
    assert len(dates) >= 8
    assert dates == sorted(dates)
    svg = (tmp_path / "line.svg").read_text(encoding="utf-8")
    assert f">{members.size} documents, " in svg
    figure.draw_without_rendering()
    for text in axes.texts:
        box = text.get_window_extent()
        assert figure.bbox.x0 <= box.x0, text.get_text()
        assert box.x1 <= figure.bbox.x1, text.get_text()


def test_documents_far_from_all_others_are_counted_and_leave_these_their_room(of_years):
    axes = Figure(figsize=(9, 6)).add_subplot()
    plots.timeline(of_years, 1, ax=axes)
    said = [text.get_text() for text in axes.texts]
    assert any(text.startswith("29 documents, 1 outlet, ") and text.endswith("; 1 earlier or later") for text in said)
    assert not any("1999" in text for text in said)


def test_what_has_no_two_days_has_no_timeline(newsroom_run):
    with pytest.raises(InputError, match="0 to 7"):
        plots.timeline(newsroom_run, 8)
    run = doccluster.run(
        ["oil crude price"] * 3 + ["wheat rain harvest"] * 3, labels=[0, 0, 0, 1, 1, 1], vectorizer={"min_df": 1}
    )
    with pytest.raises(InputError, match="fewer than two days"):
        plots.timeline(run, 0)
    with pytest.raises(InputError, match="no document has a date"):
        plots.over_time(run)
    dated = doccluster.run(doccluster.load_sample()[:60], n_clusters=3, random_state=0)
    with pytest.raises(InputError, match="no two years, months or days have 5 documents each"):
        plots.over_time(dated)


CASES = Path(__file__).parents[1] / "corpus" / "files"


@pytest.fixture(scope="module")
def of_two_years():
    """A run of documents whose dates are years."""
    rows = pd.read_csv(CASES / "46-years.csv", dtype=str)
    return doccluster.run(rows, labels=[0, 1] * 12, language="none", vectorizer={"min_df": 1})


def test_dates_that_are_years_are_drawn_and_told_as_years(of_two_years, tmp_path):
    axes = plots.over_time(of_two_years).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2019", "2020"]
    said = [text.get_text() for text in plots.timeline(of_two_years, 0).axes[0].texts]
    assert sorted(said[:2]) == ["2019", "2020"]
    assert any(text.endswith("12 documents, 2019 – 2020") for text in said)
    assert not any("Jan" in text for text in said)
    with pytest.raises(InputError, match="'month' has no values"):
        of_two_years.prevalence("month")
    html = tmp_path / "report.html"
    write_report(of_two_years, html)
    page = html.read_text(encoding="utf-8")
    assert "dated 2019 to 2020," in page
    assert "Jan 20" not in page
    assert '"letters":4' in page.replace(" ", "")
    assert '"begins":[1,366]' in page.replace(" ", "")


def test_the_screen_and_the_tables_name_no_day_of_a_year(of_two_years, capsys):
    print_run(of_two_years, None)
    screen = capsys.readouterr().out
    assert "24 documents (text: text), 2019 – 2020" in screen
    assert "Jan" not in screen
    assert clusters_columns(of_two_years)["first_date"] == ["2019", "2019"]


def test_dates_that_are_months_are_told_as_months():
    rows = [{"text": f"ferry harbour number{n}", "date": f"2026-0{1 + n % 4}"} for n in range(20)]
    run = doccluster.run(rows, labels=[0, 1] * 10, language="none", vectorizer={"min_df": 1})
    assert plots.over_time(run).axes[0].get_xticklabels()[0].get_text() == "2026-01"
    assert [facts.iso(facts.last) for facts in overview(run)] == ["2026-03", "2026-04"]
    assert _dates(run, np.arange(20))["begins"] == [1, 32, 60, 91]
