"""A reader is a boundary: whatever a file makes it raise is listed with a reason, and the other files are read."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import socket
import sys
import tarfile
import warnings
import zipfile
from dataclasses import replace

import pytest

from doccluster.corpus import FORMATS, formats, opening, read_corpus
from doccluster.errors import DocclusterError, DocclusterWarning, InputError


def reasons(corpus):
    return {one.source: one.reason for one in corpus.skipped}


def read_beside_a_good_file(folder, name, data, **options):
    """Read a folder with a hostile file and a good one; the good one is always read."""
    (folder / name).write_bytes(data)
    (folder / "good.txt").write_text("a good text")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DocclusterWarning)
        corpus = read_corpus(folder, **options)
    assert "a good text" in corpus.texts
    return corpus


@pytest.mark.parametrize("error", [KeyError("x"), OverflowError("big"), RecursionError(), MemoryError(), IndexError(1)])
def test_whatever_a_reader_raises_is_a_listed_reason_and_what_it_gave_before_is_kept(tmp_path, monkeypatch, error):
    def read(file, options):
        yield from good_reader(file, options)
        raise error

    good_reader = FORMATS["jsonl"].read
    monkeypatch.setitem(formats.FORMATS, "jsonl", replace(FORMATS["jsonl"], read=read))
    corpus = read_beside_a_good_file(tmp_path, "a.jsonl", b'{"text": "kept"}\n')
    assert corpus.texts == ("kept", "a good text")
    assert reasons(corpus) == {"a.jsonl": "broken-file"}
    assert corpus.skipped[0].detail


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_who_interrupts_a_reader_is_obeyed(tmp_path, monkeypatch, error):
    def read(file, options):
        raise error
        yield

    monkeypatch.setitem(formats.FORMATS, "jsonl", replace(FORMATS["jsonl"], read=read))
    with pytest.raises(error):
        read_beside_a_good_file(tmp_path, "a.jsonl", b'{"text": "kept"}\n')


def test_an_error_of_the_caller_is_not_taken_for_one_of_the_file(tmp_path):
    def progress(*arguments):
        raise KeyError("the caller's own")

    (tmp_path / "a.jsonl").write_bytes(b'{"text": "one"}\n' * 600)
    with pytest.raises(KeyError):
        read_corpus(tmp_path, progress=progress)


def test_one_bad_record_costs_only_itself(tmp_path):
    deep = '{"text": ' + "[" * 20_000 + '"x"' + "]" * 20_000 + "}"  # 900 are read by Python 3.13 and later
    lines = ['{"text": "one"}', deep, '{"text": "two", "date": ' + "9" * 400 + "}", '{"text": ' + "9" * 5000 + "}"]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, '{"text": "last"}']))
    corpus = read_corpus(tmp_path / "a.jsonl")
    assert corpus.texts == ("one", "two", "last")
    assert corpus.metadata["date"].tolist() == ["", "", ""]
    found = {one.source: one.reason for one in corpus.skipped}
    assert found.keys() == {"a.jsonl:2", "a.jsonl:4"}
    assert found["a.jsonl:2"] in ("bad-json", "bad-record")  # Python's reader, or ours, has had enough
    assert found["a.jsonl:4"] == "bad-json"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_json_that_is_nested_for_ever_is_listed(tmp_path, opening):
    closing = "]" if opening == "[" else "}"
    for depth in (500, 5000, 100_000):
        data = (opening * depth + '{"text": "x"}' + closing * depth).encode()
        corpus = read_beside_a_good_file(tmp_path, "a.json", data)
        assert set(reasons(corpus).values()) <= {"bad-json", "bad-record", "unknown-column"}


def test_a_number_that_is_no_character_does_not_end_a_feed_or_a_page(tmp_path):
    number = b"&#" + b"9" * 5000 + b";"
    feed = b"<rss version='2.0'><channel><item><title>one " + number + b"</title></item></channel></rss>"
    (tmp_path / "a.rss").write_bytes(feed)
    (tmp_path / "b.html").write_bytes(b"<html><p>two " + number + b" end</html>")
    (tmp_path / "c.html").write_bytes(b"<html><meta name=date content='" + number + b"'><p>three</html>")
    assert read_corpus(tmp_path).texts == ("one \ufffd", "two \ufffd end", "three")


@pytest.mark.parametrize("name", ["punycode", "idna", "base64", "undefined", "rot13", "utf-7", "x" * 300])
def test_a_declared_encoding_that_is_none_for_files_is_ignored(tmp_path, name):
    declaration = f"<?xml version='1.0' encoding='{name}'?>"
    files = {
        "a.rss": f"{declaration}<rss version='2.0'><channel><item><title>größe-</title></item></channel></rss>",
        "b.xml": f"{declaration}<doc>größe-</doc>",
        "c.html": f"<html><meta charset='{name}'><p>größe-</html>",
        "d.eml": f"From: a@b\nTo: c\nSubject: =?{name}?q?a-?=\nContent-Type: text/plain; charset={name}\n\ngröße-\n",
    }
    for file, text in files.items():
        (tmp_path / file).write_bytes(text.encode())
    corpus = read_corpus(tmp_path)
    assert [text.strip().splitlines()[-1] for text in corpus.texts] == ["größe-"] * 4


@pytest.mark.parametrize("name", ["punycode", "idna", "base64", "undefined", "", "utf-99"])
def test_an_encoding_that_is_none_for_files_is_refused(tmp_path, name):
    (tmp_path / "a.txt").write_text("one")
    with pytest.raises(InputError, match="encoding="):
        read_corpus(tmp_path, encoding=name)


def test_utf_16_can_be_named(tmp_path):
    (tmp_path / "a.txt").write_bytes("größe".encode("utf-16"))
    assert read_corpus(tmp_path / "a.txt", encoding="utf-16").texts == ("größe",)


@pytest.mark.parametrize("data", [b"<?xml version='1.0'", b"<?xml?>", b"<?a?> <?b", b"\xef\xbb\xbf\n"])
def test_a_file_with_nothing_behind_its_declaration_is_no_feed(tmp_path, data):
    corpus = read_beside_a_good_file(tmp_path, "x.rss", data)
    assert reasons(corpus) == {"x.rss": "no-entries"}


def tar_of(members, *, format=tarfile.USTAR_FORMAT):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as archive:
        for name, content, extra in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.pax_headers = extra
            archive.addfile(entry, io.BytesIO(content))
    return bytearray(buffer.getvalue())


def claim(data, place, size):
    """Write a size into the header at `place` as tar writes large numbers, and mend the header's sum."""
    data[place + 124 : place + 136] = b"\x80\0\0\0" + size.to_bytes(8, "big")
    data[place + 148 : place + 156] = b" " * 8
    data[place + 148 : place + 156] = b"%06o\0 " % sum(data[place : place + 512])
    return data


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
@pytest.mark.parametrize("size", [2**62, 2**40])
def test_a_tar_member_that_claims_more_than_can_follow_is_listed_at_once(tmp_path, packed, size):
    data = tar_of([("a.txt", b"first", {}), ("b.txt", b"second", {})])
    corpus = read_beside_a_good_file(tmp_path, "x.tar", packed(bytes(claim(data, 1024, size))))
    assert "first" in corpus.texts
    assert reasons(corpus)["x.tar"] == "broken-archive"


def test_sizes_in_extra_headers_of_a_tar_are_claims_too(tmp_path):
    data = tar_of([("a.txt", b"first", {"size": str(2**62)}), ("b.txt", b"second", {})], format=tarfile.PAX_FORMAT)
    assert reasons(read_beside_a_good_file(tmp_path, "x.tar", bytes(data)))["x.tar"] == "broken-archive"
    long = claim(tar_of([("n" * 150, b"first", {})], format=tarfile.GNU_FORMAT), 0, 2**30)
    assert reasons(read_beside_a_good_file(tmp_path, "x.tar", bytes(long)))["x.tar"] == "broken-archive"


def test_numbers_in_extra_headers_of_a_tar_may_be_of_any_length(tmp_path):
    data = bytes(tar_of([("a.txt", b"first", {"comment": "x" * 59})], format=tarfile.PAX_FORMAT))
    record = b"71 comment=" + b"x" * 59 + b"\n"
    broken = data.replace(record, (b"9" * 40 + b" comment=").ljust(len(record) - 1, b"x") + b"\n")
    assert broken != data
    corpus = read_beside_a_good_file(tmp_path, "x.tar", broken)
    assert reasons(corpus)["x.tar"] == "broken-archive"


def test_a_member_that_needs_a_password_is_listed_wherever_the_zip_says_so(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "open")
        archive.writestr("b.txt", "secret")
    data = bytearray(buffer.getvalue())
    data[data.rindex(b"PK\x01\x02") + 8] |= 0x41  # strong encryption, said in the directory
    corpus = read_beside_a_good_file(tmp_path, "x.zip", bytes(data))
    assert "open" in corpus.texts
    assert reasons(corpus) == {"x.zip/b.txt": "encrypted"}


def test_a_member_without_a_name_costs_only_itself(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in (("a.txt", "first"), ("x", "nameless"), ("z.txt", "last")):
            archive.writestr(name, text)
    data = bytearray(buffer.getvalue())
    place = data.rindex(b"PK\x01\x02", 0, data.rindex(b"z.txt") - 46)
    assert data[place + 46 : place + 47] == b"x"
    data[place + 28] = 0  # no name; its letter becomes a comment
    data[place + 32] = 1
    corpus = read_beside_a_good_file(tmp_path, "x.zip", bytes(data))
    assert {"first", "last"} <= set(corpus.texts)


def parquet_bytes(table, **options):
    pq = pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def test_a_parquet_file_that_claims_more_than_it_can_hold_is_listed_before_it_is_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": pa.nulls(3_000_000, pa.string())})  # a few hundred bytes of file
    data = parquet_bytes(table)
    assert len(data) < 20_000
    corpus = read_beside_a_good_file(tmp_path, "x.parquet", data)
    assert [(one.source, one.reason) for one in corpus.skipped] == [("x.parquet", "broken-parquet")]


def test_a_column_name_that_is_no_text_is_listed(tmp_path):
    pa = pytest.importorskip("pyarrow")
    data = parquet_bytes(pa.table({"text": ["one"], "zzzz": ["two"]}), store_schema=False)
    corpus = read_beside_a_good_file(tmp_path, "x.parquet", data.replace(b"zzzz", b"\xff\xfe\xfd\xfc"))
    assert reasons(corpus) == {"x.parquet": "broken-parquet"}


def test_a_sentence_stays_one_whatever_names_a_table_has(tmp_path):
    for names in (["x" * 50_000, "y"], [f"column {number}" for number in range(5000)], ["two\nlines", "b"]):
        rows = ",".join(f'"{name}"' for name in names)
        (tmp_path / "a.csv").write_text(f"{rows}\n" + ",".join("12" for _ in names) + "\n")
        (tmp_path / "labels.csv").write_text(f"{rows}\n")
        for arguments in ({"source": tmp_path / "a.csv"}, {"source": ["one"], "labels_file": tmp_path / "labels.csv"}):
            with pytest.raises(InputError) as caught:
                read_corpus(**arguments)
            assert len(str(caught.value)) < 1000
            assert "\n" not in str(caught.value)


def test_a_damaged_labels_file_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "labels.csv"
    for data in (b'id,label\n1,"' + b"x" * 200_000, b"id,label\n1,\0\n", b"\xff\xfe\0"):
        path.write_bytes(data)
        with contextlib.suppress(DocclusterError):
            read_corpus(["one"], labels_file=path)
    with pytest.raises(InputError, match="cannot be read"):
        read_corpus(["one"], labels_file=tmp_path)


def test_a_line_without_end_in_a_mailbox_is_not_held_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("doccluster.corpus.mail._LONGEST_MESSAGE", 1000)
    messages = [b"From x\nSubject: long\n\n" + b"y" * 5000 + b"\n\n", b"From x\nSubject: short\n\nz\n"]
    (tmp_path / "a.mbox").write_bytes(b"".join(messages))
    corpus = read_corpus(tmp_path / "a.mbox")
    assert corpus.texts == ("short\n\nz",)
    assert [one.reason for one in corpus.skipped] == ["too-long"]


# Paths that are no files


needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")


@needs_pipes
def test_a_pipe_to_which_nobody_writes_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "PATIENCE", 0.2)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.txt").write_text("one")
    corpus = read_corpus([tmp_path / "pipe", tmp_path / "a.txt"])
    assert corpus.texts == ("one",)
    assert reasons(corpus) == {"pipe": "not-a-file"}
    with pytest.raises(InputError, match="nothing was written"):
        read_corpus(["one"], labels_file=tmp_path / "pipe")


@needs_pipes
def test_a_pipe_with_a_writer_is_read(tmp_path):
    import subprocess

    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen([sys.executable, "-c", f"open({str(tmp_path / 'pipe')!r}, 'w').write('one\\ntwo\\n')"])
    assert read_corpus(tmp_path / "pipe").texts == ("one", "two")
    assert writer.wait(60) == 0


@needs_pipes
def test_a_pipe_of_the_shell_is_read_however_slow_its_writer_is(monkeypatch):
    import threading

    monkeypatch.setattr(opening, "PATIENCE", 0.0)
    receiver, sender = os.pipe()
    writer = threading.Timer(0.3, lambda: (os.write(sender, b"one\ntwo\n"), os.close(sender)))
    writer.start()
    try:
        assert read_corpus(f"/dev/fd/{receiver}").texts == ("one", "two")
    finally:
        writer.join()
        os.close(receiver)


def test_a_socket_is_listed(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        assert reasons(read_corpus(tmp_path)) == {"s": "not-a-file"}
        assert reasons(read_corpus([tmp_path / "s", tmp_path / "a.txt"])) == {"s": "not-a-file"}


@pytest.mark.skipif(not os.access("/proc/kmsg", os.R_OK), reason="no readable /proc/kmsg here")
def test_a_file_that_only_streams_is_not_waited_for(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "kernel.txt").symlink_to("/proc/kmsg")
    corpus = read_corpus(tmp_path)
    assert "one" in corpus.texts


def test_a_stream_that_has_nothing_to_give_now_is_listed(tmp_path, monkeypatch):
    """As /proc/kmsg answers where it may be opened: a plain file by its mode, which has no end."""
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "b.txt").write_text("two")
    receiver, sender = os.pipe()
    os.set_blocking(receiver, False)
    opened = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *rest: receiver if str(path).endswith("b.txt") else opened(path, *rest)
    )
    corpus = read_corpus(tmp_path)
    os.close(sender)
    assert corpus.texts == ("one",)
    assert reasons(corpus) == {"b.txt": "unreadable"}


def test_a_link_to_a_name_that_is_too_long_is_listed(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "far").symlink_to("x" * 300)
    assert reasons(read_corpus(tmp_path)) == {"far": "unreadable"}
    with pytest.raises(InputError, match="too long"):
        read_corpus(tmp_path / "far")


def test_names_beyond_the_limit_of_the_system_are_refused_in_a_sentence(tmp_path):
    for path in (tmp_path / ("x" * 300), tmp_path / "/".join(["folder"] * 2000)):
        with pytest.raises(InputError, match=r"too long|does not exist") as caught:
            read_corpus(path)
        assert len(str(caught.value)) < 500


def test_long_words_in_memory_are_texts_not_paths():
    assert read_corpus(["x" * 300, "y" * 300]).texts == ("x" * 300, "y" * 300)


def nested(folder, depth, files):
    """Make folders inside one another without naming the whole path, which may be beyond the system's limit."""
    place = os.open(folder, os.O_RDONLY)
    for level in range(depth):
        os.mkdir("d", dir_fd=place)
        deeper = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = deeper
        if level in files:
            with os.fdopen(os.open("a.txt", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=place), "w") as file:
                file.write(f"level {level}")
    os.close(place)


def unnested(folder):
    """Take such folders away again, level by level: what clears a test's folder gives up on so many."""
    while (folder / "d").exists():
        (folder / "d" / "a.txt").unlink(missing_ok=True)
        if (folder / "d" / "d").exists():
            (folder / "d" / "d").rename(folder / "deeper")
        (folder / "d").rmdir()
        if (folder / "deeper").exists():
            (folder / "deeper").rename(folder / "d")


@pytest.fixture
def deep(tmp_path):
    yield tmp_path
    unnested(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="folders by their handle are not known on this system")
@pytest.mark.parametrize(("depth", "read", "unreadable"), [(1500, {0, 1499}, 0), (2500, {3}, 1)])
def test_folders_may_lie_thousands_deep_up_to_the_limit_of_the_system(deep, depth, read, unreadable):
    nested(deep, depth, {*read, depth - 1})
    corpus = read_corpus(deep)
    assert set(corpus.texts) == {f"level {level}" for level in read}
    assert [one.reason for one in corpus.skipped] == ["unreadable"] * unreadable
    assert all(len(one.source) < 400 for one in corpus.skipped)
