"""An editor's corrections: done, respected by later batches, taken back, and kept through it all."""

from __future__ import annotations

import json
import random
import re
import shutil

import pytest

import doccluster.streams.stream as streaming
from doccluster.errors import InputError
from doccluster.stories import looking_again
from doccluster.stories.looking_again import Bonds
from doccluster.streams import StoryStream
from doccluster.streams.article import as_text
from doccluster.streams.page.front_page import front_page
from doccluster.streams.settings import HOUR
from tests.cli.conftest import doccluster  # noqa: F401  a fixture
from tests.streams.test_replay import NOW, QUICK, made_rows, written

BEGIN = 1_772_409_600
FERRY = [
    "ferry",
    "Skerrow",
    "harbour",
    "aground",
    "passengers",
    "captain",
    "tide",
    "rescue",
    "hull",
    "salvage",
    "tug",
    "pilot",
    "deck",
    "crew",
    "coast",
]
BANK = [
    "bank",
    "interest",
    "rates",
    "inflation",
    "governor",
    "percent",
    "bonds",
    "mortgage",
    "savings",
    "crown",
    "lending",
    "credit",
    "board",
]


def articles(words, hours, *, seed=0):
    rng = random.Random(seed)
    return [
        (as_text(BEGIN + hour * HOUR), " ".join(rng.sample(words, 10)), f"{' '.join(rng.sample(words, 4))} {hour}")
        for hour in hours
    ]


def partition(stream):
    found = {}
    for name, story in zip(stream.tables().documents["id"], stream.tables().documents["story"], strict=True):
        found.setdefault(story, set()).add(name)
    return found


def replayed(stream, rows):
    """Feed rows under ids of their own: "1", "2" would be met again by the next call."""
    from doccluster.corpus import Corpus

    names = tuple(f"{row[0]} {row[2]}" for row in rows)
    columns = {"date": [row[0] for row in rows], "title": [row[2] for row in rows]}
    stream.replay(Corpus(ids=names, texts=tuple(row[1] for row in rows), metadata=columns), now=NOW)
    return names


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "news.db"
    rows = [row for row in made_rows(150, seed=5) if row["date"].startswith("2026")]
    with StoryStream(path, settings=QUICK) as stream:
        stream.replay(written(rows, path.with_name("all.jsonl")), now=NOW)
    return path


@pytest.fixture
def made(made_once, tmp_path):
    """A store of its own for each test."""
    with StoryStream(shutil.copyfile(made_once, tmp_path / "news.db")) as stream:
        yield stream


def living(stream):
    """The stories that a reader sees."""
    rows = stream._connection.execute("SELECT story_id FROM story WHERE state <> 'merged' ORDER BY story_id")
    return [name for (name,) in rows]


def test_corrections_and_their_undoing_are_what_sets_of_documents_say(made):
    rng, stories = random.Random(1), partition(made)
    families = dict(zip(made.tables().documents["id"], made.tables().documents["family"], strict=True))
    history, refusals, counts = [], [], dict.fromkeys(("merge", "split", "move", "undo"), 0)
    for _ in range(60):
        verb = rng.choice(list(counts))
        one, other = rng.sample(sorted(set(living(made)) & stories.keys()), 2)
        before = {name: set(own) for name, own in stories.items()}
        try:
            if verb == "undo":
                if not history:
                    continue
                made.undo()
                stories = history.pop()
            elif verb == "merge":
                made.correct("merge", one, other)
                kept, ended = (one, other) if one in partition(made) else (other, one)
                stories[kept] |= stories.pop(ended)
            else:
                moved = {name for name in stories[one] if families[name] == families[min(stories[one])]}
                if verb == "split":
                    moved = {min(moved)} if moved == stories[one] else moved  # copies alone can be parted
                    made.correct("split", one, documents=[min(stories[one])])
                    (other,) = partition(made).keys() - stories.keys()
                else:
                    made.correct("move", other, documents=[min(stories[one])])
                stories[one] -= moved
                stories[other] = stories.get(other, set()) | moved
                stories = {name: own for name, own in stories.items() if own}
        except InputError as error:
            refusals.append((verb, re.search("all documents of", str(error)) is not None))
            stories = before
        else:
            counts[verb] += 1
            if verb != "undo":
                history.append(before)
        assert partition(made) == stories
    assert made.check() == []
    assert min(counts.values()) >= 7
    assert set(refusals) <= {("split", True), ("move", True)}


def test_a_store_goes_on_alike_whether_it_was_opened_again_after_a_correction_or_not(tmp_path):
    rows = [row for row in made_rows(90, seed=5) if row["date"].startswith("2026")]
    ends = []
    for name in ("on", "again"):
        stream = StoryStream(tmp_path / f"{name}.db", settings=QUICK)
        stream.replay(written(rows[:60], tmp_path / "a.jsonl"), now=NOW)
        one, other = sorted(set(living(stream)))[:2]
        stream.correct("merge", one, other)
        if name == "again":
            stream.close()
            stream = StoryStream(tmp_path / f"{name}.db")
        stream.replay(written(rows[60:], tmp_path / "b.jsonl"), now=NOW)
        assert stream.check() == []
        ends.append(stream.tables())
        stream.close()
    assert (ends[0].documents, ends[0].stories, ends[0].lineage) == (
        ends[1].documents,
        ends[1].stories,
        ends[1].lineage,
    )


@pytest.mark.parametrize("is_respected", [True, False])
def test_documents_that_an_editor_took_apart_are_not_merged_again(monkeypatch, is_respected):
    if not is_respected:
        monkeypatch.setattr(streaming, "bonds_of", lambda _: Bonds())
    monkeypatch.setattr(looking_again, "CROSSES", 1.0)  # without inertia what is so alike is merged again
    stream = StoryStream()
    names = replayed(stream, articles(FERRY, range(8)))
    (story,) = partition(stream)
    stream.correct("split", story, documents=names[::2])
    assert sorted(map(sorted, partition(stream).values())) == sorted((sorted(names[::2]), sorted(names[1::2])))
    later = articles(FERRY, range(10, 30), seed=1)
    replayed(stream, later)
    apart = {name: story for story, own in partition(stream).items() for name in own}
    assert (apart[names[0]] != apart[names[1]]) == is_respected
    assert stream.check() == []


@pytest.mark.parametrize("is_respected", [True, False])
def test_documents_that_an_editor_put_together_are_not_split_again(monkeypatch, is_respected):
    if not is_respected:
        monkeypatch.setattr(streaming, "bonds_of", lambda _: Bonds())
    stream = StoryStream()
    ferry = replayed(stream, articles(FERRY, range(0, 12, 2)))
    bank = replayed(stream, articles(BANK, range(1, 13, 2)))
    one, other = partition(stream)
    stream.correct("merge", one, other)
    replayed(stream, articles(FERRY, range(14, 34, 2), seed=1))
    where = {name: story for story, own in partition(stream).items() for name in own}
    assert (where[ferry[0]] == where[bank[0]]) == is_respected
    assert stream.check() == []


def test_a_name_stays_with_a_story_that_grows_and_merges_until_it_is_taken_back(made):
    one, other = sorted(living(made))[:2]
    made.correct("rename", one, text="  The  harbour ")
    made.correct("merge", other, one)
    stories = made.tables().stories
    kept = next(name for name in (one, other) if name in partition(made))
    assert stories["label"][stories["id"].index(kept)] == "The harbour"
    made.undo()
    made.undo()
    assert "The harbour" not in made.tables().stories["label"]


def test_what_is_pinned_stands_first_and_what_is_muted_is_nowhere():
    stream = StoryStream()
    replayed(stream, articles(FERRY, range(4)))
    replayed(stream, articles(BANK, range(4, 5)))
    ferry, bank = partition(stream)
    page = front_page(stream._connection)
    assert [one.id for one in (*page.cards, *page.singles)] == [ferry, bank]
    stream.correct("pin", bank)
    stream.correct("rename", bank, text="Rates")
    page = front_page(stream._connection)
    assert (page.cards[0].id, page.cards[0].headline) == (bank, "Rates")
    title = stream.tables().documents["title"][0]
    stream.correct("mute", text=f"title={title[:9].upper()}*")
    assert [one.n_documents for one in front_page(stream._connection).cards if one.id == ferry] == [3]
    again = (as_text(BEGIN + 5 * HOUR), "quite another text", f"{title[:9]} and more")
    assert not set(replayed(stream, [again])) & set(stream.tables().documents["id"])
    assert stream.check() == []
    stream.undo()
    replayed(stream, articles(BANK, range(6, 7), seed=3))
    assert f"{again[0]} {again[2]}" in stream.tables().documents["id"]


def test_a_story_that_has_ended_gives_way_to_the_open_one_and_comes_back_as_it_was():
    stream = StoryStream(settings=QUICK)
    replayed(stream, articles(FERRY, range(3)))
    replayed(stream, articles(BANK, range(20, 27 * 24, 48)))
    states = dict(zip(stream.tables().stories["id"], stream.tables().stories["state"], strict=True))
    (ended,), (still,) = ([name for name in states if states[name] == state] for state in ("closed", "open"))
    stream.correct("merge", ended, still)
    stories = stream.tables().stories
    assert dict(zip(stories["id"], stories["state"], strict=True)) == {still: "open", ended: "merged"}
    stream.undo()
    stories = stream.tables().stories
    assert dict(zip(stories["id"], stories["state"], strict=True)) == states
    assert stream.check() == []


def test_an_undoing_finds_documents_whose_story_has_become_part_of_another_since():
    stream = StoryStream()
    replayed(stream, articles(BANK, range(3)))
    ferry = replayed(stream, articles(FERRY, range(4, 7)))
    before = partition(stream)
    bank, story = before
    stream.correct("split", story, documents=ferry[:1])
    (new,) = partition(stream).keys() - before.keys()
    stream.correct("merge", bank, new)
    stream._connection.execute("DELETE FROM correction WHERE verb = 'merge'")  # as if a repair had done it
    assert set(ferry[:1]) < partition(stream)[bank]
    stream.undo()
    assert partition(stream) == before
    assert stream.check() == []


@pytest.fixture
def store(tmp_path):
    with StoryStream(tmp_path / "news.db") as stream:
        replayed(stream, articles(FERRY, range(4)))
        replayed(stream, articles(BANK, range(4, 6)))
        names = dict(zip(("ferry", "bank"), partition(stream), strict=True))
        first = stream.tables().documents["id"][0]
    return tmp_path / "news.db", names["ferry"], names["bank"], first


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("merge", "nix", "{bank}"), "there is no story 'nix'"),
        (("merge", "{bank}", "{bank}"), "is one story; give two"),
        (("split", "{ferry}", "--documents", "nix"), "no document 'nix' is in a story"),
        (("split", "{bank}", "--documents", "{first}"), "not all in story"),
        (("move", "{first}", "--to", "{ferry}"), "already"),
        (("rename", "{ferry}", " "), "the name is empty"),
        (("mute",), "give one of --title and --outlet"),
        (("mute", "--title", ""), "mutes nothing"),
        (("undo",), "there is no correction to take back"),
        (("show", "nix"), "there is no story 'nix'"),
    ],
)
def test_a_wrong_correction_ends_in_a_sentence_and_changes_nothing(doccluster, store, arguments, says):  # noqa: F811
    path, ferry, bank, first = store
    told = [one.format(ferry=ferry, bank=bank, first=first) for one in arguments]
    before = path.read_bytes()
    done = doccluster("stream", *told, "--store", path)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert path.read_bytes() == before


def test_stories_are_listed_found_shown_and_corrected_by_command(doccluster, store):  # noqa: F811
    path, ferry, bank, first = store
    listed = json.loads(doccluster("stream", "list", "--store", path, "--json").out)["stories"]
    assert [one["id"] for one in listed] == [bank, ferry]
    title = next(one["label"] for one in listed if one["id"] == bank)
    found = json.loads(doccluster("stream", "find", *title.upper().split()[:2], "--store", path, "--json").out)
    assert [one["id"] for one in found["stories"]] == [bank]
    shown = json.loads(doccluster("stream", "show", ferry, "--store", path, "--json").out)
    assert first in [one["id"] for one in shown["documents"]]
    second = shown["documents"][1]["id"]
    done = doccluster("stream", "split", ferry, "--documents", first, second, "--store", path)
    assert (done.code, "2 documents" in done.out) == (0, True)
    assert len(json.loads(doccluster("stream", "list", "--store", path, "--json").out)["stories"]) == 3
    assert doccluster("stream", "undo", "--store", path).code == 0
    assert doccluster("stream", "move", first, "--to", bank, "--store", path).code == 0
    assert first in doccluster("stream", "show", bank, "--store", path).out
    assert doccluster("stream", "merge", bank, ferry, "--store", path).code == 0
    told = doccluster("stream", "merge", bank, ferry, "--store", path)
    assert f"story {ferry} has become part of story {bank}" in told.err
    assert "moved" not in doccluster("stream", "show", bank, "--store", path).out
    assert doccluster("stream", "check", "--store", path).code == 0


def test_several_stories_become_one_which_the_answer_names(doccluster, tmp_path):  # noqa: F811
    path = tmp_path / "news.db"
    titles = [
        "Ferry runs aground off Skerrow",
        "Bank leaves rates unchanged",
        "Glacier melts faster",
        "Violin is found",
    ]
    with StoryStream(path) as stream:
        rows = [(as_text(BEGIN + place * HOUR), title, title) for place, title in enumerate(titles)]
        names = replayed(stream, rows)
        stories = {name: story for story, (name,) in partition(stream).items()}
        ferry, bank, glacier, violin = (stories[name] for name in names)
    told = doccluster("stream", "merge", bank, ferry, glacier, bank, "--store", path)
    assert (told.code, told.err) == (0, "")
    assert "2 documents, in batch" in told.out
    assert f"  {bank}   Bank leaves rates unchanged (3 documents)" in told.out.splitlines()
    parted = json.loads(doccluster("stream", "split", bank, "--documents", names[2], "--store", path, "--json").out)
    assert [(one["label"], one["documents"]) for one in parted["stories"]] == [
        ("Glacier melts faster", 1),
        ("Bank leaves rates unchanged", 2),
    ]
    for _ in range(2):
        undone = doccluster("stream", "undo", "--store", path)
    assert [line.split()[0] for line in undone.out.splitlines()[1:-1]] == [ferry, glacier, bank]
    with StoryStream(path) as stream:
        assert sorted(map(len, partition(stream).values())) == [1, 1, 1, 1]
        stream.correct("rename", violin, text="The lost violin")
        with pytest.raises(InputError, match="is one story; give two or more"):
            stream.correct("merge", violin, violin)
        stream.correct("merge", violin, bank, glacier)
        assert sorted(map(len, partition(stream).values())) == [1, 3]
    assert "The lost violin (3 documents)" in doccluster("stream", "pin", violin, "--store", path).out
    told = doccluster("stream", "show", violin, "--store", path).out.splitlines()
    merged = [line.split(maxsplit=2)[2] for line in told if "  merged  " in line]
    assert merged == [f"{bank}  Bank leaves rates unchanged", f"{glacier}  Glacier melts faster"]


def test_of_several_stories_the_first_that_is_open_goes_on(tmp_path):
    with StoryStream(tmp_path / "news.db", settings=QUICK) as stream:
        replayed(stream, articles(FERRY, range(3)))
        replayed(stream, articles(BANK, range(20, 27 * 24, 48)))
        (violin,) = replayed(stream, [(as_text(BEGIN + 81 * HOUR), "Violin is found in a barn", "Violin is found")])
        stories = stream.tables().stories
        states = dict(zip(stories["id"], stories["state"], strict=True))
        (ended,) = (name for name in states if states[name] == "closed")
        (found,) = (name for name, own in partition(stream).items() if violin in own)
        (bank,) = states.keys() - {ended, found}
        stream.correct("merge", ended, found, bank)
        assert {name: len(own) for name, own in partition(stream).items()} == {found: 18}
