"""What the documentation of scumble adds to Sphinx.

Before the pages are read, files are written to ``docs/generated`` from what the package
registers: tables of formats, measures, resamplers, ..., the API pages and the list of changes.
The directives ``command``, ``file`` and ``picture`` show commands that are really run. Formulas
need no script.
"""

from pathlib import Path

from scumble_docs import api, changes, formulas, tables
from scumble_docs.commands import Command, File, Picture

PAGES = {
    **tables.PAGES,
    "changes.inc": changes.write,
}


def write_pages(app, config):
    """Write all generated pages; untouched where nothing changed, so that builds stay quick."""
    folder = Path(app.srcdir) / "generated"
    for name, make in PAGES.items():
        write_if_changed(folder / name, make())
    rooms, objects = api.pages()
    for old in (folder / "api").glob("*.rst"):
        if old.name not in rooms and old.stem not in objects.values():
            old.unlink()  # its object is no more
    for name, text in rooms.items():
        write_if_changed(folder / "api" / name, text)
    config.autosummary_filename_map = objects
    config.autosummary_generate = [f"generated/api/{name}" for name in rooms]


def write_if_changed(path, text):
    """Keep the time stamp of a file that would not change."""
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
