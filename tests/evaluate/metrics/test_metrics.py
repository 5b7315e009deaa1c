"""Metrics: examples worked by hand, slow versions, and what every metric promises."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import scumble
from scumble import MultilabelDataset, evaluate
from scumble._core.registry import registered_objects
from scumble.evaluate import confusion, hierarchical_loss
from tests.evaluate.metrics import slow_metrics

METRICS = list(registered_objects("metric").values())
IDS = [metric.name for metric in METRICS]
POLICIES = ["mulan", "ignore", 0.25]
#: Few different scores, so that ties are the rule.
SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0])


@st.composite
def cases(draw, *, max_rows=7, max_labels=5):
    shape = draw(st.integers(1, max_rows)), draw(st.integers(1, max_labels))
    Y, Z = (draw(arrays(bool, shape)) for _ in range(2))
    return Y, Z, draw(arrays(float, shape, elements=SCORES))


def call(metric, Y, Z, S, **options):
    return metric.function(Y, Z if metric.needs == "predictions" else S, **options)


def test_an_example_worked_by_hand():
    # Three instances, four labels; the last instance has no label and none is predicted.
    Y = [[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    Z = [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    S = [[0.9, 0.8, 0.3, 0.1], [0.2, 0.7, 0.4, 0.6], [0.1, 0.2, 0.3, 0.4]]
    found = evaluate.evaluate(Y, Z, S)
    expected = {
        "hamming_loss": 2 / 12,
        "subset_accuracy": 2 / 3,
        "precision": (1 / 2 + 1 + 1) / 3,
        "recall": (1 / 2 + 1 + 1) / 3,
        "f1": (1 / 2 + 1 + 1) / 3,
        "accuracy": (1 / 3 + 1 + 1) / 3,
        "specificity": (1 / 2 + 1 + 1) / 3,
        "macro_precision": (1 + 1 / 2 + 0 + 1) / 4,
        "macro_recall": (1 + 1 + 0 + 1) / 4,
        "macro_f1": (1 + 2 / 3 + 0 + 1) / 4,
        "macro_specificity": (1 + 1 / 2 + 1 + 1) / 4,
        "macro_balanced_accuracy": (1 + 3 / 4 + 1 / 2 + 1) / 4,
        "macro_g_mean": (1 + math.sqrt(1 / 2) + 0 + 1) / 4,
        "micro_precision": 2 / 3,
        "micro_recall": 2 / 3,
        "micro_f1": 2 / 3,
        "micro_specificity": 8 / 9,
        "one_error": 1 / 3,  # the instance without labels is always an error
        "ranking_loss": (1 / 4 + 0 + 0) / 3,
        "coverage": (2 + 0 + 0) / 3,
        "average_precision": ((1 + 2 / 3) / 2 + 1) / 2,  # the last instance is left out
        "is_error": 1 / 3,
        "error_set_size": 1 / 3,
        "example_auc": (3 / 4 + 1 + 1 / 2) / 3,
        "macro_auc": math.nan,  # label 3 never occurs
        "micro_auc": (9 + 4.5 + 8) / 27,
        "mean_average_precision": (1 + 1 / 2 + 1 / 2) / 3,
        "mean_squared_error": 2.1 / 12,
    }
    # Scores of the positives 0.9, 0.3, 0.7 against nine negatives: 9, 4.5 and 8 wins.
    assert {name: found[name] for name in expected} == pytest.approx(expected, nan_ok=True)
    assert found.by_label["precision"].tolist() == [1, 0.5, 0, 1]
    assert found.by_label["auc"][:3].tolist() == [1.0, 0.5, 0.25]
    assert np.isnan(found.by_label["auc"][3])


def test_the_three_ways_to_rank_ties():
    Y, S = [[1, 0, 1, 0]], [[0.5, 0.5, 0.1, 0.1]]
    # MULAN: of equal scores the later label is first, so both irrelevant ones lead.
    found = evaluate.evaluate(Y, scores=S)
    assert (found["one_error"], found["ranking_loss"], found["coverage"]) == (1, 3 / 4, 3)
    assert found["average_precision"] == (1 / 2 + 2 / 4) / 2
    found = evaluate.evaluate(Y, scores=S, ties="average")
    assert (found["one_error"], found["ranking_loss"], found["coverage"]) == (1 / 2, 2 / 4, 2.5)
    assert found["average_precision"] == (1 / 1.5 + 2 / 3.5) / 2
    found = evaluate.evaluate(Y, scores=S, ties="worst")
    assert (found["one_error"], found["ranking_loss"], found["coverage"]) == (1, 3 / 4, 3)
    assert found["average_precision"] == (1 / 2 + 2 / 4) / 2


@given(
    case=cases(),
    policy=st.sampled_from(POLICIES),
    ties=st.sampled_from(["mulan", "average", "worst"]),
)
def test_all_metrics_equal_the_slow_versions(case, policy, ties):
    Y, Z, S = case
    found = evaluate.evaluate(Y, Z, S, undefined=policy, ties=ties)
    expected = slow_metrics.bipartition(Y, Z, policy)
    expected |= slow_metrics.ranking(Y, S, policy, ties) | slow_metrics.probability(Y, S)
    # Not all metrics have a slow version: some are tested in other ways, in a file of their own.
    assert set(found) >= set(expected)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-12, nan_ok=True), name


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ties", ["mulan", "average", "worst"])
def test_rows_with_many_labels_are_sorted_and_say_the_same(ties, seed):
    # A row is judged by comparison up to 63 relevant labels and by sorting from 64 on.
    rng = np.random.default_rng(seed)
    Y = rng.random((2, 150)) < 0.6
    S = np.round(rng.random((2, 150)), 1)
    assert (Y.sum(axis=1) >= 64).all()
    found = evaluate.evaluate(Y, scores=S, ties=ties)
    expected = slow_metrics.ranking(Y, S, "mulan", ties)
    for name in ("one_error", "ranking_loss", "coverage", "average_precision", "example_auc"):
        assert found[name] == pytest.approx(expected[name], abs=1e-12), name


@settings(max_examples=40)
@given(case=cases(), seed=st.integers(0, 99))
def test_what_every_metric_promises(case, seed):
    Y, Z, S = case
    found = evaluate.evaluate(Y, Z, S)
    rows = np.random.default_rng(seed).permutation(len(Y))
    for metric in METRICS:
        # As a function it says what evaluate says.
        value = call(metric, Y, Z, S)
        assert isinstance(value, float)
        assert value == pytest.approx(found[metric.name], nan_ok=True)
        # It stays within its bounds.
        assert math.isnan(value) or metric.lower - 1e-12 <= value <= metric.upper + 1e-12
        # The order of the rows matters only where rows with equal scores are ranked by it.
        ties = {"ties": "average"} if metric.needs == "scores" else {}
        before = call(metric, Y, Z, S, **ties)
        after = call(metric, Y[rows], Z[rows], S[rows], **ties)
        assert after == pytest.approx(before, abs=1e-12, nan_ok=True), metric.name


@pytest.mark.parametrize("metric", METRICS, ids=IDS)
def test_perfect_predictions_are_perfect(metric):
    Y = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0]])
    value = call(metric, Y, Y, Y.astype(float))
    best = metric.upper if metric.greater_is_better else metric.lower
    if metric.perfect_value is not None:
        best = metric.perfect_value(Y.astype(bool))
    assert value == pytest.approx(best, abs=1e-7)


def test_the_coverage_of_perfect_scores():
    metric = registered_objects("metric")["coverage"]
    Y = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0]])
    assert metric.perfect_value(Y) == 2 / 3  # two labels cannot both be first


@given(case=cases())
def test_dense_and_sparse_agree_and_nothing_is_changed(case):
    Y, Z, S = case
    kept = Y.copy(), Z.copy(), S.copy()
    dense = evaluate.evaluate(Y, Z, S)
    matrices = sparse.csc_array(Y), sparse.coo_matrix(Z.astype(int)), sparse.csr_array(S)
    same = evaluate.evaluate(*matrices)
    assert dict(same) == pytest.approx(dict(dense), nan_ok=True)
    for before, after in zip(kept, (Y, Z, S), strict=True):
        np.testing.assert_array_equal(before, after)


def test_labels_and_predictions_may_count_in_different_types():
    Y, Z = (sparse.csr_array(np.array(part, bool)) for part in ([[1, 0], [1, 1]], [[1, 1], [0, 1]]))
    Z.indptr, Z.indices = Z.indptr.astype(np.int64), Z.indices.astype(np.int64)
    assert confusion(Y, Z).by_instance.true_positives.tolist() == [1, 1]
    assert hierarchical_loss(Y, Z, [-1, 0]) == 1.0


def test_frames_and_data_sets_are_read():
    pd, pl = (
        pytest.importorskip("pandas", reason="pip install 'scumble[frames]'"),
        pytest.importorskip("polars", reason="pip install 'scumble[frames]'"),
    )
    Y = np.array([[1, 0], [1, 1], [0, 1]])
    Z, S = Y[::-1], np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]])
    expected = dict(evaluate.evaluate(Y, Z, S))
    data = MultilabelDataset(np.zeros((3, 1)), Y)
    names = ["a", "b"]
    for truth, said, scores in (
        (pd.DataFrame(Y, columns=names), pd.DataFrame(Z, columns=names), pd.DataFrame(S)),
        (pl.DataFrame(Y, schema=names), pl.DataFrame(Z, schema=names), pl.DataFrame(S)),
        (data, Z.tolist(), S.tolist()),
    ):
        assert dict(evaluate.evaluate(truth, said, scores)) == pytest.approx(expected, nan_ok=True)


def test_threads_change_no_bit():
    rng = np.random.default_rng(0)
    Y, Z = rng.random((2, 4000, 60)) < 0.05
    S = np.round(rng.random((4000, 60)), 2)
    one = evaluate.evaluate(Y, Z, S, n_jobs=1)
    four = evaluate.evaluate(Y, Z, S, n_jobs=4)
    assert dict(one) == dict(four)
    for name in one.by_label:
        np.testing.assert_array_equal(one.by_label[name], four.by_label[name])


def test_a_wide_label_matrix_is_never_made_dense():
    # 200,000 rows and labels: 4 * 10^10 cells, two assignments a row.
    n = 200_000
    indices = np.stack([np.arange(n) // 2, n // 2 + np.arange(n) // 2], axis=1).ravel()
    Y = sparse.csr_array((np.ones(2 * n, bool), indices, np.arange(0, 2 * n + 1, 2)), shape=(n, n))
    Z = sparse.csr_array((np.ones(n, bool), indices[::2], np.arange(n + 1)), shape=(n, n))
    found = evaluate.evaluate(Y, Z)
    assert found["precision"] == 1.0
    assert found["recall"] == 0.5
    assert found["macro_recall"] == 0.5
    assert found["hamming_loss"] == pytest.approx(n / n**2)


def test_policies_for_what_is_undefined():
    Y, Z = [[1, 0], [0, 0], [0, 1]], [[1, 0], [1, 0], [0, 0]]
    # Precisions 1, 0, undefined; MULAN takes 0 for the last, whose label was missed.
    assert evaluate.precision(Y, Z) == pytest.approx(1 / 3)
    assert evaluate.precision(Y, Z, undefined="ignore") == 0.5
    assert evaluate.precision(Y, Z, undefined=1) == pytest.approx(2 / 3)
    assert evaluate.micro_precision([[0, 1]], [[0, 0]]) == 0
    assert evaluate.micro_precision([[0, 0]], [[0, 0]]) == 1
    assert math.isnan(evaluate.micro_precision([[0, 1]], [[0, 0]], undefined="ignore"))
    found = evaluate.evaluate(Y, Z, undefined="ignore")
    np.testing.assert_array_equal(found.by_label["precision"], [0.5, np.nan])


def test_probabilities_are_asked_for_only_where_they_matter():
    Y, S = [[1, 0], [0, 1]], [[3.0, -1.0], [-2.0, 5.0]]
    found = evaluate.evaluate(Y, scores=S)
    assert found["macro_auc"] == 1.0
    assert math.isnan(found["log_loss"])
    assert math.isnan(found["mean_squared_error"])
    with pytest.raises(scumble.ScumbleError, match=r"must be probabilities.*-2 to 5"):
        evaluate.log_loss(Y, S)


def test_a_hierarchy_counts_the_topmost_fault():
    # 0 > 1 > 2, and 3 stands alone.
    parents = (-1, 0, 1, -1)
    Y = np.array([[1, 1, 1, 0], [1, 1, 0, 0]])
    Z = np.array([[0, 0, 0, 1], [1, 0, 1, 0]])
    # Row 0: label 0 and label 3. Row 1: label 1 is wrong, label 2 lies below it.
    assert hierarchical_loss(Y, Z, parents) == 1.5
    data = MultilabelDataset(np.zeros((2, 1)), Y, label_parents=parents)
    assert evaluate.evaluate(data, Z)["hierarchical_loss"] == 1.5


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([-1, 0], "hierarchical_loss: label_parents must be 4 label numbers"),
        ([-1, 0, 1, 4], "4 label numbers"),
        ([-1, 0, 1, 0.5], "4 label numbers"),
        (None, "4 label numbers"),
        ([-1, 0, 1, 3], "hierarchical_loss: label_parents goes round in a circle at label 3"),
        ([1, 2, 0, -1], "in a circle at label"),
    ],
)
def test_what_is_no_hierarchy_is_refused(parents, message):
    with pytest.raises(scumble.ScumbleError, match=message):
        hierarchical_loss(np.ones((2, 4)), np.zeros((2, 4)), parents)


def test_the_counts_themselves():
    found = confusion([[1, 1, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]])
    assert found.by_instance.true_positives.tolist() == [1, 1]
    assert found.by_instance.true_negatives.tolist() == [0, 2]
    assert found.overall.false_positives.tolist() == [1]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1, 0]], [[1, 0, 1]]), {}, r"predictions must have the shape of Y, \(1, 2\).*\(1, 3\)"),
        (([[1, 0]], [[0.3, 0.7]]), {}, r"predictions.*row 0, column 0 holds 0.3"),
        (([[2, 0]], [[1, 0]]), {}, r"Y: the label cell in row 0, column 0 holds 2"),
        (([[1, 0]], None, [[0.1, math.nan]]), {}, r"score in row 0, column 1 is NaN"),
        (([[1, 0]], None, [[0.1]]), {}, r"scores must have the shape of Y, \(1, 2\).*\(1, 1\)"),
        (([[1, 0]], None, [["a", "b"]]), {}, r"scores must be a table of numbers"),
        (([[1, 0]],), {}, r"nothing to evaluate. Give predictions, scores, or both"),
        ((np.zeros((0, 2)), np.zeros((0, 2))), {}, r"nothing to evaluate, Y has 0 rows"),
        (([[1, 0]], [[1, 0]]), {"undefined": "zero"}, r"'undefined' parameter of evaluate"),
        (([[1, 0]], None, [[0, 1]]), {"ties": "last"}, r"'ties' parameter of evaluate"),
        (([[1, 0]], [[1, 0]]), {"ties": "last"}, r"'ties' parameter of evaluate"),
    ],
)  # fmt: skip
def test_refusals_say_what_is_wrong(arguments, options, message):
    with pytest.raises(scumble.ScumbleError, match=message):
        evaluate.evaluate(*arguments, **options)


def test_columns_that_name_other_labels_are_refused():
    Y = pd.DataFrame({"sea": [1, 0], "sky": [1, 1]})
    turned = Y[["sky", "sea"]]
    whole = MultilabelDataset([[0.0], [1.0]], Y.to_numpy(), labels=["sea", "sky"])
    for truth in (Y, pl.from_pandas(Y), whole):
        with pytest.raises(scumble.ScumbleError, match=r"predictions.*'sky' as label 0.*'sea'"):
            evaluate.evaluate(truth, turned)
        with pytest.raises(scumble.ScumbleError, match="scores must have the labels of Y"):
            evaluate.evaluate(truth, None, turned)
        with pytest.raises(scumble.ScumbleError, match="predictions must have the labels of Y"):
            evaluate.hamming_loss(truth, turned)
        with pytest.raises(scumble.ScumbleError, match="scores must have the labels of Y"):
            evaluate.one_error(truth, turned)
        assert evaluate.evaluate(truth, Y, Y)["hamming_loss"] == 0
        assert evaluate.hamming_loss(truth, pd.DataFrame(Y.to_numpy())) == 0  # no names of its own
    lists = [["sea", "sky"], ["sky"]]
    assert evaluate.hamming_loss(Y, lists) == evaluate.hamming_loss(lists, lists) == 0
    with pytest.raises(scumble.ScumbleError, match="'land' as label 0, Y has 'sea'"):
        evaluate.hamming_loss(lists, [["land", "moon"], ["moon"]])


def test_lists_of_names_are_judged_by_the_names_of_both():
    lists = [["sea", "sky"], ["sky"]]
    frame = pd.DataFrame({"sea": [1, 0], "sky": [1, 1]})
    assert evaluate.hamming_loss(lists, [["sea"], []]) == 0.5  # two of four cells
    assert evaluate.hamming_loss(pd.Series(lists), [["sea"], []]) == 0.5
    assert evaluate.hamming_loss(frame, [["sea"], []]) == 0.5
    assert evaluate.hamming_loss(lists, [[], []]) == 0.75
    found = evaluate.evaluate(lists, [["sea", "sky"], ["land", "sky"]], groups={"mine": ["land"]})
    assert found["hamming_loss"] == 1 / 6
    assert found.by_label["false_positives"].tolist() == [1, 0, 0]
    assert found.groups["mine"].tolist() == [True, False, False]
    with pytest.raises(scumble.ScumbleError, match="predictions must have the labels of Y"):
        evaluate.evaluate(frame, [["sea", "land"], []])


def test_scores_that_are_missing_are_named():
    with pytest.raises(
        scumble.ScumbleError, match="one_error evaluates scores, and there are none"
    ):
        evaluate.one_error([[1, 0]], None)
    found = evaluate.evaluate([[1, 0]], [[1, 0]])
    with pytest.raises(KeyError, match="one_error evaluates scores: give evaluate the scores"):
        found["one_error"]
    with pytest.raises(KeyError, match="nonesuch"):
        found["nonesuch"]
    assert "hamming_loss" in repr(found)
