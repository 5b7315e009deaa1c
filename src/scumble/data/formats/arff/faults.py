"""What the compiled loops refuse, in words."""

from __future__ import annotations

from scumble._core.suggestions import suggest
from scumble.data.formats.arff.header import Attribute
from scumble.data.formats.kernels import arff as k
from scumble.data.formats.messages import excerpt

_LABEL_HELP = (
    "Expected 0 or 1 (or false or true): a label is present or absent. If the column is no label, "
    "name the labels with labels=..."
)


def explain(fault: int, attribute: Attribute | None, value: int, token: str, n: int) -> str:
    """Say what is wrong with a row."""
    found = excerpt(token)
    if attribute is None:
        return _explain_row(fault, value, found, n)
    return _explain_value(fault, attribute, value, token, n)


def _explain_row(fault: int, value: int, found: str, n: int) -> str:
    messages = {
        k.LONG_ROW: f"the row has more than the {n} values the header declares: {found} is left "
        "over. Does a text with a comma or a blank lack its quotes?",
        k.AFTER_ROW: f"{found} follows the closing brace. Expected the end of the line or a "
        "weight such as {2.5}.",
        k.NOT_CLOSED: f"the sparse row is not closed after {value - 1} values. Expected a '}}' "
        "before the end of the line: is the file cut short?",
        k.BAD_INDEX: f"found {found} instead of an attribute's number. Expected a sparse row such "
        "as {0 1, 5 red}: numbers from 0, each followed by a value.",
        k.OTHER_FORM: f"the row begins with {found}, other than the rows before it. Expected all "
        "rows dense (1,0,2), or all sparse ({0 1, 2 2}).",
        k.INDEX_RANGE: f"the sparse row names the attribute {found}, but there are only {n}, "
        "numbered from 0.",
        k.INDEX_ORDER: f"the sparse row names the attribute {found} out of order or twice. "
        "Expected each one once, in increasing order.",
    }
    return messages[fault]


def _explain_value(fault: int, attribute: Attribute, value: int, token: str, n: int) -> str:
    name, found = excerpt(attribute.name), excerpt(token)
    if fault == k.UNDECLARED:
        return undeclared(attribute, token)
    messages = {
        k.SHORT_ROW: f"the row has {value - 1} values, but the header declares {n} attributes. "
        f"Expected a value for {name} and those after it.",
        k.EMPTY_VALUE: f"the value of {name} is empty. Expected one; a missing value is written ?.",
        k.OPEN_QUOTE: f"the quote before {found} is not closed. Close it on its line; a quote "
        "inside of a text is written \\'.",
        k.NO_SEPARATOR: f"no comma follows {found}, the value of {name}.",
        k.BAD_NUMBER: f"{name} is numeric, but its value is {found}. Expected a number or ?.",
        k.BAD_LABEL: f"the label {name} has the value {found}. {_LABEL_HELP}",
        k.MISSING_LABEL: f"the label {name} is missing. {_LABEL_HELP}",
        k.OMITTED_LABEL: f"the label {name} is omitted from this sparse row, which stands for its "
        f"first value, {_first(attribute)}. {_LABEL_HELP}",
    }
    return messages[fault]


def undeclared(attribute: Attribute, token: str) -> str:
    """Say that a nominal value was not declared."""
    categories = attribute.type.categories
    listed = ", ".join(excerpt(value) for value in categories[:8])
    more = f" and {len(categories) - 8} more" if len(categories) > 8 else ""
    return (
        f"{excerpt(token)} is not among the values declared for {excerpt(attribute.name)} in line "
        f"{attribute.line}. Expected one of {listed}{more}.{suggest(token, categories)}"
    )


def _first(attribute: Attribute) -> str:
    categories = attribute.type.categories
    return excerpt(categories[0]) if categories else "which it does not have"
