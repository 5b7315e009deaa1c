"""``remedial``, ``resample``, ``convert`` and ``split``: write a new data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from scumble._core.calls import parse_parameters
from scumble._core.errors import ParameterError
from scumble._core.text import STDIO_PATH, escape_controls
from scumble.cli import console
from scumble.cli.files import FileRole
from scumble.cli.options import (
    DataArgument,
    JobsOption,
    JsonOption,
    OutArgument,
    OutOfCoreOptions,
    OutputFormatOption,
    ParamOption,
    ReadOptions,
    SeedOption,
)
from scumble.cli.parse import parse_names, parse_single_name

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset

#: Number of labels that the message of ``split`` names.
N_NAMED_LABELS = 3


def remedial(
    data: DataArgument,
    out: OutArgument,
    *,
    passes: Annotated[int, typer.Option("--passes", help="Number of passes.")] = 1,
    one_sided: Annotated[
        str,
        typer.Option(
            "--one-sided",
            help="Instances above the mean with only frequent or only rare labels: 'clone' them "
            "(as published; one copy has no label) or 'keep' them as they are.",
        ),
    ] = "clone",
    read: ReadOptions,
    to: OutputFormatOption = None,
    out_of_core: OutOfCoreOptions,
    json: JsonOption = False,
) -> None:
    """Decouple rare labels from frequent ones, and show before and after."""
    from scumble.data import write
    from scumble.resample import apply_remedial

    rule = cast(Literal["clone", "keep"], one_sided)  # apply_remedial checks it
    dataset = out_of_core.open(data, read)
    if dataset is None:
        after, result = apply_remedial(read.load(data), passes=passes, one_sided=rule)
        write(after, out, format=to)
    else:
        after = None
        with dataset, console.progress():
            _, result = apply_remedial(dataset, passes=passes, one_sided=rule, out=out)
    _show_before_after(result, out, after, as_json=json)


def resample(
    data: DataArgument,
    out: Annotated[
        str | None,
        typer.Argument(metavar="OUT", help="The file to write; not with --compare."),
        FileRole.WRITES_DATA,
    ] = None,
    *,
    resample: Annotated[
        list[str] | None,
        typer.Option(
            "--resample",
            "-r",
            help="Resampling: a resampler, or several with '+' between, parameters in brackets: "
            "remedial+mlsmote(n_neighbors=3). All: see 'scumble methods resampler'; or "
            "package.module.Class.",
        ),
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="Number of nearest neighbours.")] = None,
    percent: Annotated[
        float | None, typer.Option("--percent", help="How much to add or remove, in percent.")
    ] = None,
    seed: SeedOption = None,
    param: ParamOption = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare all resamplers, or those of --resample.")
    ] = False,
    jobs: JobsOption = None,
    read: ReadOptions,
    to: OutputFormatOption = None,
    json: JsonOption = False,
) -> None:
    """Resample a data set, and show before and after."""
    from scumble.data import write
    from scumble.resample import apply_chain, make_chain

    if compare == (out is not None):
        raise ParameterError("Name either a file to write, with --output, or --compare.")
    if resample is None and not compare:
        raise ParameterError(
            "No resampler is named. Give --resample, for example --resample remedial+mlsmote, or "
            "compare all resamplers with --compare."
        )
    options = {"n_neighbors": k, "percent": percent, "random_state": seed, "n_jobs": jobs}
    options |= parse_parameters(param or [])
    parameters = {name: value for name, value in options.items() if value is not None}
    if out is None:
        names = parse_names(resample)
        _compare_resamplers(read.load(data), names, parameters, as_json=json)
        return
    # The resamplers are checked before the data is read, which may take long.
    chain = make_chain(str(parse_single_name(resample, "--resample")), **parameters)
    after, result = apply_chain(read.load(data), chain)
    write(after, out, format=to)
    _show_before_after(result, out, after, as_json=json)


def _show_before_after(
    result: dict[str, Any], out: str, after: MultilabelDataset | None, *, as_json: bool
) -> None:
    """Print the measures before and after, and which file was written."""
    from scumble.report import render_treatment

    if as_json:
        console.print_json(result)
        return
    console.show_unless_quiet(render_treatment(result, width=console.width()))
    console.report_written_file(out, after, as_json=False)


def _compare_resamplers(
    data: MultilabelDataset, names: list[str], parameters: dict[str, Any], *, as_json: bool
) -> None:
    """Print the effect of resamplers on a data set; all resamplers are compared without names."""
    from scumble.measures.summary import to_json_value
    from scumble.report import render_comparison
    from scumble.resample import compare_methods

    # The first row is always the data without resampling.
    resamplers = [name for name in names if name.lower() != "none"]
    rows = compare_methods(data, resamplers or None, **parameters)
    console.show_result(
        to_json_value(rows), lambda _, width: render_comparison(rows, width=width), as_json=as_json
    )


def convert(
    data: DataArgument,
    out: OutArgument,
    *,
    read: ReadOptions,
    to: OutputFormatOption = None,
    json: JsonOption = False,
) -> None:
    """Read a data set and write it in another format."""
    from scumble.data import write

    dataset = read.load(data)
    write(dataset, out, format=to)
    console.report_written_file(out, dataset, as_json=json)


def split(
    data: DataArgument,
    *,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", help="Output: films.arff makes films-train.arff and films-test.arff."
        ),
        FileRole.WRITES_PARTS,
    ],
    test_size: Annotated[
        float,
        typer.Option("--test-size", help="Share of rows for testing, or their number from 1 on."),
    ] = 0.25,
    seed: SeedOption = None,
    read: ReadOptions,
    to: OutputFormatOption = None,
    json: JsonOption = False,
) -> None:
    """Split a data set into a training and a test part that both have its rare labels.

    A label with two rows or more is in both parts where possible. Next:
    scumble evaluate films-train.arff --test films-test.arff -c rare
    """
    from scumble.data.io import train_test_paths, write_parts
    from scumble.evaluate import train_test_split
    from scumble.evaluate.model_selection.cross_validation import resolve_seed

    if output == STDIO_PATH:
        raise ParameterError("There are two parts to write. Name a file with --output, not '-'.")
    paths = train_test_paths(output)
    random_state = resolve_seed(seed, caller="split")
    dataset = read.load(data)
    is_count = test_size >= 1 and test_size == int(test_size)
    parts = train_test_split(
        dataset, test_size=int(test_size) if is_count else test_size, random_state=random_state
    )
    write_parts(parts, paths, format=to)
    label_counts = _count_labels(parts)
    if json:
        files = {
            name: {"output": str(path), "n_instances": len(part)}
            for name, path, part in zip(("train", "test"), paths, parts, strict=True)
        }
        console.print_json({**files, "random_state": random_state, **label_counts})
        return
    for path, part in zip(paths, parts, strict=True):
        console.report_written_file(str(path), part, as_json=False)
    console.print_unless_quiet(_split_sentence(label_counts, random_state))


def _count_labels(parts: tuple[MultilabelDataset, ...]) -> dict[str, Any]:
    """Return the counts of the labels in both parts, and which labels are in one part only."""
    train_counts, test_counts = (part.Y.sum(axis=0).tolist() for part in parts)
    rows = [
        {"name": name, "train": n_train, "test": n_test}
        for name, n_train, n_test in zip(parts[0].labels, train_counts, test_counts, strict=True)
    ]
    divisible = [row for row in rows if row["train"] + row["test"] > 1]
    return {
        "labels": rows,
        "n_on_both_sides": sum(row["train"] > 0 and row["test"] > 0 for row in rows),
        "n_too_few": len(rows) - len(divisible),
        "one_sided": [row["name"] for row in divisible if 0 in (row["train"], row["test"])],
    }


def _split_sentence(label_counts: dict[str, Any], seed: int) -> str:
    """Return a sentence on how many labels are in both parts, and why others are not."""
    n_labels = len(label_counts["labels"])
    sentence = f"{label_counts['n_on_both_sides']:,} of {n_labels:,} labels are in both"
    if label_counts["n_too_few"]:
        sentence += f"; {label_counts['n_too_few']:,} have one instance or none"
    one_sided = label_counts["one_sided"]
    if one_sided:
        names = ", ".join(escape_controls(name) for name in one_sided[:N_NAMED_LABELS])
        if len(one_sided) > N_NAMED_LABELS:
            names += ", ..."
        sentence += f"; others share all their instances and could not be separated: {names}"
    return f"{sentence}; seed {seed}"
