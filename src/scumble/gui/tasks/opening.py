"""Tasks that open files and public data sets by name, and make synthetic data."""

from pathlib import Path

from scumble._core.progress import progress_bar
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.tasks.packing import pack_with_measures
from scumble.gui.worker import Payload


def open_path(name: str, options: Payload) -> PackedDataset | None:
    """Read a file, or load a public data set, that was named on the command line.

    Returns
    -------
    PackedDataset or None
        None for a plain table whose labels are not known; the page then asks for them.
    """
    from scumble.data import load, read

    looks_like_path = Path(name).exists() or Path(name).name != name or "." in name
    has_label_option = "labels" in options or "label_column" in options
    if Path(name).is_file() and not has_label_option:
        from scumble.data.preview import PREVIEW_OPTIONS, preview

        preview_options = {key: value for key, value in options.items() if key in PREVIEW_OPTIONS}
        if preview(name, **preview_options).needs_column_roles:
            return None
    read_data = read if looks_like_path else load
    return pack_with_measures(read_data(name, **options))


def open_named(name: str, options: Payload | None = None) -> PackedDataset:
    """Load a public data set, downloading it if necessary; with options, make synthetic data."""
    if options is None:
        from scumble.data import load

        return pack_with_measures(load(name))
    from scumble.data import make_multilabel

    with progress_bar("Making data"):
        data = make_multilabel(**options)
    return pack_with_measures(data)
