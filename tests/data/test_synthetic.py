"""Data made to measure: do they measure what was asked for?"""

import random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from scumble._core.errors import ParameterError
from scumble.data import make_multilabel
from scumble.data.public import repository
from scumble.data.synthetic import kernels, labels
from scumble.data.synthetic.labels import label_counts, reachable_mean_ir
from scumble.measures import (
    cardinality,
    characterize,
    cooccurrence,
    label_counts as count_labels,
    mean_ir,
    scumble,
)

REAL = [
    entry
    for entry in repository.entries()
    if entry.measures["instances"] < 50_000 and entry.name not in ("mediamill_reduced", "tmc2007")
]


def partitions(total: int, parts: int, most: int):
    """List all descending counts with a sum, the slow and obvious way."""
    if parts == 0:
        if total == 0:
            yield ()
        return
    for first in range(min(most, total - parts + 1), 0, -1):
        for rest in partitions(total - first, parts - 1, first):
            yield (first, *rest)


def made_or_refused(*args, **wishes):
    try:
        return make_multilabel(*args, **wishes)
    except ParameterError as error:
        return error


def mean_ratio(counts) -> float:
    return float(np.mean(max(counts) / np.asarray(counts)))


# Label counts


def test_equal_and_steepest_counts_by_hand():
    assert label_counts(12, 4, 1.0, 8).tolist() == [3, 3, 3, 3]
    assert label_counts(12, 4, 5.25, 8).tolist() == [8, 2, 1, 1]


@pytest.mark.parametrize(
    ("total", "parts", "most"), [(12, 4, 8), (15, 5, 6), (20, 3, 20), (9, 9, 4)]
)
def test_the_reachable_range_is_that_of_all_partitions(total, parts, most):
    ratios = [mean_ratio(counts) for counts in partitions(total, parts, most)]

    assert reachable_mean_ir(total, parts, most) == pytest.approx((min(ratios), max(ratios)))


@pytest.mark.parametrize(("total", "parts", "most"), [(12, 3, 12), (24, 5, 24), (30, 6, 100)])
def test_small_counts_are_found_where_there_are_any(total, parts, most):
    ratios = np.array([mean_ratio(counts) for counts in partitions(total, parts, most)])

    for wanted in np.geomspace(ratios.min(), ratios.max(), 12):
        if (np.abs(ratios / wanted - 1) <= 0.02).any():
            found = mean_ratio(label_counts(total, parts, wanted, most))
            assert found == pytest.approx(wanted, rel=0.02)
        else:
            with pytest.raises(ParameterError, match="the nearest value found is"):
                label_counts(total, parts, wanted, most)


@settings(max_examples=50)
@given(
    n_labels=st.integers(4, 60),
    n_rows=st.integers(100, 3000),
    fullness=st.floats(0.0, 1.0),
    steepness=st.floats(0.0, 1.0),
)
def test_counts_have_their_sum_and_mean_ir(n_labels, n_rows, fullness, steepness):
    least, most = n_labels * 40, n_labels * n_rows // 2
    total = round(least * (most / least) ** fullness)
    low, high = reachable_mean_ir(total, n_labels, n_rows)
    wanted = low * (high / low) ** (0.9 * steepness)

    counts = label_counts(total, n_labels, wanted, n_rows)

    assert counts.sum() == total
    assert counts.min() >= 1
    assert counts.max() <= n_rows
    assert (np.diff(counts) <= 0).all()
    assert mean_ratio(counts) == pytest.approx(wanted, rel=0.02)


def test_counts_follow_a_power_law_where_one_fits():
    counts = label_counts(100_000, 100, 20.0, 100_000)
    exponent = -np.log(counts[-1] / counts[0]) / np.log(100)

    assert counts == pytest.approx(counts[0] * np.arange(1, 101) ** -exponent, rel=0.01)


def test_rounding_keeps_the_sum_of_inverses():
    assert kernels.round_counts(np.full(4, 1.3), 10).tolist() == [1, 2, 1, 2]
    values = np.linspace(1.0, 9.0, 1000)

    rounded = kernels.round_counts(values, 10)

    assert np.abs(rounded - values).max() <= 1
    assert (1 / rounded).sum() == pytest.approx((1 / values).sum(), abs=0.5)


# Dealing


@given(counts=st.lists(st.integers(1, 30), min_size=1, max_size=20), n_blocks=st.integers(1, 7))
def test_blocks_share_the_line_of_assignments(counts, n_blocks):
    line = np.repeat(np.arange(len(counts)), counts)
    deal = labels.LabelAssigner(np.array(counts), len(line), 0, np.zeros(n_blocks, np.uint64))
    dealt = []
    for block in range(min(n_blocks, len(line))):
        dealt.append(deal.block_labels(block))
        assert dealt[-1].tolist() == line[block::n_blocks].tolist()
    assert sorted(np.concatenate(dealt)) == line.tolist()


def test_many_small_blocks_make_one_data_set(monkeypatch):
    monkeypatch.setattr(labels, "BLOCK_ROWS", 50)
    counts = label_counts(3001, 20, 20.0, labels.max_rows_per_label(1003, 103))
    rng = np.random.default_rng(0)

    Y = labels.assign_labels([counts], 1003, 103, 0.2, rng)

    assert Y.shape == (1003, 20)
    assert count_labels(Y).tolist() == counts.tolist()
    assert (np.diff(Y.indptr) == 0).sum() == 103
    assert scumble(Y) == pytest.approx(0.2, abs=0.01)


def test_a_label_may_be_in_every_labelled_row(monkeypatch):
    monkeypatch.setattr(labels, "BLOCK_ROWS", 10)
    most = labels.max_rows_per_label(107, 7)
    counts = np.array([most, most, 5, 1])

    Y = labels.assign_labels([counts], 107, 7, None, np.random.default_rng(0))

    assert most == 100
    assert count_labels(Y).tolist() == counts.tolist()


def test_independent_labels_meet_as_often_as_chance_has_it():
    Y = make_multilabel(
        20_000, 10, cardinality=2.0, mean_ir=3, scumble=None, n_features=0, unlabelled=None,
        random_state=0,
    ).Y  # fmt: skip
    counts = count_labels(Y)
    together = cooccurrence(Y).toarray()

    # Every row has a label, so pairs meet a little less often than fully independent ones would.
    for a in range(3):
        for b in range(a + 1, 4):
            expected = counts[a] * counts[b] / 20_000
            assert together[a, b] == pytest.approx(expected, rel=0.25)


# The whole


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry.name)
def test_the_measures_of_real_data_can_be_imitated(entry):
    wanted = entry.measures
    unlabelled = 294 / 645 if entry.name == "birds" else None

    data = make_multilabel(
        wanted["instances"],
        wanted["labels"],
        n_features=0,
        cardinality=wanted["cardinality"],
        mean_ir=wanted["mean_ir"],
        scumble=wanted["scumble"],
        unlabelled=unlabelled,
        random_state=0,
    )

    assert cardinality(data.Y) == pytest.approx(wanted["cardinality"], rel=0.01)
    assert mean_ir(data.Y) == pytest.approx(wanted["mean_ir"], rel=0.02)
    assert scumble(data.Y) == pytest.approx(wanted["scumble"], abs=0.01)


@pytest.mark.parametrize("wanted_cardinality", [1.5, 3.0, 6.0])
@pytest.mark.parametrize("wanted_ir", [2.0, 10.0, 50.0])
@pytest.mark.parametrize("place", [0.2, 0.5, 0.8])
def test_targets_are_hit_across_the_reachable_range(wanted_cardinality, wanted_ir, place):
    wishes = {"cardinality": wanted_cardinality, "mean_ir": wanted_ir, "n_features": 0}
    counts = label_counts(round(2000 * wanted_cardinality), 30, wanted_ir, 2000)
    deal = labels.LabelAssigner(counts, 2000, 0, np.zeros(1, np.uint64))
    low, high = deal.first_block_scumble(-1.0), deal.first_block_scumble(2.0)
    wanted = low + place * (high - low)

    data = make_multilabel(2000, 30, scumble=wanted, random_state=1, **wishes)

    assert cardinality(data.Y) == wanted_cardinality
    assert mean_ir(data.Y) == pytest.approx(wanted_ir, rel=0.02)
    assert scumble(data.Y) == pytest.approx(wanted, abs=1e-3)


@settings(max_examples=40)
@given(
    n_instances=st.integers(5, 400),
    n_labels=st.integers(1, 30),
    wanted_cardinality=st.floats(0.2, 8),
    wanted_ir=st.floats(1, 40),
    wanted=st.floats(0, 0.6) | st.none(),
    seed=st.integers(0, 2**32),
)
def test_targets_are_hit_or_refused(
    n_instances, n_labels, wanted_cardinality, wanted_ir, wanted, seed
):
    data = made_or_refused(
        n_instances,
        n_labels,
        n_features=2,
        cardinality=wanted_cardinality,
        mean_ir=wanted_ir,
        scumble=wanted,
        random_state=seed,
    )
    if isinstance(data, ParameterError):
        assert "Expected '" in str(data)
        return

    Y = data.Y
    assert abs(Y.nnz - n_instances * wanted_cardinality) <= 0.5
    assert mean_ir(Y) == pytest.approx(wanted_ir, rel=0.02)
    assert wanted is None or scumble(Y) == pytest.approx(wanted, abs=0.01)
    assert count_labels(Y).min() >= 1
    assert all(np.all(np.diff(row) > 0) for row in np.split(Y.indices, Y.indptr[1:-1]))
    if Y.nnz >= n_instances:
        assert np.diff(Y.indptr).min() >= 1


def test_the_same_seed_gives_the_same_data_on_any_number_of_threads():
    wishes = {"n_instances": 20_000, "n_labels": 50, "n_features": 3, "n_nominal": 1}
    data = make_multilabel(**wishes, random_state=7, n_jobs=1)

    assert make_multilabel(**wishes, random_state=7, n_jobs=3) == data
    assert make_multilabel(**wishes, random_state=8) != data


def test_random_states_of_all_kinds_are_accepted():
    def Y(state):
        return make_multilabel(200, 20, random_state=state, n_features=0).Y

    def same(a, b):
        return (a != b).nnz == 0

    assert same(Y(np.int64(3)), Y(3))
    assert same(Y(np.random.default_rng(3)), Y(3))
    assert same(Y(np.random.RandomState(3)), Y(np.random.RandomState(3)))
    assert not same(Y(None), Y(None))
    generator = np.random.default_rng(3)
    assert not same(Y(generator), Y(generator))


def test_global_generators_are_left_alone():
    random.seed(1)
    before, numpy_before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002  (global)

    make_multilabel(200, random_state=0)
    make_multilabel(200)

    assert random.getstate() == before
    assert np.random.get_state()[1].tolist() == numpy_before  # noqa: NPY002  (global)


def test_unlabelled_instances_are_as_many_as_asked_for():
    def n_empty(**wishes):
        data = make_multilabel(1000, 10, n_features=0, mean_ir=5, random_state=0, **wishes)
        return int((np.diff(data.Y.indptr) == 0).sum())

    assert n_empty(cardinality=1.5, scumble=0.05) == 0
    assert n_empty(cardinality=1.5, scumble=0.05, unlabelled=0.25) == 250
    assert n_empty(cardinality=0.5, scumble=0.02) == 607  # 1000 / sqrt(e)


def test_one_label_is_possible():
    data = make_multilabel(30, 1, cardinality=0.5, mean_ir=1, scumble=0, random_state=0)

    assert count_labels(data.Y).tolist() == [15]


# Features


def test_classifiers_can_learn_from_dense_features():
    data = make_multilabel(2000, 6, cardinality=1.5, mean_ir=2, scumble=0.05, random_state=0)
    truth = data.Y.toarray()[:, 0]
    first, second = slice(0, 1000), slice(1000, 2000)

    informed = LogisticRegression().fit(data.X[first, :10], truth[first])
    guessing = LogisticRegression().fit(data.X[first, 10:], truth[first])

    usual = max(truth.mean(), 1 - truth.mean())
    assert informed.score(data.X[second, :10], truth[second]) > usual + 0.1
    assert guessing.score(data.X[second, 10:], truth[second]) < usual + 0.03


def test_sparse_features_are_counts_of_words_that_labels_share():
    data = make_multilabel(
        2000, 6, n_features=200, cardinality=1.5, mean_ir=2, scumble=0.05, sparse=True,
        n_nominal=20, random_state=0,
    )  # fmt: skip
    truth = data.Y.toarray()[:, 0]

    assert isinstance(data.X, sparse.csr_array)
    assert 0.05 < data.X.nnz / (2000 * 200) < 0.11
    assert set(np.unique(data.X.data)) <= set(range(1, 30))
    informed = LogisticRegression(max_iter=1000).fit(data.X[:1000], truth[:1000])
    assert informed.score(data.X[1000:], truth[1000:]) > max(truth.mean(), 1 - truth.mean()) + 0.1
    nominal = data.X[:, list(data.categorical_features)]
    assert list(data.categorical_features.values()) == [2] * 20
    assert np.unique(nominal.data).tolist() == [1.0]


def test_nominal_features_hold_codes_of_about_equal_frequency():
    data = make_multilabel(1000, 5, cardinality=2, mean_ir=2, scumble=0.05, n_features=9,
                           n_nominal=3, n_categories=4, random_state=0)  # fmt: skip

    assert data.categorical_features == {0: 4, 4: 4, 8: 4}
    for column in data.categorical_features:
        assert np.bincount(data.X[:, column].astype(int)).tolist() == [250] * 4


def test_features_can_be_left_out():
    assert make_multilabel(
        100, 5, n_features=0, cardinality=2, mean_ir=3, scumble=0.05
    ).X.shape == (100, 0)
    data = make_multilabel(
        100, 5, n_features=0, cardinality=2, mean_ir=3, scumble=None, sparse=True
    )
    assert data.X.shape == (100, 0)


# Refusals


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"scumble": 0.9}, r"SCUMBLE of 0.9 cannot .* Expected 'scumble' in about \[0\.0.*, 0\.4"),
        ({"mean_ir": 5000}, r"MeanIR of 5000. Expected 'mean_ir' in \[1, 850.2\]"),
        ({"cardinality": 30}, r"Expected 'cardinality' in \[0.02, 20\]. Got 30"),
        ({"cardinality": 1.0, "scumble": 0.2}, r"Expected 'scumble' in about \[0.000, 0.000\]"),
        ({"unlabelled": 0.9}, r"Expected 'unlabelled' in \[0, 0.85\]"),
        ({"n_instances": 0}, "'n_instances' parameter of make_multilabel must be an int in"),
        ({"n_labels": 2.5}, "'n_labels' parameter of make_multilabel must be an int in"),
        ({"scumble": 2}, r"'scumble' parameter of make_multilabel must be a number in \[0, 1\]"),
        ({"mean_ir": float("nan")}, "'mean_ir' parameter of make_multilabel must be a number"),
        ({"separation": float("inf")}, "'separation' parameter of make_multilabel"),
        ({"n_informative": 21}, "must not exceed 'n_features', 20. Got 21"),
        ({"n_categories": 1}, r"'n_categories' parameter .* \[2, inf\)"),
        ({"random_state": "x"}, "'random_state' parameter of make_multilabel"),
    ],
)
def test_impossible_wishes_are_refused_with_what_is_possible(wishes, message):
    with pytest.raises(ParameterError, match=message):
        make_multilabel(**{"random_state": 0, **wishes})


@pytest.mark.parametrize(
    ("n_instances", "n_labels"),
    [(100, 4), (100, 1), (100, 2), (100, 3), (50, 5), (100, 8), (10, 3), (20, 10), (1, 5), (2, 1)],
)
def test_the_defaults_suit_any_number_of_instances_and_labels(n_instances, n_labels):
    data = make_multilabel(n_instances, n_labels, random_state=0)
    found = characterize(data)
    assert (found.n_instances, found.n_labels, found.n_unseen) == (n_instances, n_labels, 0)
    wanted = max(min(3.0, 0.75 * n_labels), n_labels / n_instances)
    assert found.cardinality == pytest.approx(wanted, abs=0.5 / n_instances)
    assert data == make_multilabel(n_instances, n_labels, random_state=0)


def test_the_defaults_are_what_comes_nearest_to_the_usual():
    found = characterize(make_multilabel(100, 8, random_state=0))
    with pytest.raises(ParameterError, match=r"'scumble' in about \[0.029, 0.154\]"):
        make_multilabel(100, 8, scumble=0.2, random_state=0)
    assert found.mean_ir == pytest.approx(20, rel=0.02)
    assert found.scumble == pytest.approx(0.154, abs=0.01)
    with pytest.raises(ParameterError, match=r"the nearest value found is 25.75"):
        make_multilabel(100, 4, mean_ir=20, random_state=0)
    mean_ir = characterize(make_multilabel(100, 4, random_state=0)).mean_ir
    assert mean_ir == pytest.approx(25.75, abs=0.01)
    usual = {"cardinality": 3.0, "mean_ir": 20.0, "scumble": 0.2}
    assert make_multilabel(300, 20, random_state=1) == make_multilabel(
        300, 20, **usual, random_state=1
    )
    for name in usual:
        with pytest.raises(ParameterError, match=f"{name}' parameter .* must be a number"):
            make_multilabel(300, 20, **{name: "much"})
