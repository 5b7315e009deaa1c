"""What every measure promises, whoever wrote it."""

from inspect import isfunction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

import scumble
from scumble._core.registry import registered_objects
from tests.measures.test_concurrence import matrices

MEASURES = list(registered_objects("measure").values())
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


FUNCTIONS = [
    name for name in scumble.measures.__all__ if isfunction(getattr(scumble.measures, name))
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_a_data_set(name):
    function = getattr(scumble.measures, name)
    Y = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])
    data = scumble.MultilabelDataset(np.zeros((4, 5)), Y, labels=["a", "b", "c"])
    more = {"n_features": 5} if name == "tcs" else {}
    of_data, of_labels = function(data), function(Y, **more)
    if name == "characterize":
        assert of_data.labels.name == ("a", "b", "c")
        assert of_data.scumble == of_labels.scumble
        assert of_data.tcs == scumble.measures.tcs(data)
    elif name == "difficult_labels":
        assert [(label.name, label.count) for label in of_data] == [("c", 1)]
    elif name == "cooccurrence":
        np.testing.assert_array_equal(of_data.toarray(), of_labels.toarray())
    elif name == "concurrence":
        np.testing.assert_array_equal(of_data.by_label, of_labels.by_label)
    elif name == "labelsets":
        np.testing.assert_array_equal(of_data.counts, of_labels.counts)
    elif name == "labelset_of_rows":
        np.testing.assert_array_equal(of_data[0], of_labels[0])
    else:
        np.testing.assert_array_equal(of_data, of_labels)


def test_labels_alone_do_not_tell_the_complexity():
    with pytest.raises(scumble.ScumbleError, match="'n_features' parameter of tcs must be given"):
        scumble.measures.tcs([[1, 0], [1, 1]])
