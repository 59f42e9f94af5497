"""How well clusters grow from three words a class, or from a few examples, beside clusters without guidance.

``python -m experiments.quality.guidance [FOLDER]`` clusters up to 2,000 documents of each set as `run` does, with as
many clusters as classes. With words and examples a document is right if its cluster has the name of its class; without
guidance each cluster gets the class that fits it best, by an assignment that knows the classes. Half: only every second
class has its words; F1 is over these, and the rest is the NMI of the documents of the other classes, beside what free
clusters have there; draws are other halves, at random. Shuffled: single words are dealt anew among all topics.
Examples do not count where they are given.
Nearest: no clustering; a document has the name of the nearest mean, by cosine of tf-idf rows, of the documents with a
topic's words or of its examples. Static: clusters and nearest means by the encoder `static` too; and, where it is
installed, BERTopic (umap-learn too) guided by the same words and without them, with the embeddings that our clusters
see and as many clusters by k-means. Its clusters have the names of the classes whose words weigh most in them by its
c-TF-IDF, each once; "best names" are of an assignment that knows the classes.
Words were written from the names of classes; those of snippets and biomedical, whose classes are numbers, after reading
titles, and nothing was chosen on these two. Writes results/guidance.csv.
"""

from __future__ import annotations

import csv
import gzip
import json
import pathlib
import sys
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import doccluster
from doccluster.base.validation import unit_rows
from doccluster.vectors.encoders import encode, get_encoder
from doccluster.vectors.meaning import seen_from
from experiments.quality.corpora import newsgroups, stack_overflow
from experiments.quality.meaning import UMAP
from experiments.resumable import run_cases

HERE = pathlib.Path(__file__).resolve().parent
MAX_DOCUMENTS, N_SEEDS, N_DRAWS = 2_000, 2, 4
EXAMPLES = (1, 5, 20)
COLUMNS = ("right", "nmi", "f1_of_guided", "nmi_of_rest")
NEAREST, STATIC, PEER, BEST_NAMES = "nearest to ", "static: ", "BERTopic ", ", best names"
KINDS = (
    *("none", "words", "words of half", "shuffled words", *(f"{number} examples" for number in EXAMPLES)),
    *(f"words of draw {draw}" for draw in range(N_DRAWS)),
    *(f"{NEAREST}{kind}" for kind in ("words", *(f"{number} examples" for number in EXAMPLES))),
    *(f"{STATIC}{kind}" for kind in ("none", "words", f"{NEAREST}words")),
    *(f"{STATIC}{PEER}{kind}" for kind in ("words", f"words{BEST_NAMES}", f"none{BEST_NAMES}")),
)
WORDS = {
    "newsgroups": """
        alt.atheism: atheism, atheists, belief
        comp.graphics: graphics, image, polygon
        comp.os.ms-windows.misc: windows, dos, microsoft
        comp.sys.ibm.pc.hardware: ide, scsi, motherboard
        comp.sys.mac.hardware: mac, apple, quadra
        comp.windows.x: motif, xterm, server
        misc.forsale: sale, shipping, offer
        rec.autos: car, cars, engine
        rec.motorcycles: motorcycle, bike, riding
        rec.sport.baseball: baseball, pitcher, innings
        rec.sport.hockey: hockey, nhl, goalie
        sci.crypt: encryption, clipper, cryptography
        sci.electronics: circuit, voltage, electronics
        sci.med: doctor, disease, patients
        sci.space: space, orbit, nasa
        soc.religion.christian: christian, church, christ
        talk.politics.guns: guns, firearms, weapon
        talk.politics.mideast: israel, armenian, arab
        talk.politics.misc: government, president, tax
        talk.religion.misc: religion, bible, moral
    """,
    "agnews": """
        1: iraq, minister, troops
        2: game, season, coach
        3: oil, stocks, company
        4: software, internet, microsoft
    """,
    "stackoverflow": """
        1: wordpress, plugin, theme
        2: oracle, plsql, sql
        3: svn, subversion, repository
        4: apache, mod_rewrite, htaccess
        5: excel, vba, worksheet
        6: matlab, matrix, plot
        7: visual studio, debugger, solution
        8: cocoa, nsview, nstableview
        9: mac, osx, leopard
        10: bash, shell, script
        11: spark, flex, component
        12: hibernate, mapping, hql
        13: scala, trait, implicit
        14: sharepoint, moss, webpart
        15: ajax, jquery, xmlhttprequest
        16: qt, qwidget, signal
        17: drupal, node, module
        18: linq, query, lambda
        19: haskell, monad, ghc
        20: magento, product, checkout
    """,
    "clinc": """
        auto_and_commute: car, tire, gas
        banking: bank, account, transfer
        credit_cards: credit, card, limit
        home: playlist, list, reminder
        kitchen_and_dining: restaurant, recipe, food
        meta: speak, language, name
        small_talk: hello, joke, goodbye
        travel: flight, hotel, visa
        utility: time, weather, alarm
        work: vacation, meeting, pto
    """,
    "snippets": """
        1: business, market, trade
        2: computer, software, internet
        3: movie, music, art
        4: research, science, theory
        5: engine, motor, electrical
        6: health, medical, disease
        7: political, government, military
        8: sports, football, game
    """,
    "biomedical": """
        1: age, aging, old
        2: nerve, cat, brain stem
        3: chemistry, reaction, synthesis
        4: blood, erythrocytes, hemoglobin
        5: metabolism, amino acid, enzyme
        6: hormone, insulin, prolactin
        7: lung, pulmonary, respiratory
        8: lymphocytes, cytotoxicity, immune
        9: physiology, permeability, transport
        10: escherichia coli, mutants, bacteriophage
        11: heart, cardiac, coronary
        12: receptors, adrenergic, drugs
        13: muscle, contraction, smooth muscle
        14: treatment, diagnosis, therapy
        15: children, psychiatry, risk factors
        16: skin, collagen, prostaglandin
        17: sodium, calcium, renal
        18: virus, leukemia, tumor
        19: antigen, isolation, strains
        20: temperature, spores, growth
    """,
}


def texts_of(folder: pathlib.Path, name: str) -> tuple[list[str], list[str]]:
    """Return the texts and the classes of a set."""
    if name == "newsgroups":
        return newsgroups(folder / "newsgroups20")
    if name == "stackoverflow":
        return stack_overflow(folder / "stackoverflow_titles")
    if name == "clinc":
        with (folder / "questions_clinc150" / "domains.csv").open(encoding="utf-8") as lines:
            domains = {row["label"]: row["domain"] for row in csv.DictReader(lines)}
        records = _records(folder / "questions_clinc150" / "clinc150.jsonl.gz")
        records = [record for record in records if record["label"] in domains]
        return [record["text"] for record in records], [domains[record["label"]] for record in records]
    files = {"agnews": "agnews4k", "snippets": "searchsnippets4k", "biomedical": "biomedical4k"}
    records = _records(folder / "short_texts" / f"{files[name]}.jsonl.gz")
    return [record["text"] for record in records], [record["label"] for record in records]


def _records(path: pathlib.Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def topics_of(name: str, words: dict[str, list[str]]) -> list[doccluster.Topic]:
    """Return topics with words, by class."""
    return [doccluster.Topic(f"class {label}", tuple(of_class)) for label, of_class in words.items()]


@cache
def documents_of(folder: str, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the documents of a set that are clustered, and their classes."""
    texts, classes = texts_of(pathlib.Path(folder), name)
    rows = np.sort(np.random.default_rng(0).permutation(len(texts))[:MAX_DOCUMENTS])
    table = pd.DataFrame({"id": [f"d{row}" for row in rows], "text": [texts[row] for row in rows]})
    return table, np.array([f"class {classes[row]}" for row in rows])


def topics_for(kind: str, name: str, table: pd.DataFrame, truth: np.ndarray, seed: int) -> Any:
    """Return the topics of a kind of guidance, None for none."""
    words = {
        line.split(":")[0].strip(): [word.strip() for word in line.split(":")[1].split(",")]
        for line in WORDS[name].strip().splitlines()
    }
    topics = topics_of(name, words)
    rng = np.random.default_rng(seed)
    dealt = rng.permutation([word for of_class in words.values() for word in of_class])
    parts = np.split(dealt, np.cumsum([len(of_class) for of_class in words.values()])[:-1])
    kinds: dict[str, Any] = {
        "none": None,
        "words": topics,
        "words of half": topics[::2],
        "shuffled words": topics_of(name, dict(zip(words, map(list, parts), strict=True))),
    }
    for draw in range(N_DRAWS):
        drawn = np.random.default_rng(draw).permutation(len(topics))[: (len(topics) + 1) // 2]
        kinds[f"words of draw {draw}"] = [topics[place] for place in np.sort(drawn)]
    for n_examples in EXAMPLES:
        examples = []
        for topic in topics:
            chosen = rng.permutation(np.flatnonzero(truth == topic.name))[:n_examples]
            examples.append(doccluster.Topic(topic.name, (), tuple(table["id"].iloc[chosen])))
        kinds[f"{n_examples} examples"] = examples
    return kinds[kind]


def run_of(folder: str, name: str, topics: Any, seed: int, encoder: str | None) -> doccluster.results.record.Run:
    """Return a run with as many clusters as classes."""
    n_classes = len(WORDS[name].strip().splitlines())
    return doccluster.run(
        documents_of(folder, name)[0],
        n_clusters=n_classes,
        topics=topics,
        random_state=seed,
        levels="none",
        measures="rss",
        encoder=encoder,
    )


@lru_cache(maxsize=N_SEEDS)
def free_run(folder: str, name: str, seed: int, encoder: str | None) -> doccluster.results.record.Run:
    """Return a run without guidance."""
    return run_of(folder, name, None, seed, encoder)


@lru_cache(maxsize=N_SEEDS)
def labels_of_peer(folder: str, corpus: str, is_guided: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return BERTopic's clusters of the documents of a run without guidance, and the class of each by its words."""
    table, truth = documents_of(folder, corpus)
    free = free_run(folder, corpus, seed, "static")
    texts = table.set_index("id")["text"].loc[list(free.documents.ids)].tolist()
    topics = topics_for("words", corpus, table, truth, seed)
    meaning, encoder = free.vectors.meaning, get_encoder("static", n_threads=1)
    assert meaning is not None

    def embeddings_of(phrases: list[str]) -> np.ndarray:
        return seen_from(meaning.centre, unit_rows(encode(encoder, list(phrases)), warn=False))

    peer = import_module("bertopic").BERTopic(
        seed_topic_list=[list(topic.words) for topic in topics] if is_guided else None,
        embedding_model=make_pipeline(FunctionTransformer(embeddings_of)),
        umap_model=import_module("umap").UMAP(**UMAP, random_state=seed),
        hdbscan_model=KMeans(len(topics), n_init=10, random_state=seed),
    )
    labels = np.array(peer.fit_transform(texts, embeddings=meaning.rows.copy())[0])
    columns = {term: column for column, term in enumerate(peer.vectorizer_model.get_feature_names_out())}
    weights = np.empty((len(topics), len(topics)))
    for number, topic in enumerate(topics):
        words = {columns[word] for word in " ".join(topic.words).split() if word in columns}
        weights[:, number] = np.asarray(peer.c_tf_idf_.tocsc()[:, list(words)].sum(axis=1)).ravel()
    places = linear_sum_assignment(weights, maximize=True)[1]
    return labels, np.array([topic.name for topic in topics])[places][labels]


def measure(folder: str, corpus: str, guidance: str) -> Iterator[dict[str, object]]:
    """Yield a line for a kind of guidance."""
    table, truth = documents_of(folder, corpus)
    kind = guidance.removeprefix(STATIC).removeprefix(NEAREST).removeprefix(PEER).removesuffix(BEST_NAMES)
    encoder = "static" if guidance.startswith(STATIC) else None
    lines = []
    for seed in range(N_SEEDS):
        topics = topics_for(kind, corpus, table, truth, seed)
        free = free_run(folder, corpus, seed, encoder)
        of_document = dict(zip(table["id"], truth, strict=True))
        classes = np.array([of_document[name] for name in free.documents.ids])
        if PEER in guidance:
            labels, predicted = labels_of_peer(folder, corpus, topics is not None, seed)
            if guidance.endswith(BEST_NAMES):
                predicted = best_names(labels, classes)
            nmi = doccluster.score("nmi", labels, truth=classes.tolist()).value
            lines.append({"right": float((predicted == classes).mean()), "nmi": nmi})
        elif NEAREST in guidance:
            lines.append(scores_of_nearest(free, classes, topics))
        else:
            run = free if topics is None else run_of(folder, corpus, topics, seed, encoder)
            lines.append(scores_of(run, classes, topics, free.partition.labels))
    means = pd.DataFrame(lines).mean()
    yield {column: round(float(means[column]), 4) for column in COLUMNS if column in means}


def scores_of_nearest(
    run: doccluster.results.record.Run, truth: np.ndarray, topics: list[doccluster.Topic]
) -> dict[str, float]:
    """Return the scores of the nearest mean of each topic's documents: those with its words, or its examples."""
    rows = run.vectors.matrix if run.vectors.meaning is None else run.vectors.meaning.rows
    ids = np.array(list(run.documents.ids))
    assert run.vectorizer is not None
    means = []
    for topic in topics:
        is_meant = np.isin(ids, topic.examples)
        if topic.words:
            terms = run.vectorizer.transform_counts([" ; ".join(topic.words)]).indices
            is_meant = np.asarray(run.vectors.counts[:, terms].sum(axis=1)).ravel() > 0
        mean = np.asarray(rows[is_meant].sum(axis=0)).ravel()
        means.append(mean / max(np.linalg.norm(mean), 1e-12))
    nearest = np.asarray(rows @ np.array(means).T).argmax(axis=1)
    predicted = np.array([topic.name for topic in topics])[nearest]
    is_judged = ~np.isin(ids, [example for topic in topics for example in topic.examples])
    nmi = doccluster.score("nmi", nearest, truth=truth.tolist()).value
    return {"right": float((predicted == truth)[is_judged].mean()), "nmi": nmi}


def scores_of(
    run: doccluster.results.record.Run, truth: np.ndarray, guidance: Any, free: np.ndarray
) -> dict[str, float]:
    """Return the scores of a run; `free` are the labels of the run without guidance."""
    labels = run.partition.labels
    names = sorted(set(truth))
    scores = {"nmi": doccluster.score("nmi", labels, truth=truth.tolist()).value}
    if guidance is None:
        return {"right": float((best_names(labels, truth) == truth).mean()), **scores}
    predicted = np.array([cluster.name for cluster in run.clusters], dtype=object)[labels]
    if len(guidance) == len(names):
        ids = np.array(list(run.documents.ids))
        is_judged = ~np.isin(ids, [example for topic in guidance for example in topic.examples])
        return {"right": float((predicted == truth)[is_judged].mean()), **scores}
    guided = [topic.name for topic in guidance]
    f1 = [
        2 * ((predicted == name) & (truth == name)).sum() / ((predicted == name).sum() + (truth == name).sum())
        for name in guided
    ]
    is_rest = ~np.isin(truth, guided)
    of_rest, of_free = (
        doccluster.score("nmi", numbers[is_rest], truth=truth[is_rest].tolist()).value for numbers in (labels, free)
    )
    return {**scores, "f1_of_guided": float(np.mean(f1)), "nmi_of_rest": of_rest - of_free}


def best_names(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the class of each document's cluster, by the assignment of clusters to classes that fits best."""
    names = np.unique(truth)
    overlaps = np.zeros((labels.max() + 1, names.size))
    np.add.at(overlaps, (labels, np.searchsorted(names, truth)), 1)
    clusters, classes = linear_sum_assignment(overlaps, maximize=True)
    of_cluster = np.full(labels.max() + 1, "", dtype=object)
    of_cluster[clusters] = names[classes]
    of_document: np.ndarray = of_cluster[labels]
    return of_document


def main(arguments: list[str]) -> None:
    """Run what is not done yet and print the table."""
    folder = pathlib.Path(arguments[0]) if arguments else HERE.parents[2] / "shared" / "corpora"
    kinds = [kind for kind in KINDS if PEER not in kind or find_spec("bertopic")]
    lines = run_cases(
        HERE / "results" / "guidance.csv",
        [{"corpus": corpus, "guidance": guidance} for corpus in WORDS for guidance in kinds],
        partial(measure, str(folder)),
        columns=COLUMNS,
    )
    table = pd.DataFrame(lines)
    for column in COLUMNS:
        print(f"\n{column}")
        print(table.pivot(index="guidance", columns="corpus", values=column).dropna(how="all").to_string())


if __name__ == "__main__":
    main(sys.argv[1:])
