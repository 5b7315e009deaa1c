"""Names that the client knows, instead of paths of the private folder, in messages."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scumble._core.errors import ScumbleError, ScumbleWarning


@contextmanager
def replace_paths_in_messages(display_names: dict[str, str]) -> Iterator[None]:
    """Replace paths of the private folder in errors and warnings by names that the client knows.

    Parameters
    ----------
    display_names : dict of str to str
        The name of each path. Paths that are added inside the block count as well.
    """
    with warnings.catch_warnings(
        record=True, action="always", category=ScumbleWarning
    ) as caught_warnings:
        try:
            yield
        except ScumbleError as error:
            raise ScumbleError(_with_display_names(str(error), display_names)) from None
        except (FileNotFoundError, PermissionError) as error:
            raise _unreadable_file_error(error, display_names) from None
    for warning in caught_warnings:
        text = _with_display_names(str(warning.message), display_names)
        warnings.warn(text, ScumbleWarning, stacklevel=3)


def _unreadable_file_error(error: OSError, display_names: dict[str, str]) -> Exception:
    """Return an error that names a missing or unreadable file; other errors are returned as is."""
    for path, name in display_names.items():
        if Path(path).parent == Path(str(error.filename)).parent:
            if isinstance(error, PermissionError):
                return ScumbleError(f"{name}: no permission to read the file.")
            return ScumbleError(f"{name}: the file is gone. Put it back, or send it again.")
    return error


def _with_display_names(text: str, display_names: dict[str, str]) -> str:
    """Return a message with display names instead of paths, and without their folders."""
    for path in sorted(display_names, key=len, reverse=True):  # a path may begin with another one
        text = text.replace(path, display_names[path])
    folders = {str(Path(path).parent) for path in display_names}
    for folder in folders:
        text = text.replace(f"{folder}/", "").replace(folder, "the upload")
    return text
