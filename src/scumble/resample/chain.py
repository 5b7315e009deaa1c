"""Chains: several resamplers applied in order, with reports of what they change."""

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
from scumble._core.text import pluralize
from scumble.data import MultilabelDataset
from scumble.measures.summary import characterize
from scumble.resample.base import BaseResampler

#: Parameters that every chain accepts, even if none of its resamplers has them.
SHARED_PARAMETERS = {"random_state", "n_jobs"}
#: The measures that `compare_methods` reports.
COMPARED_MEASURES = ("n_instances", "n_unlabelled", "mean_ir", "max_ir", "cvir", "scumble")


def make_chain(methods: str, **parameters: Any) -> list[BaseResampler]:
    """Return the resamplers of a chain, given their names separated by ``+``.

    Parameters
    ----------
    methods : str
        Such as ``"mlsmote"`` or ``"remedial+mlsmote(n_neighbors=3)"``; case does not matter. A
        dotted name, such as ``"my_package.resampling.Mine"``, is imported. ``"none"`` gives an
        empty chain.
    **parameters : object
        Parameters by name. Each resampler gets those that it has; None keeps the default. A
        parameter that none of the resamplers has raises an error.

    Returns
    -------
    list of BaseResampler
        In the order of their names.

    Raises
    ------
    ParameterError
        If a name is unknown, or none of the resamplers has one of the parameters.

    Examples
    --------
    >>> from scumble.resample import make_chain
    >>> make_chain("remedial+mlsmote", n_neighbors=3, random_state=1)
    [REMEDIAL(), MLSMOTE(n_neighbors=3, random_state=1)]
    """
    calls = [] if methods.strip().lower() == "none" else split_outside_brackets(methods, "+")
    chain = [_make_resampler(call) for call in calls]
    settings = {name: value for name, value in parameters.items() if value is not None}
    _check_parameter_names(
        [name for name in settings if name not in SHARED_PARAMETERS],
        allowed=_parameter_names(chain),
        methods=repr(methods),
    )
    for resampler in chain:
        names = settings.keys() & resampler.get_params(deep=False).keys()
        resampler.set_params(**{name: settings[name] for name in names})
        resampler.check_parameters()
        _warn_if_percent_looks_like_share(resampler)
    return chain


def _warn_if_percent_looks_like_share(resampler: BaseResampler) -> None:
    """Warn if the ``percent`` parameter is below 1: in other libraries, 0.25 means 25 percent."""
    percent = getattr(resampler, "percent", None)
    if percent is not None and 0 < percent < 1:
        warnings.warn(
            f"The 'percent' parameter of {type(resampler).__name__} is {percent:g}: less than one "
            f"percent of the rows. If you mean {100 * percent:g} percent, say {100 * percent:g}.",
            ScumbleWarning,
            stacklevel=3,
        )


def run_chain(data: MultilabelDataset, chain: Sequence[Any]) -> MultilabelDataset:
    """Run the resamplers of a chain in order on a data set.

    Parameters
    ----------
    data : MultilabelDataset
        The data; it is not changed.
    chain : sequence of resamplers
        See `make_chain`; any other object with ``fit_resample(X, y)`` is accepted.

    Returns
    -------
    MultilabelDataset
        The result of the last resampler.

    Examples
    --------
    >>> from scumble import MultilabelDataset
    >>> from scumble.resample import make_chain, run_chain
    >>> data = MultilabelDataset([[0.0], [1.0], [2.0]], [[1, 0], [1, 0], [1, 1]])
    >>> len(run_chain(data, make_chain("remedial+mlros", percent=40, random_state=0)))
    5
    """
    for resampler in chain:
        if hasattr(resampler, "resample"):
            data = resampler.resample(data)
        else:
            X, Y = resampler.fit_resample(data.X, data.Y.toarray().astype(np.int64))
            data = data.with_rows(X, Y, getattr(resampler, "sample_indices_", None))
    return data


def apply_chain(
    data: MultilabelDataset, chain: Sequence[BaseResampler]
) -> tuple[MultilabelDataset, dict[str, Any]]:
    """Run the resamplers of a chain in order and measure the data before and after each.

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
        and ``methods`` (for each resampler its name, its ``title`` with the parameters that
        differ from the defaults, the numbers of rows added and removed, and ``n_one_sided`` of
        REMEDIAL). It can be written as JSON.

    See Also
    --------
    run_chain : Does the same without a report.

    Examples
    --------
    >>> import scumble
    >>> from scumble.resample import apply_chain, make_chain
    >>> data = scumble.MultilabelDataset([[0.0]] * 4, [["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> _, report = apply_chain(data, make_chain("remedial", one_sided="keep"))
    >>> [(step["title"], step["n_added"], step["n_removed"]) for step in report["methods"]]
    [('REMEDIAL(one_sided=keep)', 1, 0)]
    """
    after, report = _run_and_measure(data, chain)
    report["methods"] = [
        {
            "method": type(resampler).__name__,
            "title": title_of(resampler),
            "n_added": resampler.n_added_,
            "n_removed": resampler.n_removed_,
            "n_one_sided": getattr(resampler, "n_one_sided_", None),
        }
        for resampler in chain
    ]
    return after, report


def title_of(resampler: BaseResampler) -> str:
    """Return the class name of a resampler with its parameters, such as "MLROS(percent=10)".

    Parameters with their default values and ``n_jobs`` are left out.
    """
    signature_parameters = signature(type(resampler)).parameters
    changed = []
    for name, value in resampler.get_params(deep=False).items():
        if name != "n_jobs" and value != signature_parameters[name].default:
            text = title_of(value) if isinstance(value, BaseResampler) else value
            changed.append(f"{name}={text}")
    class_name = type(resampler).__name__
    if changed:
        return f"{class_name}({', '.join(changed)})"
    return class_name


def apply_remedial(
    data: Any,
    *,
    passes: int = 1,
    one_sided: Literal["clone", "keep"] = "clone",
    out: str | os.PathLike[str] | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Decouple a data set and measure it before and after every pass.

    Parameters
    ----------
    data : MultilabelDataset or result of `scumble.scan`
        The data; see `scumble.scan` for data that does not fit in memory.
    passes : int
        Number of passes of REMEDIAL.
    one_sided : {"clone", "keep"}
        How to treat instances with majority or minority labels only; see `REMEDIAL`.
    out : str or Path, optional
        File or folder to write the result to.

    Returns
    -------
    after : same type as data
        The decoupled data.
    report : dict
        ``before`` and ``after`` (all measures), ``steps`` (the measures after each pass; out of
        core only after the last) and ``passes`` (``n_above_mean``, ``n_one_sided`` and
        ``n_added`` of each pass). It can be written as JSON.

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
        # One resampler per pass, so that the data is measured after each.
        names = ["remedial"] * chain[0].passes
        chain = make_chain("+".join(names), one_sided=one_sided)
    after, report = _run_and_measure(data, chain, out)
    report["passes"] = []
    for resampler in chain:
        for counts in resampler.passes_:
            report["passes"].append(
                {
                    "n_above_mean": counts.n_above_mean,
                    "n_one_sided": counts.n_one_sided,
                    "n_added": counts.n_added,
                }
            )
    return after, report


def _run_and_measure(
    data: Any, chain: Sequence[BaseResampler], out: str | os.PathLike[str] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Run resamplers in order; return the resampled data and a report.

    The report holds the measures of the data as dicts: "before", "after", and a list "steps" with
    the measures after each resampler. ``out`` is passed to each `BaseResampler.resample`.
    """
    before = characterize(data).to_dict()
    steps = []
    for resampler in chain:
        data = resampler.resample(data, out)
        steps.append(characterize(data).to_dict())
    after = steps[-1] if steps else before
    return data, {"before": before, "after": after, "steps": steps}


def compare_methods(
    data: MultilabelDataset,
    methods: Sequence[str] | Mapping[str, Sequence[BaseResampler]] | None = None,
    **parameters: Any,
) -> list[dict[str, Any]]:
    """Run several methods on the same data set and compare imbalance and concurrence.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    methods : sequence of str, or mapping of str to resamplers, optional
        Names of resamplers or chains, see `make_chain`; by default all registered resamplers. A
        mapping gives chains of resamplers under names of your choice.
    **parameters : object
        Parameters by name. Each method gets those that it has; a parameter that no method has
        raises an error.

    Returns
    -------
    list of dict
        First the unchanged data (method ``"none"``), then one row per method: ``method``,
        ``n_instances``, ``n_unlabelled``, ``n_added``, ``n_removed``, ``mean_ir``, ``max_ir``,
        ``cvir``, ``scumble``, ``seconds``, and ``error``: None, or why the method failed.

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
    chains = methods if isinstance(methods, Mapping) else {}
    # The parameters of the methods that are made by name; chains of a mapping are complete.
    allowed = {name: _parameter_names(make_chain(name)) for name in names if name not in chains}
    _check_parameter_names(
        [name for name in parameters if name not in SHARED_PARAMETERS],
        allowed=set[str]().union(*allowed.values()),
        methods=", ".join(allowed),
    )
    rows = [_result_row("none", data, [], seconds=0.0)]
    title = f"Running {pluralize(len(names), 'method')}"
    with progress_bar(title, len(names)) as advance:
        for name in names:
            settings = {key: parameters[key] for key in parameters if key in allowed.get(name, ())}
            rows.append(_run_method(data, name, chain=chains.get(name), parameters=settings))
            advance(1)
    return rows


def _run_method(
    data: MultilabelDataset,
    name: str,
    *,
    chain: Sequence[BaseResampler] | None,
    parameters: dict[str, Any],
) -> dict[str, Any]:
    """Run one method on a data set and return its row of `compare_methods`.

    ``chain`` holds its resamplers; if it is None, they are made from ``name`` and ``parameters``.
    If the method fails, the row holds its name and the error message only.
    """
    start = time.perf_counter()
    try:
        if chain is None:
            chain = make_chain(name, **parameters)
        after = run_chain(data, chain)
    except ScumbleError as error:
        return {"method": name, "error": str(error)}
    return _result_row(name, after, chain, seconds=time.perf_counter() - start)


def _result_row(
    name: str, data: MultilabelDataset, chain: Sequence[BaseResampler], *, seconds: float
) -> dict[str, Any]:
    """Return a row of `compare_methods`: the measures of resampled data as a dict.

    ``chain`` holds the resamplers that were used, ``seconds`` the time that they took.
    """
    summary = characterize(data.Y)
    return {
        "method": name,
        "n_added": sum(resampler.n_added_ for resampler in chain),
        "n_removed": sum(resampler.n_removed_ for resampler in chain),
        **{measure: getattr(summary, measure) for measure in COMPARED_MEASURES},
        "seconds": seconds,
        "error": None,
    }


def _make_resampler(call: str) -> BaseResampler:
    """Return a new resampler for a text such as "mlros" or "mlros(percent=10)"."""
    name, arguments = parse_call(call)
    resampler: BaseResampler = find_class("resampler", name)()
    _check_parameter_names(arguments, allowed=resampler.get_params(deep=False), methods=repr(name))
    return resampler.set_params(**arguments)


def _check_parameter_names(names: Iterable[str], *, allowed: Collection[str], methods: str) -> None:
    """Raise ParameterError if one of the names is not an allowed parameter.

    ``methods`` is the text for the methods in the message.
    """
    for name in names:
        if name not in allowed:
            raise ParameterError(
                f"No method of {methods} has a parameter {name!r}."
                f"{did_you_mean_parameter(name, allowed)} Known are: "
                f"{', '.join(sorted(allowed)) or 'none'}."
            )


def _parameter_names(chain: Sequence[BaseResampler]) -> set[str]:
    """Return the names of all parameters that the resamplers of a chain have."""
    names: set[str] = set()
    for resampler in chain:
        names.update(resampler.get_params(deep=False))
    return names
