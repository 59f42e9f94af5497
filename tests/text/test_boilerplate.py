"""What outlets repeat over their articles is left out before anything is counted, and nothing else is."""

from __future__ import annotations

import json

import pytest

from doccluster.pipeline.main_line import run_pipeline
from doccluster.text.boilerplate import LONGEST, find_repeated, without_repeated
from doccluster.text.tokens import sentences

FOOTER = "Sign up for our free morning newsletter today."
WORDS = ["oil", "rye", "cup", "sea", "ice", "tin", "fog", "bee", "jam", "owl", "elm", "yak"]


def articles(n, *, before="", after=FOOTER):
    """Return texts of their own, with the same line before or after each."""
    bodies = [
        f"The council of {word}ville met about the {word} plan.\n{word.title()} farmers were there."
        for word in WORDS[:n]
    ]
    return [f"{before}{body}\n{after}" for body in bodies]


@pytest.mark.parametrize(("outlet", "n", "is_found"), [("Gazette", 5, True), ("Gazette", 4, False), ("", 9, False)])
def test_a_line_is_repeated_if_enough_documents_of_the_outlet_have_it(outlet, n, is_found):
    found = find_repeated(articles(n), outlet=outlet)
    assert (FOOTER in [one.text for one in found.values()]) == is_found


def test_equally_common_lines_are_listed_in_the_order_of_the_texts():
    """By a set of them the order would differ from process to process, and with it what a run writes of them."""
    endings = [f"Line {word} is here." for word in ("Sun", "Moon", "Mars", "Venus", "Saturn", "Pluto", "Neptune")]
    texts = ["\n".join([f"The council met {'again ' * number}on a long day in May.", *endings]) for number in range(9)]
    texts = [f"{text.replace('council', 'council of the town and of its many villages ' * 6)}" for text in texts]
    assert [line.text for line in find_repeated(texts, outlet="Gazette").values()] == endings


def test_numbers_in_a_longer_line_may_differ():
    ages = [f"This article is more than {n} years old\n{text}" for n, text in enumerate(articles(6, after=""))]
    assert next(iter(find_repeated(ages, outlet="Gazette").values())).n_documents == 6
    short = [f"Net {n} cts\n{text}" for n, text in enumerate(articles(6, after=""))]
    assert not any(one.text.startswith("Net") for one in find_repeated(short, outlet="Gazette").values())


def test_a_repeated_sentence_at_an_end_of_one_long_line_is_found_and_left_out():
    texts = [text.replace("\n", " ") for text in articles(6)]
    repeated = find_repeated(texts, outlet="Gazette")
    assert FOOTER in [one.text for one in repeated.values()]
    assert without_repeated(texts[0], repeated).endswith("Oil farmers were there.")


def test_two_repeated_sentences_that_open_one_long_line_are_left_out():
    opening = "Good morning from the Gazette. Here is the news."
    bodies = [" ".join(f"The {word} of {other}ville met." for other in WORDS for _ in range(2)) for word in WORDS[:6]]
    texts = [f"{opening} {body}" for body in bodies]
    assert min(map(len, texts)) > LONGEST
    repeated = find_repeated(texts, outlet="Gazette")
    assert [without_repeated(text, repeated) for text in texts] == bodies


def test_lines_of_near_copies_are_no_boilerplate():
    story = "The ferry ran aground.\nAll forty passengers are safe.\nThe captain was questioned.\nTugs are coming."
    versions = [f"{story}\nUpdate {word}." for word in WORDS]
    assert find_repeated(versions, outlet="Gazette") == {}
    assert find_repeated([story] * 20, outlet="Gazette") == {}


def test_a_line_that_goes_on_with_a_sentence_is_no_boilerplate():
    wrapped = [f"The mayor of {word}ville spoke and\nhe said.\nNobody in {word}ville replied." for word in WORDS]
    assert not any(one.text == "he said." for one in find_repeated(wrapped, outlet="Gazette").values())


def test_a_title_stays_and_a_text_without_anything_else_too():
    repeated = find_repeated(articles(6), outlet="Gazette")
    assert without_repeated(f"{FOOTER}\nRain.", repeated, title=FOOTER) == f"{FOOTER}\nRain."
    assert without_repeated(FOOTER, repeated) == FOOTER


def write_articles(folder):
    rows = [
        {"id": f"{outlet}-{n}", "source": outlet, "date": f"2026-03-{n + 1:02}", "text": text}
        for outlet in ("Gazette", "Courier")
        for n, text in enumerate(articles(10, after=FOOTER if outlet == "Gazette" else ""))
    ]
    path = folder / "articles.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_run_leaves_it_out_of_terms_and_excerpts_and_says_so(tmp_path):
    path = write_articles(tmp_path)
    run = run_pipeline(path, n_clusters=3, quality="fast", output=tmp_path / "out", report=False)
    assert "newsletter" not in run.vectors.terms.tolist()
    assert not any("newsletter" in excerpt for excerpt in run.documents.excerpts)
    assert any(FOOTER[:30] in note and "--keep-boilerplate" in note for note in run.notes)
    kept = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))["parameters"]["resolved"]
    assert {"outlet": "Gazette", "text": FOOTER, "n_documents": 10} in kept["boilerplate"]


def test_it_can_be_kept(tmp_path):
    path = write_articles(tmp_path)
    run = run_pipeline(path, n_clusters=3, quality="fast", reader={"keep_boilerplate": True})
    assert "newsletter" in run.vectors.terms.tolist()
    assert not any("boilerplate" in note for note in run.notes)


@pytest.mark.parametrize(
    "title", ["Sen.", "SEN.", "Sens.", "REP.", "Reps.", "Gov.", "Govs.", "Capt.", "MR.", "Messrs."]
)
def test_a_shortened_title_ends_no_sentence(title):
    assert sentences(f"WASHINGTON. {title} Ada Hill spoke. It rained.") == [
        "WASHINGTON.",
        f"{title} Ada Hill spoke.",
        "It rained.",
    ]
