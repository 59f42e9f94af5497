"""Which measure answers which question: the table by which a measure is chosen."""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """What a reader wants to know, the measures that say it (the first is the one to begin with), and what to mind."""

    asked: str
    measures: tuple[str, ...]
    mind: str


WITH_CLASSES = (
    Question(
        "Do the clusters agree with the classes, beyond chance?",
        ("adjusted_rand", "ami", "adjusted_fowlkes_mallows"),
        "0 is chance, whatever the number of clusters, so clusterings with different k can be compared.",
    ),
    Question(
        "How much does a cluster tell of the class?",
        ("nmi", "mutual_information", "nmi_strehl", "variation_of_information"),
        "Grows with the number of clusters, also for random labels.",
    ),
    Question(
        "Is each cluster of one class?",
        ("purity", "homogeneity", "bcubed_precision", "conditional_entropy", "strehl_entropy", "pair_precision"),
        "Perfect for clusters of one document; read it beside the next line.",
    ),
    Question(
        "Does each class stay together?",
        ("inverse_purity", "completeness", "bcubed_recall", "pair_recall"),
        "Perfect for one cluster of everything; read it beside the line before.",
    ),
    Question(
        "Both at once, in one number?",
        ("bcubed_f", "purity_f", "pair_f", "strehl_f", "zaki_f"),
        "They average differently: over documents, over pairs, over classes by size, over clusters.",
    ),
    Question(
        "How many documents are right, if each cluster gets a name?",
        ("max_matching", "micro_f", "macro_f", "normalized_clustering_accuracy"),
        "Each class is given to one cluster; what is left over counts as wrong.",
    ),
    Question(
        "If two documents are together, do they belong together?",
        ("rand", "jaccard", "fowlkes_mallows", "pair_precision", "pair_recall"),
        "The Rand index is near 1 for many clusters, since most pairs are rightly apart.",
    ),
    Question(
        "How much has to be moved to make two partitions equal?",
        ("van_dongen", "variation_of_information", "pair_sets_index"),
        "Distances between partitions: also between two runs, without a truth.",
    ),
    Question(
        "A document has several labels: which measures can take that?",
        ("bcubed_precision_extended", "bcubed_recall_extended", "bcubed_f_extended", "nccg"),
        "All other measures use the documents with exactly one label.",
    ),
    Question(
        "Would a reader who opens the best clusters first find the topic?",
        ("nccg",),
        "Made for search results in groups.",
    ),
    Question(
        "Would random clusters of these sizes do as well?",
        ("divergence_from_random_baseline",),
        "Takes the difference to shuffled labels, for any of the measures above.",
    ),
)

WITHOUT_CLASSES = (
    Question(
        "Is a document nearer to its own cluster than to the next?",
        ("silhouette", "simplified_silhouette"),
        "Exact for all pairs under the cosine, in one reading of the matrix.",
    ),
    Question(
        "How tight is each cluster?",
        ("cluster_similarity", "pairwise_similarity", "rss", "ball_hall"),
        "Grows with the number of clusters: compare at equal k.",
    ),
    Question(
        "How far apart are two clusters, and which two are too near?",
        ("ics", "adherence"),
        "Have a value for each pair; the report draws them.",
    ),
    Question(
        "Is a cluster about one thing only?",
        ("coherence", "adherence", "density"),
        "Coherence is near 0 for nearly all clusters once there are many.",
    ),
    Question(
        "Which of several k fits best?",
        ("calinski_harabasz", "davies_bouldin", "silhouette", "xie_beni_points", "pbm"),
        "`doccluster choose-k` asks a better question; these are the classic curves.",
    ),
    Question(
        "Did the algorithm do what it promises?",
        ("skm_objective", "i1", "e1", "g1", "h1", "h2"),
        "Objectives: to compare starts and algorithms with the same k, nothing else.",
    ),
    Question(
        "What is the worst that happens between two clusters?",
        ("dunn", "gdi", "xie_beni_points"),
        "One pair of documents decides; noise moves it.",
    ),
    Question(
        "Are pairs in a cluster nearer than pairs across?",
        ("beta_cv", "c_index", "gamma", "tau", "g_plus", "point_biserial"),
        "Look at all pairs of documents: minutes for tens of thousands.",
    ),
    Question(
        "Are the clusters parts of a graph of similar documents?",
        ("modularity", "normalized_cut"),
        "With cosines as the weights of all edges.",
    ),
    Question(
        "Do the top words of a cluster go together?",
        ("npmi", "uci", "umass"),
        "Coherence of topic words: counts documents that share them.",
    ),
    Question(
        "Do the labels of the clusters differ?",
        ("topic_diversity", "exclusivity"),
        "1 where no two clusters share a top word.",
    ),
)
