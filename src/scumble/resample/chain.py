"""Several resamplers in order, what they do to a data set, and all of them side by side."""

import os
import time
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Literal

import numpy as np

from scumble._core.calls import parse_call, split_outside_brackets
from scumble._core.errors import (
    ParameterError,
    ScumbleError,
    ScumbleWarning,
    did_you_mean_parameter,
)
from scumble._core.progress import progress_bar
from scumble._core.registry import find_class, registered_objects
from scumble.data import MultilabelDataset
from scumble.measures.summary import characterize
from scumble.resample.base import BaseResampler

#: Parameters that any chain takes, whether its methods need them or not.
SHARED = {"random_state", "n_jobs"}
MEASURES = ("n_instances", "n_unlabelled", "mean_ir", "max_ir", "cvir", "scumble")


def make_chain(methods: str, **parameters: Any) -> list[BaseResampler]:
    """Turn names separated by ``+`` into resamplers.

    Parameters
    ----------
    methods : str
        Such as ``"mlsmote"`` or ``"remedial+mlsmote(n_neighbors=3)"``; case does not matter. A
        dotted name, such as ``"my_package.resampling.Mine"``, is imported. ``"none"`` is no
        resampler at all.
    **parameters : object
        Parameters by name. Each resampler gets those it has; None leaves the default. A
        parameter that none of them has is refused.

    Returns
    -------
    list of BaseResampler
        In the order of their names.

    Raises
    ------
    ParameterError
        If a name is not known, or a parameter fits none of the resamplers.

    Examples
    --------
    >>> from scumble.resample import make_chain
    >>> make_chain("remedial+mlsmote", n_neighbors=3, random_state=1)
    [REMEDIAL(), MLSMOTE(n_neighbors=3, random_state=1)]
    """
    steps = [] if methods.strip().lower() == "none" else split_outside_brackets(methods, "+")
    chain = [_make(step) for step in steps]
    given = {name: value for name, value in parameters.items() if value is not None}
    _refuse_unknown(repr(methods), [name for name in given if name not in SHARED], _known(chain))
    for step in chain:
        own = given.keys() & step.get_params(deep=False).keys()
        step.set_params(**{name: given[name] for name in own})
        step.check_parameters()
        _note_share(step)
    return chain


def _note_share(step: BaseResampler) -> None:
    """Tell those who are used to shares that percentages are percentages."""
    percent = getattr(step, "percent", None)
    if percent is not None and 0 < percent < 1:
        warnings.warn(
            f"The 'percent' parameter of {type(step).__name__} is {percent:g}: less than one "
            f"percent of the rows. If you mean {100 * percent:g} percent, say {100 * percent:g}.",
            ScumbleWarning,
            stacklevel=3,
        )


def run_chain(data: MultilabelDataset, chain: Sequence[Any]) -> MultilabelDataset:
    """Run resamplers one after another on a data set.

    Parameters
    ----------
    data : MultilabelDataset
        The data; not changed.
    chain : sequence of resamplers
        See `make_chain`; any others with ``fit_resample(X, Y)`` will do.

    Returns
    -------
    MultilabelDataset
        After the last one.

    Examples
    --------
    >>> from scumble import MultilabelDataset
    >>> from scumble.resample import make_chain, run_chain
    >>> data = MultilabelDataset([[0.0], [1.0], [2.0]], [[1, 0], [1, 0], [1, 1]])
    >>> len(run_chain(data, make_chain("remedial+mlros", percent=40, random_state=0)))
    5
    """
    for step in chain:
        if hasattr(step, "resample"):
            data = step.resample(data)
            continue
        X, Y = step.fit_resample(data.X, data.Y.toarray().astype(np.int64))
        data = data.with_rows(X, Y, getattr(step, "sample_indices_", None))
    return data


def apply_chain(
    data: MultilabelDataset, chain: Sequence[BaseResampler]
) -> tuple[MultilabelDataset, dict[str, Any]]:
    """Run resamplers in order and report the traits of the data before and after each.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    chain : sequence of BaseResampler
        From `make_chain`.

    Returns
    -------
    after : MultilabelDataset
        The resampled data.
    report : dict
        ``before`` and ``after`` (all measures), ``steps`` (the measures after each resampler)
        and ``methods`` (of each its name, its ``title`` with the parameters that are not its
        defaults, the rows added and removed, and ``n_one_sided`` of REMEDIAL). Ready for JSON.

    See Also
    --------
    run_chain : The same without a report.

    Examples
    --------
    >>> import scumble
    >>> from scumble.resample import apply_chain, make_chain
    >>> data = scumble.MultilabelDataset([[0.0]] * 4, [["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> _, report = apply_chain(data, make_chain("remedial", one_sided="keep"))
    >>> [(step["title"], step["n_added"], step["n_removed"]) for step in report["methods"]]
    [('REMEDIAL(one_sided=keep)', 1, 0)]
    """
    after, report = _measured_run(data, chain)
    report["methods"] = [
        {
            "method": type(sampler).__name__,
            "title": title_of(sampler),
            "n_added": sampler.n_added_,
            "n_removed": sampler.n_removed_,
            "n_one_sided": getattr(sampler, "n_one_sided_", None),
        }
        for sampler in chain
    ]
    return after, report


def title_of(sampler: BaseResampler) -> str:
    """Name a resampler with the parameters that are not its defaults, as people write them."""
    usual = signature(type(sampler)).parameters
    changed = [
        f"{name}={title_of(value) if isinstance(value, BaseResampler) else value}"
        for name, value in sampler.get_params(deep=False).items()
        if name != "n_jobs" and value != usual[name].default
    ]
    name = type(sampler).__name__
    return f"{name}({', '.join(changed)})" if changed else name


def apply_remedial(
    data: Any,
    *,
    passes: int = 1,
    one_sided: Literal["clone", "keep"] = "clone",
    out: str | os.PathLike[str] | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Decouple a data set and report its traits before and after every pass.

    Parameters
    ----------
    data : MultilabelDataset or Scan
        The data; see `scumble.scan` for what does not fit into memory.
    passes : int
        How often to repeat REMEDIAL.
    one_sided : {"clone", "keep"}
        See `REMEDIAL`.
    out : str or Path, optional
        The folder for what a scan becomes.

    Returns
    -------
    after : MultilabelDataset or Scan
        The decoupled data.
    report : dict
        ``before`` and ``after`` (all measures), ``steps`` (the measures after each pass; of a
        scan only after the last) and ``passes`` (what each pass met). Ready for JSON.

    Examples
    --------
    >>> import scumble
    >>> from scumble.resample import apply_remedial
    >>> data = scumble.MultilabelDataset([[0.0]] * 4, [["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> after, report = apply_remedial(data)
    >>> report["before"]["n_instances"], report["after"]["n_instances"]
    (4, 5)
    """
    chain = make_chain("remedial", passes=passes, one_sided=one_sided)
    if isinstance(data, MultilabelDataset):
        chain = make_chain("+".join(["remedial"] * chain[0].passes), one_sided=one_sided)
    after, report = _measured_run(data, chain, out)
    keys = ("n_above_mean", "n_one_sided", "n_added")
    report["passes"] = [
        {key: getattr(met, key) for key in keys} for sampler in chain for met in sampler.passes_
    ]
    return after, report


def _measured_run(
    data: Any, chain: Sequence[BaseResampler], out: str | os.PathLike[str] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Run resamplers in order; measure the data before the first and after each."""
    before = characterize(data).to_dict()
    steps = []
    for sampler in chain:
        data = sampler.resample(data, out)
        steps.append(characterize(data).to_dict())
    return data, {"before": before, "after": steps[-1] if steps else before, "steps": steps}


def compare_methods(
    data: MultilabelDataset,
    methods: Sequence[str] | Mapping[str, Sequence[BaseResampler]] | None = None,
    **parameters: Any,
) -> list[dict[str, Any]]:
    """Run methods on a data set, each on its own, and compare what comes out.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    methods : sequence of str, or mapping of str to resamplers, optional
        Names or chains of names, see `make_chain`; by default all resamplers there are. A mapping
        gives the resamplers themselves, under names of your own.
    **parameters : object
        Given to every method that has them. One that no method has is refused.

    Returns
    -------
    list of dict
        First the data as it is (method ``"none"``), then one row per method: ``method``,
        ``n_instances``, ``n_unlabelled``, ``n_added``, ``n_removed``, ``mean_ir``, ``max_ir``,
        ``cvir``, ``scumble``, ``seconds``, and ``error``, None or why the method failed.

    Examples
    --------
    >>> from scumble import MultilabelDataset
    >>> from scumble.resample import compare_methods
    >>> data = MultilabelDataset([[0.0], [1.0], [2.0]], [[1, 0], [1, 0], [1, 1]])
    >>> for row in compare_methods(data, ["remedial", "mlros"], percent=40, random_state=0):
    ...     print(row["method"], row["n_instances"], round(row["scumble"], 3))
    none 3 0.045
    remedial 4 0.0
    mlros 4 0.029
    """
    names = list(registered_objects("resampler")) if methods is None else list(methods)
    given = methods if isinstance(methods, Mapping) else {}
    known = {name: _known(make_chain(name)) for name in names if name not in given}
    asked = [name for name in parameters if name not in SHARED]
    _refuse_unknown(", ".join(known), asked, set[str]().union(*known.values()))
    rows = [_row("none", data, [], 0.0)]
    with progress_bar(
        f"Running {len(names)} method{'' if len(names) == 1 else 's'}", len(names)
    ) as on:
        for name in names:
            fitting = {key: parameters[key] for key in parameters if key in known.get(name, ())}
            rows.append(_try(data, name, given.get(name), fitting))
            on(1)
    return rows


def _try(
    data: MultilabelDataset,
    name: str,
    chain: Sequence[BaseResampler] | None,
    parameters: dict[str, Any],
) -> dict[str, Any]:
    """Run one method; one that cannot treat the data, or refuses a parameter, says why."""
    started = time.perf_counter()
    try:
        if chain is None:
            chain = make_chain(name, **parameters)
        after = run_chain(data, chain)
    except ScumbleError as error:
        return {"method": name, "error": str(error)}
    return _row(name, after, chain, time.perf_counter() - started)


def _row(
    name: str, data: MultilabelDataset, chain: Sequence[BaseResampler], seconds: float
) -> dict[str, Any]:
    summary = characterize(data.Y)
    return {
        "method": name,
        "n_added": sum(step.n_added_ for step in chain),
        "n_removed": sum(step.n_removed_ for step in chain),
        **{measure: getattr(summary, measure) for measure in MEASURES},
        "seconds": seconds,
        "error": None,
    }


def _make(step: str) -> BaseResampler:
    """Make the resampler of a name, with parameters in brackets or without."""
    name, given = parse_call(step)
    made: BaseResampler = find_class("resampler", name)()
    _refuse_unknown(repr(name), given, made.get_params(deep=False))
    return made.set_params(**given)


def _refuse_unknown(methods: str, parameters: Iterable[str], known: Collection[str]) -> None:
    """Refuse parameters that none of the methods has."""
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"No method of {methods} has a parameter {name!r}."
                f"{did_you_mean_parameter(name, known)} Known are: {', '.join(sorted(known)) or 'none'}."
            )


def _known(chain: Sequence[BaseResampler]) -> set[str]:
    """List the parameters that the methods of a chain have."""
    return {key for step in chain for key in step.get_params(deep=False)}
