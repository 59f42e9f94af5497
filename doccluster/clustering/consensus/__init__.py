"""One partition out of several, and how stable its clusters and documents are."""
