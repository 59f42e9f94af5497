"""The list of the report by sections: dense lines that open in place, and links and words that unfold."""

import json
import re

import numpy as np
import pytest

from doccluster.report.explore import explore_data
from doccluster.report.figures import dendrogram_of, joins_on, leaves_of
from doccluster.report.story_cards import MAX_UNFOLDED, MIN_LINES
from doccluster.report.summary import summarize
from tests.report.conftest import SECTIONS


def test_cards_stand_in_their_sections_and_the_smaller_ones_are_folded(many):
    assert many.n_clusters > MAX_UNFOLDED
    sections = summarize(many).sections
    assert [section.label for section in sections] == [whole.label for whole in many.levels[0].clusters]
    parents = many.levels[1].parents_on(many.levels[0])
    for section in sections:
        numbers = [story.number for story in (*section.leading, *section.further)]
        assert numbers == np.flatnonzero(parents == section.number).tolist()
        assert section.n_clusters == len(numbers)
    assert sum(len(section.leading) for section in sections) >= MIN_LINES


def test_the_page_knows_of_which_section_each_cluster_is(many, report_of_many):
    page = report_of_many.read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json" id="page-data">(.*?)</script>', page)[1])
    assert data["sections"]["of"] == many.levels[1].parents_on(many.levels[0]).tolist()
    assert data["sections"]["labels"] == [whole.label for whole in many.levels[0].clusters]


def test_a_run_without_sections_is_one_list(newsroom_run):
    (section,) = summarize(newsroom_run).sections
    assert section.label == ""
    assert len(section.leading) == newsroom_run.n_clusters
    assert explore_data(newsroom_run, None)["sections"] is None


LINES = """[...document.querySelectorAll(".line")].filter((line) => {
  const { height, top, bottom } = line.getBoundingClientRect();
  return !line.closest(".further:not([open])") && height > 0 && top >= 0 && bottom <= innerHeight;
}).length"""


@pytest.mark.browser
def test_a_first_screen_has_many_lines_and_the_page_is_short(visit, report_of_many, many):
    page = visit(report_of_many)
    page.set_viewport_size({"width": 1400, "height": 1800})
    assert page.evaluate(LINES) >= MIN_LINES
    assert page.evaluate("document.documentElement.scrollHeight") < 2_500
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.complaints == []


@pytest.mark.browser
def test_a_line_opens_its_card_in_place(visit, report_of_many):
    page = visit(report_of_many)
    assert not page.locator("#cluster-0 article").is_visible()
    page.locator("#cluster-0 .line").click()
    assert page.locator("#cluster-0 .leading").is_visible()
    page.locator("#section-0 > summary").click()
    assert not page.locator("#cluster-0").is_visible()


@pytest.mark.browser
def test_links_and_words_unfold_what_they_lead_to(visit, report_of_many, many):
    page = visit(report_of_many)
    folded = page.locator(".further .story").last
    number = folded.get_attribute("data-number")
    assert not folded.is_visible()
    page.evaluate(f"location.hash = '#cluster-{number}'")
    page.locator(f"#cluster-{number} .leading").wait_for(state="visible")
    page.reload()
    assert page.locator(f"#cluster-{number} .leading").is_visible()
    page = visit(report_of_many)
    page.locator("#filter").fill(many.documents.titles[many.clusters[int(number)].representatives[0].row])
    page.locator("#found:not(:empty)").wait_for()
    assert page.locator(f"#cluster-{number}").is_visible()
    assert page.locator(".section:visible").count() == 1
    page.locator("#filter").fill("")
    page.locator("#found:empty").wait_for(state="attached")
    assert not page.locator(f"#cluster-{number}").is_visible()
    assert page.locator(".section:visible").count() == SECTIONS


@pytest.mark.browser
def test_another_order_is_one_list_and_by_size_they_are_back(visit, report_of_many, many):
    page = visit(report_of_many)
    page.locator("#order").select_option("headline")
    assert page.locator(".story:visible").count() == many.n_clusters
    assert page.locator(".section:visible").count() == 0
    shown = page.locator(".story:visible h3").all_text_contents()
    assert shown == sorted(shown)
    page.locator("#order").select_option("number")
    assert page.locator(".section:visible").count() == SECTIONS
    assert page.locator("#section-0 .story").first.get_attribute("data-number") is not None


@pytest.mark.browser
def test_labels_on_the_map_are_of_sections_and_closer_of_clusters(visit, report_of_many, many):
    page = visit(report_of_many)
    page.locator("a[data-tab=explore]").click()
    page.locator("#map").wait_for(state="visible")
    page.wait_for_timeout(600)
    names = page.evaluate(DRAWN)
    assert names
    assert all(any(name in whole.label for whole in many.levels[0].clusters) for name in names)
    for _ in range(3):
        page.locator("#zoom-in").click()
    page.wait_for_timeout(600)
    names = page.evaluate(DRAWN)
    assert names
    assert all(any(name in cluster.label for cluster in many.clusters) for name in names)


# labels are written twice, as an outline and filled; only the pen knows them
DRAWN = """new Promise((done) => {
  const texts = [], write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { texts.push(text.replace(/…$/, "")); return write.call(this, text, ...rest); };
  window.dispatchEvent(new Event("resize"));
  const map = document.getElementById("map");
  map.style.height = map.clientHeight - 2 + "px";
  setTimeout(() => { CanvasRenderingContext2D.prototype.fillText = write; done(texts); }, 500);
})"""  # noqa: E501


def test_the_tree_is_drawn_from_the_finest_level_that_a_screen_holds(many, report_of_many, tmp_path):
    level = leaves_of(many)
    assert level.name == "section", "72 topics are more than a screen holds"
    joins = joins_on(many, level)
    assert joins.shape == (level.n_clusters - 1, 4)
    assert (np.diff(joins[:, 2]) >= 0).all()
    drawn = dendrogram_of(many, level)
    assert {label.text for label in drawn.labels} == {cluster.label for cluster in level.clusters}
    assert len(drawn.shapes) == level.n_clusters - 1
    assert drawn.save(tmp_path / "tree.svg").stat().st_size < 20_000
    page = report_of_many.read_text(encoding="utf-8")
    assert '<section id="tree"' in page
    few = dendrogram_of(many, many.levels[1])
    colours = {shape.stroke for shape in few.shapes}
    assert len(colours) == 1 + min(SECTIONS, 6), "joins inside a section have its colour"
