"""What is said of a printed number beside ours, and why they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

VERDICTS = ("reproduced", "same direction", "not reproduced", "not computable here")
#: A number within so many standard errors of the printed one counts as reproduced.
NEAR = 2.0
#: Beyond the first and within this many, a difference may still be that of the folds.
FAR = 3.0
#: Why a number is not reproduced; of several the first that holds.
CAUSES = {
    "misprint": "the printed value does not follow from the data, which are the same",
    "repaired row": "the printed value stands in a wrong row; put back, it is reproduced",
    "substitute data": "the data set is not quite the paper's",
    "fold noise": "between two and three standard errors away",
    "undefined rule": "another reading of what the paper leaves open gives the printed value",
    "version of MULAN": "another version of the classifier gives the printed value",
    "other numbers": "it is computed from numbers that differ",
    "unknown": "none of these",
}


@dataclass(frozen=True)
class Entry:
    """A published number beside ours.

    Attributes
    ----------
    table : int
        Number of the table in the paper.
    item : str
        What the number is about.
    published : float
        As printed.
    ours : float or None
        None where it cannot be computed.
    verdict : str
        One of `VERDICTS`.
    reason : str
        What else is to be known: rules, substitutes, where a value stands.
    error : float or None
        Standard error of the difference of both means over folds; None where no chance is
        involved, or it is not known.
    cause : str
        Why it is not reproduced, one of `CAUSES`; also of a number that is reproduced once its row
        is put back.
    compared : float or None
        What ours is compared with, where that is not the number as printed: the one of a repaired
        row.

    Examples
    --------
    >>> from scumble.paper import Entry
    >>> round(Entry(2, "yeast LP-ROS max_ir after", 8.0, 8.2, "reproduced").difference, 6)
    0.2
    """

    table: int
    item: str
    published: float
    ours: float | None
    verdict: str
    reason: str = ""
    error: float | None = None
    cause: str = ""
    compared: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus published (of a repaired row: minus the number that belongs there)."""
        meant = self.published if self.compared is None else self.compared
        return None if self.ours is None else self.ours - meant

    def to_dict(self) -> dict[str, Any]:
        """Return its attributes and the difference as a dict."""
        return {**asdict(self), "difference": self.difference}


@dataclass(frozen=True)
class Printed:
    """A number of the paper that is about to be compared."""

    # `meant` differs from `value` where a row is put back; `before` is the printed value before
    # treatment, where there is one and the direction of the change counts.

    table: int
    item: str
    value: float
    meant: float
    decimals: int
    before: float | None = None


def absent(printed: Printed, reason: str) -> Entry:
    """Say that a number cannot be computed."""
    return Entry(printed.table, printed.item, printed.value, None, VERDICTS[3], reason)


def is_near(printed: float, ours: float, error: float, decimals: int) -> bool:
    """Tell whether two numbers differ by no more than chance and rounding explain."""
    return abs(ours - printed) <= NEAR * error + 0.5000001 * 10.0**-decimals


def compare(
    printed: Printed, ours: float, error: float, *, before: float | None = None, reason: str = ""
) -> Entry:
    """Compare a number that depends on folds; ``before`` is ours before treatment."""
    near = is_near(printed.meant, ours, error, printed.decimals)
    same = before is not None and _same_direction(printed, before, ours)
    moved = printed.meant != printed.value
    is_repair = moved and near and not is_near(printed.value, ours, error, printed.decimals)
    return Entry(
        printed.table, printed.item, printed.value, ours, VERDICTS[0 if near else 1 if same else 2],
        reason, error, "repaired row" if is_repair else "", printed.meant if moved else None,
    )  # fmt: skip


def _same_direction(printed: Printed, before: float, after: float) -> bool:
    if printed.before is None:
        return False
    theirs, ours = printed.meant - printed.before, after - before
    return (ours > 0) == (theirs > 0) and (ours == 0) == (theirs == 0)


def explain(entry: Entry, causes: Iterable[tuple[str, bool]]) -> Entry:
    """Name the first cause that holds for a number that is not reproduced."""
    if entry.verdict in (VERDICTS[0], VERDICTS[3]):
        return entry
    found = next((cause for cause, holds in causes if holds), "unknown")
    return replace(entry, cause=found)


def is_fold_noise(entry: Entry) -> bool:
    """Tell whether a difference is large for chance, but not impossible."""
    return entry.difference is not None and abs(entry.difference) <= FAR * (entry.error or 0.0)


# What follows, or holds --------------------------------------------------------------------------


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
