"""What Sphinx is told. The sources are those that `website.gather` puts in one folder, not this one."""

from __future__ import annotations

import doccluster
from website.gallery_settings import gallery_settings

project = "doccluster"
author = "the doccluster developers"
copyright = "the doccluster developers, BSD-3-Clause"
version = release = doccluster.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "website.docstrings",
    "website.mathematics",
]
root_doc = "index"
exclude_patterns = ["_extra", "generated", "gallery-scripts"]
nitpicky = True

myst_enable_extensions = ["colon_fence", "attrs_block", "attrs_inline", "deflist"]
myst_heading_anchors = 4

autodoc_typehints = "none"  # the docstrings say types in words, with shapes and units
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = gallery_settings()

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "doccluster"
html_static_path = ["_static"]
html_extra_path = ["_extra"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_favicon = "_static/mark.svg"
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "doccluster", "image_light": "_static/mark.svg", "image_dark": "_static/mark.svg"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_center": [],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "collapse_navigation": True,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": False,
}
