"""Internal, intrinsic and topic measures by brute force: every pair of documents, every term, in plain Python loops.

Each oracle takes dense rows, labels and the metric, and follows the printed formula; nothing comes from the package.
"""

from __future__ import annotations

import itertools
import math
from functools import partial

NAN, INF = math.nan, math.inf
GRID = 1e-10


class Case:
    """Rows, labels, and what the formulas need of them, each computed from its definition."""

    def __init__(self, rows, labels, metric):
        if metric == "cosine":  # the cosine ignores length
            rows = [[x / length(row) for x in row] if length(row) > 0 else row for row in rows]
        self.rows, self.labels, self.metric = rows, list(labels), metric
        self.names = sorted(set(labels))
        self.clusters = [[i for i, name in enumerate(labels) if name == c] for c in self.names]
        self.own = [self.names.index(name) for name in labels]
        self.n, self.k, self.d = len(rows), len(self.names), len(rows[0])
        self.sums = [[math.fsum(rows[i][t] for i in c) for t in range(self.d)] for c in self.clusters]
        self.means = [[s / len(c) for s in total] for total, c in zip(self.sums, self.clusters, strict=True)]
        self.centroids = [scaled(total) for total in self.sums]
        self.grand = [math.fsum(row[t] for row in rows) / self.n for t in range(self.d)]
        self.rss = [math.fsum(squared(rows[i], m) for i in c) for c, m in zip(self.clusters, self.means, strict=True)]
        self.bgss = math.fsum(len(c) * squared(m, self.grand) for c, m in zip(self.clusters, self.means, strict=True))
        self.pairs = list(itertools.combinations(range(self.n), 2))
        self.w = {(i, j): self.distance(i, j) for i, j in self.pairs}
        self.within = [p for p in self.pairs if self.own[p[0]] == self.own[p[1]]]
        self.between = [p for p in self.pairs if self.own[p[0]] != self.own[p[1]]]
        self.similarity = [[dot(row, c) for c in self.centroids] for row in rows]

    def distance(self, i, j):
        if i == j:
            return 0.0
        if self.metric == "cosine":
            return cosine_distance(self.rows[i], self.rows[j])
        return math.sqrt(squared(self.rows[i], self.rows[j]))

    def to_centre(self, i, c):
        if self.metric == "cosine":
            return 1 - self.similarity[i][c] if length(self.sums[c]) > 0 else 1.0
        return math.sqrt(squared(self.rows[i], self.means[c]))

    def of_centres(self, a, b):
        if a == b:
            return 0.0
        if self.metric == "cosine":
            return cosine_distance(self.sums[a], self.sums[b])
        return math.sqrt(squared(self.means[a], self.means[b]))

    def of_means(self, a, b):
        return math.sqrt(squared(self.means[a], self.means[b]))

    def weight(self, a, b):
        return math.fsum(self.distance(i, j) for i in self.clusters[a] for j in self.clusters[b])

    def all_of_two(self):
        return list(itertools.combinations(range(self.k), 2))


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def length(a):
    return math.sqrt(dot(a, a))


def scaled(a):
    return [x / length(a) for x in a] if length(a) > 0 else list(a)


def noise_free(value, scale):
    return 0.0 if value <= 1e-14 * scale else value


def squared(a, b):
    return noise_free(math.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True)), dot(a, a) + dot(b, b))


def cosine_distance(a, b):
    if length(a) == 0 or length(b) == 0:
        return 1.0
    return noise_free(1 - dot(a, b) / (length(a) * length(b)), 1.0)


def mean(values):
    values = [value for value in values if not math.isnan(value)]
    return math.fsum(values) / len(values) if values else NAN


def ratio(a, b):
    if b > 0:
        return a / b
    return INF if a > 0 else NAN


# --- sums and centroids -----------------------------------------------------------------------------------------------


def rss(case):
    return math.fsum(case.rss)


def skm_objective(case):
    return math.fsum(case.similarity[i][case.own[i]] for i in range(case.n))


def criterion(case, name):
    """Criterion functions from products of pairs of documents: within clusters, and with all documents."""
    filled = [[i for i in c if any(case.rows[i])] for c in case.clusters]
    products = {(i, j): dot(case.rows[i], case.rows[j]) for i in range(case.n) for j in range(case.n)}
    parts = {"i1": 0.0, "i2": 0.0, "e1": 0.0, "g1": 0.0}
    for cluster in filter(None, filled):
        within = math.fsum(products[i, j] for i in cluster for j in cluster)
        to_all = math.fsum(products[i, j] for i in cluster for j in range(case.n))
        parts["i1"] += within / len(cluster)
        parts["i2"] += math.sqrt(within)
        parts["e1"] += len(cluster) * to_all / math.sqrt(within)
        parts["g1"] += (to_all - within) / within
    if name in ("h1", "h2"):
        return ratio(parts["i" + name[1]], parts["e1"])
    return parts[name]


def coherent(case, i, average):
    mine = case.similarity[i]
    own = mine[case.own[i]]
    if own <= 0:
        return False
    others = [s for c, s in enumerate(mine) if c != case.own[i]]
    bound = mean(mine) if average == "all" else mean(others)
    return all(s <= bound + 1e-12 for s in others)


def coherence(case, average="all"):
    return sum(coherent(case, i, average) for i in range(case.n)) / case.n


def adherence(case, summary=max):
    return summarised(case, lambda p, q: max(case.similarity[i][q] for i in case.clusters[p]), summary)


def ics(case, summary=mean):
    def separation(p, q):
        if length(case.sums[p]) == 0 or length(case.sums[q]) == 0:
            return NAN
        return dot(case.centroids[p], case.centroids[p]) - dot(case.centroids[p], case.centroids[q])

    return summarised(case, separation, summary)


def ics_raw_means(case):
    return summarised(case, lambda p, q: dot(case.means[p], case.means[p]) - dot(case.means[p], case.means[q]), mean)


def summarised(case, of_two, summary):
    values = [of_two(p, q) for p in range(case.k) for q in range(case.k) if p != q]
    values = [value for value in values if not math.isnan(value)]
    return summary(values) if values else NAN


def density(case, over_size=False):
    totals = [math.fsum(row[t] for row in case.rows) for t in range(case.d)]
    alpha = next(t for t in range(case.d) if totals[t] >= max(totals) - 1e-12)
    values = []
    for cluster in case.clusters:
        column = [case.rows[i][alpha] for i in cluster]
        values.append((1 if over_size else len(cluster)) / (max(column) - min(column) + 1))
    return mean(values)


def pairwise_similarity(case):
    total, documents = 0.0, 0
    for cluster in case.clusters:
        if len(cluster) > 1:
            total += len(cluster) * mean(
                [dot(case.rows[i], case.rows[j]) for i, j in itertools.combinations(cluster, 2)]
            )
            documents += len(cluster)
    return total / documents if documents else NAN


# --- scatter ----------------------------------------------------------------------------------------------------------


def calinski_harabasz(case):
    if case.k in (1, case.n):
        return NAN
    return (case.n - case.k) / (case.k - 1) * case.bgss / rss(case) if rss(case) else ratio(case.bgss, 0)


def r_squared(case):
    if case.k == 1:
        return 0.0 if rss(case) > 0 else NAN
    return case.bgss / (case.bgss + rss(case)) if case.bgss + rss(case) > 0 else NAN


def log_ss_ratio(case):
    if case.k == 1 or (rss(case) == 0 and case.bgss == 0):
        return NAN
    if rss(case) == 0:
        return INF
    return math.log(case.bgss / rss(case)) if case.bgss > 0 else -INF


def ball_hall(case):
    return mean([r / len(c) for r, c in zip(case.rss, case.clusters, strict=True)])


def banfield_raftery(case):
    if min(case.rss) == 0:
        return -INF
    return math.fsum(len(c) * math.log(r / len(c)) for r, c in zip(case.rss, case.clusters, strict=True))


def ray_turi(case):
    if case.k == 1:
        return NAN
    nearest = min(case.of_means(a, b) for a, b in case.all_of_two()) ** 2
    return rss(case) / case.n / nearest if nearest > 0 else INF


def variance(case, members, t):
    values = [case.rows[i][t] for i in members]
    centre = math.fsum(values) / len(values)
    return noise_free(
        math.fsum((v - centre) ** 2 for v in values) / len(values), math.fsum(v * v for v in values) / len(values)
    )


def ratkowsky_lance(case):
    shares = []
    for t in range(case.d):
        total = variance(case, range(case.n), t) * case.n
        if total > 0:
            shares.append(
                math.fsum(len(c) * (m[t] - case.grand[t]) ** 2 for c, m in zip(case.clusters, case.means, strict=True))
                / total
            )
    if not shares:
        return NAN
    return 0.0 if case.k == 1 else math.sqrt(mean(shares) / case.k)


def sd_scat(case):
    whole = length([variance(case, range(case.n), t) for t in range(case.d)])
    if whole == 0:
        return NAN
    return mean([length([variance(case, c, t) for t in range(case.d)]) / whole for c in case.clusters])


def sd_dis(case):
    if case.k == 1:
        return NAN
    table = [[case.of_means(a, b) for b in range(case.k)] for a in range(case.k)]
    apart = [table[a][b] for a, b in case.all_of_two()]
    if min(apart) == 0:
        return INF
    return max(apart) / min(apart) * math.fsum(1 / math.fsum(line) for line in table)


# --- distances to means -----------------------------------------------------------------------------------------------


def davies_bouldin(case, q=2):
    if case.k == 1:
        return NAN
    spread = [
        (math.fsum(math.sqrt(squared(case.rows[i], m)) ** q for i in c) / len(c)) ** (1 / q)
        for c, m in zip(case.clusters, case.means, strict=True)
    ]
    worst = []
    for a in range(case.k):
        worst.append(
            max(
                (spread[a] + spread[b]) / case.of_means(a, b) if case.of_means(a, b) > 0 else INF
                for b in range(case.k)
                if b != a
            )
        )
    return math.fsum(worst) / case.k


def own_and_next(case, i):
    reach = [math.sqrt(squared(case.rows[i], m)) for m in case.means]
    return reach[case.own[i]], min(r for c, r in enumerate(reach) if c != case.own[i])


def width(a, b):
    return (b - a) / max(a, b) if max(a, b) > 0 else 0.0


def simplified_silhouette(case):
    if case.k == 1:
        return NAN
    values = []
    for i in range(case.n):
        alone = len(case.clusters[case.own[i]]) == 1
        values.append(0.0 if alone else width(*own_and_next(case, i)))
    return mean(values)


def wemmert_gancarski(case):
    if case.k == 1:
        return NAN
    total = 0.0
    for cluster in case.clusters:
        ratios = []
        for i in cluster:
            a, b = own_and_next(case, i)
            ratios.append(a / b if b > 0 else (INF if a > 0 else 1.0))
        total += max(0.0, len(cluster) - sum(ratios))
    return total / case.n


def pbm(case):
    if case.k == 1:
        return NAN
    within = math.fsum(own_and_next(case, i)[0] for i in range(case.n))
    whole = math.fsum(math.sqrt(squared(row, case.grand)) for row in case.rows)
    reach = whole * max(case.of_means(a, b) for a, b in case.all_of_two())
    return (reach / within / case.k) ** 2 if within > 0 else ratio(reach, 0)


# --- pairs ------------------------------------------------------------------------------------------------------------


def silhouette(case, over="documents"):
    if case.k == 1:
        return NAN
    values = []
    for i in range(case.n):
        own = case.clusters[case.own[i]]
        if len(own) == 1:
            values.append(0.0)
            continue
        a = math.fsum(case.distance(i, j) for j in own if j != i) / (len(own) - 1)
        b = min(mean([case.distance(i, j) for j in c]) for c in case.clusters if c is not own)
        values.append(width(a, b))
    if over == "clusters":
        return mean([mean([values[i] for i in c]) for c in case.clusters])
    return mean(values)


def both_kinds(function):
    def guarded(case, **options):
        return function(case, **options) if case.within and case.between else NAN

    return guarded


@both_kinds
def beta_cv(case):
    return ratio(mean([case.w[p] for p in case.within]), mean([case.w[p] for p in case.between]))


@both_kinds
def c_index(case):
    ordered = sorted(case.w.values())
    number = len(case.within)
    least, most = math.fsum(ordered[:number]), math.fsum(ordered[-number:])
    if most - least <= 1e-12 * most:
        return NAN
    return (math.fsum(case.w[p] for p in case.within) - least) / (most - least)


def normalized_cut(case):
    total = 0.0
    for a in range(case.k):
        to_all = math.fsum(case.weight(a, b) for b in range(case.k))
        if to_all == 0:
            return NAN
        total += (to_all - case.weight(a, a)) / to_all
    return total


def modularity(case):
    table = [[case.weight(a, b) for b in range(case.k)] for a in range(case.k)]
    total = math.fsum(map(math.fsum, table))
    if total == 0:
        return NAN
    return math.fsum(table[a][a] / total - (math.fsum(table[a]) / total) ** 2 for a in range(case.k))


def hubert(case):
    if not case.pairs:
        return NAN
    return math.fsum(w * case.of_centres(case.own[i], case.own[j]) for (i, j), w in case.w.items()) / len(case.pairs)


def correlation(x, y):
    if not x:
        return NAN
    mx, my = mean(x), mean(y)
    vx, vy = mean([(a - mx) ** 2 for a in x]), mean([(b - my) ** 2 for b in y])
    if vx <= 1e-12 * mean([a * a for a in x]) or vy <= 1e-12 * mean([b * b for b in y]):
        return NAN
    return mean([(a - mx) * (b - my) for a, b in zip(x, y, strict=True)]) / math.sqrt(vx * vy)


def hubert_normalized(case):
    if case.k == 1:
        return NAN
    centres = [case.of_centres(case.own[i], case.own[j]) for i, j in case.w]
    return correlation(list(case.w.values()), centres)


def point_biserial(case):
    return correlation(list(case.w.values()), [float(case.own[i] != case.own[j]) for i, j in case.w])


def step(case, pair):
    return math.floor((case.w[pair] if case.metric == "cosine" else case.w[pair] ** 2) / GRID + 0.5)


def plus_and_minus(case):
    within, between = [step(case, p) for p in case.within], [step(case, p) for p in case.between]
    return (
        sum(a < b for a in within for b in between),
        sum(a > b for a in within for b in between),
    )


@both_kinds
def gamma(case):
    plus, minus = plus_and_minus(case)
    return (plus - minus) / (plus + minus) if plus + minus else NAN


@both_kinds
def g_plus(case):
    number = len(case.pairs)
    return 2 * plus_and_minus(case)[1] / (number * (number - 1))


@both_kinds
def tau(case):
    plus, minus = plus_and_minus(case)
    number = len(case.pairs)
    return (plus - minus) / math.sqrt(len(case.within) * len(case.between) * number * (number - 1) / 2)


def xie_beni_points(case):
    if case.k == 1:
        return NAN
    nearest = min(squared(case.rows[i], case.rows[j]) for i, j in case.between)
    return rss(case) / case.n / nearest if nearest > 0 else INF


def gdi(case, between=3, within=3):
    if case.k == 1 or not case.within:
        return NAN
    least = min(delta(case, between, a, b) for a, b in case.all_of_two())
    return ratio(least, max(diameter(case, within, a) for a in range(case.k)))


def delta(case, form, a, b):
    one, other = case.clusters[a], case.clusters[b]
    if form == 4:
        return case.of_centres(a, b)
    if form in (5, 51):
        to = (a, b) if form == 5 else (b, a)
        total = math.fsum(case.to_centre(i, to[0]) for i in one) + math.fsum(case.to_centre(j, to[1]) for j in other)
        return noise_free(total / (len(one) + len(other)), 1.0)
    if form == 6:
        nearest = [min(case.distance(i, j) for j in other) for i in one]
        return max(*nearest, *(min(case.distance(i, j) for i in one) for j in other))
    summary = {1: min, 2: max, 3: mean}[form]
    return summary([case.distance(i, j) for i in one for j in other])


def diameter(case, form, a):
    members = case.clusters[a]
    if form == 3:
        return noise_free(2 * mean([case.to_centre(i, a) for i in members]), 1.0)
    apart = [case.distance(i, j) for i, j in itertools.combinations(members, 2)]
    return {1: max, 2: mean}[form](apart) if apart else 0.0


# --- topics -----------------------------------------------------------------------------------------------------------


def tops(case, number=10):
    lists = []
    for average in case.means:
        ranked = sorted((t for t in range(case.d) if average[t] > 0), key=lambda t: (-round(average[t], 11), t))
        lists.append(ranked[:number])
    return lists


def documents_with(case, *terms):
    return sum(all(row[t] > 0 for t in terms) for row in case.rows)


def over_pairs(case, of_two):
    values = []
    for ranked in tops(case):
        scores = [of_two(low, high) for high, low in itertools.combinations(ranked, 2)]
        values.append(mean(scores) if scores else NAN)
    return mean(values)


def umass(case):
    return over_pairs(case, lambda m, h: math.log((documents_with(case, m, h) + 1) / documents_with(case, h)))


def pmi(case, m, h):
    joint = documents_with(case, m, h) / case.n + 1e-12
    return math.log(joint / (documents_with(case, m) / case.n * documents_with(case, h) / case.n))


def uci(case):
    return over_pairs(case, lambda m, h: pmi(case, m, h))


def npmi(case):
    def normalised(m, h):
        both = documents_with(case, m, h)
        return 1.0 if both == case.n else pmi(case, m, h) / -math.log(both / case.n + 1e-12)

    return over_pairs(case, normalised)


def topic_diversity(case):
    terms = [t for ranked in tops(case) for t in ranked]
    return len(set(terms)) / len(terms) if terms else NAN


def exclusivity(case):
    return mean(
        [
            mean([case.means[c][t] / math.fsum(m[t] for m in case.means) for t in ranked]) if ranked else NAN
            for c, ranked in enumerate(tops(case))
        ]
    )


ORACLES = {
    "skm_objective": skm_objective,
    "skm_objective_over_n": lambda case: skm_objective(case) / case.n,
    "cluster_similarity": lambda case: skm_objective(case) / case.n,
    **{name: partial(criterion, name=name) for name in ("i1", "i2", "e1", "g1", "h1", "h2")},
    "coherence": coherence,
    "coherence_others": partial(coherence, average="others"),
    "adherence": adherence,
    "adherence_max": adherence,
    "adherence_min": partial(adherence, summary=min),
    "adherence_mean": partial(adherence, summary=mean),
    "density": density,
    "density_over_size": partial(density, over_size=True),
    "ics": ics,
    "ics_mean": ics,
    "ics_min": partial(ics, summary=min),
    "ics_raw_means": ics_raw_means,
    "pairwise_similarity": pairwise_similarity,
    "beta_cv": beta_cv,
    "mcclain_rao": beta_cv,
    "normalized_cut": normalized_cut,
    "modularity": modularity,
    "hubert": hubert,
    "silhouette": silhouette,
    "silhouette_macro": partial(silhouette, over="clusters"),
    "rss": rss,
    "trace_w": rss,
    "calinski_harabasz": calinski_harabasz,
    "r_squared": r_squared,
    "log_ss_ratio": log_ss_ratio,
    "ball_hall": ball_hall,
    "banfield_raftery": banfield_raftery,
    "ray_turi": ray_turi,
    "ratkowsky_lance": ratkowsky_lance,
    "sd_scat": sd_scat,
    "sd_dis": sd_dis,
    "davies_bouldin": davies_bouldin,
    "davies_bouldin_rms": davies_bouldin,
    "davies_bouldin_mean": partial(davies_bouldin, q=1),
    "simplified_silhouette": simplified_silhouette,
    "wemmert_gancarski": wemmert_gancarski,
    "pbm": pbm,
    "c_index": c_index,
    "dunn": partial(gdi, between=1, within=1),
    "xie_beni_points": xie_beni_points,
    "point_biserial": point_biserial,
    "hubert_normalized": hubert_normalized,
    "gamma": gamma,
    "g_plus": g_plus,
    "tau": tau,
    "gdi": gdi,
    **{f"gdi_{a}_{b}": partial(gdi, between=a, within=b) for a in (1, 2, 3, 4, 5, 51, 6) for b in (1, 2, 3)},
    "umass": umass,
    "uci": uci,
    "npmi": npmi,
    "topic_diversity": topic_diversity,
    "exclusivity": exclusivity,
}
