"""``plot``: a picture of a data set."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError
from scumble.cli import inputs
from scumble.cli.console import tell_written
from scumble.cli.files import WRITES
from scumble.cli.inputs import lettered, one_resampling, optional, parse_one

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset
    from scumble.plots import Plot

BEFORE_AFTER = "before-after"
ALL = sys.maxsize  # what --top 0 stands for


def plot(
    data: inputs.Input,
    output: Path = lettered("output", "a file .svg, .pdf or .png.", ..., mark=WRITES),
    kind: str = optional(
        "What to draw: chord, labels, difficult, before-after and others, see 'scumble "
        "methods plot'; or as mldr calls it, such as LC.",
        "chord",
        "--kind",
        "-k",
    ),
    draw: str | None = optional(
        "Labels to draw (chord, cooccurrence, labels), with commas between."
    ),
    top: int | None = optional("How many to show: labels or labelsets; 0 for all.", min=0),
    resample: list[str] | None = one_resampling("to draw before and after"),
    seed: inputs.SeedOption = None,
    dark: bool = optional("Light ink on a dark page.", False, "--dark"),
    dpi: int = optional("Dots per inch of a PNG.", 150, min=20, max=1200),
    reading: inputs.Reading = inputs.AS_IS,
    json: inputs.JsonOption = False,
) -> None:
    """Draw a data set: its difficult labels, their company, counts, before and after."""
    from scumble.plots import plot_before_after, plot_pair, save_plot

    entry = None if kind == BEFORE_AFTER else find_plot(kind)
    options = {} if entry is None else _options(entry, draw, top)
    method = parse_one(resample, "--resample")
    if entry is None and method is None:
        method = "remedial"
    treat = None if method is None or method.lower() == "none" else _treatment(method, seed)
    before = reading.load(data)
    after = before if treat is None else treat(before)
    if entry is None:
        few: dict[str, Any] = {} if top is None else {"n_labels": top or ALL}
        ax = plot_before_after(before, after, dark=dark, **few)
    elif treat is not None:
        titles = ("before", f"after {method}")
        ax, _ = plot_pair(before, after, entry.name, titles=titles, dark=dark, **options)
    else:
        ax = entry.function(before, dark=dark, **options)
    save_plot(ax, output, dpi=dpi)
    tell_written(str(output), json=json)


def find_plot(kind: str) -> Plot:
    """Find a plot by its name, or by what mldr calls it."""
    import scumble.plots  # noqa: F401  (registers them)
    from scumble._core.registry import registered
    from scumble._core.suggestions import suggest

    known = registered("plot")
    for entry in known.values():
        if kind.lower() == entry.name or kind.upper() == entry.alias:
            return entry
    names = ", ".join([*known, BEFORE_AFTER])
    meant = suggest(kind, [*known, BEFORE_AFTER])
    raise ParameterError(f"There is no plot {kind!r}.{meant} Expected one of {names}.")


def _options(entry: Plot, draw: str | None, top: int | None) -> dict[str, Any]:
    """Pass on what a plot understands, and refuse what it does not."""
    from inspect import signature

    known = signature(entry.function).parameters
    options: dict[str, Any] = {}
    if draw is not None:
        if "labels" not in known:
            raise ParameterError(f"--draw chooses labels, which the plot {entry.name!r} cannot.")
        options["labels"] = [name.strip() for name in draw.split(",") if name.strip()]
    if top is not None:
        count = next((n for n in ("n_labels", "n_labelsets", "n_names") if n in known), None)
        if count is None:
            raise ParameterError(f"--top has no meaning for the plot {entry.name!r}.")
        options[count] = top or ALL
    return options


def _treatment(method: str, seed: int | None) -> Callable[[MultilabelDataset], MultilabelDataset]:
    """Check the names of resamplers now, and run them on the data that is given later."""
    from scumble.learn import TextColumns
    from scumble.resample import make_chain, run_chain

    chain = make_chain(method, random_state=seed)
    return lambda data: run_chain(TextColumns.of(data).apply(data), chain)
