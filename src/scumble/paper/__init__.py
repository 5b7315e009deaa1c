"""The paper recomputed: what it prints, what follows from it, what the data say."""

from scumble.paper.audit import audit, displaced
from scumble.paper.claims import claims
from scumble.paper.ledger import ledger
from scumble.paper.sources import PHASES, phase, phase_text
from scumble.paper.verdicts import Entry, Finding, tally

__all__ = [
    "PHASES",
    "Entry",
    "Finding",
    "audit",
    "claims",
    "displaced",
    "ledger",
    "phase",
    "phase_text",
    "tally",
]
