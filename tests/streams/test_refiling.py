"""Articles that are edited much while they are young are filed anew; however often a store is opened meanwhile."""

from __future__ import annotations

import pytest

from doccluster.corpus import Corpus
from doccluster.streams import StoryStream
from doccluster.streams.article import as_text
from doccluster.streams.settings import DAY, HOUR
from tests.streams.test_corrections import BANK, BEGIN, FERRY, articles, replayed
from tests.streams.test_replay import NOW, dump

TITLES = {"late": "Skerrow: what we know", "other": "Breaking news"}


def fed(stream, name, hour, text, *, title=None):
    """Feed one article under its id."""
    columns = {"date": [as_text(BEGIN + hour * HOUR)], "title": [title or TITLES[name]], "source": ["Tide"]}
    return stream.replay(Corpus(ids=(name,), texts=(text,), metadata=columns), now=NOW)


def story_of(stream, name):
    documents = stream.tables().documents
    return dict(zip(documents["id"], documents["story"], strict=True))[name]


def text_of(words, seed):
    return articles(words, [0], seed=seed)[0][1]


@pytest.fixture
def stream():
    """A story of a ferry and one of a bank."""
    made = StoryStream()
    made.ferry, made.bank = replayed(made, articles(FERRY, range(6)))[0], replayed(made, articles(BANK, range(6, 9)))[0]
    return made


def test_a_title_whose_text_comes_an_hour_later_goes_to_its_story(stream):
    fed(stream, "late", 9, "")
    assert story_of(stream, "late") not in (story_of(stream, stream.ferry), story_of(stream, stream.bank))
    done = fed(stream, "late", 10, text_of(FERRY, 7))
    assert (done.n_edited, done.events["merged"], done.events["moved"]) == (1, 1, 1)
    assert story_of(stream, "late") == story_of(stream, stream.ferry)
    assert stream.check() == []


def test_an_article_that_is_rewritten_to_another_event_goes_there_and_one_to_none_founds_a_story(stream):
    fed(stream, "other", 9, text_of(FERRY, 7))
    assert story_of(stream, "other") == story_of(stream, stream.ferry)
    done = fed(stream, "other", 10, text_of(BANK, 8))
    assert (done.n_edited, dict(done.events)) == (1, {"moved": 1})
    assert story_of(stream, "other") == story_of(stream, stream.bank)
    done = fed(stream, "other", 11, "Wolves cleared of sheep killings by genetic test on Blackrigg, say rangers")
    assert (done.events["split"], done.events["moved"]) == (1, 1)
    assert story_of(stream, "other") not in (story_of(stream, stream.ferry), story_of(stream, stream.bank))
    assert stream.check() == []


def test_what_is_old_or_little_changed_or_placed_by_an_editor_stays(stream):
    fed(stream, "other", 9, text_of(FERRY, 7))
    little = text_of(FERRY, 7).split()
    assert dict(fed(stream, "other", 10, " ".join([*little[:-1], "governor"])).events) == {}
    stream.correct("move", story_of(stream, stream.bank), documents=["other"])
    fed(stream, "other", 11, "Orchestra begins its tour with a violin concert")
    assert story_of(stream, "other") == story_of(stream, stream.bank)
    fed(stream, "late", 12, text_of(FERRY, 7))
    stream._connection.execute("UPDATE document SET published = ? WHERE id = 'late'", (BEGIN - 2 * DAY,))
    done = fed(stream, "late", 13, text_of(BANK, 8))
    assert (done.n_edited, dict(done.events)) == (1, {})
    assert story_of(stream, "late") == story_of(stream, stream.ferry)


@pytest.mark.parametrize("n_texts", [1, 3])
def test_the_store_is_the_same_whether_it_was_opened_again_between_edits_or_not(tmp_path, n_texts):
    dumps = []
    for is_opened_again in (False, True):
        path = tmp_path / f"{is_opened_again}.db"
        stream = StoryStream(path)
        replayed(stream, articles(FERRY, range(6)))
        replayed(stream, articles(BANK, range(6, 9)))
        for hour, words in enumerate([[], FERRY, BANK, FERRY][: n_texts + 1], 9):
            if is_opened_again:
                stream.close()
                stream = StoryStream(path)
            fed(stream, "late", hour, text_of(words, hour) if words else "")
        replayed(stream, articles(FERRY, range(20, 60, 5), seed=2))
        assert stream.check() == []
        stream.close()
        dumps.append(dump(path))
    assert any("'moved'" in line for line in dumps[0])
    assert dumps[0] == dumps[1]
