"""From a data set to a decision: what is wrong, what helps, what does not, and how sure that is."""

import sys
import types
import typing

from scumble._core import exports

if typing.TYPE_CHECKING:
    from scumble.advise.advice import Advice as Advice, advise as advise
    from scumble.advise.candidates import CANDIDATES as CANDIDATES, Candidate as Candidate
    from scumble.advise.diagnosis import Diagnosis as Diagnosis, diagnose as diagnose

# Names load on first use: a diagnosis needs neither classifiers nor resamplers.
exports.publish(
    globals(),
    {
        "scumble.advise.advice": ("Advice", "advise"),
        "scumble.advise.candidates": ("CANDIDATES", "Candidate"),
        "scumble.advise.diagnosis": ("Diagnosis", "diagnose"),
    },
)


class _Room(types.ModuleType):
    """The room can be called as what it is for: ``scumble.advise(data)``."""

    def __call__(self, *given: typing.Any, **more: typing.Any) -> typing.Any:
        """Call `scumble.advise.advise`."""
        return self.advise(*given, **more)


sys.modules[__name__].__class__ = _Room
