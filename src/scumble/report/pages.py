"""Pages that need nothing but themselves: text, script and style in one file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from scumble._core.numbers import format_number, significant
from scumble._core.text import safe

PACKAGE = __name__.rpartition(".")[0]


def render_page(
    template: str, content: dict[str, Any], *, scripts: Sequence[str], styles: Sequence[str]
) -> str:
    """Fill a template; the page may run no script but these, and load nothing."""
    script = "".join(map(asset, scripts))
    digest = hashlib.sha256(f"\n{script}".encode()).digest()
    page: str = _template(template).render(
        **content,
        script=script,
        script_hash=base64.b64encode(digest).decode(),
        style="".join(map(asset, styles)),
    )
    return page


def asset(name: str) -> str:
    """Return the text of a script or style sheet that comes with the reports."""
    return (files(PACKAGE) / "assets" / name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> Any:
    """Load a template; what comes from files is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(PACKAGE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(number=format_number, significant=significant, visible=safe)
    return environment.get_template(name)
