from __future__ import annotations

import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from doccluster.base.packed_strings import pack_strings, unpack_strings
from doccluster.errors import InputError, SchemaError
from doccluster.text.analysis import STEMMING_LANGUAGES, build_stemmer, check_stemming, import_stemmers
from doccluster.text.counting import word_characters
from doccluster.text.tokens import build_tokenizer, word_run_length


@pytest.mark.parametrize(
    ("pattern", "length"),
    [
        (r"(?u)\b\w\w+\b", 2),
        (r"\b\w+\b", 1),
        (r"\w+", 1),
        (r"\w\w\w+", 3),
        (r"(?u)\b\w{4,}\b", 4),
        (r"\w\w{2,}", 3),
        (r"\w", None),
        (r"\w{2,5}", None),
        (r"\w{0,}", None),
        (r"(?a)\w+", None),
        (r"\B\w+", None),
        (r"(\w+)", None),
        (r"\w+?", None),
    ],
)
def test_patterns_for_runs_of_word_characters_are_recognised_and_no_others(pattern, length):
    assert word_run_length(pattern) == length


@pytest.mark.parametrize("pattern", [r"(?u)\b\w\w+\b", r"\b\w+\b", r"\w\w\w+", r"\b\w{4,}\b"])
def test_the_quicker_pattern_finds_the_same_tokens(pattern):
    text = "a bb ccc dddd, e_e _ 12 1234 déjà-vu don't Ünïcödé東京 x\u0301y"
    assert build_tokenizer(pattern)(text) == re.findall(pattern, text)


@pytest.mark.parametrize("pattern", ["(", r"(\w)(\w)", 3])
def test_a_pattern_that_cannot_be_used_is_refused(pattern):
    if pattern == 3:
        with pytest.raises((InputError, TypeError)):
            build_tokenizer(pattern)  # type: ignore[arg-type]
        return
    with pytest.raises(InputError, match="token_pattern"):
        build_tokenizer(pattern)


def test_word_characters_are_those_of_re():
    table = word_characters(17)
    sample = [*range(0x3000), *range(0xD7F0, 0xE010), *range(0xFFF0, 0x10100), 0x1F600, 0x20000, 0x10FFFF]
    assert [bool(table[point]) for point in sample] == [bool(re.match(r"\w", chr(point))) for point in sample]


@pytest.mark.parametrize("language", STEMMING_LANGUAGES)
def test_every_stemmer_takes_any_word_and_depends_on_the_word_alone(language):
    stem = build_stemmer(language)
    words = "running ion s '' _ 12 naïve éclair straße книга العربية والكتاب 東京 sses yy ies ing " + "x" * 50
    once = [stem(word) for word in words.split()]
    again = [stem(word) for word in reversed(words.split())]
    assert once == again[::-1]


def test_at_least_fifteen_languages_are_stemmed():
    assert len(STEMMING_LANGUAGES) >= 15


def test_an_unknown_stemmer_is_refused_with_the_names_there_are():
    with pytest.raises(InputError, match="finnish"):
        build_stemmer("klingon")


def test_packed_strings_come_back_as_they_were():
    strings = ["", "a", "東京", "\ud800", "line\nbreak", ""]
    assert unpack_strings(*pack_strings(strings)) == strings
    assert unpack_strings(*pack_strings([])) == []


def test_damaged_packed_strings_are_found_out():
    characters, ends = pack_strings(["ab", "é"])
    with pytest.raises(SchemaError):
        unpack_strings(characters[:-1], ends)
    with pytest.raises(SchemaError):
        unpack_strings(characters, ends[::-1])
    with pytest.raises(SchemaError):
        unpack_strings(characters, np.array([3, 4]))


def test_a_stemmer_may_be_named_by_the_code_of_its_language():
    assert build_stemmer("en")("elections") == build_stemmer("english")("elections") == "elect"
    assert {check_stemming(code) for code in ("DE", "nb", "no", "porter")} == {"german", "norwegian", "porter"}
    with pytest.raises(InputError, match="english"):
        check_stemming("xx")


def test_the_stemmers_bring_nothing_else_of_nltk():
    code = (
        "import sys\nimport doccluster.text.analysis as analysis\nbefore = set(sys.modules)\n"
        "assert [analysis.build_stemmer(name)('elections') for name in ('en', 'porter')] == ['elect', 'elect']\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "assert not new & {'nltk', 'sklearn', 'scipy', 'pandas'}, new\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=120)


def test_a_thread_that_imports_nltk_meanwhile_gets_all_of_it():
    code = (
        "import importlib, sys, threading\nfrom doccluster.text.analysis import import_stemmers\n"
        "sys.setswitchinterval(1e-6)\nstart, failed = threading.Barrier(4), []\n"
        "def stemmed(_):\n"
        "    for _ in range(20):\n"
        "        import_stemmers.cache_clear()\n"
        "        assert import_stemmers().SnowballStemmer('english').stem('elections') == 'elect'\n"
        "def attempt(work, name):\n"
        "    start.wait()\n"
        "    try:\n        work(name)\n"
        "    except BaseException as error:\n        failed.append((name, repr(error)))\n"
        "works = [(importlib.import_module, 'nltk'), (importlib.import_module, 'nltk.stem.snowball')]\n"
        "works += [(stemmed, 'stemmers')] * 2\n"
        "threads = [threading.Thread(target=attempt, args=work) for work in works]\n"
        "[thread.start() for thread in threads], [thread.join() for thread in threads]\n"
        "assert failed == [], failed\n"
        "import nltk\nfrom nltk.corpus import stopwords\nfrom nltk.stem import snowball, porter\n"
        "assert nltk.stem.snowball is snowball is sys.modules['nltk.stem.snowball'] is not import_stemmers()\n"
        "assert snowball.stopwords is stopwords is not None and snowball.porter is porter and nltk.word_tokenize\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_without_a_folder_of_nltk_its_stemmers_are_imported(monkeypatch):
    nowhere = SimpleNamespace(find_spec=lambda *_: None)
    monkeypatch.setattr("doccluster.text.analysis.PathFinder", nowhere)
    import_stemmers.cache_clear()
    assert import_stemmers() is sys.modules["nltk.stem.snowball"]
    import_stemmers.cache_clear()
