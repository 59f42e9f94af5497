"""Runs and models as folders: tables, json with a schema version and npz; no pickle anywhere."""
