"""``compare``: does it help on my data? Several methods on the same folds."""

from __future__ import annotations

from typing import Any

from scumble._core.errors import ParameterError
from scumble.cli import inputs
from scumble.cli.console import progress, show_result
from scumble.cli.files import WRITES
from scumble.cli.inputs import lettered, method_parameters, optional, parse_names


def compare(
    data: inputs.Input,
    classifier: list[str] | None = lettered(
        "classifier",
        "several with ',' between; parameters in brackets: rare(quality=best),br. "
        "[default: br,rare]",
    ),
    resample: list[str] | None = lettered(
        "resample",
        "of the training parts, several with ',' between: none, remedial, "
        "mlsmote(n_neighbors=3), or steps with '+'. [default: none]",
    ),
    base: inputs.BaseOption = None,
    folds: inputs.FoldsOption = "2x5",
    test: inputs.TestOption = None,
    metric: list[str] | None = lettered(
        "metric", "to judge by; several with ',' between, the first decides."
    ),
    plot: str | None = optional(
        "Draw what each label gains by the best method (png, svg).", mark=WRITES
    ),
    store: str | None = lettered(
        "store",
        "keep every fold in this file as soon as it is judged, and go on from there; the seed "
        "is 0 unless you give one.",
        mark=WRITES,
    ),
    seed: inputs.SeedOption = None,
    jobs: inputs.JobsOption = None,
    reading: inputs.Reading = inputs.AS_IS,
    json: inputs.JsonOption = False,
) -> None:
    """Compare classifiers, with and without resampling, on the same folds.

    Every combination is held against the first, and gets a verdict: better, worse, or no difference
    that these folds can show.
    """
    from scumble.evaluate.comparison import METRICS
    from scumble.evaluate.groups import GROUPS
    from scumble.report import render_methods
    from scumble.resample import make_chain

    # Everything is checked before the data is read, which may take long.
    metrics = tuple(inputs.parse_metrics(metric, GROUPS) or METRICS)
    models = _models(parse_names(classifier) or ["br", "rare"], base)
    chains = {text: make_chain(text) or None for text in parse_names(resample) or ["none"]}
    given, tested = reading.load(data), reading.load_test(test)
    options: dict[str, Any] = {"folds": folds, "metrics": metrics, "test": tested, "n_jobs": jobs}
    with progress():
        found = _compare(store, seed, given, models, chains, **options)
    if plot is not None:
        from scumble.plots import plot_gains, save_plot

        save_plot(plot_gains(found), plot)
    show_result(found.to_dict(), render_methods, json=json)


def _models(texts: list[str], base: str | None) -> dict[str, Any]:
    """Make classifiers of what was typed; those without a base of their own get the common one."""
    from scumble._core.calls import parse_call
    from scumble.learn import make_classifier
    from scumble.learn.make_and_fit import base_parameter

    models = {}
    without = 0
    for text in texts:
        name, own = parse_call(text)
        common = None if "base" in own or base_parameter(name) is None else base
        without += common is None
        given = method_parameters(own, common)
        inside = ", ".join(f"{key}={value}" for key, value in given.items())
        models[text if common is None else f"{name}({inside})"] = make_classifier(name, **given)
    if base is not None and without == len(texts):
        raise ParameterError(
            f"None of {', '.join(texts)} takes the base {base!r} of --base: they ask no other "
            "classifier, or have one of their own."
        )
    return models


def _compare(store: str | None, seed: int | None, *given: Any, **options: Any) -> Any:
    """Compare, with a store or without."""
    if store is None:
        from scumble.evaluate import compare

        return compare(*given, random_state=seed, **options)
    from scumble.experiment import compare as compare_with_store

    return compare_with_store(*given, store=store, random_state=seed or 0, **options)
