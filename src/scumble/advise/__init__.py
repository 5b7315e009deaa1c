"""From a data set to a decision: what is wrong, what helps, what does not, and how sure that is."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from scumble._core.lazy import lazy_names

if TYPE_CHECKING:
    from scumble.advise.advice import Advice, advise
    from scumble.advise.candidates import CANDIDATES, Candidate
    from scumble.advise.diagnosis import Diagnosis, diagnose

__all__ = ["CANDIDATES", "Advice", "Candidate", "Diagnosis", "advise", "diagnose"]

# Names load on first use: a diagnosis needs neither classifiers nor resamplers.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "scumble.advise.advice": ("Advice", "advise"),
        "scumble.advise.candidates": ("CANDIDATES", "Candidate"),
        "scumble.advise.diagnosis": ("Diagnosis", "diagnose"),
    },
)


class _Room(ModuleType):
    """The room can be called as what it is for: ``scumble.advise(data)``."""

    def __call__(self, *given: Any, **more: Any) -> Any:
        """Call `scumble.advise.advise`."""
        return self.advise(*given, **more)


sys.modules[__name__].__class__ = _Room
