"""Feed files that state what a correct reader sees, and whether ours sees it."""
