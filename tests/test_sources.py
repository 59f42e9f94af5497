"""What people give as a source besides documents: matrices, runs, addresses, patterns, tables of HTML."""

from __future__ import annotations

import csv
import json

import pytest

import doccluster
from doccluster.corpus import named_files, read_corpus
from doccluster.errors import DocclusterWarning, InputError
from doccluster.pipeline.inspecting import inspect_source
from doccluster.pipeline.main_line import run_pipeline
from doccluster.pipeline.sources import Source

CLUTO = "4 3 7\n1 2 2 1\n1 1 2 1\n3 2 2 1\n3 1\n"
TEXTS = ("oil price rises", "crude oil price", "wheat harvest", "late wheat harvest")


def write(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


@pytest.fixture
def run_folder(tmp_path):
    run_pipeline(list(TEXTS), n_clusters=2, language="english", output=tmp_path / "out", report=False)
    return tmp_path / "out"


@pytest.mark.parametrize("beside", [{}, {"README": "about it"}, {"re0.clabel": "a\nb\nc\n", "DESCRIPTION.txt": "x"}])
def test_a_folder_with_a_matrix_is_that_matrix_with_its_classes(tmp_path, beside):
    folder = write(tmp_path, {"re0.mat": CLUTO, "re0.rclass": "x\nx\ny\ny\n", **beside})
    found = inspect_source(folder)
    assert (found.n_documents, found.n_terms) == (4, 3)
    assert [(one.name, one.commonest) for one in found.labels] == [("class", (("x", 2), ("y", 2)))]
    run = run_pipeline([folder], n_clusters=2, truth="class", report=False)
    assert run.evaluation.get("purity").value == 1.0


def test_a_folder_with_several_matrices_or_with_documents_beside_one_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"2 matrices \(a.mat, b.mat\); give one of them"):
        inspect_source(write(tmp_path / "two", {"a.mat": CLUTO, "b.mat": CLUTO}))
    with pytest.raises(InputError, match=r"a matrix \(a.mat\) next to other files \(text.txt\)"):
        inspect_source(write(tmp_path / "mixed", {"a.mat": CLUTO, "text.txt": "words"}))


def test_a_matrix_deep_in_a_folder_of_documents_is_no_document(tmp_path):
    corpus = read_corpus(write(tmp_path, {"text.txt": "words", "x/re0.mat": CLUTO, "x/re0.rclass": "a\nb\nc\nd\n"}))
    assert corpus.texts == ("words",)
    assert {one.source: one.reason for one in corpus.skipped} == {
        "x/re0.mat": "unsupported-format",
        "x/re0.rclass": "unsupported-format",
    }


def test_the_folder_of_a_run_is_refused_with_what_it_is_good_for(run_folder):
    for read in (read_corpus, inspect_source):
        with pytest.raises(InputError, match=r"folder of a run .* report or explain, .* assign"):
            read(run_folder)


def test_the_folder_of_a_run_among_documents_is_left_out(run_folder):
    write(run_folder.parent, {"a.txt": "a text"})
    corpus = read_corpus(run_folder.parent)
    assert corpus.texts == ("a text",)
    assert [(one.source, one.reason) for one in corpus.skipped] == [("out", "run-folder")]


@pytest.mark.parametrize("address", ["http://example.org/feed.xml", "https://example.org", "FEED://example.org/a"])
def test_an_address_is_refused_with_what_to_do(address):
    with pytest.raises(InputError, match="is an address; nothing is fetched, so download it first"):
        read_corpus(address)


def test_a_pattern_that_the_shell_left_is_expanded(tmp_path):
    write(tmp_path, {"art1.txt": "first", "art2.txt": "second", "other.txt": "no", "in/art3.txt": "third"})
    assert read_corpus(tmp_path / "art*.txt").texts == ("first", "second")
    assert read_corpus([tmp_path / "other.txt", tmp_path / "**" / "art?.txt"]).texts == (
        "no",
        "first",
        "second",
        "third",
    )
    with pytest.raises(InputError, match="no file fits the pattern"):
        read_corpus(tmp_path / "art*.jsonl")


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    write(tmp_path, {"a[1].txt": "with brackets", "a1.txt": "without"})
    assert read_corpus(tmp_path / "a[1].txt").texts == ("with brackets",)


def test_a_table_without_header_is_told_how_to_be_read(tmp_path):
    path = write(tmp_path, {"a.csv": "1,The ferry left.\n2,It came back.\n"}) / "a.csv"
    with pytest.raises(InputError, match=r"if its first row is not a header, give header=False\."):
        read_corpus(path)
    assert read_corpus(path, header=False, text_column="2").texts == ("The ferry left.", "It came back.")
    with pytest.raises(InputError) as caught:
        read_corpus(path, header=False)
    assert "header=False" not in str(caught.value)


def html_rows(n_html, n_plain):
    rows = [{"title": f"T<b>{n}</b>", "text": f"<p>The <b>ferry</b> left {n} &amp; came</p>"} for n in range(n_html)]
    return rows + [{"title": "P", "text": f"plain {n} if a<b and c>d"} for n in range(n_plain)]


def write_table(path, rows):
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            table = csv.DictWriter(file, ["title", "text"])
            table.writeheader()
            table.writerows(rows)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_markup_is_left_out_of_a_table_of_html_and_that_is_told(tmp_path, name):
    path = write_table(tmp_path / name, html_rows(1200, 2))  # more than are looked at
    with pytest.warns(DocclusterWarning, match=rf"texts of {name} are HTML .* to keep it, give strip_html=False"):
        corpus = read_corpus(path)
    assert corpus.texts[0] == "The ferry left 0 & came"
    assert corpus.texts[1199] == "The ferry left 1199 & came"
    assert corpus.metadata["title"][3] == "T3"
    assert corpus.stripped_html
    kept = read_corpus(path, strip_html=False)
    assert kept.texts[0].startswith("<p>The <b>")
    assert not kept.stripped_html


def test_markup_stays_where_it_is_not_certain(tmp_path):
    for number, rows in enumerate((html_rows(9, 0), html_rows(10, 11), html_rows(0, 30))):
        corpus = read_corpus(write_table(tmp_path / f"{number}.csv", rows))
        assert not corpus.stripped_html
        assert corpus.texts[0] == rows[0]["text"]


def test_only_the_table_of_html_among_others_is_stripped(tmp_path):
    write_table(tmp_path / "a.csv", html_rows(12, 0))
    write_table(tmp_path / "b.csv", [{"title": "", "text": f"the tag </b> closes bold text {n}"} for n in range(3)])
    with pytest.warns(DocclusterWarning, match=r"texts of a\.csv are HTML"):
        corpus = read_corpus(tmp_path)
    assert corpus.texts[0] == "The ferry left 0 & came"
    assert corpus.texts[-1] == "the tag </b> closes bold text 2"


def test_rows_before_a_break_are_stripped_and_kept(tmp_path):
    import gzip

    rows = "".join(json.dumps(row) + "\n" for row in html_rows(5000, 0)).encode()
    packed = gzip.compress(rows)
    (tmp_path / "a.jsonl.gz").write_bytes(packed[: len(packed) * 3 // 4])
    with pytest.warns(DocclusterWarning, match="are HTML"):
        corpus = read_corpus(tmp_path / "a.jsonl.gz")
    assert len(corpus) > 1000
    assert not any("<" in text for text in corpus.texts[:1000])
    assert "broken-archive" in {one.reason for one in corpus.skipped}


def test_a_run_remembers_that_markup_was_left_out(tmp_path):
    path = write_table(tmp_path / "a.csv", html_rows(20, 0))
    with pytest.warns(DocclusterWarning, match="are HTML"):
        run = run_pipeline(path, n_clusters=2, language="english", report=False)
    assert run.parameters["reader"]["strip_html"] is True


def test_html_in_a_table_does_not_decide_its_language(tmp_path):
    text = '<div class="der die das und"><span title="nicht auch nur">{}</span></div>'
    words = "the ship was in the harbour and it did not leave"
    path = write_table(tmp_path / "a.csv", [{"title": "", "text": text.format(words)} for _ in range(12)])
    with pytest.warns(DocclusterWarning, match="are HTML"):
        assert inspect_source(path).languages == {"english": 1.0}


def test_a_file_name_is_no_outlet_and_stays_known(tmp_path):
    write(tmp_path, {"a.txt": "one", "b.csv": "text,source\ntwo,The Gazette\n", "c.csv": "text\nthree\n"})
    corpus = read_corpus(tmp_path)
    assert corpus.column("source") == ("", "The Gazette", "")
    assert corpus.column("file") == ("a.txt", "b.csv", "c.csv")


@pytest.mark.parametrize(("option", "kept"), [(["--no-strip-html"], True), (["--strip-html"], False), ([], False)])
def test_the_command_line_says_what_happens_to_markup(tmp_path, capsys, option, kept):
    from doccluster.cli.main import main

    path = write_table(tmp_path / "a.csv", html_rows(20, 0))
    with pytest.raises(SystemExit) as ended:
        main(["inspect", str(path), *option, "--json"])
    assert not ended.value.code
    out, err = capsys.readouterr()
    assert (json.loads(out)["lengths"]["least"] > 30) is kept
    assert ("to keep it, give --no-strip-html" in err) is (not option)


def test_a_column_of_a_corpus_that_was_read_already_can_be_judged_by(tmp_path):
    path = tmp_path / "speeches.csv"
    path.write_text("text,party\n" + "a ferry sails,north\na wall holds,south\n" * 4, encoding="utf-8")
    by_name = doccluster.run(read_corpus(path), n_clusters=2, truth="party")
    assert by_name.evaluation.coverage["party"]["n_classes"] == 2
    assert by_name.documents.labels == doccluster.run(path, n_clusters=2, truth="party").documents.labels


def test_the_files_of_a_run_are_looked_for_once(tmp_path, monkeypatch):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    looked_for = []
    monkeypatch.setattr(named_files, "check_paths", looked_for.append)
    run_pipeline(str(tmp_path / "t*.txt"), n_clusters=2, language="english", reader={"format": "lines"}, levels="none")
    assert looked_for == [[tmp_path / "texts.txt"]]


def test_a_source_is_of_one_kind(tmp_path):
    (tmp_path / "counts.mtx").write_text("")
    folder, listed = Source(tmp_path), Source([str(tmp_path)])
    assert folder.matrix == listed.matrix == tmp_path / "counts.mtx"
    mixed = Source([tmp_path / "counts.mtx", tmp_path / "texts.txt"])
    assert (mixed.is_matrix, mixed.matrices) == (False, [tmp_path / "counts.mtx"])
    assert Source(tmp_path, {"format": "files"}).is_matrix is False
    assert Source(["oil prices rise", "wheat harvest"]).paths is None
