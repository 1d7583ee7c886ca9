"""Sphinx's configuration of the documentation site; docs/site/build.py runs it."""

project = "Meshwright"
author = "The Meshwright authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["site"]
html_theme = "furo"
html_title = "Meshwright"
html_copy_source = False
html_show_copyright = False
myst_heading_anchors = 3
# Blocks of text that show a screen are of no language.
highlight_language = "text"
# Flags begin with two hyphens, not with a dash.
smartquotes = False
