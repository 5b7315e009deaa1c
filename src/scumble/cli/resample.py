"""``remedial`` and ``resample``: what resamplers make of a data set, or all of them compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from scumble._core.errors import ParameterError
from scumble.cli import inputs
from scumble.cli.console import progress, show, show_json, tell, tell_written, width
from scumble.cli.files import WRITES_DATA
from scumble.cli.inputs import lettered, optional, parse_names, parse_one, parse_parameters
from scumble.cli.scale import UNASKED, Choice

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset


def remedial(
    data: inputs.Input,
    out: Annotated[str, typer.Argument(metavar="OUT", help="The file to write."), WRITES_DATA],
    passes: int = optional("How often to repeat it.", 1),
    one_sided: str = optional(
        "Instances above the mean with only frequent or only rare labels: 'clone' them "
        "(as published; one copy has no label) or 'keep' them as they are.",
        "clone",
    ),
    reading: inputs.Reading = inputs.AS_IS,
    to: inputs.ToOption = None,
    large: Choice = UNASKED,
    json: inputs.JsonOption = False,
) -> None:
    """Decouple rare labels from frequent ones, and show before and after."""
    from scumble.data import write
    from scumble.resample import apply_remedial

    side = cast(Literal["clone", "keep"], one_sided)
    found = large.open(data, reading)
    after = None
    if found is not None:
        with found, progress():
            _, result = apply_remedial(found, passes=passes, one_sided=side, out=out)
    else:
        after, result = apply_remedial(reading.load(data), passes=passes, one_sided=side)
        write(after, out, format=to)
    _conclude(result, out, after, json)


def resample(
    data: inputs.Input,
    out: Annotated[
        str | None,
        typer.Argument(metavar="OUT", help="The file to write; not with --compare."),
        WRITES_DATA,
    ] = None,
    resample: list[str] | None = lettered(
        "resample",
        "a method, or several with '+' between, parameters in brackets: "
        "remedial+mlsmote(n_neighbors=3). All: see 'scumble methods resampler'; or "
        "package.module.Class.",
    ),
    k: int | None = optional("Number of nearest neighbours."),
    percent: float | None = optional("How much to add or remove."),
    seed: inputs.SeedOption = None,
    param: inputs.ParamOption = None,
    compare: bool = optional("Compare all methods, or those of --resample.", False, "--compare"),
    jobs: inputs.JobsOption = None,
    reading: inputs.Reading = inputs.AS_IS,
    to: inputs.ToOption = None,
    json: inputs.JsonOption = False,
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
        methods = parse_names(resample)
        _compare(reading.load(data), methods, given, json)
        return
    # Before the data is read, which may take long.
    chain = make_chain(str(parse_one(resample, "--resample")), **given)
    after, result = apply_chain(reading.load(data), chain)
    write(after, out, format=to)
    _conclude(result, out, after, json)


def _conclude(
    result: dict[str, Any], out: str, after: MultilabelDataset | None, json: bool
) -> None:
    """Show before and after, and what was written."""
    from scumble.report import render_treatment

    if json:
        show_json(result)
    else:
        tell(render_treatment(result, width=width()))
        tell_written(out, after)


def _compare(data: Any, methods: list[str], parameters: dict[str, Any], json: bool) -> None:
    from scumble.measures.summary import plain
    from scumble.report import render_comparison
    from scumble.resample import compare_methods

    named = [method for method in methods if method.lower() != "none"]  # always the first row
    rows = compare_methods(data, named or None, **parameters)
    if json:
        show_json([{key: plain(value) for key, value in row.items()} for row in rows])
    else:
        show(render_comparison(rows, width=width()))
