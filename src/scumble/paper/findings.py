"""One checked number or statement of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """What the paper prints, what comes out, and whether they agree.

    Attributes
    ----------
    part : str
        Section of the audit, such as ``"Table 3"``.
    item : str
        The number or statement in question.
    published, ours : str
        Both as text, to the digits the paper prints.
    verdict : str
        Of the audit ``"follows"``, ``"follows before rounding"`` or ``"does not follow"``; those
        of the claims are described there.
    note : str
        Why, where it is known.

    Examples
    --------
    >>> from scumble.paper import Finding
    >>> Finding("Table 4", "yeast LP-ROS", "8.7000", "8.7000", "follows").to_dict()["verdict"]
    'follows'
    """

    part: str
    item: str
    published: str
    ours: str
    verdict: str
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return its attributes as a dict."""
        return asdict(self)


def tally(findings: Iterable[Finding]) -> dict[str, dict[str, int]]:
    """Count verdicts by part.

    Parameters
    ----------
    findings : iterable of Finding
        Findings of an audit, or of the claims.

    Returns
    -------
    dict
        From part to verdict to number, in order of appearance.

    Examples
    --------
    >>> from scumble.paper import audit, tally
    >>> tally(audit())["Stars"]
    {'follows': 28, 'does not follow': 2}
    """
    counted: dict[str, Counter[str]] = {}
    for finding in findings:
        counted.setdefault(finding.part, Counter())[finding.verdict] += 1
    return {part: dict(verdicts) for part, verdicts in counted.items()}
