"""The report as a reader meets it: in a browser, with and without scripts, on a phone and on paper."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from tests.report.hostile import HOSTILE

pytestmark = pytest.mark.browser


def labels(page):
    return page.locator(".story:visible h3").all_text_contents()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
@pytest.mark.parametrize("report", ["newsroom_report", "hostile_report"])
def test_nothing_is_asked_of_the_network(visit, request, report, script):
    path = request.getfixturevalue(report)
    page = visit(path, script=script)
    for details in page.locator("details:visible summary").all()[:6]:
        details.click()
    page.wait_for_timeout(100)
    assert page.asked == [path.as_uri()]
    assert page.complaints == []


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_hostile_titles_are_shown_as_plain_text(visit, hostile_report, script):
    page = visit(hostile_report, script=script)
    for story in (*page.locator(".line").all(), *page.locator("details.all summary").all()):
        story.click()
    text = page.locator("body").inner_text()
    assert "<script>document.title='owned'</script> markets fall" in text
    assert "</script></style></title><img src=x onerror=" in text
    assert "{{ 7 * 7 }} {% raw %} shares" in text
    assert "&lt;b&gt; stays &amp; as written" in text
    assert "invoice gpj.exe of the bank abc" in text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x07\x00]", page.content())
    assert "owned" not in page.title().split()
    assert page.locator("main img, main script, main style, [onerror], [onmouseover]").count() == 0
    assert page.complaints == []


def test_only_links_to_web_pages_can_be_followed(visit, hostile_report):
    page = visit(hostile_report)
    targets = page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))")
    assert {target for target in targets if not target.startswith("#")} == {
        "https://example.org/fine?a=1&b=2",
        "https://example.org/?q=\"><script>document.title='owned'</script>",  # the whole of it is the address
    }
    assert len(targets) > len(HOSTILE)


def test_without_scripts_everything_can_be_read(visit, newsroom_report, newsroom_run):
    page = visit(newsroom_report, script=False)
    for part in ("stories", "quality", "run"):
        assert page.locator(f"#{part} > h2").is_visible()
    assert page.locator(".story:visible").count() == newsroom_run.n_clusters
    assert page.locator("#filter").is_hidden()
    assert page.locator("#order").is_hidden()
    assert page.locator("#copy").is_hidden()
    page.locator("#cluster-0 .line").click()
    page.locator("#cluster-0 details.all summary").click()
    assert page.locator("#cluster-0 details.all tbody tr:visible").count() == newsroom_run.clusters[0].size
    assert page.get_by_text("Adjusted Rand index").is_visible()
    page.locator("nav a[href='#quality']").click()
    assert page.evaluate("scrollY") > 0


def test_tabs_show_one_part_at_a_time_and_follow_the_arrow_keys(visit, newsroom_report):
    page = visit(newsroom_report)

    def visible():
        return [part for part in ("stories", "quality", "run") if page.locator(f"#{part}").is_visible()]

    assert visible() == ["stories"]
    page.get_by_role("tab", name="Quality").click()
    assert visible() == ["quality"]
    page.keyboard.press("ArrowRight")
    assert visible() == ["run"]
    page.keyboard.press("ArrowRight")
    assert visible() == ["stories"]
    assert page.get_by_role("tab", name="Clusters").get_attribute("aria-selected") == "true"


def test_a_link_to_a_cluster_leads_from_the_tables_to_its_story(visit, newsroom_report):
    page = visit(newsroom_report)
    page.get_by_role("tab", name="Quality").click()
    page.locator("#measures tbody a").nth(3).click()
    page.locator("#cluster-3").wait_for(state="visible")
    assert page.url.endswith("#cluster-3")
    assert page.locator("#quality").is_hidden()


def test_the_filter_keeps_the_stories_with_every_word_and_opens_the_list_of_a_found_document(visit, newsroom_report):
    page = visit(newsroom_report)
    every = labels(page)
    rows = page.locator("#cluster-0 details.all tbody tr")  # the least typical is not among the leading documents
    last = rows.last.evaluate("row => row.querySelector('bdi').textContent")
    page.locator("#filter").fill(last.upper())
    page.locator("#found:not(:empty)").wait_for()
    assert len(labels(page)) < len(every)
    found = page.locator(".story:visible details.all[open] tr.hit")
    assert last in found.first.inner_text()
    page.locator("#filter").fill("no story has these words xyzzy")
    page.locator("#nothing").wait_for(state="visible")
    told = page.locator("#nothing").inner_text()
    assert told.startswith("No story has all of these words.")
    assert "fewer words find more" in told
    assert labels(page) == []
    page.locator("#clear").click()
    assert labels(page) == every
    assert page.locator("details.all[open], tr.hit").count() == 0


@pytest.mark.parametrize("typed", ["steelworks", "steelwroks", "stelworks", "steelworkss", "stealworks"])
def test_a_word_is_found_in_texts_though_it_is_misspelt_by_a_letter(visit, newsroom_report, newsroom_run, typed):
    page = visit(newsroom_report)
    documents = newsroom_run.documents
    having = {row for row, text in enumerate(documents.excerpts) if "steelworks" in text.lower()}
    assert having
    assert not any("steelworks" in title.lower() for title in documents.titles)
    page.locator("#filter").fill(typed)
    page.locator("#found:not(:empty)").wait_for()
    hits = page.locator("tr.hit").evaluate_all("rows => rows.map(row => row.dataset.id)")
    assert set(hits) == {documents.ids[row] for row in having}
    assert len(labels(page)) == np.unique(newsroom_run.partition.labels[sorted(having)]).size
    said = page.locator("#found").inner_text()
    assert ("with “steelworks” for “" in said) == (typed != "steelworks")


def test_stories_are_sorted_by_what_is_chosen(visit, newsroom_report):
    page = visit(newsroom_report)
    by_size = labels(page)
    page.locator("#order").select_option("headline")
    assert labels(page) == sorted(by_size, key=str.lower)
    page.locator("#order").select_option("-similarity")
    shown = [
        float(value) for value in page.eval_on_selector_all(".story", "cards => cards.map(c => c.dataset.similarity)")
    ]
    assert shown == sorted(shown, reverse=True)
    page.locator("#order").select_option("number")
    assert labels(page) == by_size


def test_columns_of_a_table_are_sorted_both_ways_and_say_so(visit, newsroom_report):
    page = visit(newsroom_report)
    page.get_by_role("tab", name="Quality").click()
    table = page.locator("#measures table")
    head = table.locator("thead th", has_text="Silhouette")

    def values():
        return table.locator("tbody td:last-child").evaluate_all("cells => cells.map(c => Number(c.dataset.value))")

    assert head.get_attribute("aria-sort") is None
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert values() == sorted(values(), reverse=True)
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert values() == sorted(values())
    table.locator("thead th", has_text="Cluster").locator("button").click()
    assert table.locator("[aria-sort]").count() == 1


def test_undefined_scores_come_last_whichever_way_a_table_is_sorted(visit, newsroom_report):
    page = visit(newsroom_report)
    page.get_by_role("tab", name="Quality").click()
    table = page.locator("#scores table").first
    for _ in range(2):
        table.locator("thead th", has_text="topic").locator("button").click()
        statuses = table.locator("tbody tr").evaluate_all("rows => rows.map(r => r.cells[2].dataset.value === '')")
        assert statuses == sorted(statuses)
        assert any(statuses)


PARTS = ("stories", "explore", "quality", "run")


@pytest.mark.parametrize("report", ["newsroom_report", "hostile_report"])
def test_nothing_sticks_out_of_a_phone(visit, request, report):
    page = visit(request.getfixturevalue(report), width=360)
    for part in PARTS:
        page.locator(f"[data-tab={part}]").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, part


def test_paper_has_every_part_in_dark_ink_and_no_controls(visit, newsroom_report):
    page = visit(newsroom_report, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    for part in ("stories", "quality", "run"):
        assert page.locator(f"#{part} > h2").is_visible()
    for control in ("#filter", "nav.tabs", "#copy"):
        assert page.locator(control).is_hidden()
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert max(map(int, re.findall(r"\d+", ink))) < 80


CONTRAST = """() => {
  const channel = (value) => { const c = value / 255; return c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data; };
  const behind = (node) => { for (; node; node = node.parentElement) { const c = getComputedStyle(node).backgroundColor;
    if (rgb(c)[3] === 255) return rgb(c); } return [255, 255, 255]; };
  const low = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim());
    if (!own || !node.checkVisibility({ visibilityProperty: true }) || node.closest("svg, .unseen, .skip")) continue;
    const [a, b] = [luminance(rgb(getComputedStyle(node).color)), luminance(behind(node))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) low.push(`${node.className}: ${node.textContent.slice(0, 30)}`);
  }
  return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(visit, newsroom_report, scheme):
    page = visit(newsroom_report, color_scheme=scheme)
    for part in PARTS:
        page.locator(f"[data-tab={part}]").click()
        page.mouse.move(0, 0)
        assert page.evaluate(CONTRAST) == [], part


def test_every_control_and_region_has_a_name_and_every_id_is_one_of_a_kind(visit, newsroom_report):
    page = visit(newsroom_report)
    ids = page.eval_on_selector_all("[id]", "nodes => nodes.map(node => node.id)")
    assert len(ids) == len(set(ids))
    for reference in page.eval_on_selector_all(
        "[aria-labelledby]", "nodes => nodes.map(n => n.getAttribute('aria-labelledby'))"
    ):
        assert reference in ids
    nameless = page.eval_on_selector_all(
        "[role=region], svg[role=img]", "nodes => nodes.filter(node => !node.getAttribute('aria-label')).length"
    )
    assert nameless == 0
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "heads => heads.map(head => Number(head.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
