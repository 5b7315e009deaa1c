"""Tasks that apply resamplers: to make a new data set, or to compare what they change."""

from scumble._core.progress import progress_bar
from scumble.gui.methods import make_resamplers
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.recipes import format_chain
from scumble.gui.tasks.packing import pack_with_measures
from scumble.gui.worker import Payload


def treat(packed: PackedDataset, steps: list[Payload]) -> tuple[PackedDataset, Payload]:
    """Apply resamplers in order; return the resulting data set and the report of the steps."""
    from scumble.resample import apply_chain

    chain = make_resamplers(steps)
    with progress_bar(" + ".join(type(resampler).__name__ for resampler in chain)):
        resampled, report = apply_chain(packed.data, chain)
    return pack_with_measures(resampled), report


def compare_resamplers(
    packed: PackedDataset, methods: list[Payload], advice: Payload | None
) -> Payload:
    """Return what each of several resamplers changes, and which one is advised."""
    from scumble.learn.inner_classifier import set_random_states
    from scumble.report.treatment import resampler_comparison
    from scumble.resample import compare_methods

    steps_by_name = {format_chain([method]): [method] for method in methods}
    chains = {name: make_resamplers(steps) for name, steps in steps_by_name.items()}
    for [resampler] in chains.values():
        set_random_states(resampler, 0)  # the same request gives the same result
    comparison = resampler_comparison(compare_methods(packed.data, chains))
    return {**comparison, "advised": advised_method(packed, advice), "chains": steps_by_name}


def advised_method(packed: PackedDataset, advice: Payload | None) -> Payload:
    """Return the best resampler: by the advice for this data set, else by public data sets.

    The dict holds its name ``method``, a ``reason``, and ``measured_here``: whether the advice
    has selected it.
    """
    from scumble.advice.advice_text import best_resampler_in_advice
    from scumble.advice.evidence import best_resampler_in_evidence

    best = None if advice is None else best_resampler_in_advice(advice)
    is_measured_here = best is not None
    if best is None:
        scumble = packed.overview["summary"]["scumble"] or 0.0
        best = best_resampler_in_evidence(scumble)
    method, reason = best
    return {"method": method, "reason": reason, "measured_here": is_measured_here}
