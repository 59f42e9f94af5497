"""What a store shows its readers: the front page, and feeds."""
