"""A data set before, between and after resamplers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from inspect import signature
from typing import Any, Literal

from scumble.data import MultilabelDataset
from scumble.measures.summary import characterize
from scumble.resample.base import BaseResampler
from scumble.resample.chain import make_chain
from scumble.resample.remedial import REMEDIAL


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
        chain = [REMEDIAL(one_sided=one_sided) for _ in range(passes)]
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
