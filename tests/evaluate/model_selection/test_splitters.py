"""Splitters: every row once, labels shared, files and Java's generator read exactly."""

import warnings
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import scumble
from scumble._core.java import JavaRandom
from scumble._core.registry import registered_objects
from scumble._validation.provenance import is_resampled
from scumble.evaluate import (
    FixedFolds,
    IterativeStratification,
    LabelsetStratification,
    MulanKFold,
    RepeatedKFold,
    write_folds,
)
from scumble.evaluate.model_selection.splitters import read_folds
from scumble.measures.stratification import assign_folds
from scumble.resample import MLROS, REMEDIAL

SEEDED = [RepeatedKFold, IterativeStratification, LabelsetStratification, MulanKFold]


def labels(n=40, q=5, seed=0):
    return np.random.default_rng(seed).random((n, q)) < [0.5, 0.3, 0.2, 0.1, 0.05]


@pytest.mark.parametrize("splitter", SEEDED)
def test_every_row_is_tested_once_per_repetition(splitter):
    Y = labels()
    made = splitter(n_splits=4, n_repeats=3, random_state=5)
    parts = list(made.split(np.zeros((40, 1)), Y))
    assert len(parts) == made.get_n_splits() == 12
    for repetition in range(3):
        tested = np.concatenate([test for _, test in parts[4 * repetition : 4 * repetition + 4]])
        assert sorted(tested.tolist()) == list(range(40))
    for train, test in parts:
        assert sorted(np.concatenate([train, test]).tolist()) == list(range(40))
    folds = made.folds(None, Y)
    assert folds.shape == (40, 3)
    for repetition in range(3):
        for fold in range(4):
            expected = parts[4 * repetition + fold][1]
            assert np.flatnonzero(folds[:, repetition] == fold).tolist() == sorted(expected)


@pytest.mark.parametrize("splitter", SEEDED)
def test_one_seed_one_answer_and_repetitions_differ(splitter):
    Y = labels()
    once, again = (splitter(5, 2, random_state=3).folds(None, Y) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert (once[:, 0] != once[:, 1]).any()
    assert (splitter(5, 2, random_state=4).folds(None, Y) != once).any()
    data = scumble.MultilabelDataset(np.zeros((40, 1)), Y)
    np.testing.assert_array_equal(splitter(5, 2, random_state=3).folds(data), once)
    state = np.random.get_state()[1].copy()  # noqa: NPY002  (the global state is the point)
    splitter(5, 2).folds(None, Y)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002  (as above)


@pytest.mark.parametrize("splitter", [IterativeStratification, LabelsetStratification, MulanKFold])
def test_as_many_splits_as_asked_for(splitter):
    Y = labels()
    assert splitter(n_splits=3).get_n_splits() == 3
    tested = [test for _, test in splitter(n_splits=3).split(np.zeros((40, 1)), Y)]
    assert sorted(np.concatenate(tested).tolist()) == list(range(40))
    assert splitter(n_splits=3, n_repeats=2).get_n_splits() == 6
    assert RepeatedKFold(3).get_n_splits() == 6  # as its name says
    twice = IterativeStratification(3, 2, random_state=4).folds(None, Y)
    once = IterativeStratification(3, random_state=4).folds(None, Y)
    np.testing.assert_array_equal(once[:, 0], twice[:, 0])  # stored folds stay what they were


def test_the_catalogue_knows_them():
    names = {"kfold", "iterative", "labelset", "fixed", "mulan"}
    assert names <= set(registered_objects("splitter"))


def unevenness(Y, splitter):
    """Sum over folds and labels of the distance to an equal share of the label."""
    total = 0.0
    for folds in splitter.folds(None, Y).T:
        sizes = np.stack([np.asarray(Y[folds == f].sum(axis=0)).ravel() for f in range(5)])
        total += np.abs(sizes - sizes.mean(axis=0)).sum()
    return total


@pytest.mark.parametrize("name", ["birds", "medical", "corel5k"])
def test_stratification_keeps_the_shares_of_labels_better_than_chance(datasets, name):
    Y = scumble.read(next((datasets / name).glob(f"{name}.arff*"))).Y
    chance = min(unevenness(Y, RepeatedKFold(5, 1, random_state=seed)) for seed in range(5))
    iterative = unevenness(Y, IterativeStratification(5, random_state=0))
    labelset = unevenness(Y, LabelsetStratification(5, random_state=0))
    assert iterative < 0.7 * chance
    assert labelset < chance
    assert iterative < labelset


def slow_stratify(Y, n_folds, first_choice):
    """Deal rows as the paper of Sechidis et al. says, one at a time."""
    n_rows, n_labels = Y.shape
    wanted = np.repeat(Y.sum(axis=0)[:, None] / n_folds, n_folds, axis=1)
    rows = np.full(n_folds, n_rows / n_folds)
    folds = np.full(n_rows, -1)

    def give(row, wants):
        order = [(first_choice[row] + step) % n_folds for step in range(n_folds)]
        best = max(order, key=lambda fold: (wants[fold], rows[fold]))
        folds[row] = best
        rows[best] -= 1
        wanted[Y[row], best] -= 1

    while (folds[Y.any(axis=1)] < 0).any():
        left = Y[folds < 0].sum(axis=0)
        label = min((label for label in range(n_labels) if left[label]), key=lambda at: left[at])
        for row in np.flatnonzero(Y[:, label] & (folds < 0)):
            give(row, wanted[label])
    for row in np.flatnonzero(folds < 0):
        give(row, rows)
    return folds


@given(
    Y=st.tuples(st.integers(1, 12), st.integers(1, 5)).flatmap(lambda shape: arrays(bool, shape)),
    n_folds=st.integers(2, 4),
    seed=st.integers(0, 99),
)
def test_iterative_stratification_equals_the_slow_version(Y, n_folds, seed):
    first_choice = np.random.default_rng(seed).integers(n_folds, size=len(Y))
    chance = Mock(permutation=np.arange, integers=Mock(return_value=first_choice))
    found = assign_folds(sparse.csr_array(Y), n_folds, chance)
    np.testing.assert_array_equal(found, slow_stratify(Y, n_folds, first_choice))


def test_labelsets_are_shared_to_one_row():
    Y = labels(200, seed=3)
    numbers, _ = scumble.measures.labelset_of_rows(Y)
    folds = LabelsetStratification(4, random_state=0).folds(None, Y).ravel()
    assert np.ptp(np.bincount(folds)) <= 1
    for number in range(numbers.max() + 1):
        assert np.ptp(np.bincount(folds[numbers == number], minlength=4)) <= 1


def test_javas_generator_is_emulated():
    # From java.util.Random of OpenJDK 17.
    random = JavaRandom(42)
    assert [random.next_int(100) for _ in range(5)] == [30, 63, 48, 84, 70]
    random = JavaRandom(7)
    assert [random.next_int(1 << 20) for _ in range(4)] == [766193, 669555, 785561, 10096]
    random = JavaRandom(3)  # bounds just above 2**30 reject almost half of what is drawn
    assert [random.next_int((1 << 30) + 1) for _ in range(3)] == [152454210, 144139128, 488197459]


def test_mulans_folds_are_those_of_java():
    # 978 rows shuffled by WEKA's loop with Random(1) in OpenJDK 17: first two, last, and a hash.
    order = np.concatenate([test for _, test in MulanKFold(10).split(None, np.ones((978, 2)))])
    assert (order[0], order[1], order[-1]) == (769, 422, 795)
    code = 0
    for row in order.tolist():
        code = (code * 31 + row + 2**63) % 2**64 - 2**63
    assert code == -8604248763859961785
    sizes = [len(test) for _, test in MulanKFold(10).split(None, np.ones((978, 2)))]
    assert sizes == [98] * 8 + [97] * 2
    train, test = next(MulanKFold(10).split(None, np.ones((978, 2))))
    np.testing.assert_array_equal(np.concatenate([test, train]), order)


def test_fold_files_are_read_and_written(golden, tmp_path):
    path = golden / "mulan" / "folds" / "flags_2x5folds.csv"
    splitter = FixedFolds(path)
    assert splitter.get_n_splits() == 10
    Y = np.ones((194, 2))
    table = splitter.folds(None, Y)
    assert table[:2].tolist() == [[1, 4], [3, 3]]
    parts = list(splitter.split(None, Y))
    assert parts[1][1].tolist() == np.flatnonzero(table[:, 0] == 1).tolist()
    write_folds(splitter, Y, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == path.read_text()
    spaced = tmp_path / "spaced.csv"
    spaced.write_text(path.read_text().replace(",1", ", 1\x1d"))  # white space around numbers
    np.testing.assert_array_equal(read_folds(spaced), table)
    write_folds(MulanKFold(3, 2), Y, tmp_path / "mulan.csv.gz")
    np.testing.assert_array_equal(
        read_folds(tmp_path / "mulan.csv.gz"), MulanKFold(3, 2).folds(None, Y)
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("row,fold\n0,1\n", r"line 1: expected a line 'instance.*found 'row,fold'"),
        ("instance,a\n0,0\n1,x\n", "line 3: expected 2 whole numbers, found '1,x'"),
        ("instance,a\n0,0\n0,1\n", "line 3: instance 0 is named twice"),
        ("instance,a\n0,0\n7,1\n", "line 3: instance 7 is beyond the last"),
        ("instance,a\n0,0\n1,2\n", "line 3: fold 2 of 2 instances: expected numbers from 0"),
        ("instance,a\n0,0\n1,1000000000000\n", "line 3: fold 1000000000000 of 2 instances"),
        ("instance,a\n0,0\n1,99999999999999999999\n", "line 3: fold 99999999999999999999 of 2"),
        ("instance,a\n0,0\n1,1\n2,1\n3,3\n", r"without gaps. Found \[0, 1, 3\]"),
        ("instance,a\n0\r0,0\n", "this is not a table of fold numbers"),
    ],
)
def test_broken_fold_files_are_refused(tmp_path, text, message):
    path = tmp_path / "folds.csv"
    path.write_bytes(text.encode())
    with pytest.raises(scumble.ScumbleError, match=message):
        FixedFolds(path).folds(None, np.ones((2, 2)))


def test_refusals_say_what_is_wrong():
    Y = np.ones((4, 2))
    with pytest.raises(scumble.ScumbleError, match="4 rows cannot make 5 folds"):
        RepeatedKFold(5).folds(None, Y)
    with pytest.raises(scumble.ScumbleError, match="'n_splits' parameter of RepeatedKFold"):
        RepeatedKFold(1).folds(None, Y)
    with pytest.raises(scumble.ScumbleError, match="folds are those of 3 rows, the data has 4"):
        FixedFolds([0, 1, 0]).folds(None, Y)
    with pytest.raises(scumble.ScumbleError, match="folds must be whole numbers from 0"):
        FixedFolds([[0, 1], [1]]).folds(None, Y)
    with pytest.raises(scumble.ScumbleError, match="give split"):
        next(RepeatedKFold(2).split(Y))
    with pytest.raises(scumble.ScumbleError, match="equally many rows"):
        next(RepeatedKFold(2).split(np.zeros((5, 1)), Y))
    with pytest.raises(scumble.ScumbleError, match="'random_state' parameter of MulanKFold"):
        MulanKFold(2, random_state=None).folds(None, Y)


@pytest.mark.parametrize(
    ("splitter", "name"),
    [
        (RepeatedKFold(1), "n_splits"),
        (IterativeStratification("5"), "n_splits"),
        (LabelsetStratification(5, 0), "n_repeats"),
        (MulanKFold(5, 2.0), "n_repeats"),
        (MulanKFold(5, random_state=-1), "random_state"),
    ],
)
def test_wrong_parameters_are_named_before_there_is_data(splitter, name):
    with pytest.raises(
        scumble.ScumbleError, match=f"'{name}' parameter of {type(splitter).__name__}"
    ):
        splitter.get_n_splits()


def test_scikit_learn_takes_them():
    rng = np.random.default_rng(0)
    X, Y = rng.random((30, 3)), labels(30)
    for splitter in SEEDED:
        cv = splitter(3, 1, random_state=0)
        assert len(cross_val_score(KNeighborsClassifier(3), X, Y.astype(int), cv=cv)) == 3


def test_splitting_what_was_resampled_warns():
    data = scumble.make_multilabel(200, 6, mean_ir=5, scumble=0.1, random_state=0)
    after = MLROS(percent=20, random_state=0).resample(data)
    assert is_resampled(after)
    with pytest.warns(scumble.ScumbleWarning, match="has been resampled. Split afterwards"):
        next(RepeatedKFold(3, random_state=0).split(after))
    X, Y = REMEDIAL().fit_resample(data.X, data.Y)
    for splitter in (IterativeStratification(3), MulanKFold(3)):
        with pytest.warns(scumble.ScumbleWarning, match="has been resampled"):
            next(splitter.split(X, Y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        next(RepeatedKFold(3).split(data))  # the input was not touched
        unchanged = MLROS(percent=0.001, random_state=0).resample(data)
        assert len(unchanged) == len(data)
        next(RepeatedKFold(3).split(unchanged))
    marked = after.X  # only what the resampler returned is marked
    assert not is_resampled(marked)


def test_a_fold_number_far_beyond_the_rows_takes_no_memory():
    with pytest.raises(scumble.ScumbleError, match="without gaps"):
        FixedFolds([0, 1, 2**60]).folds(None, np.ones((3, 2)))
