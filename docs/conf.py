"""How the documentation is built: ``sphinx-build -W -b html docs docs/_build/html``.

Nothing is fetched. Pages that list things (formats, resamplers, the API, ...) are written by
``_ext/scumble_docs`` from the package itself, so that a new module appears without being asked.
"""

import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from scumble._core.version import __version__  # noqa: E402  (the path above comes first)

project = "scumble"
author = "The scumble developers"
copyright = author
release = __version__
version = ".".join(release.split(".")[:2])

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "scumble_docs",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "**/*.inc", "gallery/*.ipynb", "gallery/*.py"]
default_role = "py:obj"
root_doc = "index"
html_math_renderer = "mathml"

# Docstrings: numpydoc lays them out, their section on attributes is enough.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
maximum_signature_line_length = 88
add_module_names = False
toc_object_entries = False

# The gallery: every file of examples/ is run, pictures are kept.
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": "/",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("scumble",),
    "backreferences_dir": "generated/backreferences",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "plot_gallery": True,
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
}
# Examples are code that users copy: what warns there is a mistake.
warnings.filterwarnings("error", category=UserWarning, module="scumble")

html_theme = "pydata_sphinx_theme"
html_title = f"scumble {release}"
html_static_path = ["_static"]
html_css_files = ["scumble.css"]
html_sidebars = {"start": [], "changes": []}  # pages without pages below them
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "scumble"},
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "footer_start": ["copyright"],
    "footer_end": [],
}
