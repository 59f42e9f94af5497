"""Rooms of `reproduce`: a module for each source whose printed numbers are computed, beside a csv file of these."""
