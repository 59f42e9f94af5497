"""The table of everything that is fuzzed; a new kind of input adds its line here."""

from __future__ import annotations

from tests.fuzz.campaign import Target
from tests.fuzz.fields import FIELDS
from tests.fuzz.matrices import MATRICES
from tests.fuzz.named_files import NAMED_FILES
from tests.fuzz.processes import PROCESSES
from tests.fuzz.readers import READERS
from tests.fuzz.requests import REQUESTS
from tests.fuzz.run_folders import RUN_FOLDERS
from tests.fuzz.stores import STORES
from tests.fuzz.table_shapes import TABLE_SHAPES

_ALL = (*READERS, *FIELDS, *RUN_FOLDERS, *MATRICES, *REQUESTS, *NAMED_FILES, *PROCESSES, *STORES, *TABLE_SHAPES)
TARGETS: dict[str, Target] = {target.name: target for target in _ALL}
