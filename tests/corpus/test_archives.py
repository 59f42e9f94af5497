"""Archives are opened in place, within limits, and nothing outside them is touched."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pathlib
import stat
import tarfile
import tracemalloc
import zipfile

import pytest

from doccluster.corpus import Corpus, read_corpus
from doccluster.errors import NothingUsable

ROWS = b"id,text\n1,first\n2,second\n"


def reasons(corpus: Corpus) -> list[tuple[str, str]]:
    return [(one.source, one.reason) for one in corpus.skipped]


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(members: dict[str, bytes | str], mode: str = "w") -> bytes:
    """Return a tar; a member whose content is a str is a link to that name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_a_compressed_file_is_read_like_the_file(tmp_path, pack):
    path = tmp_path / "rows.csv.gz"  # recognised by its content, whatever the name says
    path.write_bytes(pack(ROWS))
    corpus = read_corpus(path)
    assert (corpus.ids, corpus.texts) == (("1", "2"), ("first", "second"))


@pytest.mark.parametrize(
    "packed",
    [
        zipped({"news/a/1.txt": b"one", "news/b/2.txt": b"two"}),
        tarred({"news/a/1.txt": b"one", "news/b/2.txt": b"two"}),
        tarred({"news/a/1.txt": b"one", "news/b/2.txt": b"two"}, "w:gz"),
        tarred({"news/a/1.txt": b"one", "news/b/2.txt": b"two"}, "w:xz"),
        gzip.compress(tarred({"news/a/1.txt": b"one", "news/b/2.txt": b"two"})),
    ],
    ids=["zip", "tar", "tar.gz", "tar.xz", "gz of tar"],
)
def test_folders_in_an_archive_are_classes(tmp_path, packed):
    path = tmp_path / "news.archive"
    path.write_bytes(packed)
    corpus = read_corpus(path)
    assert corpus.ids == ("news/a/1.txt", "news/b/2.txt")
    assert corpus.labels == {"class": (("a",), ("b",))}
    assert [entry.name for entry in tmp_path.iterdir()] == ["news.archive"]  # nothing was extracted


def test_an_archive_in_an_open_stream_is_opened():
    assert read_corpus(io.BytesIO(zipped({"a.txt": b"one", "b.csv": ROWS}))).texts == ("one", "first", "second")


def test_the_one_folder_that_wraps_an_archive_is_no_class(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"wrapper/1.txt": b"one", "wrapper/2.txt": b"two"}))
    assert read_corpus(path).labels == {}


def test_an_archive_in_a_folder_is_read_with_the_rest(tmp_path):
    (tmp_path / "plain.txt").write_text("plain")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "more.zip").write_bytes(zipped({"x.txt": b"packed", "rows.csv": ROWS}))
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ("plain", "first", "second", "packed")
    assert corpus.ids[3] == "sub/more.zip/x.txt"


def test_paths_that_climb_out_and_links_are_listed_and_not_followed(tmp_path):
    members = {"../evil.txt": b"no", "/etc/evil.txt": b"no", "a/../../evil.txt": b"no", "good.txt": b"yes"}
    link = zipfile.ZipInfo("link.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    for name, packed in {
        "a.zip": zipped({**members, "c:\\evil.txt": b"no"}),
        "a.tar": tarred({**members, "link.txt": "/etc/passwd"}),
    }.items():
        (tmp_path / name).write_bytes(packed)
        corpus = read_corpus(tmp_path / name)
        assert corpus.texts == ("yes",)
        assert [reason for _, reason in reasons(corpus)] == ["unsafe-path"] * 4
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("good.txt", "yes")
    assert reasons(read_corpus(tmp_path / "link.zip")) == [("link.zip/link.txt", "unsafe-path")]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.tar", "a.zip", "link.zip"]


def test_an_encrypted_member_is_listed(tmp_path):
    packed = bytearray(zipped({"a.txt": b"secret", "b.txt": b"open"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # set the flag of the first member in both heads
        packed[packed.find(signature) + offset] |= 1
    path = tmp_path / "a.zip"
    path.write_bytes(bytes(packed))
    corpus = read_corpus(path)
    assert corpus.texts == ("open",)
    assert reasons(corpus) == [("a.zip/a.txt", "encrypted")]


def test_a_bomb_is_stopped_at_the_limit_without_filling_memory(tmp_path):
    line = b"the same words again and again\n"
    bomb = tmp_path / "bomb.txt.gz"
    with gzip.open(bomb, "wb", compresslevel=9) as stream:
        for _ in range(10):
            stream.write(line * 32_768)  # 10 MB
    tracemalloc.start()
    corpus = read_corpus(bomb, max_expanded_size=500_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert corpus.skipped[-1].reason == "expanded-too-large"
    assert 500_000 / len(line) - 5000 < len(corpus) <= 500_000 / len(line)
    assert peak < 9_000_000


def test_a_bomb_of_zeros_is_binary_and_a_single_huge_line_too_long(tmp_path):
    (tmp_path / "zeros.gz").write_bytes(gzip.compress(bytes(30_000_000)))
    (tmp_path / "line.txt.gz").write_bytes(gzip.compress(b"a" * 30_000_000))
    with pytest.raises(NothingUsable, match=r"binary|too-long"):
        read_corpus(tmp_path, max_document_length=1000)


def test_nested_archives_are_opened_to_a_depth(tmp_path, monkeypatch):
    packed = zipped({"text.txt": b"deep"})
    for level in range(3):
        packed = zipped({f"level{level}.zip": packed})
    path = tmp_path / "nested.zip"
    path.write_bytes(packed)
    assert read_corpus(path).texts == ("deep",)
    monkeypatch.setattr("doccluster.corpus.walking.MAX_DEPTH", 2)
    with pytest.raises(NothingUsable, match="nested-too-deep"):
        read_corpus(path)


def test_a_gz_that_contains_itself_ends(tmp_path):
    packed = b"text"
    for _ in range(50):
        packed = gzip.compress(packed)
    (tmp_path / "a.gz").write_bytes(packed)
    with pytest.raises(NothingUsable, match="nested-too-deep"):
        read_corpus(tmp_path / "a.gz")


def test_only_so_many_members_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("doccluster.corpus.walking.MAX_MEMBERS", 4)
    for name, packed in {
        "a.zip": zipped({f"{n}.txt": b"text" for n in range(9)}),
        "a.tar": tarred({f"{n}.txt": b"text" for n in range(9)}),
    }.items():
        (tmp_path / name).write_bytes(packed)
        corpus = read_corpus(tmp_path / name)
        assert len(corpus) == 4
        assert reasons(corpus) == [(name, "too-many-members")]


def test_the_documents_before_a_break_are_kept(tmp_path):
    rows = b"".join(b'{"text": "document %d"}\n' % number for number in range(20_000))
    whole = gzip.compress(rows)
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    corpus = read_corpus(path)
    assert 1000 < len(corpus) < 20_000
    assert corpus.texts[1000] == "document 1000"
    assert corpus.skipped[-1].reason == "broken-archive"


@pytest.mark.parametrize("cut", [1, 30, 200, 700])
@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_tar_cut_short_gives_what_was_whole(tmp_path, cut, mode):
    packed = tarred({f"{n}.txt": b"text of number %d " % n * 100 for n in range(30)}, mode)
    path = tmp_path / "a.tar"
    path.write_bytes(packed[: max(len(packed) - cut * (20 if mode == "w" else 1), 20)])
    try:
        corpus = read_corpus(path)
    except NothingUsable:
        assert mode == "w:gz"
    else:
        assert all(text.startswith("text of number") for text in corpus.texts)


def test_a_broken_zip_member_does_not_stop_the_others(tmp_path):
    packed = bytearray(zipped({"a.txt": b"first text " * 50, "b.txt": b"second text"}))
    packed[45] ^= 0xFF  # within the compressed bytes of the first member
    path = tmp_path / "a.zip"
    path.write_bytes(bytes(packed))
    corpus = read_corpus(path)
    assert corpus.texts == ("second text",)
    assert reasons(corpus) == [("a.zip/a.txt", "broken-archive")]


@pytest.mark.parametrize("name", ["broken.zip", "broken.tar", "broken.gz"])
def test_what_only_claims_to_be_an_archive_is_listed(tmp_path, name):
    heads = {"broken.zip": b"PK\x03\x04", "broken.tar": b"\0" * 257 + b"ustar", "broken.gz": b"\x1f\x8b\x08"}
    (tmp_path / name).write_bytes(heads[name] + b"\x01\x02nonsense" * 100)
    (tmp_path / "good.txt").write_text("good")
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ("good",)
    assert [source for source, _ in reasons(corpus)] == [name]


def test_a_folder_and_its_archive_are_the_same_corpus(tmp_path):
    folder = tmp_path / "news"
    members = {"a/1.txt": b"one", "b/2.csv": ROWS, "b/3.txt": "café".encode("cp1252")}
    for name, content in members.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    packed = pathlib.Path(tmp_path / "news.zip")
    packed.write_bytes(zipped(members))
    plain, inside = read_corpus(folder), read_corpus(packed)
    assert (plain.ids[0], plain.texts, plain.labels) == (inside.ids[0], inside.texts, inside.labels)
