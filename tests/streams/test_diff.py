"""What has become of clusters."""

from __future__ import annotations

import json

import pytest

from doccluster.errors import InputError
from doccluster.streams.store.diff import Side, compare_sides
from tests.cli.conftest import doccluster, finished, tiny  # noqa: F401  fixtures
from tests.report.hostile import HOSTILE
from tests.streams.conftest import FEEDS


def side(text, labels=None):
    """A partition written as one cluster a word, its documents the letters: "abc de"."""
    words = text.split()
    return Side("side", {letter: str(place) for place, word in enumerate(words) for letter in word}, labels or {})


def kinds(before, after, **shares):
    found = compare_sides(side(before), side(after), **shares)
    return [(one.kind, one.n_before, one.n_after) for one in found.changes]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("abc de", "de abc", [("stayed", 3, 3), ("stayed", 2, 2)]),
        ("abc", "abcd", [("grew", 3, 4)]),
        ("abcd", "abc", [("shrank", 4, 3)]),
        ("abcd", "abcx", [("changed", 4, 4)]),
        ("abc de", "abcde", [("merged", 5, 5)]),
        ("abcdef", "abc def", [("split", 6, 6)]),
        ("abcdefgh", "abcde fgh", [("split", 8, 8)]),
        ("abc", "abc xyz", [("appeared", 0, 3), ("stayed", 3, 3)]),
        ("abc xyz", "abc", [("vanished", 3, 0), ("stayed", 3, 3)]),
        ("abcdefghij", "abx cdy efz ghv ijw", [("split", 10, 15)]),
        ("abcdefghij", "abxyz cduvw efrst ghklm ijnop", [*[("appeared", 0, 5)] * 5, ("vanished", 10, 0)]),
        ("abcdefghij", "abcdef gh ij", [("split", 10, 10)]),
        ("abcdefghij", "abcdefghi j", [("appeared", 0, 1), ("shrank", 10, 9)]),
    ],
)
def test_each_kind_of_change_is_told(before, after, expected):
    assert kinds(before, after) == expected


def test_the_shares_are_options():
    assert kinds("abcdefgh", "abcdef gh", part=0.3) == [("appeared", 0, 2), ("shrank", 8, 6)]
    assert kinds("abcdefgh", "abcdef gh", part=0.25) == [("split", 8, 8)]
    assert kinds("abcde", "abc dx ey", survive=0.7) == [
        ("appeared", 0, 3),
        ("appeared", 0, 2),
        ("appeared", 0, 2),
        ("vanished", 5, 0),
    ]
    with pytest.raises(InputError, match="is not a share"):
        kinds("a", "a", survive=0)


def test_documents_moved_that_are_in_no_heir_of_their_cluster():
    difference = compare_sides(side("abcdefghij klmno"), side("abcdef gh i jklmno"))
    assert [(change.kind, change.before, change.after) for change in difference.changes] == [
        ("split", ("0",), ("0", "1", "2")),
        ("grew", ("1",), ("3",)),
    ]
    assert [(move.document, move.before, move.after) for move in difference.moved] == [("j", "0", "3")]


def test_sections_that_fall_into_topics_are_split_and_the_runs_agree_as_far_as_they_do(tmp_path):
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    import doccluster  # noqa: F811  as readers call it

    corpus = doccluster.load_sample()
    sections, topics = (doccluster.run(corpus, n_clusters=k) for k in (3, 24))
    difference = doccluster.diff(sections, topics)
    counts = difference.counts()
    assert (counts["vanished"], counts["appeared"]) == (0, 0)
    assert counts["split"] >= 2
    heirs = {old: set(change.after) for change in difference.changes for old in change.before}
    before, after = sections.partition.labels, topics.partition.labels
    moved = [name for name, old, new in zip(corpus.ids, before, after, strict=True) if str(new) not in heirs[str(old)]]
    assert [move.document for move in difference.moved] == moved
    assert difference.agreement["adjusted_rand"] == pytest.approx(adjusted_rand_score(before, after))
    assert difference.agreement["nmi"] == pytest.approx(normalized_mutual_info_score(before, after))


def test_an_edited_document_is_a_difference():
    before, after = (Side("s", {"a": "1"}, {}, {"a": text}) for text in ("old", "new"))
    found = compare_sides(before, after)
    assert (found.edited, found.is_same) == (("a",), False)


def test_a_store_is_the_same_as_itself_and_other_than_it_was(doccluster, store, tmp_path):  # noqa: F811
    same = doccluster("diff", store, store)
    assert same.code == 0
    then = doccluster("diff", f"{store}@2026-03-10T00:00:00Z", store, "--json")
    assert then.code == 1
    told = json.loads(then.out)
    assert told["counts"]["appeared"] > 10
    assert told["n_common"] == told["n_before"] < told["n_after"] == 176
    doccluster("stream", "replay", FEEDS, "--store", tmp_path / "again.db", "--batch", "6h")
    assert doccluster("diff", store, tmp_path / "again.db").code == 0


def test_runs_are_compared_by_their_ids(doccluster, finished, tiny, tmp_path):  # noqa: F811
    assert doccluster("diff", finished, finished).code == 0
    doccluster("run", tiny, "-o", tmp_path / "two", "-k", "2", "--language", "english")
    done = doccluster("diff", finished, tmp_path / "two", "--survive", "0.4", "--part", "0.3")
    assert done.code == 1
    assert "9 before, 9 after, 9 in both" in done.out


def test_many_changes_are_told_in_short_with_the_largest_of_each_kind(doccluster, monkeypatch):  # noqa: F811
    import doccluster.streams.store.diff as module

    before = {f"{story}-{place}": f"old{story:03}" for story in range(90) for place in range(2 + story % 7)}
    gone = {name: story for name, story in before.items() if int(story[3:]) >= 60}
    after = {name: "new" if story in ("old000", "old001") else story for name, story in before.items()}
    after = {name: story for name, story in after.items() if name not in gone} | {f"x{n}": f"x{n}" for n in range(80)}
    sides = [Side(name, own, {}) for name, own in (("a", before), ("b", after))]
    monkeypatch.setattr(module, "read_sides", lambda *_: sides)
    lines = doccluster("diff", "a", "b").out.splitlines()
    assert "1 merged, 80 appeared, 30 vanished, 58 stayed" in lines[1]
    assert [line.split()[0] for line in lines[2:]] == ["merged", *["new"] * 6, *["gone"] * 6, "agreement"]
    assert "75  more with fewer documents; --json has all" in " ".join(lines[8:9])
    assert len(json.loads(doccluster("diff", "a", "b", "--json").out)["changes"]) == 169
    many = [Side("a", {str(n): f"{n}" for n in range(30)}, {}), Side("b", {str(n): "all" for n in range(30)}, {})]
    monkeypatch.setattr(module, "read_sides", lambda *_: many)
    assert "0+1+10+11 and 26 more -> all" in doccluster("diff", "a", "b").out


def test_the_page_shows_changes_and_lets_no_label_out(doccluster, tmp_path, monkeypatch):  # noqa: F811
    import doccluster.streams.store.diff as module

    labels = dict(enumerate(HOSTILE.values()))
    named = {str(place): label for place, label in labels.items()}
    words = " ".join(f"{chr(97 + 2 * place)}{chr(98 + 2 * place)}" for place in labels)
    monkeypatch.setattr(module, "read_sides", lambda *_: (side(words, named), side(words.replace("a", "xa"), named)))
    done = doccluster("diff", "a", "b", "-o", tmp_path / "page.html")
    assert done.code == 1
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<td>grew</td>" in html
    assert "<script" not in html
    assert "\x1b" not in done.out


@pytest.mark.parametrize("name", ["nosuch.db", "nosuch.db@2026-03-01"])
def test_what_is_not_there_is_refused(doccluster, name):  # noqa: F811
    done = doccluster("diff", name, name)
    assert (done.code, "there is no store" in done.err) == (2, True)
