"""Files, addresses, arrays in; one immutable `MultilabelDataset` out."""

import typing

from scumble._core import exports

if typing.TYPE_CHECKING:
    from scumble.data import shelf as shelf
    from scumble.data.dataset import Feature as Feature, MultilabelDataset as MultilabelDataset
    from scumble.data.io import read as read, write as write
    from scumble.data.shelf import load as load
    from scumble.data.synthetic import make_multilabel as make_multilabel

# Names load on first use: who reads a file needs neither the shelf nor the generator.
exports.publish(
    globals(),
    {
        "scumble.data": ("shelf",),
        "scumble.data.dataset": ("Feature", "MultilabelDataset"),
        "scumble.data.io": ("read", "write"),
        "scumble.data.shelf": ("load",),
        "scumble.data.synthetic": ("make_multilabel",),
    },
)
