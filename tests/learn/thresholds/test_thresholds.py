"""Thresholds per label, against a slow version that tries every cut."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

from scumble import MultilabelDataset
from scumble._core.errors import DataError, ParameterError
from scumble.learn import label_thresholds, threshold_curves, threshold_table
from scumble.learn.thresholds.selection import (
    PREDICTION_RATES,
    ScoreColumns,
    ThresholdRule,
    mean_recall,
)


def slow_cuts(scores, truth):
    """List (predicted, right, threshold) for every cut between different scores."""
    values = sorted(set(scores), reverse=True)
    cuts = []
    for at, value in enumerate(values):
        lower = values[at + 1] if at + 1 < len(values) else -np.inf
        chosen = scores >= value
        cuts.append((chosen.sum(), (chosen & truth).sum(), (value + lower) / 2))
    return cuts


def slow_recall(scores, Y):
    """Average over labels the recall at each rate, reading linearly between cuts."""
    curves = []
    for label in range(Y.shape[1]):
        positives = Y[:, label].sum()
        if positives < 2:
            continue
        cuts = [(0, 0), *[cut[:2] for cut in slow_cuts(scores[:, label], Y[:, label])]]
        curve = []
        for rate in PREDICTION_RATES:
            wanted = rate * positives
            before = max(cut for cut in cuts if cut[0] <= wanted)
            after = [cut for cut in cuts if cut[0] > wanted]
            hits = float(before[1])
            if after:
                share = (wanted - before[0]) / (after[0][0] - before[0])
                hits += share * (after[0][1] - before[1])
            curve.append(hits / positives)
        curves.append(curve)
    return np.mean(curves, axis=0) if curves else np.minimum(PREDICTION_RATES, 1)


def slow_thresholds(scores, Y, rule, beta=1.0, strength=20.0):
    """Take the best of all cuts, label by label."""
    shared = slow_recall(scores, Y).round(9)
    found = []
    for label in range(Y.shape[1]):
        positives = Y[:, label].sum()
        most = len(Y) if rule == "plain" else max(4 * positives, positives + 4)
        if len(set(scores[:, label])) == 1 and positives < len(Y):
            most = 0  # equal scores tell nothing
        best, threshold = -1.0, np.inf
        for predicted, right, cut in slow_cuts(scores[:, label], Y[:, label]):
            if positives == 0 or predicted > most:
                continue
            hits = float(right)
            if rule == "shrunken":
                usual = np.interp(predicted / positives, PREDICTION_RATES, shared)
                hits = positives * ((right + strength * usual) / (positives + strength))
            value = (1 + beta**2) * hits / (predicted + beta**2 * positives)
            if rule == "rate":
                value = len(Y) + 1 - abs(int(predicted) - int(positives))
            if value > best:
                best, threshold = value, cut
        found.append(threshold)
    return np.array(found)


@st.composite
def problems(draw):
    n_rows, n_labels = draw(st.integers(2, 40)), draw(st.integers(1, 5))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    Y = generator.random((n_rows, n_labels)) < generator.random(n_labels)
    steps = draw(st.sampled_from([3, 10, 1000]))  # few steps: many equal scores
    return generator.integers(0, steps, (n_rows, n_labels)) / steps + 0.3 * Y, Y


@settings(max_examples=150, deadline=None)
@given(problems(), st.sampled_from(["shrunken", "capped", "rate", "plain"]))
def test_the_slow_version_takes_the_same_cuts(problem, rule):
    scores, Y = problem
    columns = ScoreColumns.read(scores, Y, caller="test")
    shared = mean_recall(
        [columns.candidate_thresholds(at, ThresholdRule()) for at in range(columns.n_labels)]
    )

    np.testing.assert_allclose(shared, slow_recall(scores, Y), atol=1e-9)
    np.testing.assert_allclose(
        label_thresholds(scores, Y, rule=rule), slow_thresholds(scores, Y, rule), atol=1e-12
    )


@pytest.mark.parametrize(("metric", "beta"), [("f2", 2.0), ("f0.5", 0.5)])
def test_other_metrics(metric, beta):
    generator = np.random.default_rng(3)
    Y = generator.random((200, 6)) < 0.1
    scores = generator.random((200, 6)) + 0.4 * Y

    found = label_thresholds(scores, Y, metric=metric)

    np.testing.assert_allclose(found, slow_thresholds(scores, Y, "shrunken", beta), atol=1e-12)


def test_an_example_by_hand():
    # Positives at ranks 1 and 3 of 4: F of the four cuts is 2/3, 2/4, 4/5, 4/6.
    curve = threshold_curves([[0.9], [0.8], [0.4], [0.1]], [[1], [0], [1], [0]], rule="capped")[0]

    np.testing.assert_allclose(curve.observed, [2 / 3, 1 / 2, 4 / 5, 2 / 3])
    np.testing.assert_allclose(curve.thresholds, [0.85, 0.6, 0.25, -np.inf])
    assert (curve.selected, curve.n_positives) == (2, 2)


def test_a_label_with_few_positives_follows_the_others():
    # Twenty labels whose four best rows are theirs, and one that was lucky with its first row:
    # its own scores say "one row", all others say "as many as there are positives".
    n_rows = 40
    scores = np.tile(np.linspace(1, 0, n_rows)[:, None], (1, 21))
    Y = np.zeros((n_rows, 21), bool)
    Y[:4, :20] = True
    Y[[0, 20], 20] = True

    capped = label_thresholds(scores, Y, rule="capped")
    shrunken = label_thresholds(scores, Y, rule="shrunken")

    assert (scores[:, 20] >= capped[20]).sum() == 1
    assert (scores[:, 20] >= shrunken[20]).sum() == 2


def test_the_plain_rule_has_no_limit():
    # The one positive is the eighth of ten rows: only a cut below it finds it, with F = 2/9.
    scores, Y = np.linspace(1, 0.1, 10)[:, None], np.arange(10)[:, None] == 7

    plain = threshold_curves(scores, Y, rule="plain")[0]
    capped = threshold_curves(scores, Y, rule="capped")[0]

    assert (plain.n_predicted.tolist(), plain.selected) == (list(range(1, 11)), 7)
    assert plain.observed[7] == 2 / 9
    np.testing.assert_allclose(plain.thresholds[7], 0.25)
    assert capped.n_predicted.tolist() == [1, 2, 3, 4, 5]
    # Half of the rows have the label and the scores are worthless: all rows are predicted.
    assert label_thresholds([[0.1], [0.9]], [[1], [0]], rule="plain")[0] == -np.inf
    # Equal scores tell nothing, unless all rows have the label.
    assert label_thresholds([[0.4]] * 2, [[1], [0]], rule="plain")[0] == np.inf
    assert label_thresholds([[0.4]] * 2, [[1], [1]], rule="plain")[0] == -np.inf
    assert threshold_curves([[0.4]] * 2, [[1], [0]], rule="plain")[0].selected == -1


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from(["shrunken", "capped", "rate", "plain"]), st.randoms())
def test_order_of_rows_and_labels_does_not_matter(problem, rule, random):
    scores, Y = problem
    rows, labels = list(range(len(Y))), list(range(Y.shape[1]))
    random.shuffle(rows)
    random.shuffle(labels)

    found = label_thresholds(scores[rows][:, labels], Y[rows][:, labels], rule=rule)

    np.testing.assert_array_equal(found, label_thresholds(scores, Y, rule=rule)[labels])


def test_sparse_scores_give_the_same_as_dense_ones():
    generator = np.random.default_rng(0)
    Y = generator.random((300, 8)) < 0.05
    scores = np.maximum(generator.random((300, 8)) + 0.5 * Y - 0.6, 0)

    for rule in ("shrunken", "capped", "rate", "plain"):
        dense = label_thresholds(scores, Y, rule=rule)
        for form in (sparse.csr_array, sparse.csc_matrix):
            np.testing.assert_array_equal(
                label_thresholds(form(scores), sparse.csr_array(Y), rule=rule), dense
            )


def test_threads_do_not_matter():
    generator = np.random.default_rng(0)
    Y = generator.random((100, 30)) < 0.1
    scores = generator.random((100, 30))

    one, two = (label_thresholds(scores, Y, n_jobs=n) for n in (1, 2))

    np.testing.assert_array_equal(one, two)


def test_labels_without_a_choice():
    scores = np.array([[0.1, 0.2, 0.5, 0.3]] * 3 + [[0.4, 0.2, 0.5, 0.9]] * 9)
    Y = np.zeros((12, 4), bool)
    Y[:, 1] = True  # always there, and all scores are equal
    Y[0, 2] = True  # one positive among equal scores: any threshold would predict all rows
    Y[:, 3] = True  # always there

    found = label_thresholds(scores, Y)

    assert found.tolist() == [np.inf, -np.inf, np.inf, -np.inf]


def test_the_fixed_rule_and_numbers_next_to_each_other():
    assert label_thresholds([[0.1, 0.2]], [[1, 0]], rule="fixed", threshold=0.3).tolist() == [
        0.3,
        np.inf,  # no row has the label
    ]
    high = np.nextafter(0.5, 1)
    assert label_thresholds([[high], [0.5], [0.5], [0.4]], [[1], [0], [0], [0]])[0] == high


@pytest.mark.parametrize("rule", ["shrunken", "capped", "rate", "plain"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_equal_scores_tell_nothing(rule, form):
    # Eight rows may be predicted where four have the label, and still no score says which.
    scores, Y = form(np.ones((8, 2))), np.ones((8, 2), int)
    Y[4:, 0] = 0

    assert label_thresholds(scores, Y, rule=rule).tolist() == [np.inf, -np.inf]
    assert [curve.selected for curve in threshold_curves(scores, Y, rule=rule)] == [-1, 0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_fixed_rule_predicts_no_label_without_positives(form):
    columns = ScoreColumns.read(form([[0.9, 0.9], [0.8, 0.1]]), [[1, 0], [0, 0]], caller="test")
    cuts = columns.choose(ThresholdRule("fixed"))

    assert cuts.thresholds.tolist() == [0.5, np.inf]
    assert (cuts.n_predicted.tolist(), cuts.hits.tolist()) == ([2, 0], [1, 0])
    np.testing.assert_allclose(cuts.expected, [2 / 3, np.nan])


@pytest.mark.parametrize("choose", [label_thresholds, threshold_curves, threshold_table])
def test_columns_must_have_the_names_of_the_labels(choose):
    Y = pd.DataFrame({"sky": [1, 0], "ship": [0, 1]})
    scores = pd.DataFrame({"ship": [0.1, 0.9], "sky": [0.9, 0.1]})

    with pytest.raises(DataError, match="Found 'ship' as label 0, Y has 'sky'"):
        choose(scores, Y)
    choose(scores[["sky", "ship"]], Y)
    choose(scores.to_numpy(), Y)  # without names the order is the user's word


def test_infinite_scores():
    scores = [[np.inf], [2.0], [-np.inf], [-np.inf]]
    assert label_thresholds(scores, [[1], [1], [0], [0]])[0] == 2.0


def test_a_data_set_is_taken_for_its_labels():
    data = MultilabelDataset([[1.0], [2.0]], [[1], [0]])
    assert label_thresholds([[0.9], [0.1]], data)[0] == 0.5


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([[0.1, np.nan], [0.2, 0.3]], "row 0 for label 1 is NaN"),
        (sparse.csr_array([[0.1, 0.0], [0.2, np.nan]]), "row 1 for label 1 is NaN"),
        ([[0.1], [0.2]], "shape of Y, (2, 2)"),
        ([0.1, 0.2], "must be a table"),
        ([["a", "b"], ["c", "d"]], "must hold numbers"),
    ],
)
def test_bad_scores(scores, said):
    with pytest.raises(DataError) as caught:
        label_thresholds(scores, [[1, 0], [0, 1]])
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rule": "best"}, "rule"),
        ({"metric": "accuracy"}, "metric"),
        ({"strength": -1}, "strength"),
        ({"strength": "much"}, "strength"),
        ({"rule": "fixed", "threshold": np.inf}, "threshold"),
    ],
)
def test_bad_parameters(options, said):
    with pytest.raises(ParameterError, match=said):
        label_thresholds([[0.1]], [[1]], **options)
