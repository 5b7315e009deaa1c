"""Recomputation of the paper: its printed numbers, what follows from them, and our results."""

from scumble.paper.audit import audit, check_displaced_rows
from scumble.paper.claims import claims
from scumble.paper.ledger import ledger
from scumble.paper.sources import PHASES, phase, phase_text
from scumble.paper.verdicts import Finding, ReproductionResult, tally

__all__ = [
    "PHASES",
    "Finding",
    "ReproductionResult",
    "audit",
    "check_displaced_rows",
    "claims",
    "ledger",
    "phase",
    "phase_text",
    "tally",
]
