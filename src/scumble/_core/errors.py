"""What can go wrong, as one tree of exceptions.

Every message says what failed, where, what was expected, what was found and what to do next.
"""

from __future__ import annotations

import errno
from pathlib import Path


class ScumbleError(Exception):
    """Base of everything this package raises on purpose.

    Examples
    --------
    >>> import scumble
    >>> try:
    ...     scumble.characterize([[0, 2]])
    ... except scumble.ScumbleError as error:
    ...     print(type(error).__name__)
    LabelError
    """


class ParameterError(ScumbleError, ValueError):
    """A parameter has a value outside its domain."""


class ParameterTypeError(ScumbleError, TypeError):
    """A parameter or an input has a type that cannot be used."""


class LabelError(ScumbleError, ValueError):
    """A label matrix holds something other than 0/1, or has the wrong shape."""


class DataError(ScumbleError, ValueError):
    """The parts of a data set do not fit together."""


class MissingDependencyError(ScumbleError, ImportError):
    """An optional package is not installed."""


class ReadError(ScumbleError, ValueError):
    """A file cannot be read; carries the place."""

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.path = None if path is None else str(path)
        self.line = line
        self.column = column
        self.reason = message
        places = {"": self.path, "line ": line, "value ": column}
        where = ", ".join(f"{what}{at}" for what, at in places.items() if at is not None)
        super().__init__(f"{where}: {message}" if where else message)


class WriteError(ScumbleError):
    """A file cannot be written; nothing half-written is left behind."""


class DownloadError(ScumbleError):
    """A public data set could not be fetched or is not what was promised."""


class ScumbleWarning(UserWarning):
    """Something worth knowing that does not stop the work.

    Examples
    --------
    >>> import pathlib, tempfile, warnings
    >>> import scumble
    >>> films = scumble.MultilabelDataset([[90.0]], [["war"]], weights=[2.0])
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always", scumble.ScumbleWarning)
    ...     scumble.write(films, pathlib.Path(tempfile.mkdtemp()) / "films.txt")
    >>> [each.category.__name__ for each in heard]
    ['ScumbleWarning']
    """


def cannot_be_written(error: OSError) -> str:
    """Say in words why something cannot be written, without a full stop."""
    if error.errno == errno.ENOSPC:
        reason = "the disk is full. Free some space or write elsewhere"
    elif isinstance(error, PermissionError):
        reason = "no permission to write there"
    else:
        reason = error.strerror or str(error)
    return f"cannot be written: {reason}"
