"""The Sphinx extension of scumble's documentation.

Before the pages are read, it writes tables of the registered formats, measures, resamplers and so
on, the API pages and the list of changes to ``docs/generated``. The directives ``command``,
``file`` and ``picture`` run commands and show their output. Formulas are rendered without a script.
"""

from pathlib import Path

from scumble_docs import api, changes, formulas, tables
from scumble_docs.commands import Command, File, Picture

PAGES = {
    **tables.PAGES,
    "changes.inc": changes.write,
}


def write_pages(app, config):
    """Write all generated pages; unchanged files are not touched, so that builds stay quick."""
    folder = Path(app.srcdir) / "generated"
    for name, make in PAGES.items():
        write_if_changed(folder / name, make())
    subpackages, objects = api.pages()
    for page in (folder / "api").glob("*.rst"):
        if page.name not in subpackages and page.stem not in objects.values():
            page.unlink()  # the object no longer exists
    for name, text in subpackages.items():
        write_if_changed(folder / "api" / name, text)
    config.autosummary_filename_map = objects
    config.autosummary_generate = [f"generated/api/{name}" for name in subpackages]


def write_if_changed(path, text):
    """Write a file unless it has this content already, to keep its time stamp."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def setup(app):
    """Register the extension."""
    app.connect("config-inited", write_pages)
    app.connect("autodoc-process-docstring", api.protect_fitted_names, priority=400)
    app.connect("autodoc-skip-member", api.skip_foreign_members)
    app.connect("missing-reference", api.resolve_shortcut)
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(formulas.visit_inline, None),
        block_renderers=(formulas.visit_block, None),
    )
    app.add_directive("command", Command)
    app.add_directive("file", File)
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
