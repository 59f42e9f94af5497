"""Reuters-21578's SGML on a page written for the test, so that every rule of the format is seen without the corpus."""

from __future__ import annotations

import gzip
import tarfile

from doccluster.corpus import read_corpus

PAGE = b"""<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="11" NEWID="1">
<DATE>26-FEB-1987 15:01:01.79</DATE>
<TOPICS><D>grain</D><D>wheat</D></TOPICS>
<PLACES><D>usa</D></PLACES>
<PEOPLE></PEOPLE>
<ORGS><D>fao</D></ORGS>
<EXCHANGES></EXCHANGES>
<COMPANIES></COMPANIES>
<UNKNOWN> &#5;&#5;C T</UNKNOWN>
<TEXT>&#2;
<TITLE>WHEAT &lt;WHT> RISES</TITLE>
<DATELINE>    KANSAS, Feb 26 - </DATELINE><BODY>Wheat & corn rose &lt;again>
by 5 pct &amp; more.
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="12" NEWID="2">
<DATE> 3-APR-1987 07:09:06.48</DATE>
<TOPICS></TOPICS>
<PLACES></PLACES>
<TEXT TYPE="BRIEF">&#2;
******<TITLE>A TITLE ONLY</TITLE>
&#3;</TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="13" NEWID="3">
<DATE> 3-APR-1987 07:09:06.48</DATE>
<TOPICS><D>earn</D></TOPICS>
<TEXT TYPE="UNPROC">&#2;
Unprocessed caf\xe9 text
&#3;</TEXT>
</REUTERS>
<REUTERS TOPICS="BYPASS" LEWISSPLIT="NOT-USED" CGISPLIT="TRAINING-SET" OLDID="14" NEWID="4">
<DATE> 3-APR-1987 07:09:06.48</DATE>
<TOPICS></TOPICS>
<TEXT TYPE="UNPROC">&#2;
&#3;</TEXT>
</REUTERS>
"""


def test_documents_carry_title_body_date_topics_and_split(tmp_path):
    path = tmp_path / "reut2-000.sgm"
    path.write_bytes(PAGE)
    corpus = read_corpus(path)
    assert corpus.ids == ("1", "2", "3")
    assert corpus.texts[0] == "WHEAT <WHT> RISES\n\nWheat & corn rose <again>\nby 5 pct & more.\n Reuter"
    assert corpus.texts[1].startswith("A TITLE ONLY")
    assert corpus.texts[2] == "Unprocessed café text"
    assert corpus.labels["topics"] == (("grain", "wheat"), (), ("earn",))
    assert corpus.labels["places"] == (("usa",), (), ())
    assert corpus.labels["orgs"] == (("fao",), (), ())
    assert corpus.metadata["title"].tolist() == ["WHEAT <WHT> RISES", "A TITLE ONLY", ""]
    assert corpus.metadata["date"].tolist() == ["1987-02-26T15:01:01", *["1987-04-03T07:09:06"] * 2]
    assert corpus.metadata["split"].tolist() == ["train", "unused", "test"]
    assert [(one.source, one.reason) for one in corpus.skipped] == [("reut2-000.sgm:4", "empty")]


def test_the_files_beside_the_collection_are_no_documents(tmp_path):
    (tmp_path / "reut2-000.sgm.gz").write_bytes(gzip.compress(PAGE))
    (tmp_path / "lewis.dtd").write_text("<!ELEMENT LEWIS O O (REUTERS+)>")
    (tmp_path / "all-topics-strings.lc.txt").write_text("earn\nwheat\n")
    (tmp_path / "README.txt").write_text("About the collection.")
    corpus = read_corpus(tmp_path)
    assert corpus.ids == ("1", "2", "3")
    assert sorted(one.reason for one in corpus.skipped) == ["about-the-collection"] * 3 + ["empty"]
    with tarfile.open(tmp_path.parent / "reuters.tar.gz", "w:gz") as archive:
        archive.add(tmp_path, "reuters21578")
    assert read_corpus(tmp_path.parent / "reuters.tar.gz").texts == corpus.texts


def test_one_part_of_the_split_can_be_chosen(tmp_path):
    path = tmp_path / "reut2-000.sgm"
    path.write_bytes(PAGE)
    assert read_corpus(path, split="test").ids == ("3",)
    assert read_corpus(path, split="train", format="reuters").ids == ("1",)
