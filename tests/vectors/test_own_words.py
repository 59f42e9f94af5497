"""Words that you leave out or keep, whatever lists and rules say: in vectors, names, run.json and new documents."""

import itertools
import json

import numpy as np
import pytest

from doccluster import TfidfVectorizer, assign, load_run, rerun, run, vectorize
from doccluster.cli.main import main
from doccluster.errors import InputError
from doccluster.pipeline.vectorizing import Vectorization
from doccluster.text.boilerplate import find_repeated
from doccluster.vectors.vectorize import choose_vectorizer
from tests.vectors.test_even_terms import EVERYWHERE, SUBJECTS, texts_of


def test_words_of_yours_go_beside_stop_words_with_all_their_forms():
    texts = ["the boats sailed", "a boat sails", "boating on the lake", "a lake"]
    assert set(vectorize(texts, language="english", added_stop_words=["Boats"]).terms) == {"sail", "lake"}


def test_words_you_keep_stay_though_lists_and_rules_drop_them():
    texts = texts_of(300, np.random.default_rng(0))
    assert set(choose_vectorizer(texts, options={"kept_words": ["Writes"]})[0].dropped_terms) == {*EVERYWHERE} - {
        "writes"
    }
    assert set(vectorize(texts, kept_words=["writes"]).terms) == {*itertools.chain.from_iterable(SUBJECTS), "writes"}
    text = "the will of the king may be done in may"
    assert set(vectorize([text], language="english", kept_words=["will", "May"]).terms) == {"will", "king", "may"}


def test_of_several_languages_a_word_you_keep_stays_in_each():
    english, german = (
        "they die in the war of the roses and it was so",
        "es war die erste nacht in der stadt und die uhr",
    )
    usual = TfidfVectorizer(stop_words="en,de").fit([english, german])
    kept = TfidfVectorizer(stop_words="en,de", kept_words=["war", "die"]).fit([english, german])
    assert kept.transform([german])[:, kept.columns_of(["war", "die"])].nnz == 2
    assert usual.transform([german])[:, usual.columns_of(["war", "die"])].nnz == 0
    assert sorted(set(kept.build_analyzer()(german)) - set(usual.build_analyzer()(german))) == ["die", "war"]


def test_with_word_pairs_your_words_leave_the_text_first():
    vectorizer = TfidfVectorizer(stop_words="english", ngram_range=(1, 2), added_stop_words=["reuters"])
    assert "oil rises" in vectorizer.fit(["oil reuters rises"]).vocabulary_


@pytest.mark.parametrize("words", ["boats", ["two words"], [3], ["x"]])
@pytest.mark.parametrize("name", ["added_stop_words", "kept_words"])
def test_what_is_not_a_list_of_words_is_refused(name, words):
    with pytest.raises(InputError, match=name):
        vectorize(["two boats", "a lake"], language="english", **{name: words})


def test_runs_of_letters_take_no_words_and_say_so():
    vectorizer = TfidfVectorizer(analyzer="char", added_stop_words=["boat"])
    with pytest.warns(UserWarning, match="added_stop_words is not used"):
        vectorizer.fit(["two boats"])


def test_a_repeated_line_with_a_word_you_keep_is_no_boilerplate():
    texts = [f"The council met on {day}.\nSign up now!" for day in ("Monday", "Tuesday", "a Friday", "May 2", "July 4")]
    assert find_repeated(texts, outlet="Gazette")
    assert not find_repeated(texts, outlet="Gazette", kept_words=["SIGN"])


def test_a_model_without_such_words_has_the_same_bytes_and_one_with_them_keeps_them():
    texts = ["the boats sailed", "a boat on the lake"]
    plain, own = (TfidfVectorizer(stop_words="english", **more).fit(texts) for more in ({}, {"kept_words": ["the"]}))
    assert {"added_stop_words", "kept_words"}.isdisjoint(plain.state()[1]["parameters"])
    again = TfidfVectorizer.from_state(*own.state())
    assert again.kept_words == ["the"]
    assert again.transform(["the sea"]).nnz == 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run on the command line with both files."""
    place = tmp_path_factory.mktemp("own-words")
    texts = texts_of(150, np.random.default_rng(0))
    (place / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    left_out, kept = SUBJECTS[0][0], "writes"
    (place / "stop.txt").write_text(f"# ours\n\n{left_out.upper()}\n", encoding="utf-8")
    (place / "keep.txt").write_text(f"{kept}\n", encoding="utf-8")
    arguments = ["--stop-words", str(place / "stop.txt"), "--keep-words", str(place / "keep.txt")]
    with pytest.raises(SystemExit, match="0"):
        main(["run", str(place / "texts.txt"), "-k", "10", "--no-report", *arguments, "-o", str(place / "out")])
    return place


def test_the_command_reads_them_from_files_and_the_record_keeps_them(folder):
    record = json.loads((folder / "out" / "run.json").read_text(encoding="utf-8"))
    assert record["parameters"]["vectorizer"] == {
        "added_stop_words": [SUBJECTS[0][0].upper()],
        "kept_words": ["writes"],
    }
    done = load_run(folder / "out")
    lines = record["parameters"]["resolved"]["analysis"]["languages"]
    assert ", 1 of your words left out, 1 of your words kept" in lines
    terms = {term for cluster in done.clusters for term in cluster.terms}
    assert SUBJECTS[0][0] not in terms
    assert "writes" in set(done.vectors.terms)


def test_new_documents_and_a_run_made_again_follow_the_record(folder):
    (folder / "stop.txt").unlink(), (folder / "keep.txt").unlink()
    again = rerun(folder / "out").run
    assert again.labels_.tolist() == load_run(folder / "out").labels_.tolist()
    assert "writes" in set(again.vectors.terms)
    assert SUBJECTS[0][0] not in set(again.vectors.terms)
    assert len(assign(load_run(folder / "out"), [f"{SUBJECTS[1][0]} writes"])) == 1


def test_a_word_you_keep_may_end_a_name_and_one_you_leave_out_may_not():
    vectorizer = TfidfVectorizer(stop_words="english", added_stop_words=["Reuters"], kept_words=["will"])
    how = Vectorization(vectorize(["the will of Reuters, a last will"], vectorizer), vectorizer, ("english",))
    assert "will" not in how.function_words
    assert {"reuters", "the"} <= how.function_words
    assert how.as_you_say(frozenset({"will", "council"})) == {"council", "reuters"}


def test_a_run_keeps_the_repeated_lines_that_have_a_word_you_keep():
    texts = [f"The council of {word} met and spoke of little else.\nSign up now!" for (word, *_) in SUBJECTS * 2]
    options = {"n_clusters": 2, "measures": [], "report": False}
    usual, kept = (run(texts, vectorizer=own, **options) for own in ({}, {"kept_words": ["sign"]}))
    assert [line["text"] for line in usual.parameters["resolved"]["boilerplate"]] == ["Sign up now!"]
    assert kept.parameters["resolved"]["boilerplate"] == []
    assert "sign" in set(kept.vectors.terms)


def test_names_do_not_hold_words_of_yours(folder):
    named = run(folder / "texts.txt", n_clusters=10, measures=[], report=False)
    words = {word for cluster in named.clusters for word in cluster.label.split(", ")}
    left_out = sorted(words & {*itertools.chain.from_iterable(SUBJECTS)})[:5]
    assert len(left_out) == 5
    own = {"added_stop_words": left_out}
    without = run(folder / "texts.txt", n_clusters=10, vectorizer=own, measures=[], report=False)
    labels = {word for cluster in without.clusters for word in cluster.label.split(", ")}
    assert len(labels) > 5
    assert labels.isdisjoint(left_out)


@pytest.mark.parametrize(
    ("content", "message"), [(None, "cannot be read"), (b"\xff\xfe\xff", "UTF-8"), (b"# none\n\n", "no word")]
)
def test_a_file_without_words_is_refused_in_a_sentence(tmp_path, content, message, capsys):
    if content is not None:
        (tmp_path / "words.txt").write_bytes(content)
    (tmp_path / "texts.txt").write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="2"):
        main(["run", str(tmp_path / "texts.txt"), "--stop-words", str(tmp_path / "words.txt")])
    assert message in capsys.readouterr().err
