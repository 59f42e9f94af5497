"""The map as a picture: names cover nothing and stand out, lines do not cross, a section has one hue."""

from __future__ import annotations

import colorsys
import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from doccluster.report import plots
from doccluster.report.drawn_map import (
    DARK,
    LIGHT,
    colour_of,
    groups_of,
    hues_of,
    spread_out,
)
from doccluster.report.plane import Plane
from doccluster.report.still_map import circle_around, in_lines, matched


@pytest.fixture(autouse=True)
def plane_of_heaps(monkeypatch):
    """Draw every run on a plane with one heap for each cluster."""

    def heaps(run):
        random = np.random.default_rng(3)
        middles = 40 * random.standard_normal((run.n_clusters, 2))
        places = middles[run.partition.labels] + random.standard_normal((run.n_documents, 2))
        return Plane(places, "", "", 0.9, 0.9)

    monkeypatch.setattr(plots, "plane_of", heaps)


def boxes_of(figure):
    """The text of a figure by lines, with the rectangle that each takes up."""
    figure.draw_without_rendering()
    return [(text.get_text(), text.get_window_extent()) for text in figure.axes[0].texts]


def contrast(first, second):
    """The contrast of two colours, 1 to 21, as the Web Content Accessibility Guidelines define it."""
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    channels = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in to_rgb(colour)]
    return float(np.dot(channels, [0.2126, 0.7152, 0.0722]))


def crosses(first, second):
    """Whether two lines, each of two places, meet inside both."""

    def side(line, place):
        (ax, ay), (bx, by) = line
        return (bx - ax) * (place[1] - ay) - (by - ay) * (place[0] - ax)

    return (
        side(first, second[0]) * side(first, second[1]) < -1e-9
        and side(second, first[0]) * side(second, first[1]) < -1e-9
    )


@pytest.mark.parametrize("size", [(12.8, 8.0), (8.0, 7.0)])
def test_names_cover_no_name_and_no_document_and_lines_do_not_cross(newsroom_run, size):
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    plots.document_map(newsroom_run, ax=axes)
    boxes = boxes_of(figure)
    assert len(boxes) >= 8
    for (_, first), (_, second) in itertools.combinations(boxes, 2):
        assert not first.padded(-1).overlaps(second.padded(-1))
    documents = np.concatenate([axes.transData.transform(heap.get_offsets()) for heap in axes.collections])
    # the map is as large as axes allow that leave room for names above, below and at both sides
    room = min(0.62 * axes.bbox.width, axes.bbox.height - 32 * figure.dpi / 72)
    assert 0.85 < np.ptp(documents, axis=0).max() / room <= 1
    for name, box in boxes:
        assert figure.bbox.x0 <= box.x0, name
        assert box.x1 <= figure.bbox.x1, name
        assert not any(box.contains(x, y) for x, y in documents), name
    lines = [list(zip(*line.get_data(), strict=True)) for line in axes.lines if len(line.get_xdata()) == 2]
    assert len(lines) == newsroom_run.n_clusters
    assert not any(crosses(first, second) for first, second in itertools.combinations(lines, 2))


def test_lines_to_many_slots_are_as_short_as_can_be_and_do_not_cross():
    random = np.random.default_rng(0)
    points, slots = (
        random.random((30, 2)),
        np.column_stack([np.repeat([-1.0, 2.0], 20), np.tile(np.arange(20) / 20, 2)]),
    )
    places = slots[matched(points, slots)]
    assert len(np.unique(places, axis=0)) == 30
    lines = list(zip(points.tolist(), places.tolist(), strict=True))
    assert not any(crosses(first, second) for first, second in itertools.combinations(lines, 2))


@pytest.mark.parametrize("ground", [LIGHT, DARK])
@pytest.mark.parametrize("n", [1, 2, 7, 12, 40])
def test_every_name_stands_out_from_its_ground(ground, n):
    hues = hues_of(n)
    assert len(set(hues)) == n
    for hue, chroma in itertools.product(hues, (0.12, 0.14)):
        assert contrast(colour_of(hue, ground.of_names, chroma), ground.paper) >= 4.5
    assert contrast(ground.muted, ground.paper) >= 4.5
    assert contrast(ground.ink, ground.paper) >= 4.5


def test_colours_have_the_lightness_that_is_asked_for():
    assert colour_of(0.3, 1.0, 0.0) == pytest.approx((1, 1, 1), abs=1e-3)
    assert colour_of(0.3, 0.0, 0.0) == pytest.approx((0, 0, 0), abs=1e-3)
    # of the definition of Oklab: red is at lightness 0.628, chroma 0.2577, 29.2 degrees
    assert colour_of(29.234 / 360, 0.62796, 0.25768) == pytest.approx((1, 0, 0), abs=2e-3)


def test_a_name_is_divided_evenly_or_loses_its_last_words():
    assert in_lines("Flood cover triples in price on Marlow Bay seafront", 40, 2).split("\n") == [
        "Flood cover triples in price",
        "on Marlow Bay seafront",
    ]
    assert (
        in_lines("FCC, Federal Communications Commission, broadband", 40, 1) == "FCC, Federal Communications Commission"
    )
    assert in_lines("Harvest of wheat begins late", 20, 1) == "Harvest of wheat…"
    assert max(map(len, in_lines("x" * 100, 20, 2).split("\n"))) <= 20
    assert max(map(len, in_lines("経済と金融の見通しについて" * 3, 20, 2).split("\n"))) <= 10
    assert in_lines("", 20, 2) == ""


def test_boxes_are_pushed_apart():
    at = spread_out(np.zeros((4, 2)) + np.arange(4)[:, None], [(30, 10)] * 4)
    for first, second in itertools.combinations(at, 2):
        assert (np.abs(first - second) >= (29.9, 9.9)).any()
    np.testing.assert_array_equal(spread_out(np.array([[0, 0], [50, 0]]), [(30, 10)] * 2), [[0, 0], [50, 0]])


def test_the_circle_around_places_is_hardly_larger_than_need_be():
    turns = np.linspace(0, 2 * np.pi, 60)
    centre, radius = circle_around(np.column_stack([5 + 3 * np.cos(turns), 3 * np.sin(turns)]))
    np.testing.assert_allclose(centre, [5, 0], atol=0.05)
    assert 3 <= radius < 3.05


def test_clusters_of_a_section_have_its_hue_and_sections_of_several_clusters_their_name(many):
    axes = Figure(figsize=(12.8, 8)).add_subplot()
    plots.document_map(many, ax=axes)
    top, sections = many.levels[0], many.levels[1].parents_on(many.levels[0])
    by_section = {}
    for heap in axes.collections:
        cluster = next(cluster for cluster in many.clusters if cluster.label == heap.get_label())
        hue = colorsys.rgb_to_hls(*heap.get_facecolor()[0][:3])[0]
        by_section.setdefault(int(sections[cluster.cluster]), []).append(hue)
    assert len(by_section) == top.n_clusters
    assert max(np.ptp(hues) for hues in by_section.values()) < 0.06
    texts = " ".join(text.get_text() for text in axes.texts if text.get_fontweight() == "bold")
    for section in top.clusters:
        assert (section.label.split(",")[0] in texts) == (len(by_section[section.cluster]) > 1)


@pytest.mark.parametrize("is_dark", [False, True])
def test_the_picture_is_written_with_its_ground_a_caption_and_text_that_stays_text(newsroom_run, tmp_path, is_dark):
    figure = plots.document_map(newsroom_run, is_dark=is_dark, path=tmp_path / "map.svg")
    ground = DARK if is_dark else LIGHT
    assert figure.get_facecolor()[:3] == to_rgb(ground.paper)
    svg = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert ">176 documents in 8 clusters. Alike documents</text>" in svg
    assert "font-family: STIXGeneral, 'STIX Two Text', 'Times New Roman'" in svg
    assert svg.count("<use ") >= 176
    plots.document_map(newsroom_run, is_dark=is_dark, path=tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_bytes() == (tmp_path / "map.svg").read_bytes()


def test_more_clusters_than_room_leaves_the_smallest_without_a_name(newsroom_run):
    axes = Figure(figsize=(4, 0.8)).add_subplot([0, 0, 1, 1])
    plots.document_map(newsroom_run, ax=axes)
    assert 0 < len(axes.texts) < newsroom_run.n_clusters


def test_documents_without_a_class_have_no_group(newsroom_run):
    groups = groups_of(newsroom_run, "topic")
    assert [groups.names[code] for code in groups.codes] == [
        labels[0] for labels in newsroom_run.documents.labels["topic"]
    ]
