"""What can be cited beside the measures, by the keys of the works in references.csv."""

from __future__ import annotations

# the algorithms of `compare` and `choose-k`, weights, stems, rules for k and tests
METHODS: dict[str, tuple[str, ...]] = {
    "spherical-k-means": ("dhillon2001",),
    "settled": ("dhillon2001", "nigam2000", "zhong2005"),
    "smoothed": ("deerwester1990", "zhou2004", "dhillon2001", "nigam2000", "zhong2005"),
    "k-means": ("lloyd1982", "arthur2007"),
    "minibatch-k-means": ("sculley2010",),
    "bisecting-k-means": ("steinbach2000",),
    "criterion-functions": ("zhao2004",),
    "bisecting-spherical-k-means": ("steinbach2000", "zhao2004"),
    "agglomerative": ("lance1967", "murtagh1983", "muellner2011"),
    "buckshot": ("cutting1992",),
    "vmf": ("banerjee2005",),
    "latent-semantic-analysis": ("deerwester1990", "halko2011"),
    "smoothed-rows": ("zhou2004",),
    "multinomial-mixture": ("nigam2000", "zhong2005"),
    "k-means++": ("arthur2007",),
    "tfidf": ("salton1988",),
    "bm25": ("robertson2009",),
    "porter": ("porter1980",),
    "gap": ("tibshirani2001",),
    "hartigan": ("hartigan1975",),
    "krzanowski-lai": ("krzanowski1988",),
    "hopkins": ("hopkins1954",),
    "algorithm-1": ("sharma",),
    "wilcoxon": ("wilcoxon1945",),
    "holm": ("holm1979",),
    "friedman": ("friedman1937", "demsar2006"),
    "nemenyi": ("nemenyi1963", "demsar2006"),
}
