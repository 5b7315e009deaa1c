"""One checked number or statement of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

#: From best to worst.
VERDICTS = (
    "follows",
    "follows before rounding",
    "does not follow",
)


@dataclass(frozen=True)
class Finding:
    """What the paper prints, what comes out, and whether they agree.

    Attributes
    ----------
    part : str
        Section of the audit, such as ``"Table 3"``.
    item : str
        What it is about.
    published, ours : str
        Both as text, to the digits the paper prints.
    verdict : str
        One of `VERDICTS`, or of those of the claims.
    note : str
        Why, where it is known.
    """

    part: str
    item: str
    published: str
    ours: str
    verdict: str
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values.

        Returns
        -------
        dict
            By attribute.
        """
        return asdict(self)


def tally(findings: Iterable[Finding]) -> dict[str, dict[str, int]]:
    """Count verdicts by part.

    Parameters
    ----------
    findings : iterable of Finding
        What was found.

    Returns
    -------
    dict
        From part to verdict to number, in order of appearance.
    """
    counted: dict[str, Counter[str]] = {}
    for finding in findings:
        counted.setdefault(finding.part, Counter())[finding.verdict] += 1
    return {part: dict(verdicts) for part, verdicts in counted.items()}
