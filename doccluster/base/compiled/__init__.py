"""Loops over plain arrays, compiled by numba: arrays in, arrays out, no validation, no objects of the package."""
