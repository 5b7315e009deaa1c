"""What can go wrong with plans and stores."""

from __future__ import annotations

from scumble._core.errors import ScumbleError


class PlanError(ScumbleError, ValueError):
    """A plan asks for something that does not exist or does not fit."""


class StoreError(ScumbleError):
    """A store of results cannot be opened, read or written."""
