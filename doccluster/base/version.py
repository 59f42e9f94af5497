"""The version of the package, where every floor may read it."""

__version__ = "1.0.0rc1"
