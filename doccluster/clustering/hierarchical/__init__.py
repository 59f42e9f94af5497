"""Trees of clusters: joined from below (agglomeration) or divided from above (bisection)."""
