"""``remedial``, ``resample``, ``convert`` and ``split``: what is made of a data set, in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from scumble._core.calls import parse_parameters
from scumble._core.errors import ParameterError
from scumble._core.text import escape_controls
from scumble.cli import console, inputs
from scumble.cli.files import WRITES_DATA, WRITES_PARTS
from scumble.cli.inputs import make_argument, make_option, make_short_option

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset


def remedial(
    data: str = inputs.DATA,
    out: str = make_argument("OUT", "The file to write.", file_role=WRITES_DATA),
    passes: int = make_option("How often to repeat it.", 1),
    one_sided: str = make_option(
        "Instances above the mean with only frequent or only rare labels: 'clone' them "
        "(as published; one copy has no label) or 'keep' them as they are.",
        "clone",
    ),
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
    to: str | None = inputs.OUTPUT_FORMAT,
    large: inputs.OutOfCoreOptions = inputs.IN_MEMORY,
) -> None:
    """Decouple rare labels from frequent ones, and show before and after."""
    from scumble.data import write
    from scumble.resample import apply_remedial

    side = cast(Literal["clone", "keep"], one_sided)
    found = large.open(data, reading)
    after = None
    if found is not None:
        with found, console.progress():
            _, result = apply_remedial(found, passes=passes, one_sided=side, out=out)
    else:
        after, result = apply_remedial(reading.load(data), passes=passes, one_sided=side)
        write(after, out, format=to)
    _conclude(result, out, after)


def resample(
    data: str = inputs.DATA,
    out: str | None = make_argument(
        "OUT", "The file to write; not with --compare.", None, file_role=WRITES_DATA
    ),
    resample: list[str] | None = make_short_option(
        "resample",
        "a method, or several with '+' between, parameters in brackets: "
        "remedial+mlsmote(n_neighbors=3). All: see 'scumble methods resampler'; or "
        "package.module.Class.",
    ),
    k: int | None = make_option("Number of nearest neighbours."),
    percent: float | None = make_option("How much to add or remove."),
    seed: int | None = inputs.SEED,
    param: list[str] | None = inputs.PARAM,
    compare: bool = make_option("Compare all methods, or those of --resample.", False, "--compare"),
    jobs: int | None = inputs.JOBS,
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
    to: str | None = inputs.OUTPUT_FORMAT,
) -> None:
    """Resample a data set, and show before and after."""
    from scumble.data import write
    from scumble.resample import apply_chain, make_chain

    if compare == (out is not None):
        raise ParameterError("Name either a file to write, with --output, or --compare.")
    if resample is None and not compare:
        raise ParameterError(
            "Which method? Give --resample, for example --resample remedial+mlsmote, or see what "
            "they do with --compare."
        )
    chosen = {"n_neighbors": k, "percent": percent, "random_state": seed, "n_jobs": jobs}
    chosen |= parse_parameters(param or [])
    given = {name: value for name, value in chosen.items() if value is not None}
    if out is None:
        methods = inputs.parse_names(resample)
        _compare(reading.load(data), methods, given)
        return
    # Before the data is read, which may take long.
    chain = make_chain(str(inputs.parse_single_name(resample, "--resample")), **given)
    after, result = apply_chain(reading.load(data), chain)
    write(after, out, format=to)
    _conclude(result, out, after)


def _conclude(result: dict[str, Any], out: str, after: MultilabelDataset | None) -> None:
    """Show before and after, and what was written."""
    from scumble.report import render_treatment

    if not console.print_json_if_requested(result):
        console.show_unless_quiet(render_treatment(result, width=console.width()))
        console.report_written_file(out, after)


def _compare(data: Any, methods: list[str], parameters: dict[str, Any]) -> None:
    from scumble.measures.summary import to_json_value
    from scumble.report import render_comparison
    from scumble.resample import compare_methods

    named = [method for method in methods if method.lower() != "none"]  # always the first row
    rows = compare_methods(data, named or None, **parameters)
    console.show_result(to_json_value(rows), lambda _, width: render_comparison(rows, width=width))


def convert(
    data: str = inputs.DATA,
    out: str = make_argument("OUT", "The file to write.", file_role=WRITES_DATA),
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
    to: str | None = inputs.OUTPUT_FORMAT,
) -> None:
    """Read a data set and write it in another format."""
    from scumble.data import write

    dataset = reading.load(data)
    write(dataset, out, format=to)
    console.report_written_file(out, dataset)


def split(
    data: str = inputs.DATA,
    output: str = make_short_option(
        "output",
        "films.arff makes films-train.arff and films-test.arff.",
        ...,
        file_role=WRITES_PARTS,
    ),
    test_size: float = make_option("Share of rows for testing, or their number from 1 on.", 0.25),
    seed: int | None = inputs.SEED,
    reading: inputs.ReadOptions = inputs.DEFAULT_READ_OPTIONS,
    to: str | None = inputs.OUTPUT_FORMAT,
) -> None:
    """Split a data set into a training and a test part; rare labels come to both sides.

    A label with two rows or more has one on each side, wherever that is possible. Next:
    scumble evaluate films-train.arff --test films-test.arff -c rare
    """
    from scumble.data.io import train_test_paths, write_parts
    from scumble.evaluate import train_test_split
    from scumble.evaluate.model_selection.cross_validation import resolve_seed

    if output == "-":
        raise ParameterError("There are two parts to write. Name a file with --output, not '-'.")
    paths = train_test_paths(output)
    drawn = resolve_seed(seed, caller="split")
    given = reading.load(data)
    size = int(test_size) if test_size >= 1 and test_size == int(test_size) else test_size
    parts = train_test_split(given, test_size=size, random_state=drawn)
    write_parts(parts, paths, format=to)
    facts = _facts(parts)
    files = {
        name: {"output": str(path), "n_instances": len(part)}
        for name, path, part in zip(("train", "test"), paths, parts, strict=True)
    }
    if console.print_json_if_requested({**files, "random_state": drawn, **facts}):
        return
    for path, part in zip(paths, parts, strict=True):
        console.report_written_file(str(path), part)
    console.print_unless_quiet(_sentence(facts, drawn))


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
    told = f"{facts['n_on_both_sides']:,} of {len(facts['labels']):,} labels are in both"
    if facts["n_too_few"]:
        told += f"; {facts['n_too_few']:,} have one instance or none"
    if facts["one_sided"]:
        shown = ", ".join(escape_controls(name) for name in facts["one_sided"][:3])
        more = ", ..." if len(facts["one_sided"]) > 3 else ""
        told += f"; others meet in the same instances and could not be parted: {shown}{more}"
    return f"{told}; seed {seed}"
