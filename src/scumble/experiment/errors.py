"""What can go wrong with plans and stores."""

from __future__ import annotations

from scumble._core.errors import ScumbleError


class PlanError(ScumbleError, ValueError):
    """A plan asks for something that does not exist or does not fit.

    Examples
    --------
    >>> from scumble.experiment import Plan
    >>> Plan(datasets=["debtags"], classifiers=["bra"]).check()
    Traceback (most recent call last):
        ...
    scumble.experiment.errors.PlanError: The plan 'experiment' cannot be run: bra: There is no ...
    """


class StoreError(ScumbleError):
    """A store of results cannot be opened, read or written.

    Examples
    --------
    >>> from scumble.experiment import Store
    >>> Store("no-such-folder/results.db", create=False)
    Traceback (most recent call last):
        ...
    scumble.experiment.errors.StoreError: ...results.db: there is no such store. Run a plan first.
    """
