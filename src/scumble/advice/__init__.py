"""Advice for a data set: its problems, the best method, and its expected performance."""

import typing

from scumble._core import lazy_imports

if typing.TYPE_CHECKING:
    from scumble.advice.advice import Advice, advise
    from scumble.advice.candidates import CANDIDATES, Candidate
    from scumble.advice.diagnosis import Diagnosis, diagnose

# Names load on first use: a diagnosis needs neither classifiers nor resamplers.
__all__ = [
    "CANDIDATES",
    "Advice",
    "Candidate",
    "Diagnosis",
    "advise",
    "diagnose",
]

if not typing.TYPE_CHECKING:
    __getattr__, __dir__ = lazy_imports.attach(
        __name__,
        __all__,
        {
            "scumble.advice.advice": ("Advice", "advise"),
            "scumble.advice.candidates": ("CANDIDATES", "Candidate"),
            "scumble.advice.diagnosis": ("Diagnosis", "diagnose"),
        },
    )
