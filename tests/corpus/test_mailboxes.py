"""A mailbox is cut at lines that say "From ", who, and when, before a header; and no other line is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from doccluster import read_corpus
from doccluster.corpus.mail import is_envelope

CASES = Path(__file__).parent / "files"


def read_box(tmp_path: Path, text: str, name: str = "a.mbox"):
    (tmp_path / name).write_text(text)
    return read_corpus(tmp_path / name)


def test_from_at_the_beginning_of_a_line_is_no_separator():
    corpus = read_corpus(CASES / "03-from-line.mbox")
    assert corpus.ids == ("m1@example.org", "m2@example.org", "m3@example.org")
    assert not corpus.skipped
    written = (CASES / "03-from-line.mbox").read_text()
    bodies = [part.partition("\n\n")[2].strip() for part in written.split("From a@example.org Mon")[1:]]
    read = [text.partition("\n\n")[2] for text in corpus.texts]
    assert read == [bodies[0], bodies[1].replace(">From", "From"), bodies[2]]  # mboxrd quotes each with one more


@pytest.mark.parametrize(
    "envelope",
    [
        *(
            "From a@example.org Mon Mar  2 08:01:00 2026",
            "From - Mon Mar 02 08:01:00 2026",
        ),
        *("From a at example.org  Mon Mar  2 08:01:00 2026", "From 17@xxx Mon Mar 02 08:01:00 +0000 2026"),
        *("From a@example.org Mon Mar  2 08:01:00 2026 +0100", "From a@example.org Mon Mar  2 08:01 CET 2026"),
        *(
            "From a Mon, 2 Mar 2026 08:01:00 +0100",
            "From a!b Mon Mar  2 08:01:00 2026 remote from c",
            "From a 2026-03-02T08:01:00Z",
        ),
        *("From MAILER-DAEMON Mon Mar 2 08:01:00 2026", "From a 2026-03-02T08:01:00Z"),
    ],
)
def test_envelopes_as_programs_write_them_begin_a_message(tmp_path, envelope):
    text = f"{envelope}\nFrom: a\nSubject: one\n\nbody one\n\n{envelope}\nFrom: a\nSubject: two\n\nbody two\n"
    corpus = read_box(tmp_path, text)
    assert corpus.texts == ("one\n\nbody one", "two\n\nbody two")


@pytest.mark.parametrize(
    ("line", "following"),
    [
        ("From now on we meet on Mondays.", "Note: at nine"),
        ("From Mon Mar  2 08:01:00 2026", "no header here"),
        ("From a@b Mon Mar  2 08:01:00 2026", ""),
        ("From a@b Mon Mar  2 28:01:00 2026", "Subject: x"),
        ("From March to April", "Subject: x"),
        (">From a@b Mon Mar  2 08:01:00 2026", "Subject: x"),
        ("From: a@b Mon Mar  2 08:01:00 2026", "Subject: x"),
    ],
)
def test_other_lines_belong_to_the_message(tmp_path, line, following):
    assert not is_envelope(line.encode(), following.encode())
    head = "From a@b Mon Mar  2 08:01:00 2026\nSubject: one\n\nbody\n\n"
    corpus = read_box(tmp_path, f"{head}{line}\n{following}\n\nend\n")
    kept = line.removeprefix(">")
    assert corpus.texts == ("\n".join(["one", "", "body", "", kept, following, "", "end"]),)


def test_lines_before_the_first_envelope_are_a_message(tmp_path):
    corpus = read_box(tmp_path, "Subject: lost\n\nold\n\nFrom a@b Mon Mar  2 08:01:00 2026\nSubject: one\n\nbody\n")
    assert corpus.texts == ("lost\n\nold", "one\n\nbody")


def test_a_mailbox_whose_first_envelope_has_no_date_is_cut_at_those_before_a_header(tmp_path):
    corpus = read_box(tmp_path, "From a\nSubject: one\n\nFrom memory, 1986.\n\nFrom b\nSubject: two\n\nbody\n")
    assert corpus.texts == ("one\n\nFrom memory, 1986.", "two\n\nbody")


def test_a_text_that_begins_with_from_is_no_mailbox(tmp_path):
    text = "From memory to fact\nNote: the wall was raised in 1986.\n\nFrom now on we know.\n"
    corpus = read_box(tmp_path, text, "essay.txt")
    assert text.splitlines()[0] in corpus.texts[0]
