"""External measures from information theory: what knowing the cluster says about the class, in nats unless said.

NMI is a family: the mutual information is divided by one of several averages of the two entropies, and the papers
differ in which. Each has a name of its own here, and plain ``nmi`` is IIR's (arithmetic mean).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from doccluster.base.validation import check_choice
from doccluster.errors import InputError
from doccluster.measures.contingency import ContingencyTable, entropy
from doccluster.measures.registry import Values, alias, check_beta, external_measure, log_unit, variant

AVERAGES: dict[str, Callable[[float, float], float]] = {
    "arithmetic": lambda a, b: (a + b) / 2,
    "geometric": lambda a, b: math.sqrt(a * b),
    "min": min,
    "max": max,
}


@external_measure(
    "strehl_entropy",
    title="Entropy quality (Strehl)",
    formula="1 + (1/n) sum_i sum_j n_ij log_g(n_ij / n_i); per cluster 1 + sum_j p_j log_g p_j",
    source="Strehl 2002, Eq. 4.19 (sign corrected), 4.20",
    meaning="How far the clusters are from mixing all classes evenly; looks at the whole mixture where purity looks at "
    "the commonest class. It grows with the number of clusters.",
    edges="one class: 1 (its logarithm has no base); all singletons: 1; n_classes fixes g when a subset is scored",
    parts=("per_cluster",),
)
def strehl_entropy(table: ContingencyTable, *, n_classes: int | None = None) -> Values:
    """Return 1 minus the normalised class entropy of the clusters, weighted by size."""
    quality = 1.0 - _normalised_entropies(table, n_classes)
    return Values(float(quality @ table.cluster_sizes / table.n_documents), per_cluster=quality)


def devries_entropy(table: ContingencyTable, *, n_classes: int | None = None) -> Values:
    """Return the normalised class entropy of the clusters, weighted by size."""
    disorder = _normalised_entropies(table, n_classes)
    return Values(float(disorder @ table.cluster_sizes / table.n_documents), per_cluster=disorder)


def _normalised_entropies(table: ContingencyTable, n_classes: int | None) -> np.ndarray:
    g = table.n_classes if n_classes is None else n_classes
    if g < table.n_classes:
        raise InputError(
            f"is below the {table.n_classes} classes that occur",
            argument="n_classes",
            received=g,
            remedy="give at least as many",
        )
    if g == 1:
        return np.zeros(table.n_clusters)
    return np.minimum(table.class_entropy_of_clusters / math.log(g), 1.0)


alias(
    "devries_entropy",
    of="strehl_entropy",
    function=devries_entropy,
    title="Entropy of clusters (De Vries)",
    direction="lower",
    formula="-(1/log g) sum_j p_j log p_j per cluster; the size-weighted mean; 1 - strehl_entropy",
    source="Sharma & Sharma, II.B, after De Vries, Geva & Trotman 2012",
    edges="one class: 0; all singletons: 0; n_classes fixes g when a subset is scored",
)


@external_measure(
    "conditional_entropy",
    title="Conditional entropy H(T|C)",
    direction="lower",
    range="[0, H(T)]",
    bounds=(0.0, None),
    formula="sum_i (n_i/n) H(T|C_i) = H(C,T) - H(C); per cluster H(T|C_i)",
    source="Zaki & Meira, Eq. 17.2, 17.3",
    meaning="What one still does not know of a document's class once its cluster is known. In nats; base=2 gives bits.",
    edges="all singletons: 0; one cluster: H(T)",
    parts=("per_cluster",),
    swapped="conditional_entropy_of_clusters",
)
def conditional_entropy(table: ContingencyTable, *, base: float | None = None) -> Values:
    """Return the entropy of the classes that is left when the clusters are known."""
    per_cluster = table.class_entropy_of_clusters / log_unit(base)
    return Values(float(per_cluster @ table.cluster_sizes / table.n_documents), per_cluster=per_cluster)


def conditional_entropy_of_clusters(table: ContingencyTable, *, base: float | None = None) -> Values:
    """Return the entropy of the clusters that is left when the classes are known."""
    per_class = table.cluster_entropy_of_classes / log_unit(base)
    return Values(float(per_class @ table.class_sizes / table.n_documents), per_class=per_class)


variant(
    "conditional_entropy_of_clusters",
    of="conditional_entropy",
    function=conditional_entropy_of_clusters,
    title="Conditional entropy H(C|T)",
    range="[0, H(C)]",
    formula="sum_j (m_j/n) H(C|T_j) = H(C,T) - H(T); per class H(C|T_j)",
    meaning="What one still does not know of a document's cluster once its class is known: how broken up the classes "
    "are. In nats; base=2 gives bits.",
    edges="one cluster: 0; all singletons: log n - H(T)",
    parts=("per_class",),
    swapped="conditional_entropy",
)


@external_measure(
    "mutual_information",
    also_called=("mutual_info_score",),
    range="[0, min(H(C), H(T))]",
    bounds=(0.0, None),
    formula="sum_ij p_ij log(p_ij / (p_i p_j))",
    source="IIR, Eq. 16.3; Zaki & Meira, Eq. 17.4",
    meaning="What the cluster of a document says about its class. In nats; base=2 gives bits. Not normalised: do not "
    "compare across corpora.",
    edges="one cluster or one class: 0; identical partitions: H",
    swapped="mutual_information",
)
def mutual_information(table: ContingencyTable, *, base: float | None = None) -> float:
    """Return the mutual information of clusters and classes."""
    return table.mutual_information / log_unit(base)


@external_measure(
    "nmi",
    also_called=("normalized_mutual_info_score", "normalized_mutual_information"),
    title="Normalised mutual information",
    formula="I(C,T) / ((H(C) + H(T)) / 2); average= takes arithmetic (default), geometric, min, max or joint",
    source="IIR, Eq. 16.2",
    meaning="The mutual information as a share of what there is to know. By chance alone it grows with the number of "
    "clusters: see ami.",
    edges="identical partitions: 1, also one cluster or all singletons; else one cluster or one class: 0",
    swapped="nmi",
)
def nmi(table: ContingencyTable, *, average: str = "arithmetic") -> float:
    """Return the mutual information over an average of the two entropies, or over the joint entropy."""
    check_choice(average, (*AVERAGES, "joint"), "average")
    if table.is_identical:
        return 1.0
    if table.has_single_group:
        return 0.0
    if average == "joint":
        return min(1.0, table.mutual_information / entropy(table.cell_counts))
    return min(1.0, table.mutual_information / AVERAGES[average](table.cluster_entropy, table.class_entropy))


alias("nmi_arithmetic", of="nmi", title="NMI, arithmetic mean", parameters={"average": "arithmetic"})
_BOOK, _PAPER = "Zaki & Meira, 17.1.2 (Normalized Mutual Information)", "Vinh, Epps & Bailey 2010, Table 2"
for _average, _title, _formula, _source in (
    ("geometric", "geometric mean", "sqrt(H(C) H(T))", _BOOK),
    ("min", "smaller entropy", "min(H(C), H(T)); the larger of homogeneity and completeness", _PAPER),
    ("max", "larger entropy", "max(H(C), H(T)); the smaller of homogeneity and completeness", _PAPER),
    ("joint", "joint entropy", "H(C,T)", _PAPER),
):
    variant(
        f"nmi_{_average}",
        of="nmi",
        title=f"NMI, {_title}",
        parameters={"average": _average},
        formula=f"I(C,T) / {_formula}",
        source=_source,
    )


def normalized_id(table: ContingencyTable) -> float:
    """Return the share of the larger entropy that is not shared."""
    return 1.0 - nmi(table, average="max")


def normalized_vi(table: ContingencyTable) -> float:
    """Return the share of the joint entropy that is not shared."""
    return 1.0 - nmi(table, average="joint")


alias(
    "normalized_id",
    of="nmi_max",
    function=normalized_id,
    title="Normalised information distance",
    direction="lower",
    parameters={},
    formula="1 - I(C,T) / max(H(C), H(T))",
    edges="identical partitions: 0; else one cluster or one class: 1",
)
alias(
    "normalized_vi",
    of="nmi_joint",
    function=normalized_vi,
    title="Normalised variation of information",
    direction="lower",
    parameters={},
    formula="VI / H(C,T) = 1 - I(C,T) / H(C,T)",
    edges="identical partitions: 0; else one cluster or one class: 1",
)


@external_measure(
    "nmi_strehl",
    title="Normalised mutual information (Strehl)",
    range="[0, 1], 1 only for balanced classes and k = g",
    formula="(2/n) sum_ij n_ij log_{k g}(n_ij n / (m_j n_i)) = 2 I(C,T) / log(k g)",
    source="Strehl 2002, Eq. 4.25",
    meaning="The mutual information over the largest it could be for k clusters and g classes. Even a perfect "
    "clustering stays below 1 when classes differ in size, so never compare it with other NMIs.",
    edges="k g = 1: 1; else one cluster or one class: 0",
    swapped="nmi_strehl",
)
def nmi_strehl(table: ContingencyTable) -> float:
    """Return twice the mutual information over the logarithm of k g."""
    cells = table.n_clusters * table.n_classes
    return 1.0 if cells == 1 else min(1.0, 2 * table.mutual_information / math.log(cells))


@external_measure(
    "variation_of_information",
    direction="lower",
    range="[0, log n]",
    bounds=(0.0, None),
    formula="H(T) + H(C) - 2 I(C,T)",
    source="Zaki & Meira, Eq. 17.5 (Meilă 2007)",
    meaning="What one does not know of the class given the cluster plus the reverse; a metric between partitions. In "
    "nats; base=2 gives bits.",
    edges="0 only for identical partitions",
    swapped="variation_of_information",
)
def variation_of_information(table: ContingencyTable, *, base: float | None = None) -> float:
    """Return the information distance of the two partitions."""
    if table.is_identical:
        return 0.0
    return max(0.0, table.class_entropy + table.cluster_entropy - 2 * table.mutual_information) / log_unit(base)


def vi_over_log_n(table: ContingencyTable) -> float:
    """Return the variation of information over its largest value for n documents."""
    return 0.0 if table.n_documents == 1 else variation_of_information(table) / math.log(table.n_documents)


alias("vi", of="variation_of_information")
alias(
    "vi_over_log_n",
    of="variation_of_information",
    function=vi_over_log_n,
    title="Variation of information over log n",
    bounds=(0.0, 1.0),
    formula="VI / log n",
    edges="one document: 0",
)


@external_measure(
    "homogeneity",
    also_called=("homogeneity_score",),
    formula="I(C,T) / H(T)",
    source="Rosenberg & Hirschberg 2007",
    meaning="The share of the class entropy that the clusters explain: 1 when no cluster mixes classes.",
    edges="one class: 1; else one cluster: 0; all singletons: 1",
    swapped="completeness",
)
def homogeneity(table: ContingencyTable) -> float:
    """Return the mutual information as a share of the entropy of the classes."""
    return 1.0 if table.n_classes == 1 else min(1.0, table.mutual_information / table.class_entropy)


@external_measure(
    "completeness",
    also_called=("completeness_score",),
    formula="I(C,T) / H(C)",
    source="Rosenberg & Hirschberg 2007",
    meaning="The share of the cluster entropy that the classes explain: 1 when no class is broken up.",
    edges="one cluster: 1; else one class: 0",
    swapped="homogeneity",
)
def completeness(table: ContingencyTable) -> float:
    """Return the mutual information as a share of the entropy of the clusters."""
    return 1.0 if table.n_clusters == 1 else min(1.0, table.mutual_information / table.cluster_entropy)


def v_measure(table: ContingencyTable, *, beta: float = 1.0) -> float:
    """Return the weighted harmonic mean of homogeneity and completeness."""
    weight = check_beta(beta)
    h, c = homogeneity(table), completeness(table)
    if math.isinf(weight):
        return c
    return 0.0 if h == 0 or c == 0 else (1 + weight) * h * c / (weight * h + c)


alias(
    "v_measure",
    of="nmi",
    also_called=("v_measure_score",),
    function=v_measure,
    title="V-measure",
    formula="(1 + beta) h c / (beta h + c), h = homogeneity, c = completeness (beta itself, not its square); with "
    "beta = 1 the NMI of the arithmetic mean",
    source="Rosenberg & Hirschberg 2007",
    meaning="Homogeneity and completeness in one number; beta > 1 gives more weight to completeness.",
    edges="identical partitions: 1; else one cluster or one class: 0",
    swapped=None,
)


@external_measure(
    "ami",
    also_called=("adjusted_mutual_info_score", "adjusted_mutual_information"),
    title="Adjusted mutual information",
    range="at most 1; 0 is chance",
    bounds=(None, 1.0),
    formula="(I - E) / (average(H(C), H(T)) - E), E = the mean of I over all partitions of these sizes; average= takes "
    "arithmetic (default), geometric, min or max",
    source="Vinh, Epps & Bailey 2010",
    meaning="The mutual information beyond what chance gives for clusters and classes of these sizes: comparable for "
    "different numbers of clusters.",
    edges="identical partitions: 1; else one cluster, one class or all singletons: 0; |denominator| < 1e-12: 0",
    swapped="ami",
)
def ami(table: ContingencyTable, *, average: str = "arithmetic") -> float:
    """Return the mutual information adjusted for chance."""
    check_choice(average, AVERAGES, "average")
    if table.is_identical:
        return 1.0
    if table.has_single_group or table.has_singletons_only:
        return 0.0
    expected = table.expected_mutual_information
    denominator = AVERAGES[average](table.cluster_entropy, table.class_entropy) - expected
    if abs(denominator) < 1e-12:
        return 0.0
    return min(1.0, float(table.mutual_information - expected) / denominator)


alias("ami_arithmetic", of="ami", title="AMI, arithmetic mean", parameters={"average": "arithmetic"})
for _average, _title, _formula in (
    ("geometric", "geometric mean", "sqrt(H(C) H(T))"),
    ("min", "smaller entropy", "min(H(C), H(T))"),
    ("max", "larger entropy", "max(H(C), H(T))"),
):
    variant(
        f"ami_{_average}",
        of="ami",
        title=f"AMI, {_title}",
        parameters={"average": _average},
        formula=f"(I - E) / ({_formula} - E), E as in ami",
    )
