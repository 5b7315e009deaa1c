"""How often each label occurs, so that cardinality and MeanIR come out as asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from scumble._core.errors import ParameterError
from scumble.data.synthetic.kernels import round_counts
from scumble.data.synthetic.law import EXACT_BELOW, BentPowerLaw

Array = np.ndarray[Any, Any]

#: MeanIR may be off by this share.
TOLERANCE = 0.02
#: No further effort is made below this.
CLOSE = TOLERANCE / 20
#: How often to aim anew, and how often where integers leave little choice.
TRIES, MANY_TRIES, FEW_LABELS = 8, 40, 64


def label_counts(
    n_assignments: int, n_labels: int, mean_ir: float, most: int, *, bend: float = 1.0
) -> Array:
    """Choose how many rows each label has, most frequent first.

    The counts follow a power law of the rank where one exists with the wanted sum and MeanIR:
    IRLbl = k^a for the k-th label. Else the law is bent, ln IRLbl ~ (ln k)^p: with p > 1 more
    labels are about as frequent as the first, whose own count then need not exceed ``most``. No
    count falls below 1.

    Parameters
    ----------
    n_assignments : int
        Their sum.
    n_labels : int
        How many there are.
    mean_ir : float
        The wanted mean of (largest count / count).
    most : int
        No count may be larger; the number of rows, or little less.
    bend : float
        Multiplies p. More of it gives more labels of middling frequency, and rarer rare ones.

    Returns
    -------
    ndarray of int64
        Descending, each at least 1, with sum ``n_assignments``.

    Raises
    ------
    ParameterError
        If there are no such counts, with the range of MeanIR there is.
    """
    if not n_labels <= n_assignments <= n_labels * most:
        raise ParameterError(
            f"make_multilabel: {n_assignments} assignments do not fit {n_labels} labels with 1 to "
            f"{most} rows each. Expected 'cardinality' to be further from its limits."
        )
    low, high = reachable_mean_ir(n_assignments, n_labels, most)
    counts = _search(n_assignments, n_labels, float(np.clip(mean_ir, low, high)), most, bend)
    if _miss(counts, mean_ir) <= TOLERANCE:
        return counts
    raise ParameterError(
        f"make_multilabel: no {n_labels} label counts with sum {n_assignments} and none above "
        f"{most} have a MeanIR of {mean_ir:g}. Expected 'mean_ir' in [{low:.4g}, {high:.4g}] for "
        "this number of instances, labels and cardinality; the nearest value found is "
        f"{_mean_ir(counts):.4g}."
    )


def reachable_mean_ir(n_assignments: int, n_labels: int, most: int) -> tuple[float, float]:
    """Tell the smallest and the largest MeanIR that counts with a given sum can have.

    Examples
    --------
    >>> from scumble.data.synthetic.counts import reachable_mean_ir
    >>> reachable_mean_ir(12, 4, 8)  # 3, 3, 3, 3 and 8, 2, 1, 1
    (1.0, 5.25)
    """
    share, rest = divmod(n_assignments, n_labels)
    even = np.full(n_labels, share)
    even[:rest] += 1
    spare = n_assignments - n_labels
    full = spare // max(most - 1, 1)
    steep = np.ones(n_labels, np.int64)
    steep[:full] = most
    if full < n_labels:
        steep[full] += spare - full * (most - 1)
    return _mean_ir(even), _mean_ir(steep)


def _mean_ir(counts: Array) -> float:
    return float(np.mean(counts.max() / counts))


def _search(n_assignments: int, n_labels: int, mean_ir: float, most: int, factor: float) -> Array:
    """Solve the smooth law, round it, and correct the aim by what rounding did."""
    if n_labels == 1:
        return np.array([n_assignments])
    aimed_sum, aimed_ir = float(n_assignments), mean_ir
    bend = factor * BentPowerLaw(n_labels, aimed_sum, aimed_ir).least_bend(most)
    best = np.array([])
    for attempt in range(MANY_TRIES if n_labels <= FEW_LABELS else TRIES):
        rounded = round_counts(BentPowerLaw(n_labels, aimed_sum, aimed_ir).values(bend), most)
        counts = _correct_sum(rounded, n_assignments, most)
        counts = _correct_mean_ir(counts, mean_ir, most)
        if attempt == 0 or _miss(counts, mean_ir) < _miss(best, mean_ir):
            best = counts
        if _miss(best, mean_ir) < (CLOSE if attempt < TRIES else TOLERANCE):
            break
        aimed_sum = max(aimed_sum + n_assignments - float(rounded.sum()), n_labels)
        aimed_ir = max(aimed_ir * mean_ir / _mean_ir(counts), 1.0)
        if attempt >= TRIES:  # few labels, stuck between integers: start from elsewhere
            aimed_ir = max(mean_ir * (1 + 0.02 * (attempt % 8 - 4)), 1.0)
            bend = 2.0 ** (attempt // 8)
    return best


def _miss(counts: Array, mean_ir: float) -> float:
    return abs(_mean_ir(counts) / mean_ir - 1)


def _correct_sum(counts: Array, total: int, most: int) -> Array:
    """Add or take what the sum lacks, in proportion, from the frequent labels but the first."""
    counts = np.sort(counts)[::-1].copy()
    while (missing := total - int(counts.sum())) != 0:
        others = counts[1:]
        room = counts[0] - others if missing > 0 else others - 1
        if room.sum() == 0:  # only the first label is left to give or take
            counts[0] = min(max(counts[0] + missing, 1), most)
            continue
        wanted = np.minimum(room, room * others * (abs(missing) / float((room * others).sum())))
        step = wanted.astype(np.int64)
        if step.sum() == 0:
            step[np.flatnonzero(room)[: abs(missing)]] = 1
        others += step if missing > 0 else -step
    return np.sort(counts)[::-1]


def _correct_mean_ir(counts: Array, mean_ir: float, most: int) -> Array:
    """Move single rows from label to label while that brings MeanIR closer.

    Rounding matters where labels have one or two rows, or where there are few labels.
    """
    if len(counts) < 2 or len(counts) > EXACT_BELOW:
        return counts
    for _ in range(200):
        if _miss(counts, mean_ir) < CLOSE:
            break
        moved = _best_move(counts, mean_ir, most)
        if _miss(moved, mean_ir) >= _miss(counts, mean_ir):
            break
        counts = moved
    return counts


def _best_move(counts: Array, mean_ir: float, most: int) -> Array:
    """Take a row from one label and give it to another, the best of all pairs that matter.

    Labels with equal counts are alike, and only rare ones and the first make a difference.
    """
    _, first = np.unique(counts, return_index=True)
    _, last = np.unique(counts[::-1], return_index=True)
    matter = np.unique([*first[:40], *(len(counts) - 1 - last[:40]), 0, 1])
    held = counts[matter].astype(np.float64)
    giver, taker = held[:, None], held[None, :]

    others_top = np.where(matter == 0, counts[1], counts[0])[:, None]
    top = np.maximum(np.maximum(others_top, giver - 1), taker + 1)
    with np.errstate(divide="ignore"):
        inverses = 1 / (giver - 1) - 1 / giver + 1 / (taker + 1) - 1 / taker
    misses = np.abs(top * (np.sum(1 / counts) + inverses) / len(counts) - mean_ir)
    impossible = (giver <= 1) | (taker + 1 > most)
    misses[impossible | np.eye(len(matter), dtype=bool)] = np.inf
    if not np.isfinite(misses).any():
        return counts

    loser, winner = np.unravel_index(int(misses.argmin()), misses.shape)
    moved = counts.copy()
    moved[matter[loser]] -= 1
    moved[matter[winner]] += 1
    return np.sort(moved)[::-1]
