"""Settings of the site: Sphinx, MyST pages whose cells run, and the reference from docstrings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import semiring

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for mathml.py and the files after it in `extensions`

project = "semiring"
author = copyright = "the semiring authors"
release = version = semiring.__version__
extensions = [
    "myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "mathml", "notebooks", "public", "words",
]
nitpicky = True
default_role = "py:obj"  # `name` in a docstring is a link; public.py shows parameters and expressions as code
autosummary_generate = False  # public.py writes the pages
autodoc_mock_imports = ["torch", "jax"]

# Cells find the helpers for figures beside this file. Matrices on these pages are small, so nothing is worth compiling.
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
os.environ["SEMIRING_COMPILE"] = "never"
# Every cell runs in every build: an answer from a cache could hide one that fails.
nb_execution_mode = "force"
# A cell that fails is a warning, and build.py makes these errors: one build reports the faults of all pages.
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_code_prompt_show = "Show the answer"
nb_code_prompt_hide = "Hide the answer"
# Formulas are LaTeX between dollars; mathml.py beside this file writes them as MathML. Escape other dollars.
myst_enable_extensions = ["colon_fence", "attrs_block", "dollarmath"]
myst_update_mathjax = False
html_math_renderer = "mathml"
myst_heading_anchors = 3

# Signatures name the parameters; their types, with shapes, stand in the docstrings.
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_aliases = {name: f"semiring.{name}" for name in semiring.__all__ if name[0].isupper()}
numpydoc_xref_ignore = "all"
numpydoc_class_members_toctree = False
# All but: sections that many names do without, the case of first letters, which may be symbols, and verbs' conjugation.
# tests/test_docstrings.py holds them against signatures and code, and shapes too.
numpydoc_validation_checks = {
    "all", "ES01", "EX01", "GL01", "GL08", "PR01", "PR03", "PR07", "PR08", "RT01", "RT03", "SA01", "SS02", "SS05",
    "SS06", "YD01",
}

html_theme = "pydata_sphinx_theme"
html_title = "semiring"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("copy.js", {"defer": "defer"}), ("names.js", {"defer": "defer"})]
html_favicon = "_static/icon.svg"
templates_path = ["_templates"]
html_show_sourcelink = False  # about.html, below each page, has the link and the version
html_context = {"default_mode": "auto"}
html_sidebars = {name: [] for name in ("index", "benchmarks", "history", "ladder", "search", "genindex")}
html_theme_options = {
    "navigation_with_keys": False, "header_links_before_dropdown": 8, "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"], "footer_start": ["about"], "footer_end": [],
}
