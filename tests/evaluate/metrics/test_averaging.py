"""Averages of unit formulas, metrics with parameters, and sparse scores that are not made dense."""

import math
import pickle
import tracemalloc
from functools import partial
from inspect import isfunction

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as sk

import scumble
from scumble import catalogue, evaluate
from scumble._core.registry import registered_objects
from scumble.evaluate import confusion, fbeta, precision_at_k
from scumble.evaluate.metrics import counts
from scumble.evaluate.metrics.averaging import Macro, Micro, Samples, UnitValues, Weighted
from scumble.evaluate.metrics.base import FormulaMetric
from scumble.evaluate.metrics.bipartition import f1s, fbetas, recalls
from scumble.evaluate.metrics.counts import UndefinedPolicy

# Rows: precision and recall 1/2; precision 1, recall 1/2; neither labels nor predictions.
# Labels: recall 1 of 1, 1 of 2, 0 of 1.
Y = [[1, 1, 0], [0, 1, 1], [0, 0, 0]]
Z = [[1, 0, 1], [0, 1, 0], [0, 0, 0]]


def test_averages_worked_by_hand():
    both, mulan = confusion(Y, Z), UndefinedPolicy("mulan")
    assert Samples(recalls)(both, mulan) == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    assert Samples(recalls)(both, UndefinedPolicy("ignore")) == pytest.approx(1 / 2)
    assert Samples(recalls)(both, UndefinedPolicy(0)) == pytest.approx(1 / 3)
    assert Macro(recalls)(both, mulan) == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert Micro(recalls)(both, mulan) == pytest.approx(2 / 4)
    assert Weighted(recalls)(both, mulan) == pytest.approx((1 * 1 + 2 * 1 / 2 + 1 * 0) / 4)


def test_mulan_can_leave_undefined_units_out():
    def values(units):
        return UnitValues(np.array([0.5, math.nan, 1.0]), None)

    both = confusion(Y, Z)
    assert Macro(values)(both, UndefinedPolicy("mulan")) == 0.75
    assert Macro(values)(both, UndefinedPolicy(0)) == 0.5


def test_weights_of_labels_that_never_occur_give_no_mean():
    nothing = confusion([[0, 0]], [[1, 0]])
    assert math.isnan(Weighted(f1s)(nothing, UndefinedPolicy("mulan")))
    # Precision of label 1 is undefined; it weighs nothing, whatever stands for it.
    one_sided = confusion([[1, 0]], [[1, 0]])
    for policy in ("mulan", "ignore", 0):
        assert Weighted(f1s)(one_sided, UndefinedPolicy(policy)) == 1.0


def test_f_beta_worked_by_hand():
    # With beta 2: 5 tp / (5 tp + 4 fn + fp). Rows: 5/10, 5/9, undefined.
    assert fbeta(Y, Z, beta=2) == pytest.approx((5 / 10 + 5 / 9 + 1) / 3)
    assert fbeta(Y, Z, beta=2, undefined="ignore") == pytest.approx((5 / 10 + 5 / 9) / 2)
    assert fbeta(Y, Z, beta=2, average="macro") == pytest.approx((1 + 5 / 9 + 0) / 3)
    assert fbeta(Y, Z, beta=2, average="micro") == pytest.approx(10 / (10 + 4 * 2 + 1))
    assert fbeta(Y, Z, beta=2, average="weighted") == pytest.approx((1 + 2 * 5 / 9 + 0) / 4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("average", ["samples", "macro", "micro", "weighted"])
@pytest.mark.parametrize("beta", [0.5, 1, 2.0])
def test_f_beta_of_scikit_learn(seed, average, beta):
    rng = np.random.default_rng(seed)
    truth, predicted = rng.random((2, 60, 7)) < 0.3
    expected = sk.fbeta_score(truth, predicted, beta=beta, average=average, zero_division=0)
    assert fbeta(truth, predicted, beta=beta, average=average, undefined=0) == pytest.approx(
        expected
    )
    if beta == 1 and average == "samples":
        assert fbeta(truth, predicted, beta=1) == pytest.approx(evaluate.f1(truth, predicted))


def test_precision_at_k_worked_by_hand():
    scores = [[0.9, 0.2, 0.1], [0.1, 0.7, 0.8], [0.5, 0.5, 0.1]]
    # Best labels: 0; 2; of the tied labels 0 and 1 the later one, as in MULAN.
    assert precision_at_k(Y, scores, k=1) == pytest.approx(2 / 3)
    assert precision_at_k(Y, scores, k=2) == pytest.approx((2 + 2 + 0) / 6)
    assert precision_at_k(Y, scores, k=3) == pytest.approx(4 / 9)


@pytest.mark.parametrize("k", [1, 3, 9])
def test_precision_at_k_of_scikit_learn(k):
    rng = np.random.default_rng(k)
    truth, scores = rng.random((50, 9)) < 0.3, rng.random((50, 9))
    top = scores >= np.sort(scores, axis=1)[:, [-k]]
    expected = sk.precision_score(truth, top, average="samples", zero_division=0)
    assert precision_at_k(truth, scores, k=k) == pytest.approx(expected)
    assert precision_at_k(truth, sparse.csr_array(scores), k=k) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (partial(fbeta, Y, Z, beta=0), r"'beta' parameter of fbeta must be a number in \(0, inf\)"),
        (partial(fbeta, Y, Z, beta=1, average="mean"), "'average' parameter of fbeta.*'samples'"),
        (partial(precision_at_k, Y, Z, k=0), "'k' parameter of precision_at_k must be an int"),
        (partial(precision_at_k, Y, Z, k=4), "must be at most 3, the number of labels. Got 4"),
        (partial(precision_at_k, Y, None), "precision_at_k evaluates scores, and there are none"),
    ],
)
def test_wrong_parameters_are_refused(call, message):
    with pytest.raises(scumble.ScumbleError, match=message):
        call()


@pytest.fixture
def macro_f2():
    @evaluate.bipartition_metric(label_based=True)
    def macro_f2(counts, undefined, *, beta=2.0):
        """F-beta of each label, averaged over labels."""
        return Macro(partial(fbetas, beta=beta))(counts, undefined)

    yield macro_f2
    catalogue.unregister("metric", "macro_f2")


def test_a_metric_of_ones_own_can_have_a_parameter(macro_f2):
    assert macro_f2(Y, Z) == fbeta(Y, Z, beta=2, average="macro")
    assert macro_f2(Y, Z, beta=1, undefined=0) == evaluate.macro_f1(Y, Z, undefined=0)
    result = evaluate.evaluate(Y, Z, groups=["all"])
    assert result["macro_f2"] == macro_f2(Y, Z)
    assert result["all.macro_f2"] == macro_f2(Y, Z)
    assert macro_f2.__doc__ == "F-beta of each label, averaged over labels."
    assert repr(macro_f2) == "<BipartitionMetric macro_f2>"
    assert catalogue.describe("metric", "macro_f2").description == macro_f2.__doc__


def test_metrics_of_scores_can_have_a_parameter_too():
    @evaluate.ranking_metric()
    def hits_at(rankings, undefined, *, k=1):
        """Mean number of true labels among the best."""
        return float(rankings.Y.multiply(rankings.top_labels(k)).sum() / rankings.Y.shape[0])

    @evaluate.probability_metric()
    def sharpness(rankings, *, power=2):
        """Mean distance from one half."""
        return float((abs(rankings.scores - 0.5) ** power).mean())

    try:
        S = [[0.9, 0.2], [0.3, 0.8]]
        assert (hits_at([[1, 1], [1, 0]], S), hits_at([[1, 1], [1, 0]], S, k=2)) == (0.5, 1.5)
        assert sharpness([[1, 0]], [[1.0, 0.0]], power=1) == 0.5
    finally:
        catalogue.unregister("metric", "hits_at")
        catalogue.unregister("metric", "sharpness")


def test_metrics_are_plain_functions_or_formulas_and_travel_to_other_processes():
    for name, metric in registered_objects("metric").items():
        assert metric.function is getattr(evaluate, name)
        assert isfunction(metric.function) or isinstance(metric.function, FormulaMetric)
        assert metric.function.__module__.startswith("scumble.evaluate.")
        assert pickle.loads(pickle.dumps(metric)) == metric


@pytest.mark.parametrize("ties", ["mulan", "average", "worst"])
def test_blocks_of_sparse_scores_change_no_bit(monkeypatch, ties):
    rng = np.random.default_rng(0)
    for n_rows, n_labels in ((7, 90), (2000, 110)):
        truth = rng.random((n_rows, n_labels)) < 0.1
        scores = np.round(rng.random((n_rows, n_labels)), 2) * (rng.random((n_rows, 1)) < 0.5)
        dense = evaluate.evaluate(truth, None, scores, ties=ties)
        monkeypatch.setattr(counts, "MAX_DENSE_ENTRIES", 250)
        in_blocks = evaluate.evaluate(truth, None, sparse.coo_array(scores), ties=ties)
        assert dict(in_blocks) == pytest.approx(dict(dense), abs=0, rel=0, nan_ok=True)
        for name, values in dense.by_label.items():
            np.testing.assert_array_equal(in_blocks.by_label[name], values)
        monkeypatch.undo()


def test_sparse_scores_are_never_dense_as_a_whole():
    rng = np.random.default_rng(0)
    shape = (20_000, 2_000)  # 320 MB if it were dense
    scores = sparse.random_array(shape, density=0.001, rng=rng, format="csr")
    truth = sparse.random_array(shape, density=0.001, rng=rng, format="csr") != 0
    tracemalloc.start()
    result = evaluate.evaluate(truth, None, scores, n_jobs=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    assert 0 <= result["mean_squared_error"] <= 1


def test_missing_and_doubled_entries_of_sparse_scores():
    scores = sparse.coo_array(([0.5, math.nan], ([0, 1], [1, 2])), shape=(2, 3))
    with pytest.raises(scumble.ScumbleError, match=r"row 1, column 2 is NaN.* 1 scores are"):
        evaluate.one_error([[1, 0, 0], [0, 1, 0]], scores)
    doubled = sparse.csr_array(([0.25, 0.25, 0.9], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    before = doubled.data.copy()
    assert evaluate.mean_squared_error([[0, 1], [1, 0]], doubled) == pytest.approx(0.26 / 4)
    np.testing.assert_array_equal(doubled.data, before)
