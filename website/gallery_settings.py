"""How the scripts of the gallery are run: each when the site is built, in the order of their names."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

from doccluster.report.svg import ACCENT, CATEGORIES, INK, RULE

STYLE = {
    "axes.prop_cycle": mpl.cycler(color=(ACCENT, *CATEGORIES[1:])),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": RULE,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "figure.facecolor": "#fbfaf7",
    "axes.facecolor": "#fbfaf7",
    "savefig.facecolor": "#fbfaf7",
}


def draw_like_the_report(gallery_conf: dict[str, Any], name: str) -> None:
    """Give the figures of a script the colours of the report."""
    mpl.rcParams.update(STYLE)


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
        "reset_modules": ("matplotlib", "website.gallery_settings.draw_like_the_report"),
        "min_reported_time": 0,
        "show_signature": False,
        "nested_sections": False,
        "write_computation_times": False,
        "image_srcset": ["2x"],
        "matplotlib_animations": False,
        "abort_on_example_error": False,
        "only_warn_on_example_error": False,
    }
