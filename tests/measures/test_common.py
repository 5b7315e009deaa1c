"""What every measure promises, whoever wrote it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import scumble.measures  # noqa: F401  (importing it fills the registry)
from scumble._core.registry import registered
from tests.measures.test_concurrence import matrices

MEASURES = list(registered("measure").values())
ids = [measure.name for measure in MEASURES]


@pytest.mark.parametrize("measure", MEASURES, ids=ids)
@given(dense=matrices())
def test_values_stay_within_their_bounds_and_have_their_level(measure, dense):
    value = np.atleast_1d(np.asarray(measure.function(dense), float))
    size = {"dataset": 1, "label": dense.shape[1], "instance": dense.shape[0]}[measure.level]
    assert value.shape == (size,)
    known = value[~np.isnan(value)]
    assert (known >= measure.lower).all()
    assert (known <= measure.upper).all()


@pytest.mark.parametrize("measure", MEASURES, ids=ids)
@given(dense=matrices(), seed=st.integers(0, 99))
def test_order_of_rows_and_labels_does_not_matter(measure, dense, seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.permutation(dense.shape[0]), rng.permutation(dense.shape[1])
    before = np.asarray(measure.function(dense), float)
    after = np.asarray(measure.function(dense[rows][:, labels]), float)
    expected = {"dataset": before, "label": before, "instance": before}[measure.level]
    if measure.level == "label":
        expected = before[labels]
    elif measure.level == "instance":
        expected = before[rows]
    np.testing.assert_allclose(after, expected, atol=1e-12)


@pytest.mark.parametrize("measure", MEASURES, ids=ids)
@given(dense=matrices())
def test_dense_and_sparse_agree_and_nothing_is_changed(measure, dense):
    kept = dense.copy()
    matrix = sparse.csc_matrix(dense.astype(np.int64))
    state = np.random.get_state()[1].copy()  # noqa: NPY002  (the global state is the point)
    np.testing.assert_array_equal(measure.function(matrix), measure.function(dense))
    np.testing.assert_array_equal(dense, kept)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002  (as above)
