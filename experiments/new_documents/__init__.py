"""How often `assign` is wrong about whether a new document fits a cluster of a run."""
