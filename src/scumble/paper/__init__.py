"""The paper recomputed: what it prints, what follows from it, what the data say."""

from scumble._core import exports
from scumble.paper.audit import audit as audit, displaced as displaced
from scumble.paper.claims import claims as claims
from scumble.paper.ledger import ledger as ledger
from scumble.paper.sources import PHASES as PHASES, phase as phase, phase_text as phase_text
from scumble.paper.verdicts import Entry as Entry, Finding as Finding, tally as tally

exports.publish(globals())
