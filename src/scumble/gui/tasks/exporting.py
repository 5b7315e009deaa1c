"""Tasks that write a data set or its report to a file."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from scumble._core.progress import progress_bar
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.tasks.display_names import replace_paths_in_messages
from scumble.gui.worker import Payload, WrittenFile

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset


def export_data(
    packed: PackedDataset, folder: Path, stem: str, format_name: str, compression: str
) -> WrittenFile:
    """Write a data set to a folder; several files become an archive.

    Returns
    -------
    tuple of str and dict
        Name of the file in the folder, and further values for the client, of which there are none.
    """
    from scumble.catalogue import get

    plain_path = folder / f"{stem}{get('format', format_name).suffixes[0]}"
    path = plain_path.with_name(plain_path.name + compression)
    written_paths = _write_data(packed.data, path, format_name)
    if len(written_paths) == 1:
        return path.name, {}
    if compression:  # archives are compressed anyway, and readers expect plain files in them
        path.unlink()
        written_paths = _write_data(packed.data, plain_path, format_name)
    archive_path = folder / f"{stem}.zip"
    with zipfile.ZipFile(archive_path, "w", zipfile.ZIP_DEFLATED) as archive:
        for written_path in written_paths:
            # Without a time stamp the same data gives the same bytes.
            member = zipfile.ZipInfo(written_path.name)
            archive.writestr(member, written_path.read_bytes(), zipfile.ZIP_DEFLATED)
    return archive_path.name, {}


def _write_data(data: MultilabelDataset, path: Path, format_name: str) -> list[Path]:
    """Write a data set; return all files in the folder of the path."""
    from scumble.data import write

    with progress_bar(f"Writing {path.name}"), replace_paths_in_messages({str(path): path.name}):
        write(data, path, format=format_name)
    return sorted(path.parent.iterdir())


def export_report(
    packed: PackedDataset,
    treatment: Payload | None,
    source: str,
    folder: Path,
    stem: str,
    format_name: str,
) -> WrittenFile:
    """Write the concurrence report to a folder; return as `export_data` does."""
    from scumble.report import concurrence_report, render_html, render_pdf
    from scumble.report.concurrence import origin_text

    path = folder / f"{stem}-report.{format_name}"
    with progress_bar(f"Writing {path.name}"):
        report = concurrence_report(packed.data, origin=origin_text(source))
        if format_name == "json":
            if treatment is not None:
                report = {**report, "treatment": treatment}
            path.write_text(json.dumps(report, indent=2, allow_nan=False, ensure_ascii=False))
        elif format_name == "html":
            path.write_bytes(render_html(report, treatment).encode())
        else:
            path.write_bytes(render_pdf(report, treatment))
    return path.name, {}
