"""Clusters judged by people: questions, a page and a sheet for each coder, the key, and what the answers say.

Words: Chang, Boyd-Graber, Gerrish, Wang and Blei (2009). Names: Ying, Montgomery and Stewart (2022).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from doccluster.base.arrays import Integers, is_sparse
from doccluster.base.checksums import checksum
from doccluster.base.package import __version__
from doccluster.base.parameter_fields import at_the_door
from doccluster.base.paths import new_files, usable_path
from doccluster.base.plain_values import ShortRepr, listed
from doccluster.base.text_table import csv_text, latex_escaped, latex_table, safe_cell
from doccluster.base.validation import RandomState, as_generator, check_choice, check_positive_int
from doccluster.errors import InputError, NothingUsable
from doccluster.measures.label_files import MISSING, read_labels
from doccluster.report.page import as_json, page_part, page_templates
from doccluster.report.wording import counted, one_line
from doccluster.results.prevalence import wilson
from doccluster.results.record import Run
from doccluster.results.run_folder import labels_checksum, load_run
from doccluster.results.storage import as_damage, read_record, write_json

N_WORDS, N_DOCUMENTS, N_NAMES = 5, 3, 3  # beside the right answer
MAX_SHARE_IF_RARE = 0.01  # of the documents of a cluster that have a word which is rare in it
LETTERS = "abcdef"  # of the options
COLUMNS = ("id", "question", "document", *LETTERS, "answer")
KEY = Path("key", "key.json")
TESTS = {  # by name: the question, and what a cluster needs to be asked about
    "words": ("Which word does not belong with the others?", "five words, and one rare there and common elsewhere"),
    "documents": ("Which document does not belong with the others?", "three different texts, and one of another"),
    "names": ("Which name fits this document best?", "a text, its name, and three other names"),
}


@dataclass(frozen=True)
class Question:
    """A question, the same for all coders; each sees its options in another order."""

    test: str
    cluster: int
    options: tuple[str, ...]  # in a drawn order
    right: int  # the place of the right one
    document: str = ""  # for which a name is asked


class _Maker:
    """Makes questions about clusters in one drawn order; a cluster that has only its number has no name."""

    def __init__(self, run: Run, rng: np.random.Generator) -> None:
        self.run, self.rng, self.order = run, rng, rng.permutation(run.n_clusters).tolist()
        self.name_of = {n: one_line(each.label) for n, each in enumerate(run.clusters) if each.label != f"cluster {n}"}
        self.common = [(one_line(t.term), t.column) for each in run.clusters for t in each.descriptive[:N_WORDS]]

    def ask(self, test: str, n_clusters: int, per_cluster: int) -> tuple[list[Question], str]:
        """Return the questions of a test about at most `n_clusters`, and a sentence on clusters it passes over."""
        questions, unfit = list[Question](), list[int]()
        for cluster in self.order:
            n_before = len(questions)
            for right, wrong, document in itertools.islice(getattr(self, test)(cluster), per_cluster):
                options = self._shuffled([right, *wrong])
                questions.append(Question(test, cluster, tuple(options), options.index(right), document))
            unfit += [cluster] if len(questions) == n_before else []
            if len({question.cluster for question in questions}) == n_clusters:
                break
        passed_over = f"passes over {counted(len(unfit), 'cluster')} ({listed(sorted(unfit), 5)})"
        note = f"The test of {test} {passed_over if questions else 'is left out'}: it needs {TESTS[test][1]}."
        return questions, note if unfit else ""

    def words(self, cluster: int) -> Iterator[tuple[str, Sequence[str], str]]:
        """Yield five words of a cluster, the best first, and one that is common in another."""
        terms = dict.fromkeys(one_line(term.term) for term in self.run.clusters[cluster].descriptive)
        rows = self.run.vectors.matrix[self.run.members(cluster)]
        n_with_term = np.bincount(rows.nonzero()[1], minlength=rows.shape[1])
        folded, most = {term.casefold() for term in terms}, MAX_SHARE_IF_RARE * rows.shape[0]
        rare = {word: at for word, at in self.common if n_with_term[at] <= most and word.casefold() not in folded}
        for *same, stranger in zip(*[iter(terms)] * N_WORDS, self._shuffled([*rare]), strict=False):
            yield stranger, same, ""

    def documents(self, cluster: int) -> Iterator[tuple[str, Sequence[str], str]]:
        """Yield three documents of a cluster and one of the nearest to it, or of the next where that has no more."""
        cosines = self.run.centroids @ self.run.centroids[[cluster]].T
        nearest_first = np.argsort(-(cosines.toarray() if is_sparse(cosines) else cosines).ravel(), kind="stable")
        strangers = (
            text for other in nearest_first.tolist() if other != cluster for text in self._texts(other, cluster)
        )
        for *same, stranger in zip(*[self._texts(cluster)] * N_DOCUMENTS, strangers, strict=False):
            yield stranger, same, ""

    def names(self, cluster: int) -> Iterator[tuple[str, Sequence[str], str]]:
        """Yield the name of a cluster, those of three others, and a document of it."""
        name = self.name_of.get(cluster, "")
        wrong = sorted({*self.name_of.values()} - {name})
        for text in self._texts(cluster) if name and len(wrong) >= N_NAMES else ():
            yield name, self._shuffled(wrong)[:N_NAMES], text

    def _shuffled(self, texts: Sequence[str]) -> Any:
        return self.rng.permutation(np.array(texts, dtype=object)).tolist()

    def _texts(self, cluster: int, apart_from: int | None = None) -> Iterator[str]:
        """Yield how documents of a cluster begin, in a drawn order, one of each family of copies, none of another's."""
        documents, copy_of, seen = self.run.documents, self.run.copy_of, {""}  # ids may hold the class: never shown
        rows = self.rng.permutation(self.run.members(cluster))
        if copy_of is not None:
            rows = rows[np.sort(np.unique(copy_of[rows], return_index=True)[1])]
            theirs: Any = [] if apart_from is None else copy_of[self.run.members(apart_from)]
            rows = rows[~np.isin(copy_of[rows], theirs)]
        for row in rows.tolist():
            title, text = one_line(documents.titles[row]), one_line(documents.excerpts[row], 400)
            shown = text if text.startswith(title) else f"{title}\n{text}".rstrip()
            if shown not in seen:
                yield shown
            seen.add(shown)


@dataclass(frozen=True, repr=False)
class Validation(ShortRepr):
    """Questions about the clusters of a run and how each coder sees them: what the key holds."""

    labels_checksum: str  # of the run
    questions: tuple[Question, ...]
    coders: tuple[tuple[tuple[int, ...], ...], ...]  # for each coder and row: a question, and the order of its options
    notes: tuple[str, ...]  # on what could not be asked

    def rows(self, coder: int) -> list[list[str]]:
        """Return the rows of a coder's sheet, without answers."""
        rows = []
        for number, (place, *order) in enumerate(self.coders[coder], start=1):
            question = self.questions[place]
            cells = [str(number), TESTS[question.test][0], question.document, *(question.options[at] for at in order)]
            rows.append(cells + [""] * (len(COLUMNS) - len(cells)))
        return rows


def validate(
    run: Run, output: Any, n_coders: int, tests: Sequence[str], n_clusters: int, per_cluster: int, seed: RandomState
) -> Validation:
    """Write questions about a run for coders, and the key, as `Run.validation` says."""
    folder, rng = usable_path(output), as_generator(seed)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"the output {folder} already exists", remedy="choose another, since answers may be in it")
    for name, number in (("n_coders", n_coders), ("n_clusters", n_clusters), ("per_cluster", per_cluster)):
        check_positive_int(number, name)
    chosen, maker = {check_choice(test, TESTS, "tests") for test in tests}, _Maker(run, rng)
    asked = [maker.ask(test, n_clusters, per_cluster) for test in TESTS if test in chosen]
    questions, notes = [question for part, _ in asked for question in part], [note for _, note in asked if note]
    if not questions:
        raise NothingUsable(" ".join(["there is nothing to ask about the clusters of this run.", *notes]))
    coders = []
    for _ in range(n_coders):  # questions of one test stay together
        order = sorted(rng.permutation(len(questions)).tolist(), key=lambda at: [*TESTS].index(questions[at].test))
        coders.append(tuple((at, *rng.permutation(len(questions[at].options)).tolist()) for at in order))
    key = Validation(labels_checksum(run), tuple(questions), tuple(coders), tuple(notes))
    template = page_templates().from_string((files(__package__) / "coder_page.html").read_text(encoding="utf-8"))
    with new_files(folder) as beside:
        for coder in range(n_coders):
            rows, place = key.rows(coder), beside / f"coder-{coder + 1}"
            cells = as_json([[safe_cell(cell) for cell in row] for row in (COLUMNS, *rows)])
            values = {"coder": coder + 1, "rows": rows, "letters": LETTERS, "cells": cells, "sheet": checksum([cells])}
            page = template.render(values, style=page_part("report.css"), version=__version__)
            sheet = "\ufeff" + csv_text(dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)))  # the mark of UTF-8
            place.mkdir()
            (place / "page.html").write_text(page, encoding="utf-8", newline="\n")
            (place / "sheet.csv").write_text(sheet, encoding="utf-8", newline="")
        (beside / KEY).parent.mkdir()
        write_json(beside / KEY, asdict(key))
    return key


@dataclass(frozen=True, eq=False, repr=False)
class ValidationScores(ShortRepr):
    """The answers of coders, judged: `table` has a row for each part ("cluster 3", "coder-1", "all") and test.

    Its columns: label (of a cluster), n_questions, n_answers, n_right, share (0 to 1) with low and high (95 %, Wilson,
    as if each question were answered once: coders answer the same), chance with chance_low and chance_high (95 % of
    guessers), alpha (Krippendorff's; nan where no two could differ). `notes`: what was not asked, or not answered.
    """

    table: pd.DataFrame
    notes: tuple[str, ...] = ()

    def rows(self) -> list[list[str]]:
        """Return the scores as lines of text, the names first, with a column for each test."""

        def interval(*columns: str) -> str:
            share, low, high = (100 * row[column] for column in columns)
            return "-" if math.isnan(low) else f"{share:.0f} % [{low:.0f}, {high:.0f}]"

        names = ["label", *(test for test in TESTS if test in set(self.table["test"]))]
        lines: dict[str, dict[str, str]] = {}
        for row in self.table.to_dict("records"):
            cells = {row["part"]: f"{row['n_right']} of {row['n_answers']}"}
            if row["part"] == "all":
                cells = {"all": interval("share", "low", "high")}
                cells |= {"by chance": interval("chance", "chance_low", "chance_high")}
                cells |= {"alpha": "-" if math.isnan(row["alpha"]) else f"{row['alpha']:.2f}"}
            for part, cell in cells.items():
                lines.setdefault(part, {"label": row["label"]})[row["test"]] = cell
        return [["", *names], *([part, *(line.get(name, "") for name in names)] for part, line in lines.items())]

    def to_latex(self) -> str:
        """Return `rows` as a LaTeX table (package booktabs)."""
        names, *rows = self.rows()
        return latex_table(names, [[*map(latex_escaped, row)] for row in rows], alignment="ll" + "r" * (len(names) - 2))

    def to_markdown(self) -> str:
        """Return `rows` as a Markdown table."""
        names, *rows = ([cell.replace("|", "\\|") for cell in row] for row in self.rows())
        return "".join(f"| {' | '.join(row)} |\n" for row in [names, ["---"] * len(names), *rows])


@at_the_door
def score_validation(run: Run | str | Path, folder: str | Path) -> ValidationScores:
    """Return how often coders were right about the clusters of a run (or its folder), beside chance and agreement.

    `folder` is what `Run.validation` wrote; in the folder of each coder is the file that the page saved, or sheet.csv
    filled in. Raises InputError if the key is not there or of other clusters, or a sheet is not as it was written, or
    has a wrong letter; NothingUsable if there is no answer.
    """
    loaded, place = load_run(run), usable_path(folder)
    if not (place / KEY).is_file():
        raise InputError(f"{place / KEY} is not there", remedy="give a folder that `doccluster validate -o` wrote")
    key = read_record(place / KEY, Validation)
    if key.labels_checksum != labels_checksum(loaded):
        raise InputError(f"{place} is about clusters of another run", remedy="give that run, as it was before a merge")
    with as_damage(place / KEY):
        answers, remarks = zip(*(_read_answers(key, place, coder) for coder in range(len(key.coders))), strict=True)
        label_of = {f"cluster {each.cluster}": loaded.clusters[each.cluster].label for each in key.questions}
    chosen, right = np.stack(answers), np.array([question.right for question in key.questions])
    if (chosen < 0).all():
        raise NothingUsable(f"no sheet in {place} has an answer", remedy="give each coder a page or a sheet first")
    ratings_of = dict.fromkeys(sorted(label_of, key=lambda part: (len(part), part)), chosen)
    ratings_of |= {f"coder-{coder}": line[None] for coder, line in enumerate(chosen, start=1)} | {"all": chosen}
    rows = []
    for (part, ratings), test in itertools.product(ratings_of.items(), TESTS):
        about = {part} if part in label_of else {*label_of}
        asked = [n for n, each in enumerate(key.questions) if each.test == test and f"cluster {each.cluster}" in about]
        if asked:
            shares = _shares(ratings[:, asked], right[asked], 1 / len(key.questions[asked[0]].options))
            rows.append({"part": part, "label": label_of.get(part, ""), "test": test, **shares})
    return ValidationScores(pd.DataFrame(rows), (*key.notes, *filter(None, remarks)))


def _shares(chosen: Integers, right: Integers, chance: float) -> dict[str, Any]:
    """Return the numbers of a row: counts, the share of right answers (nan of none), chance, agreement."""
    n_questions, n_answers = int((chosen >= 0).any(axis=0).sum()), int((chosen >= 0).sum())
    n_right, (chance_low, chance_high) = int((chosen == right).sum()), guessing_interval(n_answers, chance)
    share = n_right / n_answers if n_answers else math.nan
    _, low, high = map(float, wilson(np.asarray(share * n_questions), np.asarray(max(n_questions, 1))))
    counts = {"n_questions": n_questions, "n_answers": n_answers, "n_right": n_right, "share": share}
    limits = {"low": low, "high": high, "chance": chance, "chance_low": chance_low, "chance_high": chance_high}
    return counts | limits | {"alpha": krippendorff_alpha(chosen)}


def guessing_interval(n_answers: int, chance: float) -> tuple[float, float]:
    """Return the shares of right answers between which about 95 % of guessers lie, by mid-p (Lancaster 1961)."""
    probability = stats.binom.pmf(np.arange(n_answers + 1), n_answers, chance)
    inside = np.flatnonzero(np.abs(np.cumsum(probability) - probability / 2 - 0.5) <= 0.475)
    return (float(inside[0] / n_answers), float(inside[-1] / n_answers)) if n_answers else (math.nan, math.nan)


def krippendorff_alpha(ratings: Integers) -> float:
    """Return Krippendorff's alpha (2011, section C) of ratings of shape (n_coders, n_units), negative where one lacks.

    1 - (n - 1) (n - sum of o_cc) / (n**2 - sum of n_c**2), at most 1; 0 is chance, nan is where no two could differ.
    """
    counts = np.stack([(ratings == value).sum(axis=0) for value in range(int(ratings.max(initial=0)) + 1)], axis=1)
    counts = counts[counts.sum(axis=1) > 1]  # a unit with one rating can be compared with none
    n, coincidences = int(counts.sum()), float((counts * (counts - 1) / (counts.sum(axis=1, keepdims=True) - 1)).sum())
    expected = n**2 - int((counts.sum(axis=0) ** 2).sum())
    return 1 - (n - 1) * (n - coincidences) / expected if expected else math.nan


def _read_answers(key: Validation, folder: Path, coder: int) -> tuple[Integers, str]:
    """Return a coder's answers, as places in the options of each question (-1 is none), and a note on those lacking."""
    place, rows, letters_of = folder / f"coder-{coder + 1}", key.rows(coder), dict[str, list[str]]()
    row_of = {row[0]: ["" if cell in MISSING else safe_cell(cell) for cell in row] for row in rows}
    for path in sorted(place.glob("*.csv")):
        table = read_labels(path, columns=COLUMNS[1:])
        line_of = {line[0]: [*line] for line in zip(table.ids or (), *table.columns.values(), strict=True)}
        changed = [n for n in {**row_of, **line_of} if line_of.get(n, [])[:-1] != row_of.get(n, [])[:-1]]
        if changed:
            problem = f"{path} is not the sheet that was written: rows {listed(changed, 10)} differ"
            raise InputError(problem, remedy="put the right one there; in a sheet only answers are filled in")
        letters = [line_of[row[0]][-1].lower() for row in rows]
        for row, letter in zip(rows, letters, strict=True):
            allowed = ["", *itertools.compress(LETTERS, row[3:])]
            if letter not in allowed:
                problem = f"{path} has the answer {letter!r} in row {row[0]}"
                raise InputError(problem, remedy=f"give a letter from a to {allowed[-1]}, or none")
        letters_of |= {path.name: letters} if any(letters) else {}
    if len(letters_of) > 1:
        raise InputError(f"{place} has several sheets with answers: {', '.join(letters_of)}", remedy="leave one there")
    letters = next(iter(letters_of.values()), [""] * len(rows))
    answers = np.full(len(key.questions), -1, dtype=np.int64)
    for letter, (question, *order) in zip(letters, key.coders[coder], strict=True):
        answers[question] = order[LETTERS.index(letter)] if letter else -1
    blank = [number for number, letter in enumerate(letters, start=1) if not letter]
    return answers, f"{place.name} left {len(blank)} of {len(rows)} unanswered: {listed(blank, 20)}." if blank else ""
