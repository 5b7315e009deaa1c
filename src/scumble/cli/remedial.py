"""``remedial``: decouple rare from frequent labels."""

from __future__ import annotations

from typing import Annotated, Literal, cast

import typer

from scumble.cli import scale
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


def remedial(
    data: Input,
    out: Annotated[str, typer.Argument(metavar="OUT", help="The file to write."), WRITES_DATA],
    passes: Annotated[int, typer.Option(help="How often to repeat it.")] = 1,
    one_sided: Annotated[
        str,
        typer.Option(
            help="Instances above the mean with only frequent or only rare labels: 'clone' them "
            "(as published; one copy has no label) or 'keep' them as they are."
        ),
    ] = "clone",
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    to: ToOption = None,
    label_column: scale.LabelColumnOption = None,
    instance_column: scale.InstanceColumnOption = None,
    engine: scale.EngineOption = None,
    memory: scale.MemoryOption = None,
    spark: scale.SparkOption = None,
    json: JsonOption = False,
) -> None:
    """Decouple rare labels from frequent ones, and show before and after."""
    from scumble._core.progress import show_progress
    from scumble.cli.console import (
        ProgressBar,
        show_json,
        tell,
        tell_written,
        width,
    )
    from scumble.data import write
    from scumble.report import render_treatment
    from scumble.resample import apply_remedial

    side = cast(Literal["clone", "keep"], one_sided)
    choice = scale.Choice(engine, memory, label_column, instance_column, spark)
    found = scale.open_scan(data, choice, format=format, options=option)
    after = None
    if found is not None:
        with found, show_progress(ProgressBar()):
            _, result = apply_remedial(found, passes=passes, one_sided=side, out=out)
    else:
        before = load(data, format=format, labels=labels, options=option)
        after, result = apply_remedial(before, passes=passes, one_sided=side)
        write(after, out, format=to)
    if json:
        show_json(result)
    else:
        tell(render_treatment(result, width=width()))
        tell_written(out, after)
