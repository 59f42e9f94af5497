"""Pruning: iterations that skip what cannot have changed. The labels are those of whole sweeps.

`may_prune` says whether a fit does it at all: with few clusters it does not pay.
`Pruning` follows the means from one iteration to the next where that is worth it. `chords_of_lanes` and `padded_groups`
are for the small form of the same, in which the means of a small matrix are kept as whole tables. Nothing else of this
folder is used outside it.
"""

from __future__ import annotations

from doccluster.clustering.k_means.pruning.groups import MOST_GROUPS as MOST_GROUPS
from doccluster.clustering.k_means.pruning.groups import padded_groups as padded_groups
from doccluster.clustering.k_means.pruning.movement import chords_of_lanes as chords_of_lanes
from doccluster.clustering.k_means.pruning.pruning import Pruning as Pruning
from doccluster.clustering.k_means.pruning.worth import FEWEST_CLUSTERS as FEWEST_CLUSTERS
from doccluster.clustering.k_means.pruning.worth import may_prune as may_prune
