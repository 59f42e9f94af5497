"""The linked views of the report in a browser: what is chosen in one of them is followed by all others."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest

from doccluster.pipeline.main_line import run_pipeline
from doccluster.report import write_report
from tests.axe import axe_script, violations
from tests.conftest import ROOT
from tests.report.test_document_map import unpacked

pytestmark = pytest.mark.browser

PLACE_OF_THE_FIRST = """() => {
  const canvas = document.getElementById("map");
  const given = JSON.parse(document.getElementById("page-data").textContent).map;
  const first = ({ data }) => atob(data).charCodeAt(0) + 256 * atob(data).charCodeAt(1);
  const scale = (Math.min(canvas.clientWidth, canvas.clientHeight) - 24) / given.grid;
  const place = (value, room) => (value - given.grid / 2) * scale + room / 2;
  return [place(first(given.x), canvas.clientWidth), place(first(given.y), canvas.clientHeight)];
}"""


def opened(visit, report, state="", **options):
    """The page with the tab of linked views open."""
    page = visit(report, **options)
    page.evaluate("state => { location.hash = 'explore' + (state && '?' + state); }", state)
    page.locator("#chosen:not(:empty)").wait_for()
    return page


def test_a_cluster_a_term_a_time_a_class_and_a_lasso_narrow_the_choice_and_the_address_keeps_it(
    visit, newsroom_report, newsroom_run
):
    page = opened(visit, newsroom_report)
    sizes = newsroom_run.partition.sizes
    assert page.locator("#chosen").inner_text() == "176 of 176 documents in 8 clusters"
    page.get_by_role("button", name="Choose cluster 1", exact=True).click()
    assert page.locator("#chosen").inner_text() == f"{sizes[1]} of 176 documents in 1 cluster"
    assert page.locator("#twin tr.hit").count() == 1
    term = page.locator("#term-bars button").first
    name = term.inner_text()
    column = list(newsroom_run.vectors.display_terms).index(name)
    having = newsroom_run.vectors.matrix[:, [column]].toarray().ravel() > 0
    own = having & (newsroom_run.partition.labels == 1)
    assert page.locator("#term-bars .count").first.inner_text() == f"{own.sum()} of {having.sum()}"
    term.click()
    assert page.locator("#chosen").inner_text().startswith(f"{own.sum()} of 176")
    page.locator("#from").fill("2026-03-10")
    dates = [day[:10] >= "2026-03-10" for day in newsroom_run.documents.dates]
    expected = int((own & dates).sum())
    page.locator("#chosen", has_text=f"{expected} of 176").wait_for()
    address = page.url
    assert "cluster=1" in address
    assert "from=2026-03-10" in address
    shown = page.locator("#chosen-documents li").count()
    assert shown == expected
    # the address alone brings all of it back
    again = opened(visit, newsroom_report, address.split("?", 1)[1])
    assert again.locator("#chosen").inner_text().startswith(f"{expected} of 176")
    again.locator("#unchoose").click()
    assert again.locator("#chosen").inner_text().startswith("176 of 176")
    assert again.url.endswith("#explore")
    one = again.locator("#classes button").first
    topic = one.inner_text()
    one.click()
    n = sum(names == (topic,) for names in newsroom_run.documents.labels["topic"])
    assert again.locator("#chosen").inner_text().startswith(f"{n} of 176")
    assert page.complaints == again.complaints == []


def test_a_lasso_on_the_map_chooses_what_lies_inside_it(visit, newsroom_report):
    page = opened(visit, newsroom_report)
    page.locator("#lasso").click()
    box = page.locator("#map").bounding_box()
    left, top, side = box["x"] + box["width"] / 2, box["y"] + 2, box["height"]
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in (
        (box["x"] + box["width"] - 3, top),
        (box["x"] + box["width"] - 3, top + side - 4),
        (left, top + side - 4),
    ):
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    chosen = int(page.locator("#chosen").inner_text().split()[0])
    grid = page.evaluate("JSON.parse(document.getElementById('page-data').textContent).map")
    right_half = sum(x > grid["grid"] / 2 for x in unpacked(grid["x"]))
    assert abs(chosen - right_half) <= 2
    assert "lasso=" in page.url


def test_the_map_shows_a_document_under_the_pointer_and_its_cluster_is_chosen_by_a_click(visit, newsroom_report):
    page = opened(visit, newsroom_report)
    place = page.evaluate(PLACE_OF_THE_FIRST)
    page.locator("#map").hover(position={"x": place[0], "y": place[1]})
    page.locator("#tip").wait_for(state="visible")
    assert "— 0 " in page.locator("#tip").inner_text()
    page.locator("#map").click(position={"x": place[0], "y": place[1]})
    assert page.url.endswith("#explore?cluster=0")
    before = page.locator("#map").screenshot()
    page.locator("#map").focus()
    page.keyboard.press("+")
    page.wait_for_timeout(100)
    assert page.locator("#map").screenshot() != before


def test_the_slider_weighs_lift_against_frequency_as_sievert_and_shirley_do(visit, newsroom_report, newsroom_run):
    page = opened(visit, newsroom_report, "cluster=2&lambda=1")

    def shown():
        return page.locator("#term-bars li").evaluate_all(
            "rows => rows.map(row => [row.querySelector('bdi').textContent, "
            "...row.querySelector('.count').textContent.split(' of ').map(Number)])"
        )

    by_frequency = [inside for _, inside, _ in shown()]
    assert by_frequency == sorted(by_frequency, reverse=True)
    page.locator("#lambda").fill("0")
    lifts = [inside / everywhere for _, inside, everywhere in shown()]
    assert lifts == sorted(lifts, reverse=True)
    assert lifts[0] == 1.0
    assert "lambda=0" in page.url


def test_two_clusters_are_compared_by_the_terms_whose_weights_differ(visit, newsroom_report, newsroom_run):
    page = opened(visit, newsroom_report, "compare=0,1")
    rows = page.locator("#compared tbody tr").evaluate_all(
        'rows => rows.map(row => [1, 0, 2].map(i => row.querySelectorAll("th, .number")[i].textContent))'
    )
    names = list(newsroom_run.vectors.display_terms)
    labels_ = newsroom_run.partition.labels
    for term, left, right in rows[:3] + rows[-3:]:
        column = newsroom_run.vectors.matrix[:, [names.index(term)]].toarray().ravel()
        for shown, cluster in ((left, 0), (right, 1)):
            if shown != "–":
                assert abs(float(shown) - column[labels_ == cluster].mean()) < 0.002
    differences = [float(a.replace("–", "0")) - float(b.replace("–", "0")) for _, a, b in rows]
    assert differences == sorted(differences, reverse=True)
    page.locator("#compare-b").select_option("2")
    assert page.url.endswith("compare=0%2C2")


def test_the_chosen_documents_are_taken_away_as_csv_that_no_spreadsheet_runs(visit, hostile_report, newsroom_report):
    page = opened(visit, newsroom_report, "cluster=3")
    with page.expect_download() as waiting:
        page.locator("#export").click()
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text(encoding="utf-8"))))
    assert f"{len(rows)} of 176" in page.locator("#chosen").inner_text()
    assert {row["cluster"] for row in rows} == {"3"}
    assert all(row["title"] and row["date"] and row["topic"] and row["id"] for row in rows)
    page = opened(visit, hostile_report)
    with page.expect_download() as waiting:
        page.locator("#export").click()
    text = waiting.value.path().read_text(encoding="utf-8")
    assert all(not cell.startswith(("=", "+", "-", "@")) for row in csv.reader(io.StringIO(text)) for cell in row)
    assert page.complaints == []


def test_a_citation_says_what_was_clustered_how_and_what_was_chosen(visit, newsroom_report):
    page = opened(visit, newsroom_report, "cluster=3", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#cite").click()
    page.locator("#cite", has_text="Copied").wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("doccluster ")
    assert "176 documents of articles.jsonl in 8 clusters" in text
    assert "Chosen: cluster 3 (" in text
    assert text.endswith("#explore?cluster=3")


def test_texts_are_read_in_the_page_with_and_without_scripts(visit, newsroom_run, tmp_path):
    texts = [
        f"The text of row {row}. <script>document.title='owned'</script>" for row in range(newsroom_run.n_documents)
    ]
    path = write_report(newsroom_run, tmp_path / "texts.html", with_map=False, texts=texts)
    page = opened(visit, path, "cluster=0")
    page.get_by_role("button", name="Read").first.click()
    nearest = newsroom_run.partition.members(0)[newsroom_run.similarity[newsroom_run.partition.members(0)].argmax()]
    assert page.locator("#reading pre").inner_text() == texts[nearest]
    assert page.locator("#reading h3").inner_text() == newsroom_run.documents.titles[nearest]
    page.get_by_role("button", name="Close", exact=True).click()
    still = visit(path, script=False)
    still.locator("#cluster-0 .line").click()
    still.locator("#cluster-0 details.all summary").click()
    still.locator("#cluster-0 a.read").first.click()
    assert still.locator("#text-0").inner_text().endswith(texts[nearest])


def test_an_address_that_means_nothing_chooses_nothing(visit, newsroom_report):
    page = opened(
        visit,
        newsroom_report,
        "cluster=99,x&term=%3Cscript%3E&from=soon&class.topic=none&lambda=7&compare=1&lasso=1,2&colour=red",
    )
    assert page.locator("#chosen").inner_text() == "176 of 176 documents in 8 clusters"
    assert page.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_tab_has_a_barrier_that_axe_core_knows(visit, newsroom_report, scheme):
    script = axe_script()
    page = visit(newsroom_report, color_scheme=scheme)
    for state in ("stories", "explore", "explore?cluster=1&compare=0,1", "quality", "run"):
        page.evaluate("state => { location.hash = state; }", state)
        page.locator(f"#{state.split('?')[0]}").wait_for(state="visible")
        assert violations(page, script) == [], state


def test_thirty_clusters_are_fewer_than_ten_pages_on_paper(visit, tmp_path):
    run = run_pipeline(
        str(ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"), n_clusters=30, truth="story", random_state=7
    )
    for script in (True, False):
        page = visit(write_report(run, tmp_path / "report.html"), script=script)
        paper = page.pdf(format="A4", prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) < 10


def test_other_is_not_counted_as_a_cluster(visit, newsroom_run, tmp_path):
    run = replace(newsroom_run, is_other=np.arange(176) % 50 == 3)
    report = write_report(run, tmp_path / "report.html", with_map=False)
    assert opened(visit, report).locator("#chosen").inner_text() == "176 of 176 documents in 8 clusters and Other"
    page = opened(visit, report, "cluster=8")
    assert page.locator("#chosen").inner_text() == "4 of 176 documents in Other"


def test_labels_on_the_map_cover_no_document_and_no_label(visit, newsroom_report):
    source = (ROOT / "doccluster" / "report" / "templates" / "scripts" / "map_labels.js").read_text(encoding="utf-8")
    found = visit(newsroom_report).evaluate(
        "(() => {"
        + source
        + """
          const room = makeRoom(600, 500), points = [];
          for (let i = 0; i < 400; i++) points.push([(i * 7919) % 600, (i * i * 31) % 300 + 100]);
          for (const [x, y] of points) room.fill(x, y, 2);
          const places = points.slice(0, 40)
            .map(([x, y]) => ({ ...room.take(x, y, 90, 2), x, y })).filter((one) => one.box);
          return { points, boxes: places.map((one) => one.box), ends: places.map((one) => [one.edge, one.middle]),
            starts: places.map((one) => [one.x, one.y]),
            lines: inLines("A headline of many words that no map has the room for") };
        })()"""
    )
    assert len(found["boxes"]) >= 5
    for index, (left, top, right, bottom) in enumerate(found["boxes"]):
        assert min(left, top) >= 0
        assert right <= 600
        assert bottom <= 500
        assert not any(left <= x <= right and top <= y <= bottom for x, y in found["points"])
        assert all(right <= a or c <= left or bottom <= b or d <= top for a, b, c, d in found["boxes"][:index])
        (x, y), (end_x, end_y) = found["starts"][index], found["ends"][index]
        line = [(x + (end_x - x) * part / 50, y + (end_y - y) * part / 50) for part in range(50)]
        assert not any(a < x < c and b < y < d for a, b, c, d in found["boxes"][:index] for x, y in line)
    assert found["lines"] == ["A headline of many", "words that no map…"]
