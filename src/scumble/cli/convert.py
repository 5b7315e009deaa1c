"""``convert``: from one file format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from scumble.cli import inputs
from scumble.cli.console import tell_written
from scumble.cli.files import WRITES_DATA


def convert(
    data: inputs.Input,
    out: Annotated[str, typer.Argument(metavar="OUT", help="The file to write."), WRITES_DATA],
    reading: inputs.Reading = inputs.AS_IS,
    to: inputs.ToOption = None,
    json: inputs.JsonOption = False,
) -> None:
    """Read a data set and write it in another format."""
    from scumble.data import write

    dataset = reading.load(data)
    write(dataset, out, format=to)
    tell_written(out, dataset, json=json)
