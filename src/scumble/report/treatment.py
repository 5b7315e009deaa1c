"""Before and after a treatment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from scumble.data import MultilabelDataset
from scumble.measures import Summary, characterize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scumble.resample import BaseResampler

#: The rows of a before/after table: attribute of `Summary`, title, how to print it.
TRAITS = (
    ("n_instances", "instances", ",d"),
    ("n_labelsets", "labelsets", ",d"),
    ("n_single_labelsets", "single labelsets", ",d"),
    ("max_labelset_count", "most frequent labelset", ",d"),
    ("n_unlabelled", "instances without labels", ",d"),
    ("cardinality", "cardinality", ".4f"),
    ("density", "density", ".4f"),
    ("mean_ir", "MeanIR", ".4f"),
    ("max_ir", "MaxIR", ".4f"),
    ("scumble", "SCUMBLE", ".6f"),
    ("scumble_cv", "SCUMBLE.CV", ".4f"),
    ("tcs", "TCS", ".4f"),
)


def apply_remedial(
    data: MultilabelDataset, *, passes: int = 1, one_sided: Literal["clone", "keep"] = "clone"
) -> tuple[MultilabelDataset, dict[str, Any]]:
    """Decouple a data set and report its traits before and after every pass.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    passes : int
        How often to repeat REMEDIAL.
    one_sided : {"clone", "keep"}
        See `scumble.resample.REMEDIAL`.

    Returns
    -------
    after : MultilabelDataset
        The decoupled data.
    report : dict
        ``before`` and ``after`` (all measures), ``steps`` (the measures after each pass) and
        ``passes`` (what each pass met). Ready for JSON.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import apply_remedial
    >>> data = scumble.MultilabelDataset([[0.0]] * 4, [["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> after, report = apply_remedial(data)
    >>> report["before"]["n_instances"], report["after"]["n_instances"]
    (4, 5)
    """
    from scumble.resample import REMEDIAL  # brings scikit-learn, which takes a second

    REMEDIAL(passes=passes, one_sided=one_sided)._check_parameters()
    steps: list[Summary] = [characterize(data)]
    met = []
    for _ in range(passes):
        sampler = REMEDIAL(one_sided=one_sided)
        data = sampler.resample(data)
        steps.append(characterize(data))
        met.append(sampler.passes_[0])
    report = {
        **_before_and_after(steps),
        "passes": [
            {
                "n_above_mean": each.n_above_mean,
                "n_one_sided": each.n_one_sided,
                "n_added": each.n_added,
            }
            for each in met
        ],
    }
    return data, report


def apply_chain(
    data: MultilabelDataset, chain: Sequence[BaseResampler]
) -> tuple[MultilabelDataset, dict[str, Any]]:
    """Run resamplers in order and report the traits of the data before and after each.

    Parameters
    ----------
    data : MultilabelDataset
        The data.
    chain : sequence of BaseResampler
        From `scumble.resample.make_chain`.

    Returns
    -------
    after : MultilabelDataset
        The resampled data.
    report : dict
        ``before`` and ``after`` (all measures), ``steps`` (the measures after each resampler)
        and ``methods`` (their names, rows added and removed). Ready for JSON.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import apply_chain
    >>> from scumble.resample import make_chain
    >>> data = scumble.MultilabelDataset([[0.0]] * 4, [["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> _, report = apply_chain(data, make_chain("remedial"))
    >>> report["methods"]
    [{'method': 'REMEDIAL', 'n_added': 1, 'n_removed': 0}]
    """
    steps: list[Summary] = [characterize(data)]
    methods = []
    for sampler in chain:
        data = sampler.resample(data)
        steps.append(characterize(data))
        counts = {"n_added": sampler.n_added_, "n_removed": sampler.n_removed_}
        methods.append({"method": type(sampler).__name__, **counts})
    return data, {**_before_and_after(steps), "methods": methods}


def try_treatment(
    data: MultilabelDataset,
    method: str,
    *,
    labels: Sequence[int] | None = None,
    random_state: int | None = None,
) -> dict[str, Any]:
    """Say what a treatment would do to a data set.

    Parameters
    ----------
    data : MultilabelDataset
        The data; not changed.
    method : str
        One or several resamplers, such as ``"remedial+mlsmote"``.
    labels : sequence of int, optional
        Labels to draw on the chord diagram of the result; by default as
        `scumble.plots.chord_layout` chooses.
    random_state : int, optional
        The seed.

    Returns
    -------
    dict
        What `apply_chain` reports, with ``method`` (as given) and ``chord`` (of the result). Ready
        for JSON.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import try_treatment
    >>> data = scumble.MultilabelDataset([[0.0]] * 4, [["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    >>> try_treatment(data, "remedial")["after"]["n_instances"]
    5
    """
    from scumble.plots.chord_layout import chord_layout
    from scumble.resample import make_chain

    after, report = apply_chain(data, make_chain(method, random_state=random_state))
    chord = chord_layout(after, labels, keep_order=True)
    return {"method": method, **report, "chord": chord.to_json()}


def step_titles(report: dict[str, Any]) -> list[str]:
    """Name the columns of a before/after table."""
    if "methods" in report:
        return [f"after {step['method']}" for step in report["methods"]]
    n_passes = len(report["passes"])
    return ["after"] if n_passes == 1 else [f"pass {at}" for at in range(1, n_passes + 1)]


def step_notes(report: dict[str, Any]) -> list[str]:
    """Say in words what each step did."""
    if "methods" in report:
        return [
            f"{step['n_added']:,} instances added, {step['n_removed']:,} removed."
            for step in report["methods"]
        ]
    return [
        f"{met['n_above_mean']:,} instances above the mean, {met['n_one_sided']:,} of them with "
        f"only frequent or only rare labels; {met['n_added']:,} clones added."
        for met in report["passes"]
    ]


def all_treatments(
    report: dict[str, Any], treatment: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """List the treatments a report shows, ready to be laid out."""
    found = [*report.get("treatments", ()), *([] if treatment is None else [treatment])]
    return [
        {
            "method": each.get("method") or _method_of(each),
            "before": each["before"],
            "steps": each["steps"],
            "titles": step_titles(each),
            "notes": step_notes(each),
            "chord": each.get("chord"),
        }
        for each in found
    ]


def _method_of(report: dict[str, Any]) -> str:
    return " + ".join(step["method"] for step in report.get("methods", ())) or "REMEDIAL"


def _before_and_after(steps: list[Summary]) -> dict[str, Any]:
    return {
        "before": steps[0].to_dict(),
        "after": steps[-1].to_dict(),
        "steps": [step.to_dict() for step in steps[1:]],
    }
