"""Folders of text files, lines, and texts that are in memory already."""

from __future__ import annotations

import io
import os
import pathlib
import random

import numpy as np
import pandas as pd
import pytest

from doccluster.corpus import Corpus, read_corpus
from doccluster.errors import DocclusterError, DocclusterWarning, InputError, NothingUsable


def reasons(corpus: Corpus) -> dict[str, str]:
    return {one.source: one.reason for one in corpus.skipped}


def write(folder: pathlib.Path, files: dict[str, str | bytes]) -> pathlib.Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def test_a_subfolder_is_a_class_and_the_path_the_id(tmp_path):
    write(tmp_path, {"sport/b.txt": "goal", "sport/a.txt": "match", "wheat/c.txt": "grain", "top.txt": "alone"})
    corpus = read_corpus(tmp_path)
    assert corpus.ids == ("sport/a.txt", "sport/b.txt", "top.txt", "wheat/c.txt")
    assert corpus.texts == ("match", "goal", "alone", "grain")
    assert corpus.labels == {"class": (("sport",), ("sport",), (), ("wheat",))}
    assert list(corpus.metadata.columns) == ["title", "date", "source", "link", "file"]
    assert corpus.metadata["file"].tolist() == list(corpus.ids)
    assert set(corpus.metadata["source"]) == {""}


def test_a_flat_folder_has_no_classes(tmp_path):
    assert read_corpus(write(tmp_path, {"a.txt": "one", "b.txt": "two"})).labels == {}


def test_what_is_empty_binary_hidden_or_beside_the_point_is_listed_and_the_rest_read(tmp_path):
    files = {
        "a/1.txt": "text",
        "a/2.txt": "",
        "a/3.txt": " \n\t\ufeff ",
        "a/4.bin": bytes(range(256)) * 40,
        "a/5.pdf": b"%PDF-1.7 ...",
        "a/.hidden": "no",
        "__MACOSX/a.txt": "no",
        "README.md": "about the collection",
    }
    corpus = read_corpus(write(tmp_path, files))
    assert corpus.texts == ("text",)
    assert reasons(corpus) == {
        "a/2.txt": "empty",
        "a/3.txt": "empty",
        "a/4.bin": "binary",
        "a/5.pdf": "broken-file",
        "a/.hidden": "hidden",
        "__MACOSX": "hidden",
        "README.md": "about-the-collection",
    }


def test_a_readme_alone_is_a_document(tmp_path):
    assert read_corpus(write(tmp_path, {"x/README.md": "words", "y/README.md": "more"})).texts == ("words", "more")


def test_an_over_long_document_is_listed_with_the_limit(tmp_path):
    write(tmp_path, {"long.txt": "x" * 101, "huge.txt": "x" * 5000, "short.txt": "x" * 100})
    corpus = read_corpus(tmp_path, max_document_length=100)
    assert corpus.ids == ("short.txt",)
    assert reasons(corpus) == {"huge.txt": "too-long", "long.txt": "too-long"}


def test_an_unreadable_file_is_listed(tmp_path, monkeypatch):
    write(tmp_path, {"a.txt": "one", "b.txt": "two"})
    opened = os.open

    def refuse(path, *arguments, **keywords):
        if str(path).endswith("b.txt"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **keywords)

    monkeypatch.setattr(os, "open", refuse)
    corpus = read_corpus(tmp_path)
    assert corpus.ids == ("a.txt",)
    assert reasons(corpus) == {"b.txt": "unreadable"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_leaves_nothing_usable(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    with pytest.raises(NothingUsable, match="unreadable"):
        read_corpus(closed)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links on this system")
def test_links_in_a_circle_end_and_broken_ones_are_listed(tmp_path):
    write(tmp_path, {"a/1.txt": "one"})
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ("one",)
    assert reasons(corpus) == {"gone.txt": "unreadable"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path):
    write(tmp_path, {"a.txt": "one"})
    os.mkfifo(tmp_path / "pipe")
    assert reasons(read_corpus(tmp_path)) == {"pipe": "not-a-file"}


def test_a_single_text_file_is_one_document_a_line(tmp_path):
    path = tmp_path / "titles.txt"
    path.write_text("first title\n\nthird title\n")
    corpus = read_corpus(path)
    assert corpus.texts == ("first title", "third title")
    assert corpus.ids == ("titles.txt:1", "titles.txt:3")
    assert reasons(corpus) == {"titles.txt:2": "empty"}
    assert read_corpus(path, format="text").texts == ("first title\n\nthird title\n",)


def test_labels_of_a_second_file_stay_beside_their_lines(tmp_path):
    write(tmp_path, {"t.txt": "a\n\nc\n", "l.txt": "x\ny\nz\n", "short.txt": "x\n", "l.csv": "id,story\nt.txt:3,s\n"})
    corpus = read_corpus(tmp_path / "t.txt", labels_file=tmp_path / "l.txt")
    assert corpus.labels == {"label": (("x",), ("z",))}
    assert read_corpus(tmp_path / "t.txt", labels_file=tmp_path / "l.csv").labels == {"story": ((), ("s",))}
    lines = '{"id": "t.txt:3", "story": ["s", "a \u2028 b"], "n": 3}\r\n{"id": null}\n'
    (tmp_path / "l.jsonl").write_text(lines, encoding="utf-8")
    labels = read_corpus(tmp_path / "t.txt", labels_file=tmp_path / "l.jsonl").labels
    assert labels == {"story": ((), ("s", "a b")), "n": ((), ("3",))}
    for line, problem in (('["t.txt:3", "s"]', "a line is no JSON object"), ('{"story": "s"}', "no column 'id'")):
        (tmp_path / "broken.jsonl").write_text(line)
        with pytest.raises(InputError, match=problem):
            read_corpus(tmp_path / "t.txt", labels_file=tmp_path / "broken.jsonl")
    with pytest.raises(InputError, match=r"1 label.* for 3 document"):
        read_corpus(tmp_path / "t.txt", labels_file=tmp_path / "short.txt")
    with pytest.raises(InputError, match="cannot be read"):
        read_corpus(tmp_path / "t.txt", labels_file=tmp_path / "none.txt")


def test_several_paths_are_read_in_order_and_each_file_once(tmp_path):
    write(tmp_path, {"a/x.txt": "one", "b/x.txt": "two"})
    corpus = read_corpus([tmp_path / "b", tmp_path / "a", tmp_path / "a" / "x.txt"])
    assert corpus.texts == ("two", "one")
    assert corpus.ids == ("x.txt", "x.txt#2")
    assert [one.reason for one in corpus.skipped] == ["duplicate-id"]
    assert read_corpus([str(tmp_path / "a"), str(tmp_path / "b")]).texts == ("one", "two")


def test_equal_ids_are_made_unique_in_reading_order():
    frame = pd.DataFrame({"id": ["a", "a", "a#2", "a"], "text": ["1", "2", "3", "4"]})
    corpus = read_corpus(frame)
    assert corpus.ids == ("a", "a#2", "a#2#2", "a#3")
    assert [one.reason for one in corpus.skipped] == ["duplicate-id"] * 3


def test_standard_input_is_recognised_like_a_file(monkeypatch):
    class Terminal:
        buffer = io.BytesIO(b'{"text": "one", "id": "i"}\n{"text": "two"}\n')

    monkeypatch.setattr("sys.stdin", Terminal())
    corpus = read_corpus("-")
    assert corpus.texts == ("one", "two")
    assert corpus.ids == ("i", "stdin:2")


def test_an_open_file_is_read(tmp_path):
    assert read_corpus(io.BytesIO(b"text,label\nfirst,a\nsecond,b\n")).labels == {"label": (("a",), ("b",))}
    with pytest.raises(InputError, match="binary mode"):
        read_corpus(io.StringIO("text"))


def test_texts_in_memory_keep_their_number_as_id():
    corpus = read_corpus(["one", None, float("nan"), "", b"caf\xc3\xa9"])
    assert (corpus.ids, corpus.texts) == (("1", "5"), ("one", "café"))
    assert [one.reason for one in corpus.skipped] == ["empty"] * 3
    assert read_corpus(iter(("one", "two"))).ids == ("1", "2")
    assert read_corpus(np.array(["one", "two"])).texts == ("one", "two")
    assert read_corpus({"x": "one"}).ids == ("x",)
    assert read_corpus([{"text": "one", "topic": "t"}]).labels == {"topic": (("t",),)}
    with pytest.raises(InputError, match="document 2 is of type int"):
        read_corpus(["one", 2])


def test_a_series_gives_its_index_as_ids():
    corpus = read_corpus(pd.Series(["one", None, "two"], index=["a", "b", "c"]))
    assert (corpus.ids, corpus.texts) == (("a", "c"), ("one", "two"))


def test_a_corpus_comes_back_as_it_is():
    corpus = read_corpus(["one"])
    assert read_corpus(corpus) is corpus


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": "no/such/file"}, "does not exist"),
        ({"source": ["one"], "format": "numbers"}, "choose among text, lines, csv"),
        ({"source": ["one"], "strip": ("tails",)}, "headers, footers, quotes"),
        ({"source": ["one"], "html": "pdf"}, "'text' or 'article'"),
        ({"source": ["one"], "encoding": "klingon"}, "utf-8"),
        ({"source": ["one"], "max_document_length": 0}, "positive"),
        ({"source": ["one"], "max_expanded_size": "much"}, "500M"),
        ({"source": ["one"], "delimiter": ";;"}, "one character"),
        ({"source": ["one"], "id_column": ["a", "b"]}, "give one column"),
        ({"source": ["one"], "split": "train"}, "splits there are"),
        ({"source": 7}, "type int"),
    ],
)
def test_wrong_input_is_refused_with_what_to_do(arguments, message):
    with pytest.raises(InputError, match=message):
        read_corpus(arguments.pop("source"), **arguments)


def test_nothing_usable_says_why_and_has_its_own_exit_code(tmp_path):
    with pytest.raises(NothingUsable, match=r"2 empty, 1 binary") as caught:
        read_corpus(write(tmp_path, {"a.txt": "", "b.txt": " ", "c": b"\0" * 50}))
    assert caught.value.exit_code == 3
    with pytest.raises(NothingUsable):
        read_corpus([])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(NothingUsable, match="nothing in the source"):
        read_corpus(empty)


def test_progress_is_told(tmp_path):
    told = []
    read_corpus(["text"] * 1200, progress=lambda stage, done, total=None: told.append((stage, done, total)))
    assert told[0] == ("read", 500, None)
    assert told[-1] == ("read", 1200, 1200)


def test_characters_that_cannot_be_written_are_replaced():
    corpus = read_corpus(["a\ud800b\x00c\r\nd"])
    assert corpus.texts == ("a\ufffdbc\nd",)
    corpus.texts[0].encode()


def test_newsgroup_messages_are_stripped_of_what_is_named(tmp_path):
    message = (
        "From: someone@example.org (A. Reader)\nSubject: Re: orbits\nOrganization: Example\nLines: 9\n\n"
        "In article <1@example.org> a.writer@example.org (A. Writer) writes:\n> Is it round?\n\nIt is an ellipse.\n\n"
        "-- \nA. Reader, Somewhere\n"
    )
    write(tmp_path, {"20news-bydate-train/sci.space/60001": message, "20news-bydate-test/sci.med/5": message})
    raw = read_corpus(tmp_path)
    assert raw.labels["class"] == (("sci.med",), ("sci.space",))
    assert raw.metadata["title"].tolist() == ["Re: orbits"] * 2
    assert raw.metadata["split"].tolist() == ["test", "train"]
    assert raw.texts[0] == message.rstrip("\n")
    bare = read_corpus(tmp_path, strip=("headers", "footers", "quotes"), split="train")
    assert [text.strip() for text in bare.texts] == ["It is an ellipse."]
    assert bare.ids == ("20news-bydate-train/sci.space/60001",)
    assert "Subject" not in read_corpus(tmp_path, strip="headers").texts[0]
    assert "> Is it round?" in read_corpus(tmp_path, strip="footers").texts[0]


def test_an_encoding_that_is_named_is_used_and_what_it_cannot_read_is_listed(tmp_path):
    write(tmp_path, {"a.txt": "Привет".encode("koi8-r"), "b.txt": b"\x81\x20abc"})
    assert read_corpus(tmp_path, encoding="koi8-r").texts[0] == "Привет"
    corpus = read_corpus(write(tmp_path, {"c.txt": "ok"}), encoding="utf-8")
    assert corpus.texts == ("ok",)
    assert set(reasons(corpus).values()) == {"undecodable"}


def test_a_guess_is_warned_about_once(tmp_path):
    draw = random.Random(6)
    letters = [*range(97, 123), *range(0xA0, 0x100)]
    odd = b" ".join(bytes(draw.choice(letters) for _ in range(6)) for _ in range(12))  # no encoding makes it a language
    write(tmp_path, {"a.txt": odd, "b.txt": odd})
    with pytest.warns(DocclusterWarning, match=r"a.txt and 1 more is not known; read as cp1252"):
        corpus = read_corpus(tmp_path)
    assert len(corpus) == 2


def test_every_error_of_reading_is_one_of_ours(tmp_path):
    with pytest.raises(DocclusterError):
        read_corpus(tmp_path / "a\nb")


CASES = pathlib.Path(__file__).parent / "files"


def test_annotations_beside_texts_are_named_and_not_read():
    corpus = read_corpus(CASES / "34-annotated")
    assert corpus.ids == ("d0.txt", "d1.txt")
    assert reasons(corpus) == dict.fromkeys(["annotation.conf", "d0.ann", "d1.ann"], "about-the-collection")


def test_lists_vocabularies_and_files_beside_each_text_are_none_of_the_texts(tmp_path):
    rows = '[{"name": "jo", "title": "Harbour master of the island"}, {"name": "ana", "title": "Editor of the page"}]'
    texts = {f"day/{number}.txt": f"The ferry sailed again, for the {number}th time." for number in range(3)}
    beside = {f"day/{number}.tok": "The ferry sailed" for number in range(3)}
    beside |= {"users.json": rows, "actor.json": rows, "all.vocab": "ferry", "stopwords.txt": "the", "1.feat": "1:2"}
    corpus = read_corpus(write(tmp_path, {**texts, **beside}))
    assert corpus.ids == tuple(texts)
    assert reasons(corpus) == dict.fromkeys(beside, "about-the-collection")


@pytest.mark.parametrize(
    "files",
    [
        {"a.txt": "one", "b.md": "two", "c.rst": "three", "d.story": "four"},
        {"a.en": "one", "a.de": "two", "b.en": "three", "b.de": "four"},
        {"a.txt": "one", "a.story": "two", "b.txt": "three", "c.story": "four"},
        {"a.2019": "one", "b.2020": "two", "a.txt": "three"},
        {"one.conf": "all of one kind", "two.conf": "are what is read"},
    ],
)
def test_texts_with_other_suffixes_are_read(files, tmp_path):
    assert set(read_corpus(write(tmp_path, files)).ids) == set(files)


def test_a_list_of_people_is_read_where_you_name_it(tmp_path):
    rows = '[{"text": "The harbour master of the island"}, {"text": "The editor of the page"}]'
    folder = write(tmp_path, {"users.json": rows, "a.txt": "one"})
    assert len(read_corpus([folder / "users.json", folder / "a.txt"])) == 3
