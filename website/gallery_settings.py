"""How the scripts of the gallery are run: each when the site is built, in the order of their names."""

from __future__ import annotations

from typing import Any


def gallery_settings() -> dict[str, Any]:
    """Return the settings of Sphinx-Gallery."""
    return {
        "examples_dirs": "gallery-scripts",
        "gallery_dirs": "gallery",
        "filename_pattern": r"\.py$",
        "within_subsection_order": "FileNameSortKey",
        "download_all_examples": False,
        "show_memory": False,
        "remove_config_comments": True,
        "min_reported_time": 0,
        "show_signature": False,
        "nested_sections": False,
        "write_computation_times": False,
        "image_srcset": ["2x"],
        "matplotlib_animations": False,
        "abort_on_example_error": False,
        "only_warn_on_example_error": False,
    }
