"""Data sets from files, public repositories and tables, as `MultilabelDataset` objects."""

import typing

from scumble._core import lazy_imports

if typing.TYPE_CHECKING:
    from scumble.data.dataset import Feature, MultilabelDataset
    from scumble.data.io import read, write
    from scumble.data.public import repository
    from scumble.data.public.repository import load
    from scumble.data.synthetic import make_multilabel

# Names load on first use: reading a file needs neither the repository nor the generator.
__all__ = [
    "Feature",
    "MultilabelDataset",
    "load",
    "make_multilabel",
    "read",
    "repository",
    "write",
]

if not typing.TYPE_CHECKING:
    __getattr__, __dir__ = lazy_imports.attach(
        __name__,
        __all__,
        {
            "scumble.data.public": ("repository",),
            "scumble.data.dataset": ("Feature", "MultilabelDataset"),
            "scumble.data.io": ("read", "write"),
            "scumble.data.public.repository": ("load",),
            "scumble.data.synthetic": ("make_multilabel",),
        },
    )
