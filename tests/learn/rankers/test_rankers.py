"""Neighbours, bagged trees, rates, calibration and blends: by hand and against slow twins."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

from scumble._core.errors import DataError, ParameterError, ParameterTypeError
from scumble.data import make_multilabel
from scumble.evaluate import evaluate, one_error, ranking_loss
from scumble.learn import (
    BaggedTrees,
    BlendedRanker,
    C45Classifier,
    NeighbourRanker,
    RareLabelClassifier,
    RidgeRanker,
)
from scumble.learn.rankers.bagged_trees import BagTargets
from scumble.learn.rankers.calibration import Calibration
from scumble.learn.rankers.rank_scale import RankScale
from scumble.learn.rankers.scaling import Scaling, normalize_rows


def problem(seed=0, n_rows=80, n_columns=8, n_labels=4):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    Y = (X[:, :n_labels] + 0.5 * generator.normal(size=(n_rows, n_labels))) > 0.9
    return X, Y


def slow_votes(rows, Y, weights, k, queries, own):
    """Sort all cosines of each query, and count weighted votes."""
    scores = []
    for at, query in enumerate(queries):
        cosines = rows @ query
        distances = np.sqrt(np.maximum(2 - 2 * cosines, 0))
        if own:
            distances[at] = np.inf
        chosen = np.argsort(distances, kind="stable")[:k]
        votes = np.maximum(1 - distances[chosen] ** 2 / 2, 1e-6) * weights[chosen]
        scores.append(votes @ Y[chosen] / votes.sum())
    return np.array(scores)


@pytest.mark.parametrize("weighted", [False, True])
def test_neighbours_vote_by_cosine(weighted):
    X, Y = problem()
    weights = np.random.default_rng(1).integers(1, 4, len(X)) if weighted else np.ones(len(X))
    model = NeighbourRanker(5)
    found = model.fit_out_of_sample(X, Y, weights)
    rows = normalize_rows(Scaling.fit_transform(X, np.zeros(8, int), weights)[1])

    np.testing.assert_allclose(found, slow_votes(rows, Y, weights, 5, rows, True), atol=1e-9)
    new = X[:10] + 0.01
    placed = normalize_rows(model._scaling.transform(new))
    np.testing.assert_allclose(
        model.predict_proba(new), slow_votes(rows, Y, weights, 5, placed, False), atol=1e-9
    )


def test_neighbours_of_very_few_rows():
    alone = NeighbourRanker().fit([[1.0]], [[1, 0]])
    assert alone.predict_proba([[2.0]]).tolist() == [[1.0, 0.0]]
    two = NeighbourRanker(20).fit([[1.0], [2.0]], [[1, 0], [0, 1]])
    assert two.n_neighbors_ == 1


@pytest.mark.parametrize("draw", ["bootstrap", "balanced", "weighted"])
def test_bagged_trees_are_single_trees_on_the_rows_drawn(draw):
    X, Y = problem(2, 60)
    model = BaggedTrees(4, draw=draw, columns=0.5, random_state=3)
    found = model.fit_out_of_sample(X, Y)
    targets = BagTargets(model, 8, sparse.csr_array(Y), None)
    sums, new = np.zeros((2, *Y.shape)), np.zeros(Y.shape)
    for at in range(len(targets)):
        label, target = at % 4, targets[at]
        rows = np.repeat(np.arange(60), target.repeats)
        own = X[:, target.columns]
        tree = C45Classifier(prune=False, laplace=True).fit(own[rows], Y[rows, label])
        chances = tree.predict_proba(own)[:, 1] if len(tree.classes_) == 2 else np.zeros(60)
        unseen = target.repeats == 0
        sums[0, unseen, label] += chances[unseen]
        sums[1, unseen, label] += 1
        new[:, label] += chances / 4
    expected = np.where(sums[1] > 0, sums[0] / np.maximum(sums[1], 1), Y.mean(axis=0))
    if draw == "bootstrap":  # the mean of the other rows is set right
        expected = np.clip(expected + (Y - Y.mean(axis=0)) / 59, 0, 1)

    np.testing.assert_allclose(model.predict_proba(X), new, atol=1e-12)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_draws_have_the_sizes_they_say():
    Y = sparse.csr_array(np.arange(100)[:, None] < np.array([[10, 50, 0]]))
    generator = np.random.default_rng(0)
    bags = [BaggedTrees(2, draw=draw, random_state=generator) for draw in ("balanced", "weighted")]
    balanced, weighted = (BagTargets(one, 1, Y, None) for one in bags)

    assert [t.repeats[:10].sum() for t in (balanced[0], weighted[0])] == [10, 25]
    assert [t.repeats.sum() for t in (balanced[0], weighted[0])] == [20, 100]
    assert balanced[2].repeats.tolist() == [1] * 100  # nothing to balance
    assert not balanced.is_out_of_bag(slice(3, 50))[:, 0, 2].any()


def test_bagged_trees_say_the_same_for_any_threads_and_forms():
    X, Y = problem(4)
    one, two = (BaggedTrees(3, random_state=1, n_jobs=n).fit(X, Y).predict_proba(X) for n in (1, 2))
    thin = BaggedTrees(3, random_state=1).fit(sparse.csr_array(X), Y)

    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, thin.predict_proba(sparse.csr_array(X)), atol=1e-12)


def slow_height(scores, value):
    """Count the scores that are higher, and half of those that are equal; look at the odds too."""
    place = (scores > value).sum() + ((scores == value).sum() + 1) / 2
    share = min(max(value, 1e-4), 1 - 1e-4)
    return (-np.log(place / (len(scores) + 1)) + np.log(share / (1 - share))) / 2


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 31), st.integers(1, 20), st.integers(0, 1000))
def test_rank_scales_of_few_scores_are_exact(n_rows, steps, seed):
    scores = np.random.default_rng(seed).integers(0, steps, (n_rows, 2)) / steps
    expected = [[slow_height(scores[:, label], v) for label, v in enumerate(row)] for row in scores]

    np.testing.assert_allclose(RankScale.fit(scores).transform(scores), expected, atol=1e-12)


def test_rank_scales_of_many_scores_are_nearly_exact_and_in_order():
    scores = np.random.default_rng(0).normal(size=(5000, 1))
    heights = RankScale.fit(scores).transform(scores).ravel()
    order = np.argsort(scores.ravel())
    expected = -np.log(np.arange(5000, 0, -1) / 5001)

    assert (np.diff(heights[order]) > 0).all()
    # One place in 32 and more is kept, each 8 percent further down: half of that is the most a
    # straight line between two can be wrong by where scores are even, and they are not quite.
    np.testing.assert_allclose(heights[order], expected, atol=0.05)
    assert len(RankScale.fit(scores).scores) < 150


def test_calibration_finds_curves_and_keeps_the_order():
    generator = np.random.default_rng(0)
    scores = generator.uniform(0, 4, (20000, 2))
    chances = 1 / (1 + np.exp(-(np.array([-3, -1]) + np.array([1.5, 0.5]) * scores)))
    Y = sparse.csr_array(generator.random(scores.shape) < chances)
    found = Calibration.fit(scores, Y)

    np.testing.assert_allclose(found.slopes, [1.5, 0.5], atol=0.06)
    np.testing.assert_allclose(found.intercepts, [-3, -1], atol=0.12)
    doubled = Calibration.fit(scores, Y, np.full(20000, 2.0))
    np.testing.assert_allclose(doubled.slopes, found.slopes, atol=0.001)


def test_calibration_of_labels_without_evidence():
    scores = np.linspace(0, 4, 50)[:, None] * np.ones((1, 3))
    Y = sparse.csr_array(np.column_stack([np.zeros(50), np.ones(50), np.arange(50) < 25]) > 0)
    found = Calibration.fit(scores, Y)

    assert (found.transform(scores)[:, 0] < 1e-3).all()
    assert (found.transform(scores)[:, 1] > 1 - 1e-3).all()
    assert found.slopes[2] == 0.05  # it ranks the wrong way round, and is not turned


def test_a_blend_is_the_mean_of_heights():
    X, Y = problem(6)
    members = [RidgeRanker(), NeighbourRanker(5)]
    model = BlendedRanker(members, weights=[2, 1], stacking=False)
    found = model.fit_out_of_sample(X, Y)
    scores = [m.fit_out_of_sample(X, Y) for m in members]
    rates = [RankScale.fit(part) for part in scores]
    heights = sum(w * r.transform(s) for w, r, s in zip([2 / 3, 1 / 3], rates, scores, strict=True))
    curve = Calibration.fit(heights, sparse.csr_array(Y))

    np.testing.assert_allclose(found, curve.transform(heights), atol=1e-12)
    new = [r.transform(m.predict_proba(X)) for r, m in zip(rates, members, strict=True)]
    expected = curve.transform(2 / 3 * new[0] + 1 / 3 * new[1])
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)


def test_stacking_joins_as_one_more_ranker():
    X, Y = problem(8)
    ridge = RidgeRanker().fit_out_of_sample(X, Y)
    heights = RankScale.fit(ridge).transform(ridge)
    scores = RidgeRanker("rbf").fit_out_of_sample(heights, Y)
    joined = 5 / 6 * heights + RankScale.fit(scores).transform(scores) / 6
    expected = Calibration.fit(joined, sparse.csr_array(Y)).transform(joined)
    model = BlendedRanker([RidgeRanker()])

    np.testing.assert_allclose(model.fit_out_of_sample(X, Y), expected, atol=1e-9)
    assert BlendedRanker([RidgeRanker()]).fit(X[:19], Y[:19]).stacked_ridge_ is None  # too few rows


def test_a_label_that_every_ranker_knows_is_known_to_the_blend():
    """Rates alone do not see the gap between rows with a frequent label and rows without it."""
    for seed in range(4):
        generator = np.random.default_rng(seed)
        codes = generator.integers(0, 3, 300)
        X = np.column_stack([codes, generator.normal(size=300)])
        Y = np.column_stack([codes == 0, codes != 2, codes == 2])
        model = RareLabelClassifier("best", categorical_features={0: 3}, random_state=0)

        predicted = model.fit(X[:150], Y[:150]).predict(X[150:])
        np.testing.assert_array_equal(predicted, Y[150:])


def test_a_blend_ranks_the_labels_of_a_row_better_than_its_parts():
    """Curves bring labels to one scale: heights alone rank labels within a row less well."""
    values = []
    for seed in range(6):
        data = make_multilabel(300, 12, mean_ir=10, random_state=seed)
        train, test = data[:200], data[200:]
        model = BlendedRanker(random_state=0).fit(train.X, train.Y)
        parts = [ranker.predict_labels_and_scores(test.X)[1] for ranker in model.rankers_]
        scales = zip(model.rank_scales_, parts, strict=True)
        heights = np.mean([scale.transform(scores) for scale, scores in scales], axis=0)
        all_scores = [model.predict_proba(test.X), heights, *parts]
        values.append([[ranking_loss(test.Y, s), one_error(test.Y, s)] for s in all_scores])
    blend, *others = np.mean(values, axis=0)

    assert (blend < np.min(others, axis=0)).all()


@pytest.mark.parametrize(
    "ranker",
    [RidgeRanker(), RidgeRanker("rbf"), NeighbourRanker(), BaggedTrees(40, random_state=0)],
)
def test_labels_of_chance_are_not_ranked_by_themselves(ranker):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 5))
    Y = generator.random((500, 20)) < 0.05
    scores = ranker.fit_out_of_sample(X, Y)
    areas = [roc_auc_score(Y[:, label], scores[:, label]) for label in range(20)]

    assert np.mean(areas) == pytest.approx(0.5, abs=0.1)


def test_rows_of_zeros_are_alike_and_like_no_others():
    generator = np.random.default_rng(0)
    X = sparse.random_array((200, 300), density=0.02, rng=generator, format="csr")
    empty = np.arange(200) < 30
    X = sparse.csr_array(X.multiply(~empty[:, None]))
    Y = np.column_stack([empty, ~empty])
    scores = NeighbourRanker(10).fit_out_of_sample(X, Y)

    np.testing.assert_allclose(scores[empty, 0], 1)
    assert scores[~empty, 0].mean() < 0.2
    dense = NeighbourRanker(10).fit_out_of_sample(X.toarray(), Y)
    np.testing.assert_allclose(scores, dense, atol=1e-4)  # many rows are equally far


def test_other_classifiers_join_a_blend_by_inner_folds():
    X, Y = problem(7)
    members = [RidgeRanker(), OneVsRestClassifier(LogisticRegression())]
    one, two = (BlendedRanker(members, random_state=0, n_jobs=n) for n in (1, 2))

    scores = one.fit_out_of_sample(X, Y)

    np.testing.assert_array_equal(scores, two.fit_out_of_sample(X, Y))
    for label in range(4):
        present = Y[:, label]
        assert scores[present, label].mean() > scores[~present, label].mean() + 0.2
    # A row is ranked worse by models that have not seen it than by one that has.
    seen = one.predict_proba(X)
    assert evaluate(Y, scores=scores)["macro_auc"] < evaluate(Y, scores=seen)["macro_auc"]


class Broken(KNeighborsClassifier):
    """Says NaN."""

    def predict_proba(self, X):
        return np.full((len(X), 4), np.nan)


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (lambda: NeighbourRanker(0), ParameterError, "n_neighbors"),
        (lambda: BaggedTrees(0), ParameterError, "n_estimators"),
        (lambda: BaggedTrees(draw="all"), ParameterError, "draw"),
        (lambda: BaggedTrees(estimator=LogisticRegression()), ParameterTypeError, "C45Classifier"),
        (lambda: BlendedRanker([]), ParameterError, "at least one"),
        (lambda: BlendedRanker(RidgeRanker()), ParameterTypeError, "list of classifiers"),
        (lambda: BlendedRanker([RidgeRanker]), ParameterTypeError, "rankers"),
        (lambda: BlendedRanker([None]), ParameterTypeError, "got None where a classifier"),
        (lambda: BlendedRanker([RidgeRanker()], weights=[1, 2]), ParameterError, "1 numbers"),
        (lambda: BlendedRanker([RidgeRanker()], weights=[0]), ParameterError, "not all 0"),
        (lambda: BlendedRanker([Broken()]), DataError, "Broken gives NaN"),
    ],
)
def test_bad_parameters(make, kind, said):
    X, Y = problem()
    with pytest.raises(kind, match=said):
        make().fit(X, Y.astype(int))
