"""External measures that look at pairs of documents: do they share a cluster, do they share a class?

TP, FP, FN and TN are the pairs in the same cluster and class, in the same cluster only, in the same class only, and
apart. Zaki & Meira (17.6-17.10) and Sharma & Sharma (SS, SD, DS, DD) count the same four. The counts are Python
integers, so products of four of them neither overflow nor round.
"""

from __future__ import annotations

import math

from doccluster.measures.contingency import ContingencyTable
from doccluster.measures.registry import Values, alias, check_beta, external_measure, f_beta, undefined


@external_measure(
    "pair_precision",
    formula="P = TP / (TP + FP)",
    source="IIR, 16.3; Zaki & Meira, 17.1.3",
    meaning="Of the pairs of documents that share a cluster, the share that also share a class.",
    edges="identical partitions: 1, also all singletons; else all singletons: 0",
    swapped="pair_recall",
)
def pair_precision(table: ContingencyTable) -> float:
    """Return the share of pairs of one cluster that are of one class."""
    pairs = table.pairs
    return _share(pairs.together, pairs.together + pairs.cluster_only, table)


@external_measure(
    "pair_recall",
    formula="R = TP / (TP + FN)",
    source="IIR, 16.3; Zaki & Meira, 17.1.3",
    meaning="Of the pairs of documents that share a class, the share that also share a cluster.",
    edges="identical partitions: 1, also all singletons; else a truth of singletons: 0",
    swapped="pair_precision",
)
def pair_recall(table: ContingencyTable) -> float:
    """Return the share of pairs of one class that are in one cluster."""
    pairs = table.pairs
    return _share(pairs.together, pairs.together + pairs.class_only, table)


def _share(part: int, whole: int, table: ContingencyTable) -> float:
    if table.is_identical:
        return 1.0
    return part / whole if whole else 0.0


alias("wallace1", of="pair_precision", title="Wallace index 1", source="Wallace 1983", swapped="wallace2")
alias("wallace2", of="pair_recall", title="Wallace index 2", source="Wallace 1983", swapped="wallace1")


@external_measure(
    "pair_f",
    title="F-measure of pairs",
    formula="(1 + b2) TP / ((1 + b2) TP + b2 FN + FP), b2 = beta^2, beta = 1 by default",
    source="IIR, 16.3; Sharma & Sharma, II.A (their beta^2 stands at the wrong term)",
    meaning="Pair precision and recall in one number; beta > 1 punishes separated classes more than mixed clusters.",
    edges="identical partitions: 1; else all singletons on either side: 0; beta = inf is pair recall",
)
def pair_f(table: ContingencyTable, *, beta: float = 1.0) -> float:
    """Return F_beta of pair precision and pair recall."""
    return f_beta(pair_precision(table), pair_recall(table), check_beta(beta))


alias("pair_f1", of="pair_f", title="F1 of pairs", parameters={"beta": 1.0}, swapped="pair_f1")


def czekanowski_dice(table: ContingencyTable) -> float:
    """Return the F of pair precision and recall with equal weights."""
    return pair_f(table)


alias(
    "czekanowski_dice",
    of="pair_f",
    function=czekanowski_dice,
    title="Czekanowski-Dice index",
    formula="2 TP / (2 TP + FN + FP) = 2 J / (1 + J)",
    source="Dice 1945",
    swapped="czekanowski_dice",
)


@external_measure(
    "rand",
    also_called=("rand_score", "rand_index"),
    title="Rand index",
    formula="(TP + TN) / M, M = n (n - 1) / 2",
    source="IIR, 16.3; Zaki & Meira, Eq. 17.12; Sharma & Sharma call it the adjusted random index",
    meaning="The share of pairs on which the partitions agree. With many small clusters nearly all pairs are apart in "
    "both, so it is near 1 whatever was found: see adjusted_rand.",
    edges="one document: 1; 0 only for one cluster against all singletons",
    swapped="rand",
)
def rand(table: ContingencyTable) -> float:
    """Return the share of pairs on which the two partitions agree."""
    pairs = table.pairs
    return (pairs.together + pairs.apart) / pairs.total if pairs.total else 1.0


def mirkin(table: ContingencyTable) -> float:
    """Return the Mirkin metric over n^2."""
    return mirkin_raw(table) / table.n_documents**2


def mirkin_raw(table: ContingencyTable) -> float:
    """Return twice the number of pairs on which the partitions disagree."""
    return float(2 * (table.pairs.cluster_only + table.pairs.class_only))


alias(
    "mirkin",
    of="rand",
    function=mirkin,
    title="Mirkin metric, normalised",
    direction="lower",
    formula="2 (FP + FN) / n^2 = (1 - Rand) (n - 1) / n",
    source="Mirkin 1996",
    edges="identical partitions: 0",
    range="[0, (n-1)/n]",
)
alias(
    "mirkin_raw",
    of="rand",
    function=mirkin_raw,
    title="Mirkin metric",
    direction="lower",
    formula="2 (FP + FN)",
    source="Mirkin 1996",
    edges="identical partitions: 0",
    range="[0, n (n-1)]",
    bounds=(0.0, None),
)


@external_measure(
    "adjusted_rand",
    also_called=("adjusted_rand_score", "adjusted_rand_index"),
    title="Adjusted Rand index",
    range="[-0.5, 1], 0 is chance",
    bounds=(-0.5, 1.0),
    formula="2 (TP TN - FN FP) / ((TP + FN)(FN + TN) + (TP + FP)(FP + TN))",
    source="Hubert & Arabie 1985; named, without a formula, by Sharma & Sharma",
    meaning="The Rand index beyond what chance gives for clusters and classes of these sizes: comparable for different "
    "numbers of clusters.",
    edges="identical partitions: 1; else one cluster, one class or all singletons: 0",
    swapped="adjusted_rand",
)
def adjusted_rand(table: ContingencyTable) -> float:
    """Return the Rand index adjusted for chance."""
    return table.pairs.adjusted_rand


alias("ari", of="adjusted_rand")


@external_measure(
    "jaccard",
    title="Jaccard coefficient",
    formula="J = TP / (TP + FP + FN)",
    source="Zaki & Meira, Eq. 17.11",
    meaning="Of the pairs together in at least one of the partitions, the share together in both: the pairs that are "
    "apart in both say nothing.",
    edges="identical partitions: 1, also all singletons",
    swapped="jaccard",
)
def jaccard(table: ContingencyTable) -> float:
    """Return the Jaccard coefficient of the pairs of the two partitions."""
    tp, fp, fn, _ = table.pairs
    return _share(tp, tp + fp + fn, table)


@external_measure(
    "fowlkes_mallows",
    also_called=("fowlkes_mallows_score", "fowlkes_mallows_index", "fmi"),
    title="Fowlkes-Mallows index",
    formula="sqrt(P R)",
    source="Zaki & Meira, Eq. 17.13",
    meaning="The geometric mean of pair precision and pair recall.",
    edges="identical partitions: 1, also all singletons (scikit-learn: 0, as no pair is together); else all singletons "
    "on either side: 0",
    swapped="fowlkes_mallows",
)
def fowlkes_mallows(table: ContingencyTable) -> float:
    """Return the geometric mean of pair precision and pair recall."""
    return math.sqrt(pair_precision(table) * pair_recall(table))


@external_measure(
    "adjusted_fowlkes_mallows",
    title="Adjusted Fowlkes-Mallows index",
    range="[-0.5, 1], 0 is chance",
    bounds=(-0.5, 1.0),
    formula="(FM - E) / (1 - E), E = sqrt((TP + FP)(TP + FN)) / M",
    source="Hubert & Arabie 1985",
    meaning="The Fowlkes-Mallows index beyond what chance gives for clusters and classes of these sizes.",
    edges="identical partitions: 1; else one cluster, one class or all singletons: 0",
    swapped="adjusted_fowlkes_mallows",
)
def adjusted_fowlkes_mallows(table: ContingencyTable) -> float:
    """Return the Fowlkes-Mallows index adjusted for chance."""
    if table.is_identical:
        return 1.0
    if table.has_single_group or table.has_singletons_only:
        return 0.0
    tp, fp, fn, _ = table.pairs
    expected = math.sqrt((tp + fp) * (tp + fn)) / table.pairs.total
    return (fowlkes_mallows(table) - expected) / (1 - expected)


@external_measure(
    "hubert_discrete",
    title="Discretised Hubert statistic",
    range="[0, share of pairs of one class]",
    formula="TP / M",
    source="Zaki & Meira, Eq. 17.16",
    meaning="The share of pairs together in both partitions. A perfect clustering reaches the share of pairs that are "
    "of one class, not 1: do not compare across corpora.",
    edges="one document: nan, there is no pair",
    swapped="hubert_discrete",
)
def hubert_discrete(table: ContingencyTable) -> float | Values:
    """Return the share of pairs that are together in both partitions."""
    if table.pairs.total == 0:
        return undefined("one document makes no pair")
    return table.pairs.together / table.pairs.total


alias("russell_rao", of="hubert_discrete", title="Russell-Rao index", source="Russell & Rao 1940")


@external_measure(
    "hubert_discrete_normalized",
    title="Normalised discretised Hubert statistic",
    range="[-0.5, 1], 0 is chance",
    bounds=(-0.5, 1.0),
    formula="(TP/M - mu_T mu_C) / sqrt(mu_T mu_C (1 - mu_T)(1 - mu_C)), mu_T = (TP + FN)/M, mu_C = (TP + FP)/M",
    source="Zaki & Meira, Eq. 17.21",
    meaning="The correlation, over pairs, of sharing a cluster with sharing a class.",
    edges="identical partitions: 1; else one cluster, one class or all singletons: 0; -1 cannot be reached",
    swapped="hubert_discrete_normalized",
)
def hubert_discrete_normalized(table: ContingencyTable) -> float:
    """Return the correlation between sharing a cluster and sharing a class."""
    if table.is_identical:
        return 1.0
    tp, fp, fn, tn = table.pairs
    products = (tp + fp) * (tp + fn) * (fn + tn) * (fp + tn)
    return (tp * tn - fp * fn) / math.sqrt(products) if products else 0.0


alias("phi", of="hubert_discrete_normalized", title="Phi coefficient", source="Pearson 1900; Desgraupes 2013")


@external_measure(
    "kulczynski",
    title="Kulczynski index",
    formula="(P + R) / 2",
    source="Kulczynski 1927",
    meaning="The arithmetic mean of pair precision and pair recall.",
    edges="identical partitions: 1; a part without pairs counts 0",
    swapped="kulczynski",
)
def kulczynski(table: ContingencyTable) -> float:
    """Return the arithmetic mean of pair precision and pair recall."""
    return (pair_precision(table) + pair_recall(table)) / 2


@external_measure(
    "mcnemar",
    title="McNemar statistic",
    direction="none",
    range="real, 0 is balanced",
    bounds=(None, None),
    formula="(FN - FP) / sqrt(FN + FP)",
    source="McNemar 1947",
    meaning="Which error prevails: above 0 the classes are broken up more than they are mixed, below 0 the reverse.",
    edges="no disagreement: 0",
)
def mcnemar(table: ContingencyTable) -> float:
    """Return the balance between pairs broken up and pairs mixed."""
    _, fp, fn, _ = table.pairs
    return (fn - fp) / math.sqrt(fn + fp) if fn + fp else 0.0


@external_measure(
    "rogers_tanimoto",
    title="Rogers-Tanimoto index",
    formula="(TP + TN) / (TP + TN + 2 (FP + FN)) = Rand / (2 - Rand)",
    source="Rogers & Tanimoto 1960",
    meaning="The Rand index with disagreements counted twice; ranks as Rand does.",
    edges="one document: 1",
    swapped="rogers_tanimoto",
)
def rogers_tanimoto(table: ContingencyTable) -> float:
    """Return the Rand index with disagreements counted twice."""
    agreement = rand(table)
    return agreement / (2 - agreement)


@external_measure(
    "sokal_sneath1",
    title="Sokal-Sneath index 1",
    formula="TP / (TP + 2 (FP + FN)) = J / (2 - J)",
    source="Sokal & Sneath 1963",
    meaning="The Jaccard coefficient with disagreements counted twice; ranks as Jaccard does.",
    edges="identical partitions: 1, also all singletons",
    swapped="sokal_sneath1",
)
def sokal_sneath1(table: ContingencyTable) -> float:
    """Return the Jaccard coefficient with disagreements counted twice."""
    agreement = jaccard(table)
    return agreement / (2 - agreement)


@external_measure(
    "sokal_sneath2",
    title="Sokal-Sneath index 2",
    formula="2 (TP + TN) / (2 (TP + TN) + FP + FN) = 2 Rand / (1 + Rand)",
    source="Sokal & Sneath 1963",
    meaning="The Rand index with agreements counted twice; ranks as Rand does.",
    edges="one document: 1",
    swapped="sokal_sneath2",
)
def sokal_sneath2(table: ContingencyTable) -> float:
    """Return the Rand index with agreements counted twice."""
    agreement = rand(table)
    return 2 * agreement / (1 + agreement)
