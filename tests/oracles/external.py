"""External measures by brute force: every pair of documents, every one-to-one map, every rearrangement is visited."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from fractions import Fraction

Labels = Sequence[object]


def groups(labels: Labels) -> list[set[int]]:
    """The documents of each label, in sorted order of the labels."""
    return [{i for i, label in enumerate(labels) if label == name} for name in sorted(set(labels))]


def same_up_to_names(found: Labels, truth: Labels) -> bool:
    return {frozenset(g) for g in groups(found)} == {frozenset(g) for g in groups(truth)}


def is_trivial(found: Labels, truth: Labels, *, singletons: bool = False) -> bool:
    sizes = {len(set(found)), len(set(truth))}
    return 1 in sizes or (singletons and len(found) in sizes)


# --- matching ---------------------------------------------------------------------------------------------------------


def purity(found, truth):
    return sum(max(len(c & t) for t in groups(truth)) for c in groups(found)) / len(found)


def inverse_purity(found, truth):
    return purity(truth, found)


def harmonic(p, r, beta=1.0):
    return 0.0 if p + r == 0 else (1 + beta**2) * p * r / (beta**2 * p + r)


def best_map(weight: Callable[[set, set], Fraction], found, truth):
    """The largest total weight over all one-to-one maps, and the maps that reach it (as lists of pairs)."""
    clusters, classes = groups(found), groups(truth)
    if len(clusters) <= len(classes):
        maps = [list(zip(clusters, chosen, strict=True)) for chosen in itertools.permutations(classes, len(clusters))]
    else:
        maps = [list(zip(chosen, classes, strict=True)) for chosen in itertools.permutations(clusters, len(classes))]
    totals = [sum(weight(c, t) for c, t in pairs) for pairs in maps]
    best = max(totals)
    return best, [pairs for pairs, total in zip(maps, totals, strict=True) if total == best]


def max_matching(found, truth):
    return float(best_map(lambda c, t: Fraction(len(c & t), len(found)), found, truth)[0])


def zaki_f(found, truth):
    scores = []
    for c in groups(found):
        most = max(len(c & t) for t in groups(truth))
        smallest = min(len(t) for t in groups(truth) if len(c & t) == most)
        scores.append(2 * most / (len(c) + smallest))
    return statistics.fmean(scores)


def strehl_f(found, truth, beta=1.0):
    def of_class(t):
        return max(harmonic(len(c & t) / len(c), len(c & t) / len(t), beta) for c in groups(found))

    return sum(len(t) * of_class(t) for t in groups(truth)) / len(found)


def van_dongen(found, truth):
    return 1 - (purity(found, truth) + inverse_purity(found, truth)) / 2


def pair_sets_index(found, truth, expected=None):
    clusters, classes, n = groups(found), groups(truth), len(found)
    larger = max(len(clusters), len(classes))
    if len(clusters) == len(classes) == 1:
        return 1.0
    similarity = best_map(lambda c, t: Fraction(len(c & t), max(len(c), len(t))), found, truth)[0]
    if expected is None:
        a, b = (sorted((len(g) for g in side), reverse=True) for side in (clusters, classes))
        expected = sum(Fraction(x * y, n * max(x, y)) for x, y in zip(a, b, strict=False))
    return float(max(Fraction(0), (similarity - expected) / (larger - expected)))


def normalized_clustering_accuracy(found, truth):
    if same_up_to_names(found, truth):
        return 1.0
    if is_trivial(found, truth):
        return 0.0
    recalls = best_map(lambda c, t: Fraction(len(c & t), len(t)), found, truth)[0]
    return float((recalls - 1) / (len(set(truth)) - 1))


def normalized_pivoted_accuracy(found, truth):
    larger = max(len(set(found)), len(set(truth)))
    return 1.0 if larger == 1 else (larger * max_matching(found, truth) - 1) / (larger - 1)


# --- clusters named after classes -------------------------------------------------------------------------------------


def mapped(found, truth, mapping):
    """One list of (tp, fp, fn) per class; for a map that is not unique, one of those that are equally good."""
    classes = groups(truth)
    if mapping == "majority":
        answer = []
        for c in groups(found):
            most = max(len(c & t) for t in classes)
            tied = [t for t in classes if len(c & t) == most]
            answer.append((c, min(tied, key=len)))
    else:
        answer = best_map(lambda c, t: len(c & t), found, truth)[1][0]
    counts = []
    for t in classes:
        given = set().union(*(c for c, name in answer if name == t))
        counts.append((len(given & t), len(given - t), len(t - given)))
    return counts


def ratio(part, whole):
    return part / whole if whole else 0.0


def macro(score, mapping="hungarian"):
    return lambda found, truth: statistics.fmean(score(*counts) for counts in mapped(found, truth, mapping))


def micro(score, mapping="hungarian"):
    return lambda found, truth: score(*map(sum, zip(*mapped(found, truth, mapping), strict=True)))


def precision_of(tp, fp, fn):
    return ratio(tp, tp + fp)


def recall_of(tp, fp, fn):
    return ratio(tp, tp + fn)


def f_of(tp, fp, fn):
    return ratio(2 * tp, 2 * tp + fp + fn)


# --- information ------------------------------------------------------------------------------------------------------


def entropy(labels):
    return -sum(len(g) / len(labels) * math.log(len(g) / len(labels)) for g in groups(labels))


def joint(found, truth):
    return list(zip(found, truth, strict=True))


def information(found, truth):
    n, total = len(found), 0.0
    for c in groups(found):
        for t in groups(truth):
            if c & t:
                total += len(c & t) / n * math.log(len(c & t) * n / (len(c) * len(t)))
    return max(total, 0.0)


def strehl_entropy(found, truth):
    g, n = len(set(truth)), len(found)
    if g == 1:
        return 1.0
    cells = ((len(c & t), len(c)) for c in groups(found) for t in groups(truth) if c & t)
    return 1 + sum(both / n * math.log(both / size, g) for both, size in cells)


def conditional_entropy(found, truth):
    return entropy(joint(found, truth)) - entropy(found)


def nmi(average):
    def measure(found, truth):
        if same_up_to_names(found, truth):
            return 1.0
        return 0.0 if is_trivial(found, truth) else information(found, truth) / average(found, truth)

    return measure


AVERAGES = {
    "arithmetic": lambda a, b: (a + b) / 2,
    "geometric": lambda a, b: math.sqrt(a * b),
    "min": min,
    "max": max,
}


def of_entropies(name):
    return lambda found, truth: AVERAGES[name](entropy(found), entropy(truth))


def nmi_strehl(found, truth):
    cells = len(set(found)) * len(set(truth))
    return 1.0 if cells == 1 else 2 * information(found, truth) / math.log(cells)


def variation_of_information(found, truth):
    return conditional_entropy(found, truth) + conditional_entropy(truth, found)


def homogeneity(found, truth):
    return 1.0 if len(set(truth)) == 1 else information(found, truth) / entropy(truth)


def v_measure(found, truth):
    return harmonic(homogeneity(found, truth), homogeneity(truth, found))


def expected_information(found, truth):
    """The mean of I over all partitions of these sizes: each pair of groups overlaps hypergeometrically."""
    n, total = len(found), 0.0
    for a in map(len, groups(found)):
        for b in map(len, groups(truth)):
            for s in range(max(1, a + b - n), min(a, b) + 1):
                chance = Fraction(math.comb(b, s) * math.comb(n - b, a - s), math.comb(n, a))
                total += float(chance) * s / n * math.log(n * s / (a * b))
    return total


def ami(name):
    def measure(found, truth):
        if same_up_to_names(found, truth):
            return 1.0
        if is_trivial(found, truth, singletons=True):
            return 0.0
        expected = expected_information(found, truth)
        room = AVERAGES[name](entropy(found), entropy(truth)) - expected
        return 0.0 if abs(room) < 1e-12 else (information(found, truth) - expected) / room

    return measure


# --- pairs of documents -----------------------------------------------------------------------------------------------


def pair_counts(found, truth):
    counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for i, j in itertools.combinations(range(len(found)), 2):
        counts[found[i] == found[j], truth[i] == truth[j]] += 1
    return counts[True, True], counts[True, False], counts[False, True], counts[False, False]


def of_pairs(formula, identical=None):
    """A formula of TP, FP, FN, TN; 0/0 is 0, and identical partitions have a value of their own."""

    def measure(found, truth):
        if identical is not None and same_up_to_names(found, truth):
            return identical
        try:
            return float(formula(*pair_counts(found, truth)))
        except ZeroDivisionError:
            return 0.0

    return measure


def share(part, whole):
    return part / whole if whole else 0.0


def adjusted_fowlkes_mallows(found, truth):
    if same_up_to_names(found, truth):
        return 1.0
    if is_trivial(found, truth, singletons=True):
        return 0.0
    tp, fp, fn, tn = pair_counts(found, truth)
    plain = tp / math.sqrt((tp + fp) * (tp + fn))
    expected = math.sqrt((tp + fp) * (tp + fn)) / (tp + fp + fn + tn)
    return (plain - expected) / (1 - expected)


def pair_correlation(found, truth):
    """Pearson's correlation of the two 0/1 vectors over pairs."""
    if same_up_to_names(found, truth):
        return 1.0
    pairs = list(itertools.combinations(range(len(found)), 2))
    x = [float(found[i] == found[j]) for i, j in pairs]
    y = [float(truth[i] == truth[j]) for i, j in pairs]
    if len(set(x)) < 2 or len(set(y)) < 2:
        return 0.0
    return statistics.correlation(x, y)


def hubert_discrete(found, truth):
    tp, fp, fn, tn = pair_counts(found, truth)
    return tp / (tp + fp + fn + tn) if len(found) > 1 else math.nan


def kulczynski(tp, fp, fn, tn):
    return (share(tp, tp + fp) + share(tp, tp + fn)) / 2


# --- retrieval --------------------------------------------------------------------------------------------------------


def bcubed_precision(found, truth):
    n = len(found)

    def of_document(i):
        cluster = [j for j in range(n) if found[j] == found[i]]
        return sum(truth[j] == truth[i] for j in cluster) / len(cluster)

    return statistics.fmean(of_document(i) for i in range(n))


def bcubed_recall(found, truth):
    return bcubed_precision(truth, found)


def labels_of(label):
    """The labels of a document: one, or those in a set or list."""
    return set(label) if isinstance(label, set | frozenset | list) else {label}


def extended_bcubed(found, truth, *, recall=False):
    """Amigó et al. 2009, pair by pair: multiplicity precision and recall, each document with itself too."""
    documents = [(c, labels_of(t)) for c, t in zip(found, truth, strict=True) if labels_of(t)]
    averages = []
    for cluster, own in documents:
        values = []
        for other_cluster, other in documents:
            clusters, labels = int(cluster == other_cluster), len(own & other)
            if (labels if recall else clusters) > 0:
                values.append(min(clusters, labels) / (labels if recall else clusters))
        averages.append(statistics.fmean(values))
    return statistics.fmean(averages)


def nccg_of(counts):
    """NCCG of one topic from its documents per cluster, with the vectors written out."""
    n_r = sum(counts)
    if n_r < 2:
        return math.nan
    padded = sorted(counts, reverse=True) + [0] * n_r
    split = sum(itertools.accumulate(padded[:n_r])) / n_r**2
    least = sum(itertools.accumulate([1] * n_r)) / n_r**2
    return (split - least) / (1 - least)


def nccg(statistic):
    def measure(found, truth):
        scores = [nccg_of([len(c & t) for c in groups(found)]) for t in groups(truth)]
        usable = [score for score in scores if not math.isnan(score)]
        return statistic(usable) if usable else math.nan

    return measure


# --- chance -----------------------------------------------------------------------------------------------------------


def divergence_of(measure):
    def divergence(found, truth):
        every = set(itertools.permutations(found))
        return measure(found, truth) - statistics.fmean(measure(list(each), truth) for each in every)

    return divergence


ORACLES: dict[str, Callable[[Labels, Labels], float]] = {
    "purity": purity,
    "accuracy_majority": purity,
    "inverse_purity": inverse_purity,
    "purity_f": lambda f, t: harmonic(purity(f, t), inverse_purity(f, t)),
    "max_matching": max_matching,
    "accuracy": max_matching,
    "zaki_f": zaki_f,
    "strehl_f": strehl_f,
    "strehl_f1": strehl_f,
    "van_dongen": van_dongen,
    "van_dongen_raw": lambda f, t: 2 * len(f) * van_dongen(f, t),
    "pair_sets_index": pair_sets_index,
    "pair_sets_index_simplified": lambda f, t: pair_sets_index(f, t, expected=1),
    "normalized_clustering_accuracy": normalized_clustering_accuracy,
    "normalized_pivoted_accuracy": normalized_pivoted_accuracy,
    "macro_precision": macro(precision_of),
    "macro_recall": macro(recall_of),
    "macro_f": macro(f_of),
    "micro_precision": micro(precision_of),
    "micro_recall": micro(recall_of),
    "micro_f": micro(f_of),
    "macro_precision_majority": macro(precision_of, "majority"),
    "macro_recall_majority": macro(recall_of, "majority"),
    "macro_f_majority": macro(f_of, "majority"),
    "micro_precision_majority": micro(precision_of, "majority"),
    "micro_f_majority": micro(f_of, "majority"),
    "pair_precision": of_pairs(lambda tp, fp, fn, tn: tp / (tp + fp), identical=1.0),
    "wallace1": of_pairs(lambda tp, fp, fn, tn: tp / (tp + fp), identical=1.0),
    "pair_recall": of_pairs(lambda tp, fp, fn, tn: tp / (tp + fn), identical=1.0),
    "wallace2": of_pairs(lambda tp, fp, fn, tn: tp / (tp + fn), identical=1.0),
    "pair_f": of_pairs(lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn), identical=1.0),
    "pair_f1": of_pairs(lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn), identical=1.0),
    "czekanowski_dice": of_pairs(lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn), identical=1.0),
    "rand": of_pairs(lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn), identical=1.0),
    "mirkin": lambda f, t: 2 * sum(pair_counts(f, t)[1:3]) / len(f) ** 2,
    "mirkin_raw": lambda f, t: 2 * sum(pair_counts(f, t)[1:3]),
    "adjusted_rand": of_pairs(
        lambda tp, fp, fn, tn: 2 * (tp * tn - fn * fp) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn)), identical=1.0
    ),
    "ari": of_pairs(
        # (index - expected) / (maximum - expected), Hubert & Arabie's own form
        lambda tp, fp, fn, tn: (
            (tp - (tp + fp) * (tp + fn) / (tp + fp + fn + tn))
            / ((2 * tp + fp + fn) / 2 - (tp + fp) * (tp + fn) / (tp + fp + fn + tn))
        ),
        identical=1.0,
    ),
    "jaccard": of_pairs(lambda tp, fp, fn, tn: tp / (tp + fp + fn), identical=1.0),
    "fowlkes_mallows": of_pairs(lambda tp, fp, fn, tn: tp / math.sqrt((tp + fp) * (tp + fn)), identical=1.0),
    "adjusted_fowlkes_mallows": adjusted_fowlkes_mallows,
    "hubert_discrete": hubert_discrete,
    "russell_rao": hubert_discrete,
    "hubert_discrete_normalized": pair_correlation,
    "phi": pair_correlation,
    "kulczynski": of_pairs(kulczynski, identical=1.0),
    "mcnemar": of_pairs(lambda tp, fp, fn, tn: (fn - fp) / math.sqrt(fn + fp)),
    "rogers_tanimoto": of_pairs(lambda tp, fp, fn, tn: (tp + tn) / (tp + tn + 2 * (fp + fn)), identical=1.0),
    "sokal_sneath1": of_pairs(lambda tp, fp, fn, tn: tp / (tp + 2 * (fp + fn)), identical=1.0),
    "sokal_sneath2": of_pairs(lambda tp, fp, fn, tn: 2 * (tp + tn) / (2 * (tp + tn) + fp + fn), identical=1.0),
    "strehl_entropy": strehl_entropy,
    "devries_entropy": lambda f, t: 1 - strehl_entropy(f, t),
    "conditional_entropy": conditional_entropy,
    "conditional_entropy_of_clusters": lambda f, t: conditional_entropy(t, f),
    "mutual_information": information,
    "nmi": nmi(of_entropies("arithmetic")),
    "nmi_arithmetic": nmi(of_entropies("arithmetic")),
    "nmi_geometric": nmi(of_entropies("geometric")),
    "nmi_min": nmi(of_entropies("min")),
    "nmi_max": nmi(of_entropies("max")),
    "nmi_joint": nmi(lambda f, t: entropy(joint(f, t))),
    "normalized_id": lambda f, t: 1 - nmi(of_entropies("max"))(f, t),
    "normalized_vi": lambda f, t: 1 - nmi(lambda a, b: entropy(joint(a, b)))(f, t),
    "nmi_strehl": nmi_strehl,
    "variation_of_information": variation_of_information,
    "vi": variation_of_information,
    "vi_over_log_n": lambda f, t: variation_of_information(f, t) / math.log(len(f)) if len(f) > 1 else 0.0,
    "homogeneity": homogeneity,
    "completeness": lambda f, t: homogeneity(t, f),
    "v_measure": v_measure,
    "ami": ami("arithmetic"),
    "ami_arithmetic": ami("arithmetic"),
    "ami_geometric": ami("geometric"),
    "ami_min": ami("min"),
    "ami_max": ami("max"),
    "bcubed_precision": bcubed_precision,
    "bcubed_recall": bcubed_recall,
    "bcubed_f": lambda f, t: harmonic(bcubed_precision(f, t), bcubed_recall(f, t)),
    "bcubed_precision_extended": extended_bcubed,
    "bcubed_recall_extended": lambda f, t: extended_bcubed(f, t, recall=True),
    "bcubed_f_extended": lambda f, t: harmonic(extended_bcubed(f, t), extended_bcubed(f, t, recall=True)),
    "nccg": nccg(statistics.fmean),
    "nccg_std": nccg(statistics.pstdev),
    "divergence_from_random_baseline": divergence_of(purity),
}
