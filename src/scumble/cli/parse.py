"""Convert what is typed after options into values: labels, names, parameters of readers."""

from collections.abc import Sequence
from typing import Any

from scumble._core.calls import parse_parameters, split_outside_brackets
from scumble._core.errors import ParameterError

#: Parameters of readers that name columns: they may have several values.
COLUMN_PARAMETERS = ("ignore", "text", "category", "keep")
#: Parameters of readers whose value is always a text: blanks count, and 1 is a character.
TEXT_PARAMETERS = ("label_separator", "delimiter")


def parse_labels(text: str | None) -> list[str] | list[int] | int | str | None:
    """Return the label columns that ``--labels`` selects.

    Parameters
    ----------
    text : str or None
        The text after ``--labels``; None if the option is not given.

    Returns
    -------
    list of str, list of int, int, str or None
        Names or numbers of columns, a count, the path of an XML file, or None.

    Examples
    --------
    >>> from scumble.cli.parse import parse_labels
    >>> parse_labels("-3"), parse_labels("4,5"), parse_labels("war,love"), parse_labels("a.xml")
    (-3, [4, 5], ['war', 'love'], 'a.xml')

    A number alone is a count; with a comma it is the number of a column.

    >>> parse_labels("4"), parse_labels("4,")
    (4, [4])
    """
    if text is None:
        return None
    if text.lower().endswith(".xml"):
        return text
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or text.strip() == "0":
        raise ParameterError(
            f"--labels {text!r} selects no label. Expected names or numbers separated by commas, a "
            "count (negative: from the end), or a MULAN XML file. The first column alone is '0,'."
        )
    try:
        numbers = [int(part) for part in parts]
    except ValueError:
        return parts
    return numbers if "," in text else numbers[0]


def parse_names(texts: list[str] | None) -> list[str]:
    """Return the names in the values of an option, which separates names by commas.

    Parameters
    ----------
    texts : list of str or None
        The values of an option that may be repeated.

    Returns
    -------
    list of str
        The names, in order.

    Examples
    --------
    >>> from scumble.cli.parse import parse_names
    >>> parse_names(["rare(quality=best, n_jobs=1),br", "ecc"])
    ['rare(quality=best, n_jobs=1)', 'br', 'ecc']
    """
    names: list[str] = []
    for text in texts or ():
        for name in split_outside_brackets(text, ","):
            if not name:
                raise ParameterError(f"Expected names separated by commas. Got {text!r} instead.")
            if name in names:
                raise ParameterError(f"{name!r} is named twice. Expected it once.")
            names.append(name)
    return names


def parse_single_name(texts: list[str] | None, option: str) -> str | None:
    """Return the only name after an option that accepts several in other commands, or None."""
    names = parse_names(texts)
    if len(names) > 1:
        raise ParameterError(
            f"{option} takes one name here. Got {len(names)} instead: {', '.join(names)}."
        )
    return names[0] if names else None


def parse_metrics(texts: list[str] | None, groups: Sequence[str]) -> list[str]:
    """Return the names of metrics after ``--metric``; raise an error for an unknown one."""
    from scumble.evaluate import find_metric

    names = parse_names(texts)
    for name in names:
        find_metric(name, groups=groups)
    return names


def parse_number_or_word(text: str) -> float | str:
    """Return a number if the text is one, and the text otherwise."""
    try:
        return float(text)
    except ValueError:
        return text


def parse_reader_parameters(texts: list[str] | None) -> dict[str, Any]:
    r"""Return the parameters of a reader from texts such as ``encoding=cp1252``.

    Parameters
    ----------
    texts : list of str or None
        The values of ``--option``. Those that name columns may come more than once.

    Returns
    -------
    dict
        Value by parameter; a list if the parameter names columns.

    Examples
    --------
    >>> from scumble.cli.parse import parse_reader_parameters
    >>> parse_reader_parameters(["label_separator= ", "ignore=id", "ignore=created", "decimal=,"])
    {'label_separator': ' ', 'ignore': ['id', 'created'], 'decimal': ','}
    """
    parameters: dict[str, Any] = {}
    for text in texts or ():
        ((name, value),) = parse_parameters([text]).items()
        if name in TEXT_PARAMETERS:
            value = text.partition("=")[2].replace("\\t", "\t")
        if value is True or parameters.get(name) is True:  # keep=True keeps all columns
            parameters[name] = True
        elif name in COLUMN_PARAMETERS:
            parameters.setdefault(name, []).append(value)
        else:
            parameters[name] = value
    return parameters


def combine_classifier_parameters(
    parameters: dict[str, Any], base: str | None, texts: list[str] | None = None
) -> dict[str, Any]:
    """Return the parameters of a classifier: those in its brackets, --base and --param.

    Parameters
    ----------
    parameters : dict
        The parameters in brackets after its name.
    base : str or None
        The value of ``--base``.
    texts : list of str, optional
        The values of ``--param``.

    Returns
    -------
    dict
        Value by parameter; ``--param`` overrides ``--base``, which overrides the brackets.

    Examples
    --------
    >>> from scumble.cli.parse import combine_classifier_parameters
    >>> combine_classifier_parameters({"order": 1}, "c45", ["base.confidence=0.1"])
    {'order': 1, 'base': 'c45', 'base.confidence': 0.1}
    """
    combined = dict(parameters)
    if base is not None:
        combined["base"] = base
    return combined | parse_parameters(texts or [])
