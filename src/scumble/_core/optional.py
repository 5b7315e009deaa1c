"""Optional packages: imported where they are used, with an install command if they are missing."""

from importlib import import_module
from types import ModuleType

from scumble._core.errors import MissingDependencyError


def import_optional_dependency(module: str, *, purpose: str, extra: str) -> ModuleType:
    """Import and return a module; raise MissingDependencyError if it is not installed.

    The message says what needs it (``purpose``, such as "scan(engine='duckdb')") and how to install
    it: with the optional dependencies ``extra`` of this package.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f"{purpose} requires {package}: pip install 'scumble[{extra}]'."
        ) from error
