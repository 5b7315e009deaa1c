"""Checks that any resampler must pass; also for authors of other packages."""

from scumble._core import exports
from scumble.testing.exam import (
    check_resampler as check_resampler,
    resampler_checks as resampler_checks,
)

exports.publish(globals())
