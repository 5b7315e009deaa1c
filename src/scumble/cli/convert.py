"""``convert``: from one file format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from scumble.cli.files import WRITES_DATA
from scumble.cli.inputs import (
    FormatOption,
    Input,
    JsonOption,
    LabelsOption,
    ReadOption,
    ToOption,
    load,
)


def convert(
    data: Input,
    out: Annotated[str, typer.Argument(metavar="OUT", help="The file to write."), WRITES_DATA],
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    to: ToOption = None,
    json: JsonOption = False,
) -> None:
    """Read a data set and write it in another format."""
    from scumble.cli.console import tell_written
    from scumble.data import write

    dataset = load(data, format=format, labels=labels, options=option)
    write(dataset, out, format=to)
    tell_written(out, dataset, json=json)
