"""The error of a plan that cannot be run."""

from scumble._core.errors import ScumbleError


class PlanError(ScumbleError, ValueError):
    """A plan names something that does not exist, or has values that are not allowed.

    Examples
    --------
    >>> from scumble.experiment import Plan
    >>> Plan(datasets=["debtags"], classifiers=["bra"]).check()
    Traceback (most recent call last):
        ...
    scumble.experiment.plan_error.PlanError: The plan 'experiment' cannot be run: bra: ...
    """
