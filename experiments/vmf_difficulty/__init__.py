"""How hard a von Mises-Fisher corpus is, for whom: adjusted Rand over concentration, separation and dimension."""
