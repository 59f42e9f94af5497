"""What a cluster is about: terms, representatives, borderline documents."""
