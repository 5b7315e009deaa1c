"""In memory: 64-bit index pointers, and millions of labels."""

import os

import numpy as np
import pytest
from scipy import sparse

from scumble._validation.labels import check_labels
from scumble.measures import characterize, concurrence, difficult_labels, labelset_of_rows
from scumble.resample import LPROS, REMEDIAL

PARTS = ["scumble", "scumble_cv", "mean_ir", "cvir", "n_labelsets", "n_single_labelsets", "p_min"]


def random_labels(n_rows=3000, n_labels=60, seed=0):
    rng = np.random.default_rng(seed)
    shares = 0.4 / np.arange(1, n_labels + 1)
    return sparse.csr_array(rng.random((n_rows, n_labels)) < shares)


def with_indices_of(Y, pointers, indices):
    """Give a matrix index types that scipy's constructors would narrow."""
    wide = sparse.csr_array(Y.shape, dtype=bool)
    wide.data, wide.indices = Y.data, Y.indices.astype(indices)
    wide.indptr = Y.indptr.astype(pointers)
    return wide


@pytest.mark.parametrize(("pointers", "indices"), [(np.int64, np.int64), (np.int64, np.int32)])
def test_index_types_change_nothing(pointers, indices):
    Y = random_labels()
    wide = with_indices_of(Y, pointers, indices)
    taken = check_labels(wide)
    assert np.shares_memory(taken.indices, wide.indices)  # it goes in as it is, no copy is made
    assert (taken is wide) == (pointers == indices)  # row pointers follow: they are few
    expected, found = characterize(Y), characterize(wide)
    for part in PARTS:
        assert getattr(found, part) == getattr(expected, part)
    for column in ("count", "irlbl", "scumble", "scumble_cv"):
        np.testing.assert_array_equal(found.labels[column], expected.labels[column])
    np.testing.assert_array_equal(found.scumble_by_instance, expected.scumble_by_instance)
    np.testing.assert_array_equal(labelset_of_rows(wide)[0], labelset_of_rows(Y)[0])
    assert difficult_labels(wide) == difficult_labels(Y)


@pytest.mark.parametrize("indices", [np.int64, np.int32])
def test_resamplers_take_wide_indices(indices):
    Y = random_labels(seed=1)
    wide = with_indices_of(Y, np.int64, indices)
    X = np.arange(Y.shape[0]).reshape(-1, 1)
    for method in (REMEDIAL(passes=2), LPROS(random_state=0)):
        X_wide, Y_wide = method.fit_resample(X, wide)
        X_new, Y_new = method.fit_resample(X, Y)
        np.testing.assert_array_equal(X_wide, X_new)
        assert (Y_wide != Y_new).nnz == 0


@pytest.mark.slow
def test_ten_million_labels():
    n_labels, n_rows = 10_000_000, 2_000_000
    rng = np.random.default_rng(0)
    first = rng.integers(0, n_labels // 2, n_rows)
    second = n_labels // 2 + first  # each label of the upper half meets one of the lower
    indices = np.column_stack([first, second]).ravel()
    indptr = np.arange(0, 2 * n_rows + 1, 2)
    Y = sparse.csr_array((np.ones(2 * n_rows, bool), indices, indptr), shape=(n_rows, n_labels))
    found = concurrence(Y)
    assert found.scumble == 0  # both labels of a row are equally rare
    counts = np.bincount(indices, minlength=n_labels)
    np.testing.assert_allclose(found.irlbl, np.where(counts, counts.max() / counts.clip(1), np.nan))
    assert len(labelset_of_rows(Y)[1]) == len(np.unique(first))


@pytest.mark.slow
def test_more_than_2_31_assignments():
    """Rows 0, 1, 2, ... hold labels 0..k-1, a few more for every second row."""
    needed = 14 << 30
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < needed:
        pytest.skip("less than 14 GiB of memory are free")
    n_labels, n_rows = 1100, 2_150_000
    sizes = np.where(np.arange(n_rows) % 2, n_labels, 1000)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    assert indptr[-1] > 2**31
    pattern = np.concatenate([np.arange(1000), np.arange(n_labels)]).astype(np.int32)
    Y = sparse.csr_array((n_rows, n_labels), dtype=bool)
    Y.indices = np.tile(pattern, n_rows // 2)
    Y.data = np.broadcast_to(np.True_, Y.indices.shape)
    Y.indptr = indptr
    found = characterize(Y)
    assert found.labels["count"].tolist() == [n_rows] * 1000 + [n_rows // 2] * 100
    odd = 1 - 2 ** (100 / 1100) / (1200 / 1100)
    assert found.scumble == pytest.approx(odd / 2, abs=1e-9)
    assert (found.n_labelsets, found.max_labelset_count) == (2, n_rows // 2)
    assert found.labels["scumble"][-1] == pytest.approx(odd, abs=1e-9)
