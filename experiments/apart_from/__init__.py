"""Topics apart from who wrote them, on 20 Newsgroups by poster."""
