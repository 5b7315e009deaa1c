import importlib
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from scumble import measures
from scumble.measures import kernels
from tests.measures import slow
from tests.measures.test_concurrence import matrices

module = importlib.import_module(
    "scumble.measures.labelsets"
)  # the package has a function so named
Y = np.array([[1, 0], [1, 1], [1, 0], [0, 0], [1, 1], [1, 0]])


def test_counts_worked_by_hand():
    found = measures.labelsets(Y)
    assert len(found) == 3
    assert found.first_row[found.order].tolist() == [0, 1, 3]
    assert found.counts[found.order].tolist() == [3, 2, 1]
    assert found.imbalance[found.order].tolist() == [1.0, 1.5, 3.0]
    assert (found.n_single, found.max_count) == (1, 3)
    assert measures.diversity(Y) == 0.5


def test_numbers_follow_first_appearance():
    numbers, found = measures.labelset_of_rows(Y)
    assert numbers.tolist() == [0, 1, 0, 2, 1, 0]
    assert found.first_row.tolist() == [0, 1, 3]
    assert found.counts.tolist() == [3, 2, 1]


def test_complexity_is_the_log_of_the_volume():
    assert measures.tcs(Y, n_features=7) == math.log(7 * 2 * 3)
    assert math.isnan(measures.tcs(Y, n_features=0))


def test_no_rows():
    assert len(measures.labelsets(np.zeros((0, 4), bool))) == 0
    assert measures.labelset_of_rows(np.zeros((0, 4), bool))[0].tolist() == []


def test_no_labels_at_all_is_one_empty_labelset():
    found = measures.labelsets(np.zeros((3, 0), bool))
    assert found.counts.tolist() == [3]


@given(matrices(max_labels=40))
def test_equals_the_slow_version(dense):
    _compare(dense)


@given(st.integers(0, 1000))
def test_long_rows_with_equal_hashes_would_be_told_apart(seed):
    # 200 labels need 8 bits each: rows with more than 7 labels go through the hash.
    rng = np.random.default_rng(seed)
    templates = rng.random((6, 200)) < 0.2
    _compare(templates[rng.integers(0, 6, 60)])


def test_many_rows_in_many_partitions():
    rng = np.random.default_rng(0)
    _compare(rng.random((120_000, 9)) < 0.3)


def test_a_collision_of_hashes_is_resolved_by_looking(monkeypatch):
    # Give all long rows the same key: only the comparison of rows can tell them apart.
    real = kernels.partition_rows

    def deal_with_one_key(*arguments):
        real(*arguments)
        arguments[-2][:] = np.uint64(1) << np.uint64(63)

    monkeypatch.setattr(kernels, "partition_rows", deal_with_one_key)
    monkeypatch.setattr(module, "ROWS_PER_PARTITION", 10**9)
    rng = np.random.default_rng(1)
    dense = rng.random((50, 100)) < 0.3
    found = measures.labelsets(np.vstack([dense, dense[:20]]))
    assert len(found) == 50
    assert sorted(found.counts.tolist()) == [1] * 30 + [2] * 20


def _compare(dense):
    """Compare one block of rows and many with the slow version."""
    _compare_one_way(dense)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SERIAL_BELOW", 0)
        _compare_one_way(dense)


def _compare_one_way(dense):
    expected = slow.labelsets(dense)
    found = measures.labelsets(sparse.csr_array(dense))
    got = {
        tuple(int(cell) for cell in dense[row]): count
        for row, count in zip(found.first_row.tolist(), found.counts.tolist(), strict=True)
    }
    assert got == dict(expected)
    numbers, _ = measures.labelset_of_rows(dense)
    _, firsts = np.unique(numbers, return_index=True)
    assert (dense[firsts][numbers] == dense).all()
    assert firsts.tolist() == sorted(found.first_row.tolist())


def test_cooccurrence_worked_by_hand():
    joint = measures.cooccurrence(np.array([[1, 0, 1], [1, 1, 0], [1, 0, 1]]))
    assert joint.toarray().tolist() == [[3, 1, 2], [1, 1, 0], [2, 0, 2]]
    assert joint.nnz == 7


@pytest.mark.parametrize("shape", [(5, 0), (0, 3)])
def test_cooccurrence_of_nothing(shape):
    assert measures.cooccurrence(np.zeros(shape, bool)).shape == (shape[1], shape[1])
