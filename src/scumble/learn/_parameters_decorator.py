"""The decorator of `C45Classifier`; to be removed with it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, dataclass_transform


@dataclass_transform()
def parameters() -> Callable[[Any], Any]:
    """Return a decorator that makes ``__init__`` from the fields of a class."""
    return dataclass(eq=False, repr=False)
