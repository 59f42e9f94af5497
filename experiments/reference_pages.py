"""The generated pages of docs/reference, made from the registry so that they cannot lag behind it.

Run with ``python -m experiments.reference_pages`` (``make docs``); a test fails while a page is not up to date.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Mapping

from doccluster.base.parameter_fields import Parameter, parameters_of
from doccluster.clustering.algorithms import ALGORITHMS, Algorithm
from doccluster.corpus.column_names import FULL_TEXTS, FURTHER, SHORT_TEXTS, SNIPPETS, TITLES, USUAL
from doccluster.corpus.columns import SAMPLED_ROWS, SHORTEST_PROSE, TIMES
from doccluster.corpus.formats import FORMATS, LOOK_ALIKES
from doccluster.corpus.reader_options import ReadOptions
from doccluster.measures import Measure, list_measures
from doccluster.measures.bibliography import bibtex, cite
from experiments.cli_page import cli_page

ROOT = pathlib.Path(__file__).resolve().parent.parent

ARROWS = {"higher": "higher is better", "lower": "lower is better", "none": "no better direction"}
FAMILIES = {
    "external": (
        "External measures",
        "They compare the clusters with a truth, document by document, and need no vectors. Rows of the "
        "contingency table are clusters (k of them, of sizes n_i), columns are classes (g, of sizes m_j); n_ij is the "
        "number of documents in both. TP, FP, FN and TN are the pairs of documents in the same cluster and class, the "
        "same cluster only, the same class only, and apart; M = n (n - 1) / 2. H is entropy and I mutual information, "
        "in nats.",
    ),
    "internal": (
        "Internal measures",
        "They need the vectors and no truth. s_i is the sum of the rows of cluster i, mu_i = s_i / n_i its mean, and "
        "c_i = s_i / |s_i| its centroid (a unit vector); D_ij is the distance of two means. The metric is the cosine "
        'by default; `metric="euclidean"` takes rows as they are.',
    ),
    "intrinsic": (
        "Intrinsic measures",
        "Proposed for text by Sharma & Sharma: what each cluster is like by itself and beside the others.",
    ),
    "topic": (
        "Measures of topic words",
        "They judge the top terms of the clusters by the documents the terms share.",
    ),
}
COSTS = {
    "contingency": "counts of documents by cluster and class, O(n)",
    "geometry": "sums and one reading of the matrix, O(nnz k)",
    "pairwise": "all pairs of documents in blocks, O(n^2) time, bounded memory",
    "topics": "documents that share top terms, O(nnz)",
}


SOURCES = (
    "**IIR**: C. D. Manning, P. Raghavan, H. Schütze, *Introduction to Information Retrieval*, Cambridge 2008, ch. 16.",
    "**Strehl 2002**: A. Strehl, *Relationship-based Clustering and Cluster Ensembles for High-dimensional Data "
    "Mining*, thesis, University of Texas at Austin, ch. 4.",
    "**Sharma & Sharma**: I. Sharma, H. Sharma, *Document Clustering: How to Measure Quality of Clusters in Absence of "
    "Ground Truth*.",
    "**Zaki & Meira**: M. J. Zaki, W. Meira, *Data Mining and Analysis*, Cambridge 2014, ch. 17.",
)


def measures_page() -> str:
    """Return the page of all measures."""
    records = list_measures()
    counted = sum(record.is_counted for record in records)
    lines = [
        "# Measures",
        "",
        "<!-- made from the registry by `make docs`; do not edit -->",
        "",
        f"{counted} measures, and {len(records) - counted} variants and aliases of them. "
        "`doccluster.score(name, labels, truth=..., vectors=...)` computes one, `doccluster measures` lists them, and "
        "`doccluster explain NAME` explains one.",
        "",
        "Values that are not defined are nan with a reason in the note, never a silent 0; see the edges of each. "
        "Costs:",
        "",
        *(f"- **{name}**: {text}" for name, text in COSTS.items()),
        "",
    ]
    for family in FAMILIES:
        lines += _family(family, [record for record in records if record.family == family])
    lines += ["## Sources", "", "Four sources have short names:", "", *(f"- {source}" for source in SOURCES), ""]
    lines += ["What they leave open or print wrongly: [errata of the papers](../explanation/errata-of-the-papers.md)."]
    return "\n".join(lines).rstrip() + "\n"


def algorithms_page() -> str:
    """Return the page of all algorithms."""
    lines = [
        "# Algorithms",
        "",
        "<!-- made from doccluster/clustering/algorithms.py by `make docs`; do not edit -->",
        "",
        "The names are those of `--algorithm` (`run`, `cluster`, `choose-k`, `compare`) and of `algorithm=` in Python; "
        "hyphens and capital letters make no difference. Options follow after a colon: `k-means:n_init=3,max_iter=50`. "
        "`doccluster algorithms` prints this list.",
        "",
        "| name | what | makes best | works on | a new document gets |",
        "|---|---|---|---|---|",
    ]
    alike: dict[type, list[Algorithm]] = {}
    for row in ALGORITHMS.values():
        cells = (f"`{row.name}`", row.title, row.criterion, row.needs, row.predicts)
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        alike.setdefault(row.parameters_class, []).append(row)
    for rows in alike.values():
        names = ", ".join(f"`{row.name}`" for row in rows)
        lines += ["", f"## Options of {names}", "", *_parameter_table(rows[0].options)]
    return "\n".join(lines) + "\n"


_RULES = (
    "## Collections between marks",
    "",
    "`trec` is a file of elements `<DOC>`, closed or not, in .txt, .sgm, .sgml or without a suffix: the id is `DOCNO`, "
    "`DOCID` or the attribute `id`, the title `HEADLINE`, `HEAD`, `TITLE`, `HL` or `TI`, the text all of `TEXT`, `LP`, "
    "`ABSTRACT`, `BODY` and `CONTENT` under its title (without one of these whatever the document holds), the date "
    "`DATE`, `DATETIME`, `DD`, else the day in an id such as `AFP_ENG_20021216.0001`; other elements of at most 200 "
    "characters are columns. A file .xml is one if several `<DOC>` follow one another without a root. `smart` is a "
    "file that begins with `.I`: `.T` is the title, `.W` the text, `.A` the column `author`, `.B` `published`, `.K` "
    "`keywords`; `.X` and other fields are left out.",
    "",
    "## XML",
    "",
    "A file named .xml or .nxml, one without a suffix, or one that begins with `<?xml`, is a collection "
    "(`xml-records`) if its root, or an "
    "element below the root, repeats an element with fields (elements or attributes in it) that holds texts and most "
    "of the file; one is enough where the name says so (`PubmedArticleSet` of `PubmedArticle`, `records` of `record`). "
    "Elements that one document repeats (paragraphs, chapters, lines, turns, ...) are not taken for records; "
    "`--format xml-records` takes them all the same, `--format xml` reads any file as one document. A column has the "
    "name of its element or attribute, with those above it where one nearer to the root has that name "
    "(`Journal_Title`); fields named by an attribute (`<field name=...>`, `<str name=...>`, MARC's tags and codes) "
    "have that name. What stands several times is a list. Escaped tags of HTML are left out; `<a><b>` is a "
    "list of labels. Year, month and day in one element are a date.",
    "",
    "In texts, elements inside a line (`hi`, `i`, `sup`, ..., and any beside which text stands) join nothing and part "
    'nothing, others have lines of their own; `<lb break="no"/>` joins a word. Of TEI only `text` is text, of JATS '
    "the abstract and the body: `teiHeader` and `front` give title and date (that of `creation`, if there is one). "
    "`permissions`, `back` and lists of references are left out. A sitemap and a dump of MediaWiki are refused by "
    "name.",
    "",
    "## Spreadsheets",
    "",
    "Of XLSX and ODS the sheet whose longest column holds the most prose in its first {rows} rows is read as a csv is, "
    "with the rules of its header; other sheets are listed as `other-sheet`, and `--format xlsx:sheet=NAME` (`sheet=`) "
    "reads one. Dates are cells that are shown as dates; errors are empty; of merged cells the first has the text; a "
    "formula is the value that was stored for it. XLSB and XLS are refused: save them as xlsx or csv.",
    "",
    "## Chats",
    "",
    "Of a folder that Slack exported, messages are documents with their `channel` and the date of `ts`; that people "
    "joined or left is listed, as are users.json, channels.json and the other lists in a folder. Of Telegram's "
    "result.json all chats are read. A list of strings and objects is one text, joined with nothing, and so is a "
    "list of objects whose texts have blanks at their ends or whose types are those of words (`bold`, `link`, ...); "
    "other lists of objects are paragraphs.",
    "",
    "## Control characters",
    "",
    "A text with a few control characters is a text: up to a tenth of the bytes where they are valid utf-8, a fiftieth "
    "elsewhere; NULs that follow one another count as one. NULs are left out in every format, as HTML's own parser "
    "leaves them out, and a warning says how many; other control characters become spaces. UTF-16 and UTF-32 are known "
    "by their mark, or by where their zero bytes stand. What has more is `binary` and is listed.",
    "",
    "## Characters that are not seen",
    "",
    "Unicode's rules for words (UAX 29, WB4) pass over characters that are not seen, and so does a reader: soft "
    "hyphens, word joiners and marks (U+FEFF) inside a text are left out, with the line end behind a soft hyphen (and "
    "behind the not sign that programs for scans write for a hyphen); "
    "zero-width spaces too, except beside scripts that put no blank between words (Thai, Lao, Khmer, Burmese, "
    "Tibetan), and joiners (U+200C, U+200D) between Latin, Greek, Cyrillic, Chinese, Japanese and Korean letters. "
    "Elsewhere joiners decide how a text looks, in Persian, in Hindi and between emoji, and stay in it; tokens, of "
    "documents and of queries alike, pass over them, over marks of direction and over the selectors of variants.",
    "",
    "## Letters and words written in several ways",
    "",
    "Texts, titles and excerpts stay as they are written; these rules say what is counted and searched for, with the "
    "analyzer `script`, which runs use. Other forms of a letter are that letter, as Unicode says (NFKC): ligatures "
    "(ﬀ to ﬆ), the long s, forms of Arabic and Hebrew letters, mathematical and wide letters, Roman numbers of one "
    "sign, radicals of Chinese characters. Raised, lowered and circled letters and fractions stay. Where Turkish is "
    "the only language that is found or named, the small letter of I is ı; beside other languages so it is in texts "
    "of which ı, İ, ğ and ş are 4 %, and in Azerbaijani ones by their ə. Letters that a language writes in two ways "
    "are one: ک and ك, ی and ي, ș and ş, ț and ţ, ё and е; a term is shown in its commonest form.",
    "",
    "A word that a hyphen and the end of a line break (or a blank, where lines were joined) is one word if "
    "the word, of five letters or more, stands elsewhere without a break: `coun-` `cil` is council where there is a "
    "council, and `well-` `known` stays two words. That is told from up to 2,000 evenly spaced documents, and only "
    "where a fifth of all such pairs are words; else the hyphens are those of compounds. The model of a run keeps "
    "the words, so that new documents and queries are read alike. A model of version 1.0 reads letters as 1.0 did.",
    "",
    "## Markup and character references in tables",
    "",
    "Whoever escapes a column escapes all of it. So where more of its first 1,000 texts hold character references "
    "(`&amp;`, `&#8217;`) than a bare ampersand, a tag or a word of those who write about them (HTML, entity, "
    "ampersand), two at least of ten or more texts, the references are read as the characters that they mean, and a "
    "warning says so; what is escaped twice is decoded twice, unless the column's tags are escaped too: then it is "
    "about HTML. Titles are judged apart from texts. Where most of at least ten texts hold tags, escaped or not, they "
    "are read without markup. `strip_html=False` keeps both.",
    "",
    "The same holds for escapes that are written out (`\\n`, `\\t`, `\\u00e9`): where more texts hold them than a line "
    "end or a tab of their own, another backslash (paths, patterns, LaTeX) or a word of those who write about them, "
    "they are read as the characters that they mean, also where the backslash is doubled.",
    "",
    "## Words for no text, returns of spreadsheets, indexes of words",
    "",
    "A text that is only a word for a missing one (`[deleted]`, `[removed]`, `[No abstract available]`, "
    "`<Media omitted>` and their like) is empty. `_x000D_` and other controls as spreadsheets write them in XML are "
    'read as controls. An object of words and their places (`{{"The": [0], "ferry": [1]}}`), or its source in a cell, '
    "is the text that it gives.",
    "",
    "## Feeds, and lists of them",
    "",
    "A feed is known by its root (`rss`, `feed`, `rdf:RDF`), in files named .xml, .rss, .atom, .rdf, .php or without a "
    "suffix wherever it begins: what stands before it is left out. Links are resolved by `xml:base`, else by the link "
    "of the channel (of a JSON Feed its `home_page_url`); what `stream poll` asks also by the address that answered. A "
    "list of feeds need not be well-formed: [what may be in a list](../explanation/polling.md#what-may-be-in-a-list).",
    "",
    "## Dates",
    "",
    "All readers read dates alike: whole or not at all. A date is read if its layout, its words and its zone are known "
    "from the first sign to the last; else the document has none, and `inspect` and `run` say how many could not be "
    "read, with examples. Known are ISO 8601 (without weeks), the layouts of mail, feeds, `date`, Apache and Twitter, "
    "names of months and days in the languages of Europe and many others (Unicode CLDR), 15.11.2019, 2019/11/15, "
    "2019年11月15日, AM and PM, "
    "20191115, 20191115103000, and Unix time stamps in seconds to nanoseconds of 1973 to 2286 and of 1653 to 1966, as "
    "text or as numbers. Two digits at the end are a year from 1969 to 2068.",
    "",
    "A date that is a year or a month counts for years and months, never for days. Where most dates of a run are such, "
    "its screens, tables and figures tell the time in years or months.",
    "",
    "A zone is an offset, a name such as Europe/Berlin, or an abbreviation of one zone (EST as in RFC 822). One "
    "that means several (IST, CST, BST, AST, ET and others) leaves the time out and the day in. Dates of feeds are in "
    "universal time, others in the zone they name.",
    "",
    "Whether 03/04/2026 begins with the day or the month, the dates of one file, or of a table in memory, decide "
    "together: days from 13 to 31 say so. Where there are none, the other files do if all agree; else the commonest "
    "language of the texts, as all languages known here but English begin with the day. The rest is a guess, which is "
    "counted and said: the order that most of a mixed column have, else the month first, as in pandas. A year of two "
    "digits that could be the day (15.11.19) is a guess where no language is found. A name that means two months "
    "(listopada: November in Polish, October in Croatian) is read where its language is found.",
    "",
    "## One file read line by line",
    "",
    "A text file in no known format that is the only source is read line by line. `inspect` and `run` say so, as they "
    "say of every source what of it is a document (`division` in run.json). Where its lines cannot be documents, the "
    "file is refused, with what it looks like: {look_alikes}. It is known by the end of its name or by its first "
    "65,536 bytes. `--format lines` takes the lines all the same, `--format text` the file as one document; in a "
    "folder each such file is a document.",
    "",
    "## References",
    "",
    "The text of a reference in RIS, MEDLINE, Web of Science or BibTeX is its abstract, else its title; `--column "
    "text=title --column text=abstract` takes both. Its date is the year, with month and day where they can be read "
    "(of `Mar-Apr` the first); the journal or book is its source; a DOI is its link where it has no other. Authors and "
    "keywords stand in columns, with `; ` between them: `--column label=keywords --label-separator ';'` makes labels "
    "of them. A record ends where the next one begins, also without its last line; exports may stand one after the "
    "other. In BibTeX `@string` and `#` are followed, missing commas and braces are borne, and LaTeX is read as the "
    "letters it stands for. A file of Web of Science may be a table: its header is `PT`, tabs and tags.",
    "",
    "## Markdown and front matter",
    "",
    "A file of Markdown is a document. Its title is that of the front matter, else its first heading (`#`, or a line "
    "above `====`). Of its text these are left out: the targets of links and images, tags, comments, scripts and "
    "styles of HTML, definitions of links, the marks of headings, emphasis and code, and commands of site makers "
    "(`{{{{< >}}}}`, `{{% %}}`); what links show and what is in code stays.",
    "",
    "Front matter is a block between lines of `---` (YAML) or `+++` (TOML) at the head of any text file, or, at the "
    "head of Markdown, an object of JSON or lines such as `Title: ...` above a blank one. Its keys are columns by the "
    "same names as those of tables: date, link, labels (`tags`, `categories`, with commas too) and the rest; "
    "`author.name` is a key below a key. An id or a text there is `source.id` or `source.text`. Lists of objects, "
    "anchors and what else is not keys, values and lists stay at the end of the text, and a warning says so.",
    "",
    "## Mailboxes",
    "",
    "A message begins at a line that says `From `, has a date at its end, and stands after a blank line and before a "
    "header (RFC 4155). If the first such line of a mailbox has no date, the others need none. Every other line is "
    "kept; `>From ` loses one sign, as in mboxrd.",
    "",
    "## Encodings",
    "",
    "A byte order mark comes first, then what the file states, then utf-8, then a guess by the bytes "
    "(charset-normalizer), then cp1252. Names are those of browsers (the WHATWG encoding standard) and of mail, with "
    "and without `x-`, in headers as in bodies; where people mean a superset it is read: windows-1252 for iso-8859-1, "
    "gb18030 for gb2312, cp949 for ks_c_5601-1987. What a file states is left aside if its bytes contradict it. "
    "`inspect` and `run` count the files whose encoding is a guess.",
    "",
    "Encodings of the Macintosh (mac-roman, of Central Europe, Turkish, Cyrillic) are guessed where the best other "
    "reading has a fifth of its letters and signs beyond ASCII in places where none of their kind stands (a capital "
    "after a small letter, a sign inside a word), or a twentieth if lines end in returns alone, and this one at most "
    "a twentieth.",
)
_TABLE_RULES = (
    "## The text of a table",
    "",
    "In every table (csv, tsv, JSON, Parquet, DataFrames, what a query finds) `--column text=NAME` "
    "(`text_column=`) names the column. Left out, names and the first {rows} rows decide:",
    "",
    "1. The usual names, the likeliest first: {names}.",
    "2. Another column replaces it if it has many times its prose: {full} times that of a full text "
    "(those before `abstract`), {short} times that of a shorter form or of a field in an object, {title} times that "
    "of a title. A column without a usual name needs {least} characters on average. The prose of a column is the mean "
    "length of its cells, each text counted once; links, dates, numbers, identifiers, objects and JSON are no "
    "prose, and columns of ids, dates, links, sources and authors take no part.",
    "3. A title goes with a snippet ({snippets}): both are the text.",
    "",
    "`inspect`, `run`, `run.json` (`resolved`, `text_columns`) and `Corpus.text_columns` say which column it was."
    " If none reads like a text, the error lists the columns.",
    "",
    "## The other columns of a table",
    "",
    "Names are compared without case, blanks, dots, hyphens and underscores, so that `published_at` is also "
    "`publishedAt` and `Published At`. What version 1.0 knew is looked for first, as it is written; a column that it "
    "kept under its own name stays beside its new role. The likeliest come first:",
    "",
    "- ids: {id_names};",
    "- titles: {title_names};",
    "- dates: {date_names};",
    "- links: {link_names};",
    "- sources: {source_names}.",
    "",
    "Where no name says which column is the date, what the first {rows} rows hold decides: one column of dates (more "
    "than nine tenths of its cells, in at least half of the rows; no numbers, which may be anything) is the date, "
    "and `inspect` and `run` say so. Where there are several, or its name says birth, death, a deadline and the "
    'like, they name the columns and the option. An empty name (`--column date=`, `date_column=""`) says that no '
    "column has a role.",
    "",
    "A cell of labels may be a list: of JSON, or as Python and numpy write it (`['a', 'b']`, `('a', 'b')`, `{{'a'}}`, "
    "`['a' 'b']`).",
    "",
    "## Objects in columns",
    "",
    "A name with dots is a field in an object: `--column text=content.body`. Without one, the text of a record "
    "may lie in an object by the rules above, and the title, id, date and labels beside it are found too. An "
    "object that is itself a text is read by its field with a usual name (or `rendered`, `value`, `#text`), a "
    "list of objects [piece by piece](#chats). An object without such a field, or its source in JSON, is never a "
    "text: it is an error or a listed row.",
    "",
    "## Tables in JSON",
    "",
    "Records lie in an array (of one that is cut off, what is whole), in an array of an object, one or more levels "
    "below keys, one a line, or one after the other. A table is also read as `DataFrame.to_json` writes it in each "
    "orientation (columns, index, split, records, values, table), from lists of columns, and from rows below a "
    "header. The key of a row is its id if no column holds one. Control characters in strings are allowed.",
    "",
    "## The header of a csv",
    "",
    "- Before it may stand blank lines, `sep=;`, comments (`#`), a title (one cell of several words, or of one above "
    "three columns, where all rows below are of one width) and rows that are narrower than one with usual names. A "
    "comment with the names of columns is the header.",
    "- Below it may stand a row of units or types (`[m]`, `(s)`, `-`, `string`, ...), or the two rows of Orange, "
    "whose `class` columns are labels; Orange's one row (`cD#topic`, `mS#text`) is read too. So are up to three rows "
    "of surveys: those down to one with `ImportId`; one that repeats two names, or has words where all rows below have "
    "numbers or dates; a short one that is empty in the first column and another where no row below is.",
    "- These lines are listed as `about-the-table`. A first row that reads like the documents below it is an error, as "
    "it may be one of them: `header=false`, or name the text. It is a header if the first column is called like an id "
    "or a date, if a name stands over numbers or dates, a question over cells that are none, or several words over "
    "half as many at most.",
    "- Each row may end in a delimiter more than the header, or begin with its name, as R writes it, which is its id.",
    "- A file without a telling name is a table if its first line names a text, or all lines have as many tabs.",
    "- Delimiters that are found: {delimiters}. A line ends in LF, CR or both, also in one file. A quote that is "
    "closed within a cell or never costs its row, which is listed; reading goes on in the next line.",
    "",
    "## What one file may take",
    "",
    "Office documents, spreadsheets, books, rtf, PDF, XML, Parquet, a query of a database and a table of embeddings "
    "are read in a process of their own, since a small one may unpack to gigabytes, never come to an end, or break "
    "the library that reads it. An element of XML may hold 2,000,000 others. One of them may take 256 MiB of memory "
    "(beside its own size, and what Python and libraries take), 20 seconds of processor time (of a table or query, "
    "for 500 rows) and 100,000 pages, groups inside one another or rows (or 8 rows for each byte of the file); the "
    "texts of a table or query have at most 20 characters for each byte beyond the 256 MiB. What needs more is "
    "`too-costly` and listed, a query or embeddings are refused; with `--max-expanded-size 8G` (`max_expanded_size`) "
    "each may take twice as much of everything, and so on. Windows has no limit of memory, and macOS keeps none.",
    "",
    "Whatever comes out of an archive (gz, bz2, xz, zip, tar) is bounded by what the archive takes, too: it may "
    "expand to 256 MiB and 50 times its bytes, hold 100,000 documents or one for each 2 bytes, whichever is more, "
    "and one text in it 100,000 tags, values or lines or 8 for each byte. What is more is `too-costly`; the "
    "documents before it are kept. Packed feeds are read in a process of their own. A packed matrix may expand to "
    "64 MiB and 250 times its bytes.",
)


def formats_page() -> str:
    """Return the page of all formats, and of the parameters of the reader."""
    lines = [
        "# Formats",
        "",
        "<!-- made from the records of the readers in doccluster/corpus by `make docs`; do not edit -->",
        "",
        "Each file is recognised by its content, then by its name. `--format NAME` (`format=`) decides it for "
        "all files; the parameters of a format follow after a colon: `csv:delimiter=;,header=false`, "
        '`newsgroups:strip=headers+quotes`. "The columns below" are those of '
        "[tables](../how-to/read-your-documents.md#tables).",
        "",
        "| format | a document is | what comes with it | names end in | also called | parameters |",
        "|---|---|---|---|---|---|",
    ]
    for one in FORMATS.values():
        listed = (", ".join(f"`{word}`" for word in words) for words in (one.suffixes, one.aliases, one.parameters))
        cells = (f"`{one.name}`", one.document, one.brings, *listed)
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    kinds = ", ".join(dict.fromkeys(kind.what for kind in LOOK_ALIKES))
    names = {
        "look_alikes": kinds,
        "rows": SAMPLED_ROWS,
        "names": _listed((*FULL_TEXTS, *SHORT_TEXTS, *TITLES)),
        **{f"{role}_names": _listed((*names, *FURTHER.get(role, ()))) for role, names in USUAL.items()},
        "snippets": _listed(SNIPPETS),
        "least": SHORTEST_PROSE,
        **{name: TIMES[place] for name, place in (("full", 0), ("short", 1), ("title", 3))},
        "delimiters": "comma, tab, semicolon, bar, `~`, `^` and the byte 1",
    }
    lines += [
        "",
        *(rule.format_map(names) for rule in (*_RULES, "", *_TABLE_RULES)),
        "",
        "## Parameters of `read_corpus`",
        "",
        *_parameter_table(parameters_of(ReadOptions)),
    ]
    return "\n".join(lines) + "\n"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _parameter_table(parameters: Mapping[str, Parameter]) -> list[str]:
    lines = ["| option | default | range | |", "|---|---|---|---|"]
    for name, one in parameters.items():
        default = "" if one.default in (None, ()) else f"`{one.default}`"
        cells = (f"`{name}`", default, one.range, " ".join(one.about.split()))
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return lines


def _family(family: str, records: list[Measure]) -> list[str]:
    title, text = FAMILIES[family]
    own = [record for record in records if record.is_counted]
    lines = [f"## {title}", "", text, "", "| measure | in words | better | range | cost |", "|---|---|---|---|---|"]
    for record in own:
        cells = (f"[`{record.name}`](#{record.name})", record.title, record.direction, record.range, _cost(record))
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    lines.append("")
    for record in own:
        lines += _measure(record, [each for each in records if record.name == _root(each) and each is not record])
    return lines


def _cost(record: Measure) -> str:
    other = {record.evidence_for(metric) for metric in record.metrics or ("cosine",)}
    return " or ".join(sorted(other))


def _root(record: Measure) -> str:
    """Return the counted measure that a variant, or an alias of a variant, belongs to."""
    by_name = {each.name: each for each in list_measures()}
    while not record.is_counted:
        record = by_name[record.variant_of or record.alias_of or ""]
    return record.name


def _measure(record: Measure, relatives: list[Measure]) -> list[str]:
    lines = [f"### {record.name}", "", f"{record.title}: {record.meaning}", ""]
    rows = [
        ("Formula", record.formula),
        ("Range", f"{record.range}; {ARROWS[record.direction]}"),
        ("Edges", record.edges),
        ("Source", record.source),
        ("Also called", ", ".join(f"`{name}`" for name in record.also_called)),
        ("Comes with", ", ".join(f"`{part}`" for part in record.parts)),
        ("Parameters", ", ".join(f"`{name}={value!r}`" for name, value in record.options.items())),
    ]
    lines += [f"- {name}: {_text(text)}" for name, text in rows if text]
    for each in relatives:
        kind = "Variant" if each.variant_of else "Alias"
        differs = each.formula if each.formula != record.formula else each.title
        others = "".join(f"; also called `{name}`" for name in each.also_called)
        lines.append(f"- {kind} `{each.name}` ({_direction(each, record)}{each.title}): {_text(differs)}{others}")
    return [*lines, ""]


def _direction(record: Measure, base: Measure) -> str:
    return "" if record.direction == base.direction else f"{ARROWS[record.direction]}; "


def _text(text: str) -> str:
    return text.replace("*", r"\*").replace("<", "&lt;")


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/algorithms.md": algorithms_page,
    "docs/reference/formats.md": formats_page,
    "docs/reference/measures.md": measures_page,
    "docs/reference/cli.md": cli_page,
    "docs/reference/references.bib": lambda: bibtex(cite()),
}


def main() -> None:
    """Write every page."""
    for path, page in PAGES.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(page(), encoding="utf-8", newline="\n")
        print(path)


if __name__ == "__main__":
    main()
