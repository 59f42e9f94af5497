"""The readers on real corpora: their published counts, and what their files say of themselves."""

from __future__ import annotations

import collections
import re
import tarfile
import zipfile

import pytest

from doccluster.corpus import find_near_duplicates, read_corpus
from doccluster.corpus.encodings import decode
from doccluster.errors import DocclusterWarning
from experiments.feeds.run import judge_folder

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def reuters(real_corpora):
    return read_corpus(real_corpora / "reuters21578")


def test_the_whole_of_reuters_21578(reuters):
    topics = reuters.labels["topics"]
    reasons = collections.Counter(one.reason for one in reuters.skipped)
    assert reasons["empty"] == 1  # document 12793 has neither title nor text
    assert len(reuters) + reasons["empty"] == 21_578
    assert set(reasons) == {"empty", "about-the-collection"}
    assert len({topic for one in topics for topic in one}) == 120
    assert sum(len(one) == 1 for one in topics) == 9_494
    assert sum(len(one) > 1 for one in topics) == 1_873
    single = collections.Counter(one[0] for one in topics if len(one) == 1)
    assert single.most_common(4) == [("earn", 3945), ("acq", 2362), ("crude", 408), ("trade", 361)]
    assert reuters.metadata["split"].value_counts().to_dict() == {"train": 9603, "test": 3299, "unused": 8675}
    assert sorted(reuters.ids, key=int) == list(reuters.ids)
    dates = reuters.metadata["date"]
    assert (dates != "").all()
    assert dates.min() == "1987-02-26T15:01:01"
    assert not any(re.search(r"&#\d+;|&lt;|</?(BODY|TITLE|TEXT)", text) for text in reuters.texts)


def test_the_tar_of_reuters_gives_the_same_as_the_folder(reuters, real_corpora, tmp_path):
    path = tmp_path / "reuters21578.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name in ("reut2-000.sgm.gz", "reut2-021.sgm.gz", "README.txt", "lewis.dtd"):
            archive.add(real_corpora / "reuters21578" / name, f"reuters21578/{name}")
    corpus = read_corpus(path)
    assert len(corpus) == 1578
    assert corpus.texts[:1000] == reuters.texts[:1000]


def test_wire_copies_in_reuters_are_found(reuters):
    rows_of = collections.defaultdict(list)
    for row, text in enumerate(reuters.texts):
        rows_of[" ".join(text.split())].append(row)
    exact = [rows for rows in rows_of.values() if len(rows) > 1]
    near = find_near_duplicates(reuters.texts)
    together = {number: group for number, group in enumerate(near) for number in group}
    assert all(set(group) <= set(together[group[0]]) for group in exact)
    assert sum(map(len, near)) > sum(map(len, exact)) > 400


def test_feeds_are_read_as_their_authors_expect(real_corpora):
    verdicts = judge_folder(real_corpora / "feeds_feedparser" / "tests")
    counts = collections.Counter(verdict.agrees for verdict in verdicts)
    assert len(verdicts) == 2_107
    assert counts[True] >= 870
    # bytes in no encoding at all are cp1252 to us, as in every other format, and Latin-2 to feedparser
    guessed = "encoding/bozo_linenoise.xml"
    wrong = [verdict for verdict in verdicts if verdict.agrees is False and verdict.name != guessed]
    assert all(
        "address the feed was fetched" in one.reason or "content" in one.expression + one.reason for one in wrong
    )


def test_the_folder_of_feeds_is_read_without_a_break(real_corpora):
    corpus = read_corpus(real_corpora / "feeds_feedparser")
    assert len(corpus) >= 500
    assert {one.reason for one in corpus.skipped} == {
        "no-entries",
        "empty",
        "duplicate-id",
        "about-the-collection",
        "broken-xml",
    }


def test_titles_and_their_labels_in_a_second_file(real_corpora):
    folder = real_corpora / "stackoverflow_titles" / "rawText"
    corpus = read_corpus(folder / "title_StackOverflow.txt", labels_file=folder / "label_StackOverflow.txt")
    assert len(corpus) == 20_000
    assert collections.Counter(corpus.labels["label"]).most_common() == [
        ((label,), 1000) for (label,), _ in collections.Counter(corpus.labels["label"]).most_common()
    ]
    assert corpus.labels["label"][0] == ("18",)


def test_records_below_keys(real_corpora):
    corpus = read_corpus(
        real_corpora / "itn_news_stream" / "corpus.json",
        text_column="blurb",
        title_column="keyword",
        date_column="key_2",
        label_columns=["key_1", "lang"],
        strip_html=True,
    )
    assert len(corpus) == 3_546
    assert len(set(corpus.labels["key_1"])) == 312
    assert len(set(corpus.labels["lang"])) == 55
    assert corpus.metadata["date"].min().startswith("2018-01-05")
    assert not any("<a " in text or "</b>" in text for text in corpus.texts)


WORD = re.compile(r"[^\W\d_]{3,}")


def words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


def test_three_hundred_languages_in_their_encodings(real_corpora):
    folder = real_corpora / "languages_encodings"
    unicode = read_corpus(folder / "udhr2.zip")
    with pytest.warns(DocclusterWarning, match="cp1252"):
        corpus = read_corpus(folder / "udhr.zip")
    assert len(corpus) == 335
    assert not corpus.skipped
    vocabularies = [words(text) for text in unicode.texts]
    shared = []
    for text in corpus.texts:
        own = words(text)
        if len(own) >= 20:
            shared.append(max(len(own & vocabulary) / len(own) for vocabulary in vocabularies))
    assert sum(share >= 0.7 for share in shared) >= 285  # most of the others are in fonts or other translations


def test_declared_encodings_of_the_languages_are_those_found(real_corpora):
    """File names end in the encoding; where Python has that codec, the text must be what it gives."""
    codecs = {"UTF8": ["utf-8"], "Cyrillic": ["cp1251"], "Greek": ["cp1253"], "Hebrew": ["cp1255"], "SJIS": ["cp932"]}
    codecs |= {"Arabic": ["cp1256"], "GB2312": ["gb18030"], "HZ": ["hz"], "EUC": ["euc_jp"], "Turkish": ["cp1254"]}
    codecs |= {"Latin1": ["cp1252"], "Latin2": ["cp1250", "iso8859_2"], "Unicode": ["utf-16"]}
    right = total = 0
    with zipfile.ZipFile(real_corpora / "languages_encodings" / "udhr.zip") as archive:
        for name in archive.namelist():
            suffix = name.rpartition("-")[2]
            if suffix not in codecs:
                continue
            data = archive.read(name)
            found = decode(data).text.replace("\r\n", "\n").replace("\r", "\n")
            expected = {data.decode(codec, "replace").lstrip("\ufeff") for codec in codecs[suffix]}
            total += 1
            right += found in {text.replace("\r\n", "\n").replace("\r", "\n") for text in expected}
    assert total >= 310
    assert right >= total - 16  # names that are wrong (cp1250 called Latin1), mixed alphabets, too few accents to tell
