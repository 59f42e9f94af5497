"""How many clusters, and is there anything to find."""
