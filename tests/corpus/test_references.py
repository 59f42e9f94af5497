"""References of libraries and databases of papers: RIS, MEDLINE, Web of Science, BibTeX."""

from __future__ import annotations

import pathlib

import pytest

from doccluster.corpus import read_corpus
from doccluster.corpus.references import plain_latex
from doccluster.errors import InputError, NothingUsable

CASES = pathlib.Path(__file__).parent / "files"

RIS = """Provider: A database
Content: text/plain; charset="UTF-8"

TY  - JOUR
ID  - 2010-1
T1  - Study of
harbours
A1  - Doe, J.
A1  - Roe, R.
Y1  - 2010/03/05/
N2  - The ferry to Skerrow sailed
again from the harbour.

II - METHODS: we waited.
AB-type blood is no tag.
KW  - harbour
ferry
KW  - wall
JF  - Harbour Journal
DO  - https://doi.org/10.1/x
ER  -
\ufeffTY  - CHAP
TI  - No end and no abstract
PY  - 2011
DA  - 2011/07/02/other
TY - BOOK
TI   - Other blanks
AB - Another abstract.
AB - Its second part.
UR - https://a.org/1
"""
MEDLINE = """
PMID- 31234567
OWN - NLM
DP  - 2019 Jan-Feb
TI  - The ferry and the harbour: a study of waiting
      passengers.
LID - 10.1000/abc [doi]
AB  - The ferry sails rarely. We waited
      for two weeks. AB - is no tag.
FAU - Doe, Jane
AU  - Doe J
FAU - Roe, Richard
AU  - Roe R
PT  - Journal Article
JT  - Harbour journal
MH  - Ships
OT  - ferry

PMID- 31234568
TI  - [A wall].
PMC - PMC123
DP  - 2018 Winter
"""
WOS = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Doe, J
   Roe, R
AF Doe, Jane
   Roe, Richard
TI The ferry and
   the harbour
SO HARBOUR J
DE ferry; waiting
   passengers
AB The ferry sails rarely. We waited
   for two weeks.
PD MAR 5
PY 2010
UT WOS:0001
ER

EF
FN Clarivate Analytics Web of Science
VR 1.0
PT J
TI No abstract
PD MAR-APR
PY 2011
UT WOS:0002
ER
"""
BIBTEX = r"""% Encoding: UTF-8
@string{jh = "Journal of " # {Harbours}}
@comment{jabref-meta: x;}
@Article{doe2010,
  author   = {Doe, J{\"o}rg and {The Harbour Group} and Ru{\'\i}z, \'{A}.},
  title    = "The {Ferry} to {\O}resund: {"}quoted{"}",
  journal  = jh # ", Series A",
  year     = 2010,
  month    = mar # "~5",
  abstract = {The ferry sailed again
     after two weeks. 50\% of it, \$5 \& more.},
  keywords = {ferry, harbour; storms},
  doi      = {10.1000/x_y},
}
@misc{one, title={Two on a line}, date = "2013-04-02"} @misc{two, title = {The second}, year=2013}
@article{broken,
  title = {Never closed {brace},
@article(paren, title = "In parentheses" year = 2015 month = 7)
@misc{empty,}
"""
TEXTS = {
    "ris": (
        RIS,
        ["The ferry to Skerrow sailed again from the harbour. II - METHODS: we waited. AB-type blood is no tag."],
    ),
    "nbib": (MEDLINE, ["The ferry sails rarely. We waited for two weeks. AB - is no tag.", "[A wall]."]),
    "ciw": (WOS, ["The ferry sails rarely. We waited for two weeks.", "No abstract"]),
    "bib": (BIBTEX, ["The ferry sailed again after two weeks. 50% of it, $5 & more.", "Two on a line", "The second"]),
}


def column(corpus, name):
    return list(corpus.metadata[name])


@pytest.mark.parametrize("suffix", TEXTS)
@pytest.mark.parametrize("change", ["as it is", "utf-16", "crlf", "without a telling name"])
def test_references_are_found_by_their_first_lines_in_any_encoding(tmp_path, suffix, change):
    source, expected = TEXTS[suffix]
    path = tmp_path / f"export.{'txt' if change == 'without a telling name' else suffix}"
    text = source.replace("\n", "\r\n") if change == "crlf" else source
    path.write_bytes(text.encode("utf-16" if change == "utf-16" else "utf-8"))
    assert list(read_corpus(path).texts[: len(expected)]) == expected


def test_a_case_of_ris_is_six_documents_in_a_folder_too(tmp_path):
    corpus = read_corpus(CASES / "22-references.ris")
    assert len(corpus) == 6
    assert column(corpus, "title")[0] == "Study 0 of harbours"
    assert column(corpus, "date") == [str(year) for year in range(2010, 2016)]
    assert corpus.text_columns == ("abstract",)
    (tmp_path / "a.txt").write_text("A text.", encoding="utf-8")
    (tmp_path / "b.ris").write_bytes((CASES / "22-references.ris").read_bytes())
    assert len(read_corpus(tmp_path)) == 7


def test_ris_is_read_with_a_preamble_wrapped_lines_and_records_without_an_end(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(RIS, encoding="utf-8")
    corpus = read_corpus(path)
    assert corpus.texts[1:] == ("No end and no abstract", "Another abstract.\nIts second part.")
    assert corpus.ids == ("2010-1", "a.txt:2", "a.txt:3")
    assert column(corpus, "date") == ["2010-03-05", "2011-07-02", ""]
    assert column(corpus, "authors")[0] == "Doe, J.; Roe, R."
    assert column(corpus, "keywords")[0] == "harbour; ferry; wall"
    assert column(corpus, "link") == ["https://doi.org/10.1/x", "", "https://a.org/1"]
    assert column(corpus, "source")[0] == "Harbour Journal"
    assert corpus.text_columns == ("abstract", "title")


def test_medline_joins_wrapped_lines_and_reads_the_begin_of_a_span(tmp_path):
    path = tmp_path / "pubmed.txt"
    path.write_text(MEDLINE, encoding="utf-8")
    corpus = read_corpus(path)
    assert corpus.ids == ("31234567", "31234568")
    assert column(corpus, "title")[0] == "The ferry and the harbour: a study of waiting passengers."
    assert column(corpus, "date") == ["2019-01", "2018"]
    assert column(corpus, "authors") == ["Doe, Jane; Roe, Richard", ""]
    assert column(corpus, "keywords") == ["Ships; ferry", ""]
    assert column(corpus, "link") == ["https://doi.org/10.1000/abc", ""]


def test_web_of_science_is_read_from_several_joined_exports(tmp_path):
    path = tmp_path / "savedrecs.txt"
    path.write_text(f"\ufeff{WOS}\ufeff{WOS.replace('WOS:', 'WOS:9')}", encoding="utf-8")
    corpus = read_corpus(path)
    assert corpus.ids == ("WOS:0001", "WOS:0002", "WOS:90001", "WOS:90002")
    assert column(corpus, "date")[:2] == ["2010-03-05", "2011-03"]
    assert column(corpus, "authors")[0] == "Doe, Jane; Roe, Richard"
    assert column(corpus, "keywords")[0] == "ferry; waiting passengers"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_web_of_science_is_read_from_a_table_whose_rows_end_in_a_tab(tmp_path, encoding):
    path = tmp_path / "savedrecs.txt"
    path.write_bytes((CASES / "37-savedrecs.txt").read_text("utf-8-sig").encode(encoding))
    corpus = read_corpus(path)
    assert corpus.ids == tuple(f"WOS:00{number}" for number in range(6))
    assert corpus.texts[1] == "The council voted to raise the sea wall by another metre before the winter tides."
    assert column(corpus, "title")[5] == "Study 5 of harbours"
    assert column(corpus, "date")[0] == "2010"


def test_cells_of_web_of_science_may_be_quoted(tmp_path):
    path = tmp_path / "savedrecs.txt"
    path.write_text('PT\tAU\tTI\tAB\nJ\t"A; B"\tThe "x"\t"Text ""in"" it"\n', encoding="utf-8")
    corpus = read_corpus(path)
    assert corpus.texts == ('Text "in" it',)
    assert (column(corpus, "authors"), column(corpus, "title")) == (["A; B"], ['The "x"'])


def test_bibtex_follows_strings_and_bears_missing_commas_and_braces(tmp_path):
    path = tmp_path / "a.bib"
    path.write_text(BIBTEX, encoding="utf-8")
    corpus = read_corpus(path)
    assert corpus.ids == ("doe2010", "one", "two", "broken", "paren")
    assert column(corpus, "title")[:3] == ['The Ferry to Øresund: "quoted"', "Two on a line", "The second"]
    assert column(corpus, "title")[4] == "In parentheses"
    assert column(corpus, "date") == ["2010-03-05", "2013-04-02", "2013", "", "2015-07"]
    assert column(corpus, "authors")[0] == "Doe, Jörg; The Harbour Group; Ruíz, Á."
    assert column(corpus, "source")[0] == "Journal of Harbours, Series A"
    assert column(corpus, "keywords")[0] == "ferry; harbour; storms"
    assert column(corpus, "link")[0] == "https://doi.org/10.1000/x_y"
    assert [(one.source, one.reason) for one in corpus.skipped] == [("a.bib:6", "bad-record")]


def test_strings_of_strings_do_not_grow_without_end(tmp_path):
    doubled = "".join(f"@string{{s{number + 1} = s{number} # s{number}}}\n" for number in range(60))
    path = tmp_path / "a.bib"
    path.write_text(f'@string{{s0 = "ferry "}}\n{doubled}@misc{{a, title = s1 # s60}}\n', encoding="utf-8")
    (text,) = read_corpus(path).texts
    assert text.startswith("ferry ferry ferry")
    assert len(text) < 1000


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"Caf\'e na\"{\i}ve \c{c}a {\v Z}agreb fa\c cade", "Café naïve ça Žagreb façade"),
        (r"\H{o} \aa{} \o stre \L{}\'od\'z Stra{\ss}e", "ő å østre Łódź Straße"),
        (r"``5--7'' of~\textit{it} $\alpha$-helix \{x\} \% \_", "“5–7” of it alpha-helix {x} % _"),
        (r"As \citet{doe2010} wrote\cite{a,b}, \LaTeX\ is", "As wrote, LaTeX is"),
        ("no LaTeX at all", "no LaTeX at all"),
    ],
)
def test_latex_becomes_the_letters_it_stands_for(latex, text):
    assert plain_latex(latex) == text


def test_columns_of_references_may_be_named_as_those_of_a_table():
    path = CASES / "22-references.ris"
    corpus = read_corpus(path, text_column=["title", "abstract"], label_columns="keywords", label_separator=";")
    assert corpus.texts[0].startswith("Study 0 of harbours\n\nThe ferry")
    assert corpus.labels["keywords"][0] == ("harbour",)
    with pytest.raises(InputError, match="has no column 'titel'; its columns are 'id', 'title', 'abstract'"):
        read_corpus(path, text_column="titel")


def test_a_file_without_references_and_a_record_without_end_are_listed(tmp_path):
    path = tmp_path / "a.ris"
    path.write_text("Nothing here.\n", encoding="utf-8")
    with pytest.raises(NothingUsable, match="no reference in it"):
        read_corpus(path)
    long = "TY  - JOUR\nTI  - Long\nAB  - words\n" + "more words\n" * 30
    path.write_text(f"{long}TY  - JOUR\nTI  - b\n", encoding="utf-8")
    corpus = read_corpus(path, max_document_length=50)
    assert corpus.texts == ("b",)
    assert [(one.source, one.reason) for one in corpus.skipped] == [("a.ris:1", "too-long")]


def test_a_tweet_about_articles_and_a_text_that_shows_bibtex_are_no_references(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("@comment I like it\n@string theory, = no\n@media {x}\n", encoding="utf-8")
    assert len(read_corpus(path)) == 3
    path.write_text("Cite this as\n\n@article{a, title={x}}\n", encoding="utf-8")
    assert read_corpus([path, CASES / "22-references.ris"]).texts[0].startswith("Cite this")
