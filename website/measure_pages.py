"""A page for each measure, made from its record, and the table by which one is chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable

from doccluster.cli._run_summary import HEADLINES
from doccluster.measures import Measure, list_measures
from doccluster.measures.bibliography import plain_text, references_of
from doccluster.results.run_tables import LEADING_MEASURES
from experiments.reference_pages import ARROWS, COSTS, FAMILIES, SOURCES
from website.formulas import formula_lines
from website.questions import WITH_CLASSES, WITHOUT_CLASSES, Question
from website.sample import sample_scores

PLACES = {  # beside the table of all scores, what the report shows of a measure
    "cluster_similarity": "as *similarity* on the card of each cluster and in the table *Each cluster*",
    "coherence": "in the table *Each cluster* of the tab Quality",
    "density": "in the table *Each cluster* of the tab Quality",
    "adherence": "in the table *Each cluster*, and for each pair of clusters in the picture *Adherence*",
    "ics": "as *separation* in the table *Each cluster*, and for each pair of clusters in a picture",
    "silhouette": "in the table *Each cluster*, and document by document in the silhouette plot",
}
WITH_VALUES = {
    "per_cluster": "each cluster",
    "per_class": "each class",
    "per_document": "each document",
    "per_pair": "each pair of clusters, or of a cluster and a class",
}


def measure_pages() -> dict[str, str]:
    """Return the index of measures and one page for each measure of its own."""
    records = list_measures()
    pages = {"reference/measures.md": _index(records)}
    for record in (one for one in records if one.is_counted):
        relatives = [one for one in records if _root(one, records) is record and one is not record]
        pages[f"reference/measures/{record.name}.md"] = _page(record, relatives)
    return pages


def _root(record: Measure, records: list[Measure]) -> Measure:
    by_name = {one.name: one for one in records}
    while not record.is_counted:
        record = by_name[record.variant_of or record.alias_of or ""]
    return record


def _index(records: list[Measure]) -> str:
    own = [record for record in records if record.is_counted]
    lines = [
        "# Measures",
        "",
        f"{len(own)} measures, and {len(records) - len(own)} variants and aliases of them. "
        "`doccluster.score(name, labels, truth=..., vectors=...)` computes one, `doccluster.evaluate` all that apply; "
        "`doccluster explain NAME` says what this page says. A value that is not defined is nan with a reason, "
        "never a silent 0.",
        "",
        "## Choose by question",
        "",
        "The first measure of a line is the one to begin with.",
        "",
        "### You have classes to compare with",
        "",
        *_questions(WITH_CLASSES),
        "### You have only the documents",
        "",
        *_questions(WITHOUT_CLASSES),
        "## All measures",
        "",
        "What they cost:",
        "",
        *(f"- **{name}**: {text}" for name, text in COSTS.items()),
        "",
    ]
    for family, (title, text) in FAMILIES.items():
        lines += [
            f"### {title}",
            "",
            text,
            "",
            "| measure | in words | better | range | cost |",
            "|---|---|---|---|---|",
        ]
        for record in (one for one in own if one.family == family):
            cells = (_link(record.name), record.title, record.direction, record.range, _cost(record))
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        lines.append("")
    names = [f"measures/{record.name}" for record in own]
    lines += ["### Sources", "", "Four sources have short names:", "", *(f"- {source}" for source in SOURCES), ""]
    lines += [
        "What they leave open or print wrongly: [errata of the papers](../explanation/errata-of-the-papers.md).",
        "",
    ]
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *names, "```", ""])


def _questions(questions: Iterable[Question]) -> list[str]:
    lines = ["| question | measures | mind |", "|---|---|---|"]
    lines += [f"| {one.asked} | {', '.join(map(_link, one.measures))} | {one.mind} |" for one in questions]
    return [*lines, ""]


def _link(name: str, folder: str = "measures/") -> str:
    record = next(one for one in list_measures() if one.name == name)
    return f"[`{name}`]({folder}{_root(record, list_measures()).name}.md)"


def _page(record: Measure, relatives: list[Measure]) -> str:
    lines = [f"# {record.title}", "", f"`{record.name}`", "", record.meaning, "", "## Formula", ""]
    lines += [*_formula(record.formula), *_letters(record)]
    lines += ["## What the value says", "", "| about | the value |", "|---|---|"]
    lines += [f"| {name} | {_cell(text)} |" for name, text in _facts(record) if text]
    lines += ["", "## Compute it", "", *_use(record), "## Where it is shown", "", *_shown(record)]
    if relatives:
        lines += ["## Variants and aliases", ""]
        for each in relatives:
            lines += _relative(each, record)
    lines += ["## Source", "", _text(record.source), ""]
    references = references_of(record.name)
    if references:
        lines += [*(f"- {_text(line)}" for line in plain_text(references).splitlines()), ""]
        lines += [f"As BibTeX: `doccluster cite {record.name}`.", ""]
    return "\n".join([*lines, "## Related measures", "", *_related(record)])


def _formula(formula: str) -> list[str]:
    lines = []
    for runs in formula_lines(formula):
        if len(runs) == 1 and not runs[0].is_words:
            lines += ["```{math}", runs[0].text, "```", ""]
            continue
        shown = ""
        for run in runs:
            joint = "" if not shown or run.text[0] in ",:)" else " "
            shown += joint + (_text(run.text) if run.is_words else rf"{{math}}`\displaystyle {run.text}`")
        lines += ["{.formula}", shown, ""]
    return [*lines, "In plain text: `" + formula + "`", ""]


def _letters(record: Measure) -> list[str]:
    _, text = FAMILIES[record.family]
    return [":::{dropdown} What the letters stand for", _text(text), ":::", ""]


def _facts(record: Measure) -> list[tuple[str, str]]:
    score = sample_scores().get(record.name)
    value = ""
    if score is not None:
        value = f"{score.value:.4f}" if math.isfinite(score.value) else f"not defined: {'; '.join(score.notes)}"
    return [
        ("Better", ARROWS[record.direction]),
        ("Range", record.range),
        ("At the edges", record.edges),
        ("On the [newsroom sample](../../index.md), 32 clusters", value),
        ("Costs", f"{_cost(record)}: {COSTS[record.evidence]}"),
        ("Comes with a value for", ", ".join(WITH_VALUES[part] for part in record.parts)),
        ("Parameters", ", ".join(f"`{name}={value!r}`" for name, value in record.options.items())),
        ("Metrics", ", ".join(record.metrics)),
        ("Also called", ", ".join(f"`{name}`" for name in record.also_called)),
    ]


def _use(record: Measure) -> list[str]:
    given = "truth=classes" if record.family == "external" else "vectors=vectors"
    file = "--truth classes.csv" if record.family == "external" else "--vectors matrix.npz"
    call = f'doccluster.score("{record.name}", labels, {given})'
    return [
        "::::{tab-set}",
        ":::{tab-item} Python",
        "```python",
        call,
        "```",
        ":::",
        ":::{tab-item} Command line",
        "```sh",
        f"doccluster evaluate labels.csv {file} --measures {record.name}",
        "```",
        ":::",
        "::::",
        "",
    ]


def _shown(record: Measure) -> list[str]:
    places = ["in the table *All scores* of the tab Quality of [the report](../../explanation/the-report.md)"]
    if record.by_name_only or record.evidence == "pairwise":
        places[0] += f", where it is asked for with `--measures {record.name}` or takes little time"
    if record.name in PLACES:
        places.append(PLACES[record.name])
    if record.name in HEADLINES:
        places.append("in the last lines that `doccluster run` prints")
    if record.name in LEADING_MEASURES:
        places.append("as a column of `clusters.csv`, and by `doccluster explain RUN CLUSTER`")
    if "per_document" in record.parts:
        places.append("document by document, in `Score.per_document`")
    return [*(f"- {place}" for place in places), "- in `scores.csv`, with its note", ""]


def _relative(each: Measure, record: Measure) -> list[str]:
    kind = "Variant" if each.variant_of else "Alias"
    direction = "" if each.direction == record.direction else f" ({ARROWS[each.direction]})"
    lines = [f"### {each.name}", "", f"{kind}: {each.title}{direction}.", ""]
    if each.formula != record.formula:
        lines += _formula(each.formula)[:-2]
    if each.also_called:
        lines += ["Also called " + ", ".join(f"`{name}`" for name in each.also_called) + ".", ""]
    return lines


def _related(record: Measure) -> list[str]:
    """Return measures that answer a question this one answers too, and its counterpart with the sides exchanged."""
    lines = []
    if record.swapped and record.swapped != record.name:
        lines.append(f"- {_link(record.swapped, '')}: the same with clusters and classes exchanged")
    for question in (*WITH_CLASSES, *WITHOUT_CLASSES):
        others = [name for name in question.measures if name != record.name]
        if record.name in question.measures and others:
            lines.append(f"- {question.asked} {', '.join(_link(name, '') for name in others)}")
    if not lines:
        near = [one for one in list_measures(family=record.family, counted=True) if one.evidence == record.evidence]
        place = near.index(record)
        others = [one.name for one in near[max(0, place - 2) : place + 3] if one is not record]
        lines.append(f"- From the same evidence: {', '.join(_link(name, '') for name in others)}")
    return [*lines, ""]


def _cost(record: Measure) -> str:
    return " or ".join(sorted({record.evidence_for(metric) for metric in record.metrics or ("cosine",)}))


def _text(text: str) -> str:
    return text.replace("*", r"\*").replace("<", "&lt;").replace("_", r"\_").replace("[", r"\[")


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
