"""How exact the normaliser and the mean resultant length of the von Mises-Fisher distribution are."""
