"""Passes over the data, in one block and in many, against obvious ones."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

from scumble._core.kernels import check_rows
from scumble._validation import labels as label_validation
from scumble.measures import kernels, threaded_kernels


def random_labels(seed, n_rows, n_labels, largest):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, min(largest, n_labels) + 1, n_rows)
    rows = [np.sort(rng.choice(n_labels, size, replace=False)) for size in sizes]
    indptr = np.r_[0, np.cumsum(sizes)].astype(np.int32)
    indices = np.concatenate([*rows, np.empty(0, int)]).astype(np.int32)
    return sparse.csr_array((np.ones(len(indices), bool), indices, indptr), (n_rows, n_labels))


def obvious_scores(Y, ratios):
    scores = np.zeros(Y.shape[0])
    for row in range(Y.shape[0]):
        own = ratios[Y.indices[Y.indptr[row] : Y.indptr[row + 1]]]
        if len(own) and np.ptp(own):
            scores[row] = 1 - np.exp(np.log(own).mean()) / own.mean()
    return scores


@pytest.fixture
def many(monkeypatch):
    """Take the way of many assignments whatever the size."""
    for module in (threaded_kernels, label_validation):
        monkeypatch.setattr(module, "SERIAL_BELOW", 0)


@pytest.mark.parametrize("n_labels", [7, 40, kernels.CACHED_LABELS + 1])
@pytest.mark.parametrize("n_rows", [0, 1, kernels.CHUNK, 2 * kernels.CHUNK + 17])
def test_scores_of_rows_of_every_size(many, n_rows, n_labels):
    Y = random_labels(n_rows, n_rows, n_labels, largest=40)
    ratios = np.random.default_rng(1).choice([1.0, 2.5, 40.0, 1e9], n_labels)
    found = threaded_kernels.score_instances(Y, ratios)
    expected = obvious_scores(Y, ratios)
    np.testing.assert_allclose(found.by_instance, expected, rtol=1e-13, atol=4e-15)
    np.testing.assert_allclose(found.by_label_sum, Y.T @ expected, rtol=1e-12, atol=1e-13)
    assert found.total == pytest.approx(expected.sum(), rel=1e-12)
    assert (threaded_kernels.count_labels(Y) == Y.sum(axis=0)).all()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(0, 60), n_labels=st.integers(1, 30))
def test_few_and_many_assignments_give_the_same(seed, n_rows, n_labels):
    Y = random_labels(seed, n_rows, n_labels, largest=30)
    ratios = 1 + np.random.default_rng(seed).integers(0, 3, n_labels) * 7.3
    means = np.random.default_rng(seed).random(n_labels)

    def all_passes():
        scores = threaded_kernels.score_instances(Y, ratios)
        return (
            scores,
            threaded_kernels.count_labels(Y),
            *threaded_kernels.sum_squared_deviations(Y, scores.by_instance, 0.3, means),
        )

    few = all_passes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threaded_kernels, "SERIAL_BELOW", 0)
        large = all_passes()
    np.testing.assert_allclose(few[0].by_instance, large[0].by_instance, rtol=1e-13, atol=4e-15)
    np.testing.assert_allclose(few[0].by_label_sum, large[0].by_label_sum, rtol=1e-12, atol=1e-13)
    assert few[0].total == pytest.approx(large[0].total, rel=1e-12)
    assert (few[1] == large[1]).all()
    assert few[2] == pytest.approx(large[2], rel=1e-12)
    np.testing.assert_allclose(few[3], large[3], rtol=1e-12, atol=1e-13)
    # Where rounding could make a difference out of none, both say exactly none.
    assert ((few[0].by_instance == 0) == (large[0].by_instance == 0)).all()


@pytest.mark.parametrize("size", [2, 3, 4, 5, 17])
@pytest.mark.parametrize("ratio", [1.0, 3.0, 1 / 3 * 10, 1e12])
def test_equal_ratios_score_exactly_zero(size, ratio):
    Y = sparse.csr_array(np.ones((3, size), bool))
    found = threaded_kernels.score_instances(Y, np.full(size, ratio))
    assert not found.by_instance.any()
    assert found.total == 0


def test_cube_roots_to_the_last_bits():
    values = np.r_[1.0, 8.0, 27.0, np.geomspace(1, 2.0**120, 4001)]
    roots = values.copy()
    kernels.take_cube_roots(roots)
    np.testing.assert_allclose(roots, np.cbrt(values), rtol=1e-15)


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.lists(st.integers(-1, 6), max_size=5), max_size=8), n_labels=st.integers(1, 6)
)
def test_the_check_of_rows(rows, n_labels):
    indptr = np.r_[0, np.cumsum([len(row) for row in rows])].astype(np.int32)
    indices = np.array([label for row in rows for label in row], np.int32)
    outside = any(not 0 <= label < n_labels for row in rows for label in row)
    increasing = all(a < b for row in rows for a, b in pairwise(row))
    expected = -1 if outside else int(increasing)
    assert check_rows(indptr, indices, 0, len(rows), n_labels) == expected
    wide = indptr.astype(np.int64), indices.astype(np.int64)
    assert check_rows(*wide, 0, len(rows), n_labels) == expected
