"""The paper recomputed: what it prints, what follows from it, what the data say."""

from scumble.experiment.paper.audit import audit
from scumble.experiment.paper.claims import claims
from scumble.experiment.paper.findings import Finding, tally
from scumble.experiment.paper.ledger import Entry, ledger
from scumble.experiment.paper.phases import PHASES, phase, phase_text
from scumble.experiment.paper.repair import displaced

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
