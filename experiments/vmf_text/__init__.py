"""NMI of von Mises-Fisher mixtures and of spherical k-means on seven corpora with classes."""
