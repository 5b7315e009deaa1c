import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from scumble import limit_threads, measures
from scumble.measures.concurrence import is_above_mean
from tests.measures import slow

# Label 0 in 4 rows, label 1 in 2, label 2 in 1: IRLbl 1, 2, 4.
Y = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])
MIXED = 1 - math.sqrt(2) / 1.5  # labels 0 and 1
HARD = 1 - math.sqrt(4) / 2.5  # labels 0 and 2


def matrices(max_labels=7):
    shapes = st.tuples(st.integers(1, 25), st.integers(1, max_labels))
    return hnp.arrays(bool, shapes)


def test_scores_worked_by_hand():
    result = measures.concurrence(Y)
    assert result.by_instance == pytest.approx([0, MIXED, HARD, MIXED], abs=1e-15)
    assert result.scumble == pytest.approx((2 * MIXED + HARD) / 4, abs=1e-15)
    assert result.by_label == pytest.approx([(2 * MIXED + HARD) / 4, MIXED, HARD], abs=1e-15)


def test_variation_worked_by_hand():
    mean = (2 * MIXED + HARD) / 4
    squares = mean**2 + 2 * (MIXED - mean) ** 2 + (HARD - mean) ** 2
    assert measures.scumble_cv(Y) == pytest.approx(math.sqrt(squares / 3) / mean, rel=1e-14)
    by_label = measures.scumble_cv_by_label(Y)
    assert by_label[0] == pytest.approx(math.sqrt(squares / 3) / mean, rel=1e-14)
    assert by_label[1] == 0.0  # twice the same score
    assert math.isnan(by_label[2])  # one row only


@pytest.mark.parametrize("size", [2, 3, 4, 5, 9])
def test_every_row_size_follows_the_formula(size):
    # Label k occurs k + 1 times; the first row has `size` labels of different ratios.
    dense = np.tril(np.ones((12, 10), int), -2)[:, ::-1]
    dense[0, -size:] = 1
    assert measures.scumble_by_instance(dense) == pytest.approx(
        slow.scumble_by_instance(dense), abs=1e-14
    )


def test_equal_ratios_score_exactly_zero():
    # Twenty labels with ratio 7 / 3: rounding must not make a difference out of none.
    dense = np.zeros((10, 21), int)
    dense[:7, 0] = 1
    dense[7:, 1:] = 1
    assert measures.scumble_by_instance(dense).tolist() == [0.0] * 10
    assert math.isnan(measures.scumble_cv(dense))
    assert measures.scumble_cv_by_label(dense)[1] == 0.0


def test_unlabelled_rows_score_zero_and_count():
    with_empty = np.vstack([Y, np.zeros((4, 3), int)])
    assert measures.scumble(with_empty) == pytest.approx(measures.scumble(Y) / 2, abs=1e-15)


def test_many_rare_labels_do_not_overflow():
    dense = np.zeros((100_000, 60), bool)
    dense[:, 0] = True
    dense[0] = True  # 59 labels with ratio 100,000: their product is 1e295, with more, infinity
    score = measures.scumble_by_instance(dense)[0]
    assert score == pytest.approx(1 - 1e5 ** (59 / 60) * 60 / (59 * 1e5 + 1), abs=1e-12)


def test_a_label_never_seen():
    dense = np.column_stack([Y, np.zeros(4, int)])
    assert math.isnan(measures.scumble_by_label(dense)[3])
    assert measures.scumble_by_label(dense, unseen="zero")[3] == 0.0
    assert measures.scumble(dense) == measures.scumble(Y)


def test_no_rows():
    assert math.isnan(measures.scumble(np.zeros((0, 3), bool)))
    assert math.isnan(measures.scumble_cv(np.zeros((0, 3), bool)))


def test_above_the_mean_is_beyond_rounding():
    scores = np.full(1000, 0.1)
    assert not is_above_mean(scores, float(scores.mean()) - 1e-16).any()
    assert is_above_mean(np.array([0.1, 0.2]), 0.15).tolist() == [False, True]


@given(matrices())
def test_equals_the_slow_version(dense):
    assert measures.scumble_by_instance(dense) == pytest.approx(
        slow.scumble_by_instance(dense), abs=1e-13
    )
    np.testing.assert_allclose(
        measures.scumble_by_label(dense), slow.scumble_by_label(dense), atol=1e-13
    )


def test_threads_change_no_bit():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 60, (150_000, 4)).tolist()
    label_lists = [set(row) for row in rows]
    single = _bits(label_lists, 1)
    assert single == _bits(label_lists, 2)
    assert single == _bits(label_lists, 7)


def _bits(label_lists, n_jobs):
    with limit_threads(n_jobs):
        summary = measures.characterize(label_lists)
    parts = [summary.scumble_by_instance, *(summary.labels[c] for c in ("scumble", "scumble_cv"))]
    numbers = (summary.scumble, summary.scumble_cv, summary.n_labelsets, summary.mean_ir)
    return [part.tobytes() for part in parts], numbers
