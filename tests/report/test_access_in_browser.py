"""The report of many clusters for everybody: with a screen reader, by keyboard alone, with a finger, on paper."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from doccluster.pipeline.main_line import run_pipeline
from doccluster.report.html import write_report
from doccluster.synthetic import make_long_documents
from tests.report.test_report_in_browser import CONTRAST

pytestmark = pytest.mark.browser
TABS = ("stories", "explore", "quality", "run")

# what a finger hits: 24 pixels wide and high, or with nothing else within 12 of its middle (WCAG 2.2, 2.5.8); links in
# a line of text and bars of days, which dates that are typed replace, are excepted
SMALL_TARGETS = """() => {
  const all = [...document.querySelectorAll("a[href], button, select, input, summary")]
    .filter((node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest(".unseen, .skip, #times"));
  const boxes = all.map((node) => [node, node.getBoundingClientRect()]).filter(([, box]) => box.width && box.height);
  const isSmall = ([node, box]) => Math.min(box.width, box.height) < 23.9
    && !(node.tagName === "A" && node.closest("p") && getComputedStyle(node).display === "inline");
  return boxes.filter(isSmall).filter(([node, box]) => boxes.some(([other, near]) => {
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const dx = Math.max(near.left - x, 0, x - near.right), dy = Math.max(near.top - y, 0, y - near.bottom);
    return other !== node && !other.contains(node) && !node.contains(other) && dx * dx + dy * dy < 144;
  })).map(([node, box]) => `${node.tagName} ${node.textContent.slice(0, 20)} ${box.width} x ${box.height}`);
}"""

FOCUSED = """() => {
  const node = document.activeElement, box = node.getBoundingClientRect(), style = getComputedStyle(node);
  return { id: node.id, tag: node.tagName, text: node.textContent.slice(0, 40), kind: node.className,
    ringed: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
    shown: node.checkVisibility({ visibilityProperty: true }) && box.bottom > 0 && box.top < innerHeight };
}"""


def opened(page, tab):
    page.locator(f"[data-tab={tab}]").click()
    page.locator(f"#{tab}").wait_for(state="visible")
    if tab == "explore":
        page.locator("#chosen:not(:empty)").wait_for()


def heard(page):
    """The nodes that a screen reader gets: role, name, and other properties."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    return [
        {"role": node["role"]["value"], "name": node.get("name", {}).get("value", "").strip()}
        | {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
        for node in nodes
        if not node.get("ignored")
    ]


def test_a_screen_reader_gets_landmarks_headings_in_order_and_a_name_for_each_control(visit, report_of_many):
    page = visit(report_of_many)
    for tab in TABS:
        opened(page, tab)
        nodes = heard(page)
        roles = Counter(node["role"] for node in nodes)
        for role in ("banner", "navigation", "main", "contentinfo", "tablist", "tabpanel"):
            assert roles[role] == 1, (tab, role)
        levels = [node["level"] for node in nodes if node["role"] == "heading"]
        assert levels.count(1) == 1, tab
        assert all(after - before <= 1 for before, after in itertools.pairwise(levels)), tab
        named = ("heading", "image", "region", "tab")
        asked = [node for node in nodes if node.get("focusable") or node["role"] in named]
        assert [node for node in asked if not node["name"]] == [], tab
        tabs = [node for node in nodes if node["role"] == "tab"]
        selected = [node["name"] for node in tabs if node.get("selected")]
        assert selected == [page.locator(f"[data-tab={tab}]").inner_text()]
        assert len(tabs) == 4


def test_clusters_are_headings_below_their_sections(visit, report_of_many, many):
    page = visit(report_of_many)
    levels = [node["level"] for node in heard(page) if node["role"] == "heading"]
    assert levels.count(3) == many.levels[0].n_clusters
    assert levels.count(4) == page.locator(".story:visible").count()


def test_everything_is_done_by_keyboard_and_the_focus_is_seen(visit, report_of_many):
    page = visit(report_of_many)
    press, focused = page.keyboard.press, lambda: page.evaluate(FOCUSED)
    press("Tab")
    assert focused()["kind"] == "skip"
    press("Enter")
    page.wait_for_function("document.activeElement.id === 'stories'")  # a browser follows a link a moment later
    press("Tab")
    assert focused()["id"] == "filter"
    page.keyboard.type("theme3w1")
    page.locator("#found:not(:empty)").wait_for()
    assert page.locator(".section:visible").count() == 1
    press("Control+a")
    press("Delete")
    page.locator("#found:empty").wait_for(state="attached")
    seen = []
    for _ in range(8):
        press("Tab")
        seen.append(focused())
    assert all(stop["ringed"] and stop["shown"] for stop in seen), seen
    assert [stop["tag"] for stop in seen] == ["SELECT"] + ["SUMMARY"] * 7
    for _ in range(7):
        press("Shift+Tab")
    press("Tab")  # the first section
    press("Enter")
    assert page.locator("#section-0").get_attribute("open") is None
    press("Enter")
    press("Tab")
    press("Space")
    assert page.locator("#cluster-0 article, .story article").first.is_visible()
    # the parts, by arrow keys; in them nothing holds the focus
    page.locator("[data-tab=stories]").focus()
    press("ArrowRight")
    page.locator("#chosen:not(:empty)").wait_for()
    assert focused()["id"] == "tab-explore"
    stops = []
    for _ in range(400):
        press("Tab")
        stop = page.evaluate(
            "document.activeElement === document.body ? '' : document.activeElement.tagName + document.activeElement.id"
        )
        stops.append(stop)
        if not stop:
            break
    assert "CANVASmap" in stops
    assert stops[-1] == "" or len(stops) == 400
    page.locator("#map").focus()
    before = page.locator("#map").screenshot()
    press("+")
    page.wait_for_timeout(100)
    assert page.locator("#map").screenshot() != before
    button = page.locator("#twin tbody button").first
    button.focus()
    press("Enter")
    assert page.locator("#chosen").inner_text().endswith("in 1 cluster")


def test_on_a_phone_nothing_sticks_out_and_a_finger_hits_what_it_means(visit, report_of_many):
    page = visit(report_of_many, width=390, is_mobile=True, has_touch=True)
    page.locator(".line:visible").first.click()
    page.locator("details.all:visible summary").first.click()
    for tab in TABS:
        opened(page, tab)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, tab
        assert page.evaluate(SMALL_TARGETS) == [], tab


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_opened_and_what_is_found_stands_out_from_what_is_behind_it(visit, report_of_many, scheme):
    page = visit(report_of_many, color_scheme=scheme)
    page.locator("#filter").fill("theme2w3")
    page.locator("#found:not(:empty)").wait_for()
    assert page.locator("tr.hit").count()
    page.locator(".line:visible").first.click()
    page.mouse.move(0, 0)
    assert page.evaluate(CONTRAST) == []
    opened(page, "explore")
    page.locator("#twin tbody button").first.click()
    page.mouse.move(0, 0)
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_paper_has_every_cluster_however_they_are_folded(visit, report_of_many, many, script):
    page = visit(report_of_many, script=script)
    page.locator("#section-1 > summary").click()
    page.emulate_media(media="print")
    if script:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
    boxes = "heads => heads.map(head => head.checkVisibility() && head.getClientRects().length)"
    assert page.eval_on_selector_all(".story h3", boxes) == [1] * many.n_clusters
    assert page.locator(".further > summary:visible").count() == 0


def test_a_stretch_of_a_document_in_parts_leads_to_its_cluster(visit, tmp_path):
    made = make_long_documents(12, n_topics=3, n_words=900, random_state=0)
    run = run_pipeline(made.texts, n_clusters=3, parts="auto", language="none", measures=[])
    page = visit(write_report(run, tmp_path / "parts.html"), width=400)
    opened(page, "strips")
    tabs = page.locator(".tabs .page")
    last = tabs.locator("a").last.bounding_box()
    assert last["x"] + last["width"] <= 400, "all five tabs are seen on a phone"
    strips = page.locator(".strip")
    assert strips.count() == 12
    stretch = strips.first.locator("a").first
    place = stretch.get_attribute("href")
    name, box = stretch.get_attribute("aria-label"), stretch.bounding_box()
    assert "words: " in name
    assert box["width"] >= 2
    stretch.click()
    page.locator(place).wait_for(state="visible")
    assert page.locator(f"{place} h3").inner_text() == name.partition(": ")[2]
    assert page.complaints == []
