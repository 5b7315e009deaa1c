"""The options with which a file was opened, for the command line and for Python."""

from typing import Any

from scumble.gui.worker import Payload

#: Options of readers that are options of the command line as well; the others need ``--option``.
SHELL_OPTIONS = (
    "format",
    "labels",
    "label_column",
    "label_separator",
    "ignore",
    "text",
    "category",
    "keep",
)


def as_shell_options(options: Payload) -> list[str]:
    r"""Return options of a reader as arguments of a command.

    Examples
    --------
    >>> from scumble.gui.tasks.commands import as_shell_options
    >>> as_shell_options({"labels": ["sky", "sea"], "ignore": [0, "id"]})
    ['--labels', 'sky,sea', '--ignore', '0', '--ignore', 'id']
    >>> as_shell_options({"decimal": ",", "header": True})
    ['--option', 'decimal=,', '--option', 'header=true']
    >>> as_shell_options({"labels": [4], "label_separator": "\t"})
    ['--labels', '4,', '--label-separator', '\\t']
    """
    arguments: list[str] = []
    for name, value in options.items():
        # Only --labels takes a list; other options are repeated.
        values = value if isinstance(value, list) and name != "labels" else [value]
        for single_value in values:
            text = _shell_value(single_value)
            if name in SHELL_OPTIONS:
                arguments += [f"--{name.replace('_', '-')}", text]
            else:
                arguments += ["--option", f"{name}={text}"]
    return arguments


def as_python_call(source: str, options: Payload) -> str:
    """Return the Python call that reads the data.

    Examples
    --------
    >>> from scumble.gui.tasks.commands import as_python_call
    >>> as_python_call("photos.csv", {"labels": ["sky"]}), as_python_call("yeast", {})
    ("scumble.read('photos.csv', labels=['sky'])", "scumble.load('yeast')")
    """
    function = "read" if "." in source else "load"
    arguments = [repr(source), *(f"{name}={value!r}" for name, value in options.items())]
    return f"scumble.{function}({', '.join(arguments)})"


def _shell_value(value: Any) -> str:
    """Return the value of an option as text.

    A list of column numbers ends with a comma: a single number without one would be a count.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        text = ",".join(map(str, value))
        if value and isinstance(value[-1], int):
            text += ","
        return text
    return str(value).replace("\t", "\\t")
