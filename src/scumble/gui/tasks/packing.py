"""Measure a data set and pack it together with its measures."""

from scumble._core.progress import progress_bar
from scumble.data import MultilabelDataset
from scumble.gui.packed_dataset import PackedDataset
from scumble.measures.summary import characterize


def pack_with_measures(data: MultilabelDataset) -> PackedDataset:
    """Measure a data set and pack it together with its measures."""
    from scumble.data.feature_table import feature_table
    from scumble.gui.pages import overview

    with progress_bar("Measuring"):
        summary = characterize(data)
        content = (data, summary, feature_table(data))
        return PackedDataset.pack(overview(data, summary), content)
