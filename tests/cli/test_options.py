"""An option's value is checked before anything is read, and errors are told with options, not Python arguments."""

from __future__ import annotations

import itertools
import re
import warnings

import click
import pytest

from doccluster.cli.main import COMMANDS, commands
from doccluster.cli.source_options import READER, VECTORIZER
from doccluster.cli.verb import MEANING, Verb, spelling_of
from doccluster.errors import Argument, worded


def verbs(group=commands, path=()):
    """All commands, those of groups too, with their names."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from verbs(command, (*path, name))
        else:
            yield (*path, name), command


TEXTS = ["inspect", "vectorize", "run", "choose-k", "compare", "assign"]
BAD = [
    *[(verb, "--threads", "-1") for verb in ("run", "cluster", "assign", "vectorize", "choose-k", "compare", "rerun")],
    *[("run", option, "0") for option in ("--checkpoint", "--max-features", "--threads")],
    *[(verb, "--threads", "many") for verb in ("run", "cluster")],
    *[("run", "--algorithm", f"k-means:{one}") for one in ("n_init=0", "max_iter=many", "tol=-1", "init=best")],
    *[(verb, "--max-memory", "lots") for verb in ("run", "cluster")],
    *[(verb, "--max-expanded-size", "lots") for verb in TEXTS],
    *[(verb, "--column", "published") for verb in TEXTS],
    *[(verb, "--column", "colour=red") for verb in TEXTS],
    *[(verb, "--format", one) for verb in TEXTS for one in ("numbers", "csv:quote=x", "lines:header=false")],
    ("run", "--min-df", "0"),
    ("run", "--min-df", "1.5"),
    ("vectorize", "--max-df", "-1"),
    ("run", "--ngrams", "2-1"),
    ("choose-k", "--k", "0-4"),
    ("choose-k", "--k", "5,x"),
    ("choose-k", "--k", "9-4,20"),
    ("choose-k", "--granularity", "themes"),
    ("choose-k", "--algorithm", "dbscan"),
    ("choose-k", "--penalty", "-1"),
    ("run", "--weighting", "zzz"),
    ("cluster", "--weighting", "zzz"),
    ("vectorize", "--stemming", "klingon"),
    ("vectorize", "--language", "klingon"),
    ("run", "--measures", "purty"),
    ("compare", "--measures", "purty"),
    ("evaluate", "--measures", "purty"),
    ("compare", "--algorithm", "k-medoids"),
    ("compare", "--algorithm", "kmeans:starts=3"),
    ("run", "-k", "0"),
    ("cluster", "-k", "many"),
]


@pytest.mark.parametrize(("verb", "option", "value"), BAD)
def test_a_bad_value_is_refused_before_the_source_is_looked_at(doccluster, tmp_path, verb, option, value):
    output = () if verb in ("inspect", "evaluate") else ("-o", tmp_path / "out.npz")
    sources = ("nowhere", "nowhere") if verb == "assign" else ("nowhere",)
    done = doccluster(verb, *sources, *output, option, value)
    assert done.code == 2
    assert option in done.err
    assert "nowhere" not in done.err
    assert "Traceback" not in done.err
    assert "None" not in done.err


def test_a_number_of_threads_that_is_none_says_what_is_expected(doccluster, tiny):
    done = doccluster("run", tiny, "-o", "out", "--threads", "-1")
    assert "Invalid value for '--threads': '-1' is not a whole number of at least 1." in done.err


def test_every_verb_names_its_options_in_errors():
    found = dict(verbs())
    assert {name[0] for name in found} == set(COMMANDS)
    assert [name for name, command in found.items() if not isinstance(command, Verb)] == []


def test_every_parameter_that_has_an_option_is_named_by_it():
    spelled = spelling_of(commands.get_command(click.Context(commands), "run"))
    for name, made in {**READER, **VECTORIZER}.items():
        assert spelled(Argument(name)) == (made.option or f"--{name.replace('_', '-')}")


def test_the_parameters_of_formats_are_named_with_their_format():
    spelled = spelling_of(commands.get_command(click.Context(commands), "run"))
    assert spelled(Argument("delimiter", ";")) == "--format csv:delimiter=;"
    assert spelled(Argument("strip", "quotes")) == "--format newsgroups:strip=quotes"


def test_a_run_has_at_most_45_options_beside_those_from_elsewhere_and_groups_those_of_reading():
    command = commands.get_command(click.Context(commands), "run")
    own = [one for one in command.params if isinstance(one, click.Option)]
    assert sum(getattr(one, "section", "") != MEANING for one in own) <= 45
    told = command.get_help(click.Context(command))
    assert told.index("--json") < told.index("Reading documents:") < told.index("--column") < told.index("Terms:")


def test_columns_and_formats_are_read_from_what_is_typed(doccluster, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("7;oil prices rise;econ\n8;rain on wheat;farm\n9;oil exports fall;econ\n", encoding="utf-8")
    named = [("--column", one) for one in ("id=1", "text=2", "label=3")]
    typed = ("--format", "csv:delimiter=;,header=false", *itertools.chain(*named))
    done = doccluster("inspect", table, *typed)
    assert done.code == 0, done.err
    assert "documents  3" in done.out
    assert "labels     3: 2 classes" in done.out
    twice = doccluster("inspect", table, "--column", "id=1", "--column", "id=2")
    assert twice.code == 2
    assert "2 columns are named for id, which needs one" in twice.err


@pytest.mark.parametrize(
    ("verb", "words", "shown"),
    [
        ("run", (Argument("n_clusters", 12), " exceeds 9"), "-k/--clusters 12 exceeds 9"),
        ("run", (Argument("n_clusters"), " <= ", Argument("n_samples", 9)), "-k/--clusters <= 9"),
        (
            "run",
            (Argument("weighting", "none"), " and ", Argument("ngram_range", (1, 2))),
            "--weighting none and --ngrams 1-2",
        ),
        (
            "run",
            (Argument("label_columns", ["a b"]), "; ", Argument("stemming", "a b")),
            "--column label=['a b']; --stemming 'a b'",
        ),
        (
            "run",
            (Argument("strip_html", False), ", ", Argument("header", False)),
            "--no-strip-html, --format csv:header=false",
        ),
        ("run", (Argument("overwrite", True), ", ", Argument("stemming", None)), "--overwrite, no --stemming"),
        ("choose-k", (Argument("ks", range(2, 21)), "."), "--k 2-20."),
        ("cluster", (Argument("max_df", 2), " is not an option here"), "max_df=2 is not an option here"),
        (
            "run",
            ("/tmp/max_df/min_df.csv has no column 'min_df=2', truth=",),
            "/tmp/max_df/min_df.csv has no column 'min_df=2', truth=",
        ),
    ],
)
def test_arguments_are_spelled_as_the_options_of_the_verb(verb, words, shown):
    assert worded(words, spelling_of(commands.get_command(click.Context(commands), verb))) == shown


def test_errors_of_a_command_name_options(doccluster, tiny, tmp_path):
    done = doccluster("run", tiny, "-o", tmp_path / "out", "-k", 3, "--measures", "purity")
    assert done.err == "doccluster: purity cannot be computed without a truth; name a label column with --truth.\n"
    done = doccluster("run", tiny, "-o", tmp_path / "out", "-k", 3, "--min-df", 8, "--max-df", 2)
    assert "--max-df 2 is 2 documents, fewer than the 8 of --min-df 8" in done.err
    done = doccluster("generate", "zipf", "-k", 50, "--stories", 3, "-o", tmp_path / "x.jsonl")
    assert "--stories 3 is below -k 50" in done.err
    done = doccluster("generate", "zipf", "-n", 5, "-k", 9, "-o", tmp_path / "x.jsonl")
    assert done.err == "doccluster: -k 9 exceeds the 5 document(s); choose -k <= 5.\n"
    done = doccluster("inspect", "nowhere")
    assert done.err == "doccluster: 'nowhere' does not exist; give a file, a folder, or - for standard input.\n"


def test_warnings_of_a_command_name_options(doccluster, tmp_path):
    (tmp_path / "x.mtx").write_text(
        "%%MatrixMarket matrix array real general\n3 2\n1\n.5\n0\n0\n2\n1\n", encoding="utf-8"
    )
    with warnings.catch_warnings():
        done = doccluster("cluster", tmp_path / "x.mtx", "-k", 2, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "give --weighting none to say so" in done.err
    assert "weighting=" not in done.err


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["evalute", "a"], "there is no command 'evalute'; did you mean evaluate?"),
        (["choosek"], "there is no command 'choosek'; did you mean choose-k?"),
        (["xyz"], "there is no command 'xyz'; `doccluster --help` lists them."),
    ],
)
def test_a_misspelt_word_is_told_with_what_was_meant(doccluster, typed, told):
    done = doccluster(*typed)
    assert done.code == 2
    assert done.err.splitlines()[-1] == f"Error: {told}"


def test_the_help_of_a_command_names_only_options_that_it_has():
    elsewhere = {("search", "--encoder"), ("algorithms", "--algorithm"), ("backup", "--follow")}  # of another command

    def wrong(command, name):
        context = click.Context(command, info_name=name)
        if isinstance(command, click.Group):
            for verb in command.list_commands(context):
                yield from wrong(command.get_command(context, verb), verb)
        known = {option for one in command.get_params(context) for option in (*one.opts, *one.secondary_opts)} | {
            "--help"
        }
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+[a-z]", command.get_help(context)):
            if option not in known and (name, option) not in elsewhere:
                yield name, option

    assert list(wrong(commands, "doccluster")) == []
