"""The page as text: what it says, that it never changes for the same run, and that it stays small for a large one."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from markupsafe import escape
from scipy import io, sparse

from doccluster.errors import InputError
from doccluster.geometry.partition import Partition
from doccluster.labeling.profiles import Borderline, ClusterDescription, Representative, Term
from doccluster.measures import evaluate
from doccluster.pipeline.main_line import run_pipeline
from doccluster.report import write_report
from doccluster.report.html import render_report
from doccluster.report.quality import confusion, pair_table, similar_next_to_one_another
from doccluster.report.story_cards import MAX_LISTED
from doccluster.report.summary import summarize
from doccluster.results.document_table import DocumentTable
from doccluster.results.overview import overview
from doccluster.results.record import Provenance, Run
from doccluster.results.run_folder import load_run, save_run
from doccluster.vectors.document_vectors import DocumentVectors


def text_of(page):
    """The page without its style, script and tags."""
    page = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_the_same_run_gives_the_same_bytes(newsroom_run, tmp_path):
    first = write_report(newsroom_run, tmp_path / "a.html").read_bytes()
    assert first == write_report(newsroom_run, tmp_path / "b.html").read_bytes()
    assert len(first) < 1_500_000


def test_a_run_read_from_its_folder_gives_the_same_page(newsroom_run, tmp_path):
    save_run(newsroom_run, tmp_path / "out")
    assert render_report(load_run(tmp_path / "out")) == render_report(newsroom_run)


def test_columns_of_the_source_are_colours_filters_and_tables_of_shares(newsroom_run):
    party = np.where(np.arange(newsroom_run.n_documents) % 3, "<b>red</b>", "blue")
    columns = {
        "party": tuple(party.tolist()),
        "number": tuple(map(str, range(newsroom_run.n_documents))),
        "same": ("x",) * newsroom_run.n_documents,
        "key": tuple(f"k{row}" for row in range(newsroom_run.n_documents)),
    }
    run = replace(newsroom_run, documents=replace(newsroom_run.documents, columns=columns), truth=())
    page = render_report(run)
    options = re.findall(r'<option value="truth-(\d)">([^<]*)</option>', page)
    assert options == [
        ("0", "topic"),
        ("1", "story"),
        ("2", "party"),
        ("3", "number"),
        ("4", "source"),
    ]  # numbers in quarters
    assert page.count("<summary>by <bdi>") == 5
    table = page[page.index("<summary>by <bdi>party</bdi>") :]
    assert "&lt;b&gt;red&lt;/b&gt;" in table
    assert "<b>red</b>" not in page
    shown = re.findall(r'data-value="([\d.]+)" title="(\d+) documents?">([\d.]+) <small>([\d.]+) to ([\d.]+)', table)
    in_red = party != "blue"
    for row in run.prevalence("party").table.itertuples():
        first = shown[2 * row.cluster + (row.group == "blue")]
        n_both = int(((run.shown_labels == row.cluster) & (in_red == (row.group != "blue"))).sum())
        assert int(first[1]) == n_both
        assert [float(number) for number in first[2:]] == pytest.approx(
            [100 * row.share, 100 * row.low, 100 * row.high], abs=0.051
        )


def test_the_page_forbids_itself_the_network(newsroom_run):
    page = render_report(newsroom_run)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert "default-src 'none'" in policy
    assert "img-src data:" in policy
    loading = re.findall(r"<(?:script|link|img|iframe|object|embed|source|video|audio)\b[^>]*(?:src|href)=", page)
    assert loading == []
    assert "url(" not in page.replace("url(#", "")
    assert "@import" not in page


def test_stories_come_before_quality_and_quality_before_the_command(newsroom_run):
    page = render_report(newsroom_run)
    places = [
        page.index(f'id="{part}"')
        for part in ("stories", "data", "measures", "adherence", "silhouette", "scores", "run")
    ]
    assert places == sorted(places)
    assert places[-1] < page.index("doccluster run articles.jsonl --output demo --clusters 8")


def test_each_story_shows_its_leading_documents_with_source_date_and_link(newsroom_run):
    stories = summarize(newsroom_run).stories
    page = render_report(newsroom_run)
    assert [story.size for story in stories] == newsroom_run.partition.sizes.tolist()
    for story, cluster in zip(stories, newsroom_run.clusters, strict=True):
        for line, one in zip(story.representatives, cluster.representatives, strict=False):
            assert line.name == newsroom_run.documents.titles[one.row]
            assert line.link == newsroom_run.documents.links[one.row]
            assert f'<time datetime="{newsroom_run.documents.dates[one.row][:10]}">' in page
        assert sum(story.bins) == story.size
        assert len(story.documents) == story.size
        shown = [line.similarity for line in story.documents]
        assert shown == sorted(shown, reverse=True)


def test_every_score_is_there_with_its_direction_and_the_reason_where_there_is_none(newsroom_run):
    page = render_report(newsroom_run)
    text = text_of(page)
    for score in newsroom_run.evaluation.scores:
        assert f"<code>{score.name}</code>" in page
        if score.status == "undefined":
            assert score.notes[0] in text
    assert "not computed" in text
    assert "--measures" in text
    assert page.count('title="higher is better"') > 20
    assert page.count('title="lower is better"') > 5


def test_rows_of_the_table_of_measures_are_the_clusters_from_the_largest(newsroom_run):
    rows = summarize(newsroom_run).clusters
    assert [row.number for row in rows] == list(range(newsroom_run.n_clusters))
    assert [row.size for row in rows] == sorted(newsroom_run.partition.sizes.tolist(), reverse=True)
    for row in rows:
        assert row.similarity == pytest.approx(newsroom_run.similarity[newsroom_run.members(row.number)].mean())


def test_the_confusion_table_counts_every_labelled_document(newsroom_run):
    table = confusion(newsroom_run, "topic")
    rows, classes = newsroom_run.classes("topic")
    by_hand = {}
    for row, name in zip(rows.tolist(), classes, strict=True):
        key = (int(newsroom_run.partition.labels[row]), name)
        by_hand[key] = by_hand.get(key, 0) + 1
    for line in table.rows:
        for name, count in zip(table.classes, line.counts, strict=True):
            assert count == by_hand.get((line.number, name), 0)
        assert line.total == sum(count for (cluster, _), count in by_hand.items() if cluster == line.number)


def test_a_long_class_is_shown_with_its_first_forty_letters(newsroom_run):
    documents = replace(newsroom_run.documents, labels={"long": [(f"{'x' * 60} {row % 2}",) for row in range(176)]})
    (cut,) = set(confusion(replace(newsroom_run, documents=documents), "long").classes)
    assert cut == "x" * 39 + "…"


def test_a_card_shows_headline_label_size_dates_outlets_and_similarity_and_no_measure_that_says_nothing(newsroom_run):
    page = render_report(newsroom_run)
    cards = page[page.index('id="story-list"') : page.index('id="explore"')].split('<li class="story"')[1:]
    assert len(cards) == 8
    for card, one in zip(cards, overview(newsroom_run), strict=True):
        heading = re.search(r"<h3[^>]*>(.*?)</h3>", card)[1]
        assert text_of(heading).strip() == escape(one.label)
        line = card[: card.index("</summary>")]
        assert f'<span class="label"><bdi>{escape(one.headline)}</bdi></span><strong>{one.size}</strong>' in line
        assert f"{len(one.outlets)} outlet" in text_of(line)
        byline = text_of(card[card.index('class="byline"') : card.index('class="body"')])
        assert f"{one.size} documents" in byline
        assert f"{one.last.year}" in byline
        assert all(f"{name} {count}" in byline for name, count in one.outlets)
        assert f"similarity {one.similarity:.2f}" in byline
        assert "coherence" not in card
        assert "density" not in card
        leading = card[card.index('class="leading"') : card.index('class="aside"')]
        assert escape(one.headline) not in text_of(leading), "it stands above, and need not be said twice"


def test_terms_that_a_bar_shows_are_not_listed_again(newsroom_run):
    for story in summarize(newsroom_run).stories:
        assert not {bar.term for bar in story.terms} & set(story.discriminating)


def test_borderline_documents_are_counted_and_the_limit_is_named(newsroom_run):
    near = np.array(newsroom_run.runner_up_similarity)
    members = newsroom_run.partition.members(2)[:7]
    near[:] = newsroom_run.similarity - 0.5
    near[members] = newsroom_run.similarity[members] - 0.01
    described = [replace(one, borderline=()) for one in newsroom_run.clusters]
    described[2] = replace(described[2], borderline=tuple(Borderline(int(row), 0.4, 1, 0.01) for row in members[:5]))
    page = render_report(replace(newsroom_run, runner_up_similarity=near, clusters=tuple(described)))
    assert page.count('<details class="border">') == 1
    assert "<summary>7 borderline</summary>" in page
    assert "less than 0.02 nearer to this cluster than to the next" in text_of(page)


def test_coherence_near_zero_and_density_near_the_size_are_explained_where_they_stand(newsroom_run):
    quality = render_report(newsroom_run).split('id="quality"')[1]
    assert "coherence is often near 0, because" in quality
    assert "density lies between half the size and the size, because" in quality


def test_names_of_files_are_shown_as_nobodys_outlet(tmp_path):
    for name, text in (("a", "oil prices rise"), ("b", "oil prices fall"), ("c", "wheat rain"), ("d", "rain on wheat")):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    text = text_of(render_report(run_pipeline(str(tmp_path), n_clusters=2, language="none")))
    assert "Outlets" not in text
    assert not re.search(r"a\.txt 1|b\.txt 1", text)


def test_alike_clusters_stand_next_to_one_another_in_the_tables_of_pairs(newsroom_run):
    separation, adherence = pair_table(newsroom_run, "ics"), pair_table(newsroom_run, "adherence")
    assert separation.numbers == adherence.numbers
    assert sorted(separation.numbers) == list(range(8))
    given = next(s.per_pair for s in newsroom_run.evaluation.scores if s.name == "ics" and s.per_pair is not None)
    for row, one in enumerate(separation.numbers):
        for column, other in enumerate(separation.numbers):
            if one != other:
                assert separation.values[row, column] == given[one, other]
    in_order = sum(given[a, b] for a, b in zip(separation.numbers, separation.numbers[1:], strict=False))
    assert in_order < sum(given[number, number + 1] for number in range(7))


def test_rows_of_the_confusion_table_are_the_largest_clusters_and_classes_lie_along_the_diagonal(newsroom_run):
    table = confusion(newsroom_run, "topic")
    assert [row.number for row in table.rows] == list(range(len(table.rows)))
    counts = np.array([row.counts for row in table.rows])
    places = [(int(column.argmax()), -int(column.max())) for column in counts.T]
    assert places == sorted(places)
    assert len({place for place, _ in places}) > 1


def test_a_shuffled_chain_is_put_in_order_again():
    places = np.random.default_rng(5).permutation(30)
    distances = np.abs(places[:, None] - places[None, :]).astype(float)
    np.fill_diagonal(distances, np.nan)
    order = similar_next_to_one_another(distances)
    assert places[order].tolist() in (list(range(30)), list(range(29, -1, -1)))
    assert order[0] < order[-1]


def test_the_order_takes_undefined_distances_for_the_largest():
    distances = np.array([[0, 1, np.nan, 0.2], [1, 0, np.nan, 0.9], [np.nan] * 4, [0.2, 0.9, np.nan, 0]])
    order = similar_next_to_one_another(distances).tolist()
    assert abs(order.index(0) - order.index(3)) == 1
    assert order.index(2) in (0, 3)


def test_pairs_of_clusters_have_no_diagonal(newsroom_run):
    table = pair_table(newsroom_run, "ics")
    assert np.isnan(np.diag(table.values)).all()
    np.testing.assert_array_equal(table.values, table.values.T)
    assert table.depth(table.low) == 0
    assert table.depth(table.high) == 1


def test_text_of_documents_is_escaped_everywhere(hostile_run):
    page = render_report(hostile_run)
    ours = page.count("<script>")
    assert ours == 2
    assert page.count("</script>") == ours + 2  # and the data, and the words
    assert "<img" not in page
    assert "&lt;script&gt;document.title=&#39;owned&#39;&lt;/script&gt; markets fall" in page
    assert 'href="javascript' not in page.lower()
    assert 'href="data:' not in page


def test_half_a_surrogate_pair_can_be_written(newsroom_run, tmp_path):
    documents = replace(newsroom_run.documents, titles=("half \ud83d sign",) * len(newsroom_run.documents))
    page = write_report(replace(newsroom_run, documents=documents), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "half \ufffd sign" in page


def test_one_cluster_has_no_pairs_no_silhouette_and_says_why(tmp_path):
    texts = ["oil and gas", "oil prices", "gas prices"]
    page = render_report(run_pipeline(texts, n_clusters=1, language="none", vectorizer={"min_df": 1}))
    assert "3 documents form one cluster." in text_of(page)
    assert 'id="separation"' not in page
    assert 'id="silhouette"' not in page
    assert "undefined" in page


def test_a_single_document_has_a_report():
    page = render_report(run_pipeline(["oil and gas"], n_clusters=1, language="none", vectorizer={"min_df": 1}))
    assert "1 document forms one cluster." in text_of(page)
    assert "The document" in page


def test_documents_of_a_ready_matrix_are_called_by_their_ids(tmp_path):
    counts = sparse.coo_array(np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 1, 4], [0, 0, 2, 2]]))
    io.mmwrite(tmp_path / "counts.mtx", counts)
    run = run_pipeline(tmp_path / "counts.mtx", n_clusters=2)
    page = render_report(run)
    for name in run.documents.ids:
        assert f"<bdi>{name}</bdi>" in page
    assert "<bdi>cluster 1</bdi>" in page
    assert "newest document" not in page


def test_documents_left_out_are_counted_and_listed(tmp_path):
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    for name, text in (("a", "oil prices rise"), ("b", "oil prices fall"), ("c", "wheat rain"), ("d", "rain on wheat")):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    run = run_pipeline(str(tmp_path), n_clusters=2, language="none", vectorizer={"min_df": 1})
    text = text_of(render_report(run))
    assert "1 document skipped: empty." in text
    assert "empty.txt" in text


def test_sentences_about_a_run_are_shown(newsroom_run):
    page = render_report(replace(newsroom_run, notes=("The fit was <interrupted>.",)))
    assert "The fit was &lt;interrupted&gt;." in page


def test_a_folder_that_is_not_there_is_named(newsroom_run, tmp_path):
    with pytest.raises(InputError, match="name a file in a folder that exists"):
        write_report(newsroom_run, tmp_path / "missing" / "report.html")


def large_run(n, k):
    """A run of n documents in k clusters, all of it made up but for its scores."""
    random = np.random.default_rng(3)
    labels = np.sort(random.permutation(np.arange(n) % k))
    columns = (labels[:, None] * 5 + random.integers(0, 40, (n, 12))) % (5 * k)
    matrix = sparse.csr_array((np.ones(12 * n), columns.ravel(), np.arange(0, 12 * n + 1, 12)), shape=(n, 5 * k))
    matrix.sum_duplicates()
    matrix = sparse.csr_array(sparse.diags_array(1 / np.sqrt(matrix.power(2).sum(axis=1))) @ matrix)
    partition = Partition(labels, tuple(range(k)))
    titles = tuple(f"A headline of some length about the event number {row}" for row in range(n))
    nothing = ("",) * n
    documents = DocumentTable(
        ids=tuple(map(str, range(n))),
        titles=titles,
        dates=tuple(f"2026-{1 + row % 12:02d}-{1 + row % 28:02d}" for row in range(n)),
        sources=("a newspaper",) * n,
        links=tuple(f"https://example.org/{row}" for row in range(n)),
        excerpts=nothing,
        lengths=np.full(n, 900),
        labels={"class": tuple((str(row % 50),) for row in range(n))},
        positions=np.arange(n),
    )
    terms = tuple(Term(f"term{index}", index, 0.1, 5) for index in range(10))
    clusters = tuple(
        ClusterDescription(
            cluster=number,
            size=int(partition.sizes[number]),
            label=f"a label of cluster {number}",
            descriptive=terms,
            discriminating=terms,
            representatives=tuple(Representative(int(row), 0.9) for row in partition.members(number)[:3]),
            borderline=tuple(
                Borderline(int(row), 0.4, (number + 1) % k, 0.1) for row in partition.members(number)[-5:]
            ),
        )
        for number in range(k)
    )
    vectors = DocumentVectors(matrix, documents.ids)
    wanted = ["coherence", "adherence", "density", "ics", "silhouette", "nmi"]
    truth = {"class": [row % 50 for row in range(n)]}
    return Run(
        documents=documents,
        empty_documents=documents.take(np.array([], dtype=np.int64)),
        vectors=vectors,
        partition=partition,
        centroids=None,
        similarity=random.random(n),
        runner_up=(labels + 1) % k,
        runner_up_similarity=random.random(n),
        clusters=clusters,
        evaluation=evaluate(partition, truth=truth, vectors=vectors, measures=wanted),
        skipped=(),
        truth=("class",),
        parameters={},
        provenance=Provenance("", {}, 0, "", "", {}),
    )


def test_a_large_run_is_a_page_of_a_few_megabytes():
    run = large_run(10_000, 200)
    page = render_report(run)
    assert len(page.encode()) < 4_300_000
    summary = summarize(run)
    assert sum(len(story.documents) for story in summary.stories) <= MAX_LISTED
    assert "in assignments.csv" in page
    assert page.count('class="story"') == 200
    assert "26 others" in page


def test_more_clusters_than_cards_are_counted():
    run = large_run(1_560, 520)
    page = render_report(run)
    assert page.count('class="story"') == 500
    assert "the other 20 are in clusters.csv" in page
    assert len(page.encode()) < 5_000_000
