"""What to expect of a method on new rows, and how far that may be wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import row_slices

#: What is estimated, in the order it is told.
METRICS = ("macro_f1", "minority_f1", "micro_f1")
#: New rows are taken to be as many as a quarter of those at hand; so many such parts are drawn.
PART, N_DRAWS = 4, 200
#: Intervals are wider than those of drawn parts. A part of a quarter, drawn without repetition,
#: varies by 3/4 of what as many new rows do, and what is known of all rows is itself uncertain by
#: another quarter: the root of (1 + 1/4) / (3/4) is 1.29. The rest is that models learnt from other
#: rows differ: with 1.29 intervals held in 85 of 100 cases of experiments/advice.py. Whichever data
#: set is left out, the others ask for 1.35 to 1.48.
WIDER = 1.5
CONFIDENCE = 0.9
#: Rows of a drawn part times labels that are worked on at a time.
_CELLS_AT_ONCE = 2**24


class MetricEstimate(NamedTuple):
    """A value, the mean of drawn parts, and the interval that holds it in nine of ten cases."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Array) -> MetricEstimate:
        """Summarise the values of one metric on all parts."""
        known = values[~np.isnan(values)]
        if not len(known):
            return cls(np.nan, np.nan, np.nan)
        value = float(known.mean())
        ends = np.quantile(known, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        return cls(value, *(float(value + WIDER * (end - value)) for end in ends))


@dataclass(frozen=True, eq=False)
class RowSubsamples:
    """The same parts of the rows, drawn for all methods."""

    truth: sparse.csr_array  # the labels that are there
    is_rare: Array  # labels that count for minority_f1
    random_state: int  # draws the parts

    def values(self, predictions: sparse.csr_array) -> Array:
        """Compute all metrics on every part, shape (n_draws, n_metrics)."""
        # A label counts on a part if it occurs there, and at least twice among all rows.
        truth = sparse.csr_array(self.truth, dtype=np.float64)
        told = sparse.csr_array(predictions, dtype=np.float64)
        hits = truth.multiply(told).tocsr()
        learnable = np.asarray(truth.sum(axis=0)).ravel() >= 2
        found = [
            _f1_by_subsample(rows @ hits, rows @ told, rows @ truth, learnable, self.is_rare)
            for rows in self._parts()
        ]
        return np.concatenate(found)

    def _parts(self) -> Iterator[Array]:
        """Draw rows without repetition: zeros and ones, a row per part, some parts at a time."""
        n_rows = self.truth.shape[0]
        size = max(1, n_rows // PART)
        generator = np.random.default_rng([self.random_state, 3])
        for part in row_slices(N_DRAWS, max(self.truth.shape), _CELLS_AT_ONCE):
            chosen = np.zeros((part.stop - part.start, n_rows))
            for row in chosen:
                row[generator.permutation(n_rows)[:size]] = 1
            yield chosen


def _f1_by_subsample(
    hits: Array, predicted: Array, true: Array, learnable: Array, is_rare: Array
) -> Array:
    total = predicted + true
    f1 = np.divide(2 * hits, total, out=np.zeros_like(hits), where=total > 0)
    counted = (true > 0) & learnable
    rare = counted & is_rare
    with np.errstate(invalid="ignore"):  # a part without any of the labels has no value
        macro, minority = (
            (f1 * group).sum(axis=1) / group.sum(axis=1) for group in (counted, rare)
        )
    sums = total.sum(axis=1)
    micro = np.divide(2 * hits.sum(axis=1), sums, out=np.zeros(len(sums)), where=sums > 0)
    return np.column_stack([macro, minority, micro])


def learnable_labels(
    rankings: Sequence[Array], Y: sparse.csr_array, *, risk: float = 0.05, doubt: float = 2e-4
) -> Array:
    """Tell which labels are ranked better than by chance, among all of them at once."""
    # Several methods may rank them, and what one cannot tell another may: for each label the best
    # of them counts, its p-value times their number. Rank sums of positives among out-of-sample
    # scores, one-sided, with the rule of Benjamini and Hochberg: of the labels that are called
    # learnable, no more than `risk` are not, on average. That anything can be learnt at all must be
    # more certain: where labels hang together, one that looks learnable by chance seldom comes
    # alone. By the same rule chance alone is at most `doubt` likely.
    from scipy.stats import false_discovery_control

    if not len(rankings):
        return np.ones(Y.shape[1], bool)
    best = np.min([_p_values(scores, Y) for scores in rankings], axis=0)
    adjusted = false_discovery_control(np.minimum(1, best * len(rankings)))
    return (adjusted <= risk) & (adjusted.min() <= doubt)


def _p_values(scores: Array, Y: sparse.csr_array) -> Array:
    """Test, label by label, whether its rows are ranked higher than the others."""
    from scipy.special import ndtr

    from scumble.evaluate.metrics.counts import Rankings
    from scumble.measures.threaded_kernels import count_labels

    # The area under the ROC curve is the sum of ranks by another name.
    areas, positives = Rankings(Y, scores, caller="advise").by_label.auc, count_labels(Y)
    spread = np.sqrt((Y.shape[0] + 1) / 12 / np.maximum(positives * (Y.shape[0] - positives), 1))
    return np.nan_to_num(ndtr((0.5 - areas) / spread), nan=1.0)


def rows_needed(counts: Array, f1: Array, *, learnt_from: float = 0.2) -> int | None:
    """Tell from how many rows on most labels of this data are learnt; None where none tells."""
    # The smallest number such that of the labels with at least that many rows, and less than twice
    # as many, half or more reach an F1 of `learnt_from`; and so for all numbers above it.
    steps = np.unique(np.round(2 ** np.arange(0, 21, 0.5)).astype(np.int64))
    answer = None
    for low in steps[::-1]:
        alike = (counts >= low) & (counts < 2 * low)
        if not alike.any():
            continue
        if (f1[alike] >= learnt_from).mean() < 0.5:
            break
        answer = int(low)
    return answer
