"""The map of documents: where they lie, how much of their neighbourhood is kept, and what the page gets of it."""

from __future__ import annotations

import json
import re
from base64 import b64decode

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import sparse

from doccluster.errors import InputError
from doccluster.geometry.projection import unit
from doccluster.pipeline.main_line import run_pipeline
from doccluster.report import plane, story_cards
from doccluster.report.explore import GRID, explore_data, grid_places, packed, packed_gaps, page_order, shown_columns
from doccluster.report.html import render_report
from doccluster.report.page import as_json
from doccluster.report.plane import (
    attraction,
    neighbour_purity,
    neighbour_similarities,
    places_among,
    plane_of,
    repulsion,
    tsne,
)
from doccluster.report.still_map import squarified, still_map, tiles_of
from doccluster.report.summary import summarize

FEW = [
    "oil crude barrel price",
    "oil crude tanker",
    "wheat rain harvest",
    "wheat rain field",
    "oil barrel",
    "rain field",
]


@pytest.fixture(scope="module")
def newsroom_plane(newsroom_run):
    return plane_of(newsroom_run)


@pytest.fixture(scope="module")
def groups():
    """Forty rows in each of four directions of twelve dimensions, and the direction of each."""
    random = np.random.default_rng(3)
    labels = np.repeat(np.arange(4), 40)
    return unit(np.eye(12)[labels] + 0.15 * random.standard_normal((160, 12))), labels


def test_the_map_keeps_the_neighbourhood_of_documents_and_never_changes(newsroom_run, newsroom_plane):
    again = plane_of(newsroom_run)
    np.testing.assert_array_equal(again.places, newsroom_plane.places)
    assert newsroom_plane.judged_by == "topic"
    assert newsroom_plane.kept >= 0.94


@pytest.mark.parametrize("n_landmarks", [2000, 60])
def test_rows_of_a_group_lie_together_whether_all_are_landmarks_or_some(groups, monkeypatch, n_landmarks):
    rows, labels = groups
    monkeypatch.setattr(plane, "N_LANDMARKS", n_landmarks)
    places, method = plane._placed(rows, 0)
    assert ("60 of them drawn at random" in method) == (n_landmarks == 60)
    assert neighbour_purity(places, labels) == 1.0
    means = np.array([places[labels == group].mean(axis=0) for group in range(4)])
    spread = max(np.linalg.norm(places[labels == group] - means[group], axis=1).mean() for group in range(4))
    assert min(np.linalg.norm(means[a] - means[b]) for a in range(4) for b in range(a)) > 2 * spread
    np.testing.assert_array_equal(plane._placed(rows, 0)[0], places)
    np.testing.assert_array_equal(plane._placed(rows, 0, n_threads=3)[0], places)


def test_forces_on_places_are_those_of_the_definition():
    random = np.random.default_rng(2)
    at, others = random.standard_normal((7, 2)), random.standard_normal((5, 2))
    weights = random.random((7, 5)) * (random.random((7, 5)) < 0.6)
    graph = sparse.csr_array(weights.astype(np.float32))
    near = np.array([[1 / (1 + ((a - b) ** 2).sum()) for b in others] for a in at])
    push = np.array([sum(near[i, j] ** 2 * (a - b) for j, b in enumerate(others)) for i, a in enumerate(at)])
    pull = np.array([sum(weights[i, j] * near[i, j] * (a - b) for j, b in enumerate(others)) for i, a in enumerate(at)])
    x, y, to_x, to_y = (np.ascontiguousarray(axis, np.float32) for axis in (*at.T, *others.T))
    across, down, sums = np.zeros((3, x.size), np.float32)
    repulsion(x, y, to_x, to_y, (across, down, sums))
    np.testing.assert_allclose(
        np.column_stack([across, down, sums]), np.column_stack([push, near.sum(axis=1)]), rtol=1e-5
    )
    pulled = np.zeros((2, x.size), np.float32)
    attraction(x, y, (graph.indptr, graph.indices, graph.data), to_x, to_y, tuple(pulled))
    np.testing.assert_allclose(np.column_stack(pulled), pull, rtol=1e-4, atol=1e-6)


def test_a_document_is_placed_beside_the_landmarks_it_is_like():
    known = np.repeat(np.eye(6)[:2], 10, axis=0) + 1e-3 * np.random.default_rng(1).standard_normal((20, 6))
    places = np.repeat([[0.0, 0.0], [50.0, 0.0]], 10, axis=0) + np.random.default_rng(4).standard_normal((20, 2))
    found = places_among(np.eye(6)[[0, 1, 1]], known, places)
    assert np.abs(found - [[0, 0], [50, 0], [50, 0]]).max() < 5


def test_similarities_have_the_perplexity_that_was_asked_for(groups):
    joint = neighbour_similarities(groups[0], 8)
    assert joint.sum() == pytest.approx(1.0, abs=1e-5)
    assert abs(joint - joint.T).max() == 0
    # by definition: the entropy of each row's own weights is log(8); here for the first row, by a plain bisection
    squared = ((groups[0] - groups[0][0]) ** 2).sum(axis=1)[1:]
    squared = np.sort(squared)[:24]
    low, high = 0.0, 1e4
    for _ in range(200):
        beta = (low + high) / 2
        p = np.exp(-beta * (squared - squared[0]))
        p /= p.sum()
        low, high = (beta, high) if -(p * np.log(p + 1e-300)).sum() > np.log(8) else (low, beta)
    from doccluster.report.plane import _weights

    np.testing.assert_allclose(_weights(squared[None] - squared[0], np.log(8))[0], p, atol=1e-6)


def test_documents_that_are_all_alike_have_a_map_too():
    rows = np.tile(unit(np.array([[1.0, 2.0, 3.0]])), (30, 1))
    start = 1e-4 * np.random.default_rng(0).standard_normal((30, 2))
    assert np.isfinite(tsne(rows, start, perplexity=3)).all()


def test_purity_counts_the_ten_nearest_of_each_row():
    line = np.column_stack([np.arange(24.0), np.zeros(24)])
    groups = np.repeat([0, 1], 12)
    expected = np.mean(
        [
            np.mean([groups[j] == groups[i] for j in sorted(set(range(24)) - {i}, key=lambda j: (abs(i - j), j))[:10]])
            for i in (0, 23)
        ]
    )
    found = neighbour_purity(line, groups)
    assert 0.5 < found < 1
    assert expected == 1.0
    assert np.isnan(neighbour_purity(line[:8], groups[:8]))


def unpacked(given):
    """The numbers that `packed` packs, read a byte at a time."""
    data, width = b64decode(given["data"]), given["width"]
    return [int.from_bytes(data[at : at + width], "little") for at in range(0, len(data), width)]


def test_packed_numbers_come_back():
    for values in ([], [0], [1, 255], [3, 256, 65535], [65536, 2], [2**24, 1]):
        assert unpacked(packed(values)) == values
    data, numbers, shift, value = b64decode(packed_gaps(np.array([0, 127, 128, 16383, 16384, 2_000_000]))), [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            shift = value = 0
    assert numbers == [0, 127, 128, 16383, 16384, 2_000_000]


def test_the_page_gets_each_document_with_its_cluster_day_class_and_terms(newsroom_run, newsroom_plane):
    given = explore_data(newsroom_run, newsroom_plane, shown_columns(newsroom_run))
    order = page_order(newsroom_run)
    clusters = np.repeat(np.arange(8), given["sizes"])
    np.testing.assert_array_equal(clusters, newsroom_run.partition.labels[order])
    assert unpacked(given["rows"]) == newsroom_run.documents.positions[order].tolist()
    days = unpacked(given["dates"]["days"])
    first = np.datetime64(given["dates"]["first"])
    assert [str(first + day - 1) for day in days] == [newsroom_run.documents.dates[row][:10] for row in order]
    codes = unpacked(given["truths"][0]["codes"])
    topics = [newsroom_run.documents.labels["topic"][row][0] for row in order]
    assert [given["truths"][0]["values"][code - 1] for code in codes] == topics
    terms = given["terms"]
    column = list(newsroom_run.vectors.display_terms).index(terms["names"][5])
    counts = unpacked(terms["counts"])
    assert counts[5] == np.count_nonzero(newsroom_run.vectors.matrix[:, [column]].toarray())
    places = np.column_stack([unpacked(given["map"]["x"]), unpacked(given["map"]["y"])])
    scale = np.ptp(newsroom_plane.places, axis=0).max() / given["map"]["grid"]
    shown = (places - places[0]) * scale
    np.testing.assert_allclose(shown, newsroom_plane.places[order] - newsroom_plane.places[order[0]], atol=2 * scale)


def test_the_weights_of_two_clusters_are_the_means_of_their_rows(newsroom_run):
    terms = explore_data(newsroom_run, None)["terms"]
    per_cluster, ids, weights = (unpacked(terms[name]) for name in ("weighted", "ids", "weights"))
    names = list(newsroom_run.vectors.display_terms)
    means = newsroom_run.vectors.matrix[newsroom_run.partition.labels == 1].mean(axis=0)
    begin = per_cluster[0]
    for number, weight in zip(ids[begin : begin + 5], weights[begin : begin + 5], strict=True):
        exact = means[names.index(terms["names"][number])]
        assert weight * terms["step"] == pytest.approx(exact, abs=0.51 * terms["step"])


def postings_of(terms):
    """The documents of each term of the page, by name, read as its script reads them."""
    gaps, shift, value = [], 0, 0
    for byte in b64decode(terms["gaps"]):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            gaps.append(value)
            shift = value = 0
    ends = np.cumsum(unpacked(terms["counts"]))
    return dict(zip(terms["names"], map(np.cumsum, np.split(np.array(gaps), ends[:-1])), strict=True))


@pytest.mark.parametrize("most", [500_000, 300])
def test_every_count_of_a_term_is_that_of_the_texts_that_have_it(monkeypatch, most):
    random = np.random.default_rng(5)
    topics = [[f"{letter}{other}word" for other in "bcdfghklm"] for letter in "aeiou"]
    texts = [
        " ".join([*random.choice(topics[row % 5], 6), *random.choice(topics[(row + 1) % 5], 2), "everywhere"])
        for row in range(120)
    ]
    run = run_pipeline(texts, n_clusters=5, language="none", vectorizer={"min_df": 1, "ngram_range": (1, 1)})
    monkeypatch.setattr("doccluster.report.explore.MAX_POSTINGS", most)
    monkeypatch.setattr("doccluster.report.explore.POSTINGS_PER_DOCUMENT", 0)
    found = postings_of(explore_data(run, None)["terms"])
    order = run.documents.positions[page_order(run)]
    assert (5 < len(found) < 20) == (most == 300)
    assert sum(map(len, found.values())) <= most
    for name, documents in found.items():
        assert documents.tolist() == [doc for doc, row in enumerate(order) if name in texts[row].split()]
    for story in summarize(run).stories:
        members = run.documents.positions[run.partition.members(story.number)]
        assert story.terms
        for bar in story.terms:
            assert bar.support == sum(bar.term in texts[row].split() for row in members)


def test_json_in_the_page_cannot_end_its_element():
    text = as_json({"a": "</script><!-- & \u2028", "b": [1]})
    assert not re.search("[<>&\u2028]", text)
    assert json.loads(text) == {"a": "</script><!-- & \u2028", "b": [1]}


def test_labels_of_the_still_map_stand_around_it_and_cover_no_document_and_no_label(newsroom_run, newsroom_plane):
    still = still_map(newsroom_run, newsroom_plane)
    documents = grid_places(newsroom_plane) / GRID * 720
    left, top, width, height = map(int, still.view.split())
    boxes = []
    for medoid in still.medoids:
        label = newsroom_run.clusters[medoid.number].label
        assert label.startswith(medoid.label.removesuffix("…"))
        reach = 9.9 * len(medoid.label)
        edge = medoid.stands.x if medoid.stands.anchor == "start" else medoid.stands.x - reach
        boxes.append((edge, medoid.stands.y - 8, edge + reach, medoid.stands.y + 8))
    assert len(boxes) == newsroom_run.n_clusters
    for index, (start, above, end, below) in enumerate(boxes):
        assert min(start - left, above - top, left + width - end, top + height - below) >= 0
        x, y = documents.T
        assert not ((x >= start) & (x <= end) & (y >= above) & (y <= below)).any()
        for a, b, c, d in boxes[:index]:
            assert end <= a or c <= start or below <= b or d <= above
    assert all(len(medoid.beside) == 3 and medoid.number not in medoid.beside for medoid in still.medoids)


def test_areas_of_the_treemap_fill_it_in_proportion_to_the_sizes(newsroom_run):
    # the worked example of Bruls, Huizing & van Wijk 2000, figure 4
    boxes = squarified([6, 6, 4, 3, 2, 2, 1], 6, 4)
    assert [tuple(box) for box in boxes[:2]] == [(0, 0, 3, 2), (0, 2, 3, 2)]
    assert boxes[2].width == pytest.approx(12 / 7)
    tiles = tiles_of(newsroom_run)
    total = sum(tile.size for tile in tiles)
    for tile in tiles:
        assert tile.width * tile.height == pytest.approx(720 * 300 * tile.size / total, rel=0.02)


def test_few_documents_have_a_map_only_if_they_can_and_a_run_can_do_without(newsroom_run):
    tiny = run_pipeline(FEW, n_clusters=2, language="none", vectorizer={"min_df": 1})
    assert 'class="still"' in render_report(tiny)
    assert 'class="still"' not in render_report(tiny, with_map=False)
    assert "What this map can and cannot tell</h3>" not in render_report(tiny, with_map=False)
    three = run_pipeline(FEW[:3], n_clusters=2, language="none", vectorizer={"min_df": 1})
    assert "So few documents make no map" in render_report(three)
    with pytest.raises(InputError, match="3 documents make no map; give 4 or more"):
        render_report(three, with_map=True)


def test_the_run_page_says_how_far_the_map_can_be_trusted(newsroom_run, newsroom_plane):
    page = render_report(newsroom_run)
    said = page[page.index('id="map-limits"') :].split("</section>")[0]
    assert f"{100 * newsroom_plane.purity:.1f} %" in said
    assert f"{100 * newsroom_plane.purity_before:.1f} %" in said


def test_texts_can_be_read_in_the_page_and_have_to_be_as_many_as_the_documents(newsroom_run):
    texts = [f"text <b>{row}</b>" for row in range(newsroom_run.n_documents)]
    page = render_report(newsroom_run, with_map=False, texts=texts)
    order = page_order(newsroom_run)
    for doc in (0, 57, 175):
        assert re.search(rf'id="text-{doc}">.*?<pre dir="auto">text &lt;b&gt;{order[doc]}&lt;/b&gt;</pre>', page)
        assert f'href="#text-{doc}"' in page
    with pytest.raises(InputError, match="has 2 texts"):
        render_report(newsroom_run, texts=["a", "b"])


def test_the_map_is_drawn_into_axes(newsroom_run):
    from doccluster import plots

    axes = Figure().add_subplot()
    assert plots.document_map(newsroom_run, color_by="topic", ax=axes) is axes.get_figure()
    drawn = sum(len(points.get_offsets()) for points in axes.collections)
    assert drawn == newsroom_run.n_documents
    more = Figure().add_subplot()
    plots.document_map(newsroom_run, color_by="source", ax=more)
    sizes = {source: newsroom_run.documents.sources.count(source) for source in newsroom_run.documents.sources}
    by_source = {part.get_label(): len(part.get_offsets()) for part in more.collections}
    assert by_source == sizes
    with pytest.raises(InputError, match="there is no column 'weather'"):
        plots.document_map(newsroom_run, color_by="weather")


def test_of_very_many_documents_the_page_explores_the_most_typical(monkeypatch, newsroom_run):
    whole = page_order(newsroom_run)
    monkeypatch.setattr(story_cards, "MAX_EXPLORED", newsroom_run.n_documents // 4)
    monkeypatch.setattr(story_cards, "MAX_LISTED", 30)
    given, order = explore_data(newsroom_run, None), page_order(newsroom_run)
    sizes, firsts = newsroom_run.partition.sizes, np.concatenate([[0], np.cumsum(newsroom_run.partition.sizes)])
    assert given["n"] == sum(given["sizes"]) == order.size < newsroom_run.n_documents
    nearest = [whole[first : first + n] for first, n in zip(firsts[:-1], given["sizes"], strict=True)]
    assert order.tolist() == np.concatenate(nearest).tolist()
    assert all(n <= size for n, size in zip(given["sizes"], sizes.tolist(), strict=True))
    begins = np.concatenate([[0], np.cumsum(given["sizes"])]).tolist()
    shown = summarize(newsroom_run).stories
    assert [one.begins_at for one in shown] == begins[: len(shown)]
    assert all(len(one.documents) <= n for one, n in zip(shown, given["sizes"], strict=False))
    assert f"this tab holds {order.size:,}" in render_report(newsroom_run, with_map=False)


def test_a_run_says_where_its_map_has_each_document_in_reading_order():
    run = run_pipeline(["solitary", *FEW], n_clusters=2, report=False, vectorizer={"min_df": 2})
    assert np.isnan(run.map_positions[0]).all()
    np.testing.assert_array_equal(run.map_positions[1:], plane_of(run).places)
    assert run.map_positions is run.map_positions
    with pytest.raises(InputError, match="3 documents make no map"):
        run_pipeline(FEW[:3], n_clusters=2, report=False).map_positions
