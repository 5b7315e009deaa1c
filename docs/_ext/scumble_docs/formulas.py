"""Formulas as MathML, which browsers render without a script."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

#: MathML scales brackets itself, so that size commands are removed.
SIZES = re.compile(r"\\(?:big|Big|bigg|Bigg)(?![a-zA-Z])")


def visit_inline(translator, node):
    """Render an inline formula."""
    translator.body.append(as_mathml(node, block=False))
    raise nodes.SkipNode


def visit_block(translator, node):
    """Render a displayed formula."""
    translator.body.append(f'<div class="formula">{as_mathml(node, block=True)}</div>\n')
    raise nodes.SkipNode


def as_mathml(node, *, block):
    """Translate a formula to MathML; warn and show the source if that fails."""
    text = node.astext()
    try:
        return tex2mathml(SIZES.sub("", text), as_block=block)
    except MathError as error:
        logger.warning("cannot draw the formula %r: %s", text, error, location=node)
        return f"<code>{nodes.unescape(text)}</code>"
