"""Formulas as MathML, which browsers draw by themselves: there is no script to fetch."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

#: MathML grows brackets by itself.
SIZES = re.compile(r"\\(?:big|Big|bigg|Bigg)(?![a-zA-Z])")


def visit_inline(translator, node):
    """Draw a formula within a line."""
    translator.body.append(as_mathml(node, block=False))
    raise nodes.SkipNode


def visit_block(translator, node):
    """Draw a formula on lines of its own."""
    translator.body.append(f'<div class="formula">{as_mathml(node, block=True)}</div>\n')
    raise nodes.SkipNode


def as_mathml(node, *, block):
    """Translate; what cannot be translated is shown as it was written, and warned about."""
    text = node.astext()
    try:
        return tex2mathml(SIZES.sub("", text), as_block=block)
    except MathError as error:
        logger.warning("cannot draw the formula %r: %s", text, error, location=node)
        return f"<code>{nodes.unescape(text)}</code>"
