"""The documentation's settings: make docs."""

import re
from importlib.metadata import version as version_of

project = "infosieve"
author = "The infosieve developers"
version = release = version_of("infosieve")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
templates_path = ["_templates"]
exclude_patterns = ["_templates"]
smartquotes = False  # "max" is a value, quotes and all
highlight_language = "none"  # a block that does not say what it is may be anything

myst_heading_anchors = 3

# The reference: one page for each object, from docstrings.
autosummary_generate = True
autodoc_typehints = "none"  # docstrings say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists methods, once
# Parameters that are not there or stand in another order, sections nobody knows, no summary.
numpydoc_validation_checks = {"GL06", "GL08", "PR02", "PR03", "PR10", "SS01"}
add_module_names = False

# What users get, but do not make: how it is made is no use to them.
GIVEN = ("ClusterResult", "ColumnSource", "KChoice", "PermutationTest", "SelectionResult", "Step")

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("infosieve",),
    "backreferences_dir": "gallery/backreferences",
    "reference_url": {"infosieve": None},
    "image_scrapers": ("matplotlib",),
    "ignore_repr_types": r"matplotlib|infosieve\.plots",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 10_000,
    "remove_config_comments": True,
    "nested_sections": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "infosieve"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_sidebars = {"**": ["all-pages.html"]}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "infosieve"},
    "navbar_center": [],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "show_toc_level": 2,
}


def without_signature(app, what, name, obj, options, signature, annotation):
    """Leave out how records are made."""
    if what == "class" and name.rpartition(".")[2] in GIVEN:
        return "", annotation
    return None


def with_plain_names(app, what, name, obj, options, lines):
    """In shapes such as (n_features_in_,), a last underscore is no link."""
    lines[:] = [
        line if "`" in line else re.sub(r"(?<=[( ])(\w+[a-z])_(?=[,) ])", r"\1\\_", line)
        for line in lines
    ]


def setup(app):
    app.connect("autodoc-process-docstring", with_plain_names, priority=600)  # after numpydoc
    app.connect("autodoc-process-signature", without_signature)
