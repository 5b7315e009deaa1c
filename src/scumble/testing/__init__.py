"""Checks that any resampler must pass; also for authors of other packages."""

from scumble.testing.checks import (
    check_resampler,
    resampler_checks,
)

__all__ = [
    "check_resampler",
    "resampler_checks",
]
