"""``convert`` and ``split``: a data set in another format, or in two parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble._core.errors import ParameterError
from scumble.cli import inputs
from scumble.cli.console import say, show_json, tell_written
from scumble.cli.files import WRITES_DATA, WRITES_PARTS
from scumble.cli.inputs import lettered, optional

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset


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


def split(
    data: inputs.Input,
    output: str = lettered(
        "output", "films.arff makes films-train.arff and films-test.arff.", ..., mark=WRITES_PARTS
    ),
    test_size: float = optional("Share of rows for testing, or their number from 1 on.", 0.25),
    seed: inputs.SeedOption = None,
    reading: inputs.Reading = inputs.AS_IS,
    to: inputs.ToOption = None,
    json: inputs.JsonOption = False,
) -> None:
    """Split a data set into a training and a test part; rare labels come to both sides.

    A label with two rows or more has one on each side, wherever that is possible. Next:
    scumble evaluate films-train.arff --test films-test.arff -c rare
    """
    from scumble.data.io import part_paths, write_parts
    from scumble.evaluate import train_test_split
    from scumble.evaluate.cross_validation import draw_seed

    if output == "-":
        raise ParameterError("There are two parts to write. Name a file with --output, not '-'.")
    paths = part_paths(output)
    drawn = draw_seed(seed, caller="split")
    given = reading.load(data)
    size = int(test_size) if test_size >= 1 and test_size == int(test_size) else test_size
    parts = train_test_split(given, test_size=size, random_state=drawn)
    write_parts(parts, paths, format=to)
    facts = _facts(parts)
    if json:
        files = {
            name: {"output": str(path), "n_instances": len(part)}
            for name, path, part in zip(("train", "test"), paths, parts, strict=True)
        }
        show_json({**files, "random_state": drawn, **facts})
        return
    for path, part in zip(paths, parts, strict=True):
        tell_written(str(path), part)
    say(_sentence(facts, drawn))


def _facts(parts: tuple[MultilabelDataset, ...]) -> dict[str, Any]:
    """Count the labels of both parts."""
    counts = [part.Y.sum(axis=0).tolist() for part in parts]
    rows = [
        {"name": name, "train": train, "test": test}
        for name, train, test in zip(parts[0].labels, *counts, strict=True)
    ]
    several = [row for row in rows if row["train"] + row["test"] > 1]
    return {
        "labels": rows,
        "n_on_both_sides": sum(row["train"] > 0 < row["test"] for row in rows),
        "n_too_few": len(rows) - len(several),
        "one_sided": [row["name"] for row in several if 0 in (row["train"], row["test"])],
    }


def _sentence(facts: dict[str, Any], seed: int) -> str:
    from scumble._core.text import safe

    told = f"{facts['n_on_both_sides']:,} of {len(facts['labels']):,} labels are in both"
    if facts["n_too_few"]:
        told += f"; {facts['n_too_few']:,} have one instance or none"
    if facts["one_sided"]:
        shown = ", ".join(safe(name) for name in facts["one_sided"][:3])
        more = ", ..." if len(facts["one_sided"]) > 3 else ""
        told += f"; others meet in the same instances and could not be parted: {shown}{more}"
    return f"{told}; seed {seed}"
