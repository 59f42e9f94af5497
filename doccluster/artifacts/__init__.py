"""Runs and models as folders: tables, json with a schema version and npz; no pickle anywhere."""

from doccluster.artifacts.csv_files import csv_text, storable, write_csv
from doccluster.artifacts.model import Model, load_model, model_folder, save_model
from doccluster.artifacts.new_folder import (
    BEFORE_EDITS,
    CHECKPOINT,
    EDITS,
    PARQUET_PARTS,
    check_file,
    check_folder,
    check_output,
    new_file,
    new_folder,
    writing,
)
from doccluster.artifacts.records import RunRecord
from doccluster.artifacts.run_folder import labels_checksum, load_run, run_record, save_run
from doccluster.artifacts.storage import damage_told, damaged, read_json, read_record, write_json
from doccluster.artifacts.tables import (
    LEADING_MEASURES,
    per_cluster_values,
)
from doccluster.artifacts.typed_json import read_as

__all__ = [
    "BEFORE_EDITS",
    "CHECKPOINT",
    "EDITS",
    "LEADING_MEASURES",
    "PARQUET_PARTS",
    "Model",
    "RunRecord",
    "check_file",
    "check_folder",
    "check_output",
    "csv_text",
    "damage_told",
    "damaged",
    "labels_checksum",
    "load_model",
    "load_run",
    "model_folder",
    "new_file",
    "new_folder",
    "per_cluster_values",
    "read_as",
    "read_json",
    "read_record",
    "run_record",
    "save_model",
    "save_run",
    "storable",
    "write_csv",
    "write_json",
    "writing",
]
