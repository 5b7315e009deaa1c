"""``resample``: one or several resamplers in order, or all of them compared."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scumble._core.errors import ParameterError
from scumble.cli.files import WRITES_DATA
from scumble.cli.inputs import (
    FormatOption,
    Input,
    JobsOption,
    JsonOption,
    LabelsOption,
    ParamOption,
    ReadOption,
    SeedOption,
    ToOption,
    load,
    parse_names,
    parse_one,
    parse_parameters,
)


def resample(
    data: Input,
    out: Annotated[
        str | None,
        typer.Argument(metavar="OUT", help="The file to write; not with --compare."),
        WRITES_DATA,
    ] = None,
    resample: Annotated[
        list[str] | None,
        typer.Option(
            "--resample",
            "-r",
            help="Resampling: a method, or several with '+' between, parameters in brackets: "
            "remedial+mlsmote(n_neighbors=3). All: see 'scumble methods resampler'; or "
            "package.module.Class.",
        ),
    ] = None,
    k: Annotated[int | None, typer.Option(help="Number of nearest neighbours.")] = None,
    percent: Annotated[float | None, typer.Option(help="How much to add or remove.")] = None,
    seed: SeedOption = None,
    param: ParamOption = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare all methods, or those of --resample.")
    ] = False,
    jobs: JobsOption = None,
    format: FormatOption = None,
    labels: LabelsOption = None,
    option: ReadOption = None,
    to: ToOption = None,
    json: JsonOption = False,
) -> None:
    """Resample a data set, and show before and after."""
    from scumble.cli.console import show_json, tell, tell_written, width
    from scumble.data import write
    from scumble.report import render_treatment
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
        methods = parse_names(resample)
        _compare(load(data, format=format, labels=labels, options=option), methods, given, json)
        return
    chain = make_chain(
        str(parse_one(resample, "--resample")), **given
    )  # before the data is read, which may take long
    before = load(data, format=format, labels=labels, options=option)
    after, result = apply_chain(before, chain)
    write(after, out, format=to)
    if json:
        show_json(result)
    else:
        tell(render_treatment(result, width=width()))
        tell_written(out, after)


def _compare(data: Any, methods: list[str], parameters: dict[str, Any], json: bool) -> None:
    from scumble.cli.console import show, show_json, width
    from scumble.measures.summary import plain
    from scumble.report import render_comparison
    from scumble.resample import compare_methods

    named = [method for method in methods if method.lower() != "none"]  # always the first row
    rows = compare_methods(data, named or None, **parameters)
    if json:
        show_json([{key: plain(value) for key, value in row.items()} for row in rows])
    else:
        show(render_comparison(rows, width=width()))
