"""Sphinx's settings for the site that `make docs-site` builds."""

from graphwright.version import __version__

project = "graphwright"
author = "The graphwright developers"
version = release = __version__
html_title = f"graphwright {__version__}"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = html_show_sphinx = False
html_show_search_summary = False    # it asks a server for pages; the site is opened as files too
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2f6fde", "color-brand-content": "#2f6fde"},
    "dark_css_variables": {"color-brand-primary": "#7fb0ff", "color-brand-content": "#7fb0ff"},
}
pygments_dark_style = "github-dark"
highlight_language = "text"
toc_object_entries = False
maximum_signature_line_length = 88
python_maximum_signature_line_length = 88
