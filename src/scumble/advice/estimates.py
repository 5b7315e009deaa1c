"""Estimates of the performance of a method on new rows, with intervals.

A metric is computed on many random subsamples of the rows, each a quarter of them; the mean is the
estimate, and quantiles give the interval. *Learnable* labels are those that some method ranks
better than chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.parallel import row_slices

#: The metrics that are estimated, in the order in which they are reported.
METRICS = ("macro_f1", "minority_f1", "micro_f1")
#: A subsample has one in this many rows: estimates are for new rows a quarter as many as the data.
SUBSAMPLE_DIVISOR = 4
#: Number of random subsamples.
N_SUBSAMPLES = 200
#: Intervals are wider by this factor than the quantiles of the subsamples. A subsample of a
#: quarter, drawn without replacement, has 3/4 of the variance of as many new rows, and the mean
#: over all rows is itself uncertain by another quarter: the root of (1 + 1/4) / (3/4) is 1.29. In
#: addition, models fitted on other rows differ: with 1.29, 85 % of the intervals of
#: experiments/advice.py contained the actual value. Leaving out any one data set, the others
#: require 1.35 to 1.48.
INTERVAL_FACTOR = 1.5
#: Share of cases in which the actual value should lie in the interval.
CONFIDENCE = 0.9
#: Maximum number of array elements (subsamples times rows or labels) that are computed at a time:
#: 128 MB of floats.
_MAX_ELEMENTS = 2**24


class MetricEstimate(NamedTuple):
    """The expected value of a metric, and the ends of its 90 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def from_values(cls, values: Array) -> MetricEstimate:
        """Return the estimate from the values of one metric on all subsamples.

        NaN values are left out; if all are NaN, so are the estimate and its interval.
        """
        defined = values[~np.isnan(values)]
        if not len(defined):
            return cls(np.nan, np.nan, np.nan)
        value = float(defined.mean())
        low, high = np.quantile(defined, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        return cls(
            value=value,
            low=float(value + INTERVAL_FACTOR * (low - value)),
            high=float(value + INTERVAL_FACTOR * (high - value)),
        )

    def clip(self, minimum: float, maximum: float) -> MetricEstimate:
        """Return the estimate with all three values limited to a range; NaN stays NaN."""
        return MetricEstimate(
            value=float(np.clip(self.value, minimum, maximum)),
            low=float(np.clip(self.low, minimum, maximum)),
            high=float(np.clip(self.high, minimum, maximum)),
        )


@dataclass(frozen=True, eq=False)
class RowSubsamples:
    """Random subsamples of the rows of a data set, the same ones for all methods."""

    y_true: sparse.csr_array  # label matrix of all rows
    is_rare: Array  # mask of the labels that count for minority_f1
    random_state: int

    def metrics(self, y_pred: sparse.csr_array) -> Array:
        """Return the values of `METRICS` on every subsample, shape (n_subsamples, n_metrics).

        ``y_pred`` are the predicted labels of all rows.
        """
        y_true = sparse.csr_array(self.y_true, dtype=np.float64)
        y_pred = sparse.csr_array(y_pred, dtype=np.float64)
        true_positives = y_true.multiply(y_pred).tocsr()
        # A label counts on a subsample if it occurs there, and at least twice among all rows.
        is_repeated = np.asarray(y_true.sum(axis=0)).ravel() >= 2
        values = [
            _f1_by_subsample(
                n_true_positives=indicators @ true_positives,
                n_predicted=indicators @ y_pred,
                n_true=indicators @ y_true,
                is_counted=is_repeated,
                is_rare=self.is_rare,
            )
            for indicators in self._row_indicators()
        ]
        return np.concatenate(values)

    def _row_indicators(self) -> Iterator[Array]:
        """Yield matrices of shape (n_subsamples of this part, n_rows).

        An element is 1 if the subsample has the row, and 0 otherwise.
        """
        n_rows = self.y_true.shape[0]
        size = max(1, n_rows // SUBSAMPLE_DIVISOR)
        rng = np.random.default_rng([self.random_state, 3])
        for part in row_slices(N_SUBSAMPLES, max(self.y_true.shape), _MAX_ELEMENTS):
            indicators = np.zeros((part.stop - part.start, n_rows))
            for subsample in indicators:
                subsample[rng.permutation(n_rows)[:size]] = 1
            yield indicators


def _f1_by_subsample(
    n_true_positives: Array, n_predicted: Array, n_true: Array, is_counted: Array, is_rare: Array
) -> Array:
    """Return macro, minority and micro F1 of every subsample, shape (n_subsamples, 3).

    The counts of true positives, predicted and true rows have shape (n_subsamples, n_labels). The
    masks of labels say which count for macro F1, and which are rare. Macro and minority F1 are the
    means over those labels that occur on the subsample, NaN if none occurs. Micro F1 is that of all
    labels together, 0 if no label occurs or is predicted.
    """
    denominator = n_predicted + n_true
    f1 = np.divide(
        2 * n_true_positives,
        denominator,
        out=np.zeros_like(n_true_positives),
        where=denominator > 0,
    )
    in_macro = (n_true > 0) & is_counted
    in_minority = in_macro & is_rare
    with np.errstate(invalid="ignore"):  # 0 / 0 if a subsample has none of the labels
        macro = (f1 * in_macro).sum(axis=1) / in_macro.sum(axis=1)
        minority = (f1 * in_minority).sum(axis=1) / in_minority.sum(axis=1)
    total = denominator.sum(axis=1)
    micro = np.divide(
        2 * n_true_positives.sum(axis=1), total, out=np.zeros(len(total)), where=total > 0
    )
    return np.column_stack([macro, minority, micro])


def learnable_labels(
    scores_by_method: Sequence[Array],
    Y: sparse.csr_array,
    *,
    max_false_discovery_rate: float = 0.05,
    max_overall_p_value: float = 2e-4,
) -> Array:
    """Return which labels at least one method ranks better than chance, as a boolean mask.

    ``scores_by_method`` holds the out-of-sample scores of each method, of shape (n_samples,
    n_labels). Without any, all labels count as learnable. At most a share of
    ``max_false_discovery_rate`` of the returned labels should be ranked no better than chance. If
    the smallest p-value of all labels, corrected for their number, exceeds
    ``max_overall_p_value``, no label is learnable.
    """
    # For each label the smallest p-value of all methods counts, times the number of methods
    # (Bonferroni). The test is the one-sided rank sum test of positives among out-of-sample scores,
    # corrected for many labels by Benjamini and Hochberg. The evidence that any label is learnable
    # must be stronger, because p-values of correlated labels are small together.
    from scipy.stats import false_discovery_control

    if not len(scores_by_method):
        return np.ones(Y.shape[1], bool)
    smallest = np.min([_p_values(scores, Y) for scores in scores_by_method], axis=0)
    adjusted = false_discovery_control(np.minimum(1, smallest * len(scores_by_method)))
    is_significant = adjusted <= max_false_discovery_rate
    any_is_certain = adjusted.min() <= max_overall_p_value
    return is_significant & any_is_certain


def _p_values(scores: Array, Y: sparse.csr_array) -> Array:
    """Return for each label the p-value of a one-sided rank sum test.

    It is small if the rows with the label have higher scores than the others; 1 if all rows have
    the label or none has.
    """
    from scipy.special import ndtr

    from scumble.evaluate.metrics.counts import Rankings
    from scumble.measures.threaded_kernels import count_labels

    # The area under the ROC curve is the normalized rank sum.
    auc = Rankings(Y, scores, caller="advise").by_label.auc
    n_rows = Y.shape[0]
    n_positives = count_labels(Y)
    n_pairs = np.maximum(n_positives * (n_rows - n_positives), 1)
    standard_error = np.sqrt((n_rows + 1) / 12 / n_pairs)
    return np.nan_to_num(ndtr((0.5 - auc) / standard_error), nan=1.0)


def rows_needed(counts: Array, f1: Array, *, min_f1: float = 0.2) -> int | None:
    """Return the number of rows from which on most labels of this data are learnt, or None.

    ``counts`` and ``f1`` are the number of rows and the F1 of each label. The result is the
    smallest number such that at least half of the labels with that many rows, but less than twice
    as many, reach ``min_f1``, and that this holds for all larger numbers. It is None if it holds
    for no number.
    """
    # Powers of the square root of 2, up to about a million rows.
    candidates = np.unique(np.round(2 ** np.arange(0, 21, 0.5)).astype(np.int64))
    n_needed = None
    for n_rows in candidates[::-1]:
        has_similar_count = (counts >= n_rows) & (counts < 2 * n_rows)
        if not has_similar_count.any():
            continue
        if (f1[has_similar_count] >= min_f1).mean() < 0.5:
            break
        n_needed = int(n_rows)
    return n_needed
