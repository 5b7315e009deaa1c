"""What to expect on new rows."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

from scumble.advice.estimates import (
    MetricEstimate,
    RowSubsamples,
    _f1_by_subsample,
    learnable_labels,
    rows_needed,
)
from scumble.evaluate import evaluate


def random_labels(seed, n_rows=80, n_labels=5):
    rng = np.random.default_rng(seed)
    truth = rng.random((n_rows, n_labels)) < rng.uniform(0.02, 0.5, n_labels)
    told = np.where(rng.random(truth.shape) < 0.7, truth, rng.random(truth.shape) < 0.2)
    return sparse.csr_array(truth), sparse.csr_array(told)


def test_metrics_of_a_part_by_hand():
    hits, predicted, true = (np.array([row], float) for row in ([2, 0, 1], [4, 1, 1], [2, 3, 1]))
    found = _f1_by_subsample(
        hits, predicted, true, np.array([1, 1, 0], bool), np.array([0, 1, 1], bool)
    )
    # F1 of the labels: 4/6, 0, 1; the last cannot be learnt. Together 6 of 12.
    assert found[0] == pytest.approx([1 / 3, 0, 0.5])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_values_of_parts_are_those_of_evaluate(seed):
    truth, told = random_labels(seed)
    is_rare = np.array([True, True, False, False, False])
    draws = RowSubsamples(truth, is_rare, seed)
    values = draws.metrics(told)
    assert values.shape == (200, 3)
    parts = np.concatenate(list(draws._row_indicators()))
    assert (parts.sum(axis=1) == 20).all()
    for at in (0, 99, 199):
        rows = np.flatnonzero(parts[at])
        found = evaluate(
            truth[rows], told[rows], groups={"all": None, "mine": is_rare}, training=truth
        )
        wanted = [found["all.macro_f1"], found["mine.macro_f1"], found["micro_f1"]]
        assert values[at] == pytest.approx(wanted, nan_ok=True)


def test_intervals_hold_on_new_rows():
    """Rows of one kind, a fixed predictor: nine of ten intervals hold what new rows give."""
    rng = np.random.default_rng(0)
    held = []
    for trial in range(60):
        truth = rng.random((500, 4)) < [0.5, 0.3, 0.1, 0.05]
        told = np.where(rng.random(truth.shape) < 0.7, truth, rng.random(truth.shape) < 0.2)
        is_rare = np.array([False, False, True, True])
        old, new = slice(0, 400), slice(400, 500)
        draws = RowSubsamples(sparse.csr_array(truth[old]), is_rare, trial)
        values = draws.metrics(sparse.csr_array(told[old]))
        hits, predicted, true = (
            part[new].sum(axis=0)[None].astype(float) for part in (truth & told, told, truth)
        )
        real = _f1_by_subsample(hits, predicted, true, np.ones(4, bool), is_rare)[0]
        found = [MetricEstimate.from_values(values[:, metric]) for metric in range(3)]
        held += [one.low <= value <= one.high for one, value in zip(found, real, strict=True)]
    assert 0.85 <= np.mean(held) <= 0.97


def test_labels_of_chance_are_not_learnable_and_real_ones_are():
    rng = np.random.default_rng(3)
    Y = rng.random((300, 40)) < 0.1
    scores = rng.random((300, 40))
    assert not learnable_labels([scores], sparse.csr_array(Y)).any()
    scores[:, :5] += Y[:, :5]
    assert learnable_labels([scores], sparse.csr_array(Y))[:5].all()


def test_rank_sums_agree_with_scipy():
    from scipy.stats import mannwhitneyu

    rng = np.random.default_rng(5)
    y, score = rng.random(60) < 0.3, rng.integers(0, 30, 60).astype(float)
    p = mannwhitneyu(
        score[y], score[~y], alternative="greater", use_continuity=False, method="asymptotic"
    ).pvalue
    # One label alone is called learnable exactly where its p-value is below the risk.
    for risk, expected in ((p * 1.2, True), (p * 0.8, False)):
        found = learnable_labels(
            [score[:, None]],
            sparse.csr_array(y[:, None]),
            max_false_discovery_rate=risk,
            max_overall_p_value=1,
        )
        assert found.tolist() == [expected]


def test_what_one_method_ranks_is_learnable_and_many_methods_of_chance_tell_nothing():
    rng = np.random.default_rng(7)
    Y = rng.random((300, 20)) < 0.1
    chance = [rng.random(Y.shape) for _ in range(5)]
    assert not learnable_labels(chance, sparse.csr_array(Y)).any()
    knows = rng.random(Y.shape)
    knows[:, 3] += Y[:, 3]
    assert learnable_labels([*chance, knows], sparse.csr_array(Y))[3]


def test_labels_without_positives_or_negatives_are_never_learnable():
    Y = sparse.csr_array(np.array([[1, 0], [1, 0], [1, 0]], bool))
    assert not learnable_labels([np.eye(3)[:, :2]], Y).any()


def test_rows_needed_by_hand():
    counts = np.array([2, 3, 5, 9, 20, 40, 100])
    assert rows_needed(counts, np.array([0, 0, 0, 0.1, 0.3, 0.5, 0.6])) == 11
    assert rows_needed(counts, np.zeros(7)) is None
    assert rows_needed(counts, np.ones(7)) == 2  # nobody knows of labels with fewer
