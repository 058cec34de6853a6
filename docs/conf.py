"""How Sphinx builds the documentation: `make docs`."""

from __future__ import annotations

import provetree

project = "provetree"
author = "provetree contributors"
copyright = "provetree contributors"
version = release = provetree.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["sg_execution_times.rst", "gallery/*.ipynb", "gallery/*.zip"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
# Classes show what users call; private helpers and inherited machinery of scikit-learn do not help.
autodoc_default_options = {"members": True, "inherited-members": False}
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"demo\.py",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 10**9,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": (),
}

html_theme = "furo"
html_title = f"provetree {release}"
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
