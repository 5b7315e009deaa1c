"""Weights of rows and of classes: by hand, against loops, and as rows that come several times."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import _check_sample_weight_equivalence
from sklearn.utils.validation import has_fit_parameter

from scumble import MultilabelDataset
from scumble._core.errors import DataError, ParameterError, ScumbleWarning
from scumble.evaluate import RepeatedKFold, cross_validate
from scumble.learn import (
    COCOA,
    ECCRU,
    HOMER,
    IBLR,
    BaggedTrees,
    BaseMultilabelClassifier,
    BinaryRelevance,
    BlendedRanker,
    BRkNN,
    C45Classifier,
    CalibratedLabelRanking,
    ClassifierChain,
    EnsembleOfClassifierChains,
    EnsembleOfPrunedSets,
    LabelPowerset,
    MLkNN,
    NeighbourRanker,
    PrunedSets,
    RAkEL,
    RareLabelClassifier,
    ResampledEnsemble,
    RidgeRanker,
    StackedBinaryRelevance,
    ThresholdedClassifier,
    fit_dataset,
    load,
    save,
)
from scumble.learn.neighbours.logistic import fit_logistic
from scumble.learn.transformation.label_powerset import LabelsetProblem
from scumble.learn.transformation.pruned_sets import prune_labelsets
from scumble.learn.trees.c45 import Target, TreeSettings, grow_trees
from scumble.learn.trees.c45.growing import TargetBatch, grow_tree_batch
from scumble.learn.trees.c45.table import prepare_table
from scumble.learn.weights import (
    apply_class_weight,
    check_weights,
    compute_class_weight_factors,
    supports_sample_weight,
)
from scumble.resample import MLROS
from tests.learn import problems

problem = partial(problems.problem, n=70)

#: A node of few rows may be split whatever they weigh, so that a weight is a number of rows.
TREE = C45Classifier(min_objects=1)
EVERY = {
    "br": BinaryRelevance(),
    "lp": LabelPowerset(),
    "ps": PrunedSets(),
    "eps": EnsembleOfPrunedSets(n_estimators=3, random_state=0),
    "cc": ClassifierChain(),
    "ecc": EnsembleOfClassifierChains(n_estimators=3, random_state=0),
    "clr": CalibratedLabelRanking(),
    "homer": HOMER(n_clusters=2, random_state=0),
    "homer-cc": HOMER(ClassifierChain(), n_clusters=2, random_state=0),
    "mlknn": MLkNN(n_neighbors=3),
    "iblr": IBLR(n_neighbors=3),
    "cocoa": COCOA(n_couples=2, random_state=0),
    "eccru": ECCRU(variant=3, n_estimators=3, random_state=0),
    "rakel": RAkEL(size=2, random_state=0),
    "rakel-d": RAkEL(size=2, overlapping=False, random_state=0),
    "brknn": BRkNN(n_neighbors=3),
    "brknn-a": BRkNN(n_neighbors=3, extension="a"),
    "brknn-b": BRkNN(n_neighbors=3, extension="b"),
    "stacking": StackedBinaryRelevance(n_folds=3, random_state=0),
    "stacking-lr": StackedBinaryRelevance(
        LogisticRegression(), final_estimator=LogisticRegression(), n_folds=3, random_state=0
    ),
    "ridge": RidgeRanker(),
    "ridge-rbf": RidgeRanker("rbf"),
    "neighbours": NeighbourRanker(3),
    "bagging": BaggedTrees(3, random_state=0),
    "blend": BlendedRanker(random_state=0),
    "thresholded": ThresholdedClassifier(),
    "thresholded-br": ThresholdedClassifier(BinaryRelevance(), random_state=0),
    "rare": RareLabelClassifier(random_state=0),
    "rare-best": RareLabelClassifier("best", random_state=0),
    "resampled": ResampledEnsemble(n_estimators=2, random_state=0),
    "resampled-cc": ResampledEnsemble(
        ClassifierChain(), resampler="remedial+mlros", n_estimators=2, random_state=0
    ),
}
#: Where nothing is drawn, and no row is near another. A ridge penalty of one's own: to choose it,
#: and thresholds, rows are left out, and of a row that comes three times one is left out, not all.
REPEATABLE = {
    "br": BinaryRelevance(TREE),
    "balanced": BinaryRelevance(TREE, class_weight="balanced"),
    "lp": LabelPowerset(TREE),
    "ps": PrunedSets(TREE),
    "cc": ClassifierChain(TREE),
    "clr": CalibratedLabelRanking(TREE),
    "homer": HOMER(BinaryRelevance(TREE), hierarchy=[[0, 1], [2, 3]]),
    "homer-lp": HOMER(LabelPowerset(TREE), hierarchy=[[0, 1], [2, 3]]),
    "naive-bayes": BinaryRelevance(GaussianNB()),
    "rakel": RAkEL(TREE, size=2, random_state=0),
    "rakel-d": RAkEL(TREE, size=2, overlapping=False, random_state=0),
    "stacking": StackedBinaryRelevance(TREE, final_estimator=TREE, n_folds=0),
    "ridge": RidgeRanker(penalty=1.0),
    "thresholded": ThresholdedClassifier(RidgeRanker(penalty=1.0), rule="fixed"),
}


#: Sums of the same numbers in another order.
INEXACT = ("balanced", "naive-bayes", "ridge", "thresholded")


def both(model, X):
    return model.predict_both(X)


def assert_same(one, other, X, *, exactly=True):
    labels, confidences = both(one, X)
    found, sure = both(other, X)
    if exactly:
        assert (found == labels).all()
        assert (sure == confidences).all()
    else:
        np.testing.assert_allclose(sure, confidences, atol=1e-9)


# By hand.


def test_the_factors_of_ten_rows_two_of_them_positive():
    counts = np.array([8.0, 2.0])
    assert compute_class_weight_factors(counts, "balanced").tolist() == [10 / 16, 10 / 4]
    # The roots of 0.625 and 2.5 give 8 * 0.791 + 2 * 1.581 = 9.487; scaled to ten.
    scale = 10 / (8 * 0.625**0.5 + 2 * 2.5**0.5)
    np.testing.assert_allclose(
        compute_class_weight_factors(counts, "sqrt"), [scale * 0.625**0.5, scale * 2.5**0.5]
    )
    assert compute_class_weight_factors(counts, {1: 4}).tolist() == [1, 4]
    assert compute_class_weight_factors(np.array([5.0, 0.0]), "balanced").tolist() == [1, 1]
    assert compute_class_weight_factors(np.array([5.0, 0.0]), "sqrt").tolist() == [1, 1]


def test_one_positive_of_ten_rows_by_hand():
    X = np.array([[0]] * 6 + [[1]] * 4)
    y = np.array([0] * 9 + [1])
    # Unweighted, nothing outweighs the three negatives beside the positive one.
    assert C45Classifier().fit(X, y).n_leaves_ == 1
    # Balanced, it weighs 5 and a negative 5/9: 6 * 5/9 on the left; 3 * 5/9 and 5 on the right.
    tree = C45Classifier(class_weight="balanced").fit(X, y)
    assert tree.n_leaves_ == 2
    np.testing.assert_allclose(tree.predict_proba([[0], [1]]), [[1, 0], [0.25, 0.75]])
    np.testing.assert_allclose(tree.tree_.counts[0], [5, 5])
    # By roots, 0.75 and 2.25: 3 * 0.75 and 2.25 on the right, where the two are equal.
    tree = C45Classifier(class_weight="sqrt", prune=False).fit(X, y)
    np.testing.assert_allclose(tree.tree_.counts[0], [7.5, 2.5])
    labels = BinaryRelevance(class_weight="balanced").fit(X, y[:, None]).predict([[0], [1]])
    assert labels.tolist() == [[0], [1]]


def test_a_tree_takes_a_mapping_by_class():
    X = np.array([[0]] * 6 + [[1]] * 4)
    y = np.array(["no"] * 9 + ["yes"])
    tree = C45Classifier(class_weight={"yes": 6}).fit(X, y)
    np.testing.assert_allclose(tree.predict_proba([[0], [1]]), [[1, 0], [1 / 3, 2 / 3]])
    with pytest.raises(ParameterError, match="Got 'maybe', which is none of them"):
        C45Classifier(class_weight={"maybe": 6}).fit(X, y)


def test_mlknn_by_hand():
    X, Y = np.array([[0.0], [1], [5], [6]]), np.array([[1], [1], [0], [0]])
    model = MLkNN(n_neighbors=1).fit(X, Y, sample_weight=[1, 2, 3, 4])
    # Three of ten have the label. Each row's neighbour has the label where it has it itself.
    assert model.priors_.tolist() == [4 / 12]
    assert model.present_.ravel().tolist() == [1 / 5, 4 / 5]
    assert model.absent_.ravel().tolist() == [8 / 9, 1 / 9]


def test_brknn_by_hand():
    # The neighbours of 1 are rows 0, 1 and 2, which weigh 1, 2 and 5: one of three has the second
    # label, and it weighs more than the half.
    X, Y = np.array([[0.0], [1], [2], [9]]), np.array([[1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 0, 1]])
    weights = [1, 2, 5, 4]
    plain, mean = (
        BRkNN(n_neighbors=3, extension=how).fit(X, Y, sample_weight=weights) for how in (None, "b")
    )
    labels, shares = plain.predict_both([[1.0]])
    assert labels.tolist() == [[0, 1, 0]]
    assert shares.tolist() == [[3 / 8, 5 / 8, 2 / 8]]
    assert BRkNN(n_neighbors=3).fit(X, Y).predict([[1.0]]).tolist() == [[1, 0, 0]]
    # They have 10 / 8 labels on average, which is one. Weights of 2, 3 and 5 make two halves.
    assert mean.predict([[1.0]]).tolist() == [[0, 1, 0]]
    half = BRkNN(n_neighbors=3).fit(X, Y, sample_weight=[0.2, 0.3, 0.5, 1])
    assert half.predict([[1.0]]).tolist() == [[1, 1, 0]]
    # Of labels with equal votes the one that weighs more in training comes first.
    two = np.array([[1, 0], [0, 1], [0, 1]])
    far = BRkNN(n_neighbors=2, extension="b").fit(X[:3], two, sample_weight=[3, 3, 0.5])
    assert far.predict([[0.4]]).tolist() == [[0, 1]]


def test_rakels_labels_in_no_group_have_their_share_by_weight():
    X, Y = problem()
    model = RAkEL(size=1, n_labelsets=2, random_state=0)
    weights = np.arange(len(X)) + 1.0
    confidences = model.fit(X, Y, sample_weight=weights).predict_proba(X)
    left = np.setdiff1d(np.arange(4), np.concatenate(model.labelsets_))
    np.testing.assert_allclose(confidences[0, left], weights @ Y[:, left] / weights.sum())


# Slow twins.


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_binary_relevance_is_a_loop_over_labels(share):
    X, Y = problem()
    rng = np.random.default_rng(1)
    X[:, 3] = rng.integers(0, 3, len(X))
    X[rng.random(X.shape) < share] = np.nan
    weights = rng.choice([0.0, 0.3, 1.0, 2.5], len(X))
    for rule in (None, "balanced", "sqrt", {0: 0.5, 1: 3.0}):
        model = BinaryRelevance(class_weight=rule, categorical_features={3: 3})
        confidences = model.fit(X, Y, sample_weight=weights).predict_proba(X)
        for at in range(Y.shape[1]):
            tree = C45Classifier(categorical_features={3: 3})
            tree.fit(X, Y[:, at], sample_weight=slow_weights(Y[:, at], weights, rule))
            np.testing.assert_allclose(tree.predict_proba(X)[:, 1], confidences[:, at], atol=1e-12)
            ours = C45Classifier(class_weight=rule, categorical_features={3: 3})
            ours.fit(X, Y[:, at], sample_weight=weights)
            assert (ours.predict_proba(X)[:, 1] == confidences[:, at]).all()


def slow_weights(y, weights, rule):
    """Weigh row by row."""
    if rule is None:
        return weights
    total = sum(weights)
    sums = {c: sum(w for w, cls in zip(weights, y, strict=True) if cls == c) for c in (0, 1)}
    if rule == "balanced":
        return [w * total / (2 * sums[cls]) for w, cls in zip(weights, y, strict=True)]
    if rule == "sqrt":
        out = [w * (total / (2 * sums[cls])) ** 0.5 for w, cls in zip(weights, y, strict=True)]
        return [w * total / sum(out) for w in out]
    return [w * rule[cls] for w, cls in zip(weights, y, strict=True)]


def test_a_chain_is_a_loop_over_labels():
    X, Y = problem()
    weights = np.random.default_rng(1).choice([0.5, 1.0, 2.5], len(X))
    model = ClassifierChain().fit(X, Y, sample_weight=weights)
    labels, confidences = model.predict_both(X)
    for at in range(Y.shape[1]):
        nominal = {4 + before: 2 for before in range(at)}
        tree = C45Classifier(categorical_features=nominal or None)
        tree.fit(np.hstack([X, Y[:, :at]]), Y[:, at], sample_weight=weights)
        sure = tree.predict_proba(np.hstack([X, labels[:, :at]]))[:, 1]
        assert (sure == confidences[:, at]).all()


def test_labelsets_are_counted_by_weight():
    Y = sparse.csr_array(np.array([[1, 0], [1, 0], [0, 1], [1, 1]], bool))
    whole = LabelsetProblem.of(Y, np.array([1.0, 1.0, 5.0, 0.5]))
    assert whole.sets.toarray().astype(int).tolist() == [[0, 1], [1, 0], [1, 1]]
    assert whole.sizes().tolist() == [5, 2, 0.5]
    pruned = prune_labelsets(Y, np.array([1.0, 1.0, 5.0, 0.5]), p=1, strategy="A", b=2)
    assert pruned.sets.shape[0] == 2
    # The last row stands in for both, with its weight.
    assert pruned.rows.tolist() == [0, 1, 2, 3, 3]
    assert pruned.weights.tolist() == [1, 1, 5, 0.5, 0.5]


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([None, "balanced", "sqrt", {1: 2.5}]))
def test_listed_targets_are_single_ones(seed, rule):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (40, 3)).astype(float)
    table = prepare_table(X, np.zeros(3, int))
    sizes = rng.integers(1, 30, 5)
    rows = np.concatenate([np.sort(rng.permutation(40)[:n]) for n in sizes]).astype(np.uint32)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    y = (rng.random(len(rows)) < 0.3).astype(np.uint8)
    weights = rng.choice([0.5, 1.0, 3.0], len(rows)) if seed % 2 else np.zeros(0)
    rules = TreeSettings(class_weight=rule)
    nodes = grow_tree_batch(table, TargetBatch(starts, rows, y, weights), rules)
    spans = [slice(a, b) for a, b in itertools.pairwise(starts)]
    targets = [
        Target(y[s], rows=rows[s], weights=weights[s] if len(weights) else None) for s in spans
    ]
    alone = grow_trees(table, targets, rules)
    assert nodes.sizes.tolist() == [tree.n_nodes for tree in alone]
    assert (nodes.feature == np.concatenate([tree.feature for tree in alone])).all()
    counts = np.concatenate([tree.counts.ravel() for tree in alone])
    np.testing.assert_allclose(nodes.counts.ravel(), counts, atol=1e-9)


def test_draws_with_weights_are_rows_with_weights():
    X, Y = problem()
    rng = np.random.default_rng(2)
    repeats, weights = rng.integers(0, 3, len(X)), rng.choice([0.5, 1.0, 4.0], len(X))
    table = prepare_table(X, np.zeros(4, int))
    y = Y[:, 0]
    one, other = grow_trees(
        table, [Target(y, repeats=repeats, weights=weights), Target(y, weights=repeats * weights)]
    )
    assert one.feature.tolist() == other.feature.tolist()
    assert (one.counts == other.counts).all()
    # A balanced bag is weighed by what was drawn.
    rules = TreeSettings(class_weight="balanced")
    bag = grow_trees(table, [Target(y, repeats=repeats)], rules)[0]
    assert np.ptp(bag.counts[0]) < 1e-9
    np.testing.assert_allclose(bag.counts[0].sum(), repeats.sum())


# What is true of all.


@pytest.mark.parametrize("short", EVERY)
def test_ones_are_no_weights_and_zeros_leave_out(short):
    X, Y = problem()
    model = EVERY[short]
    plain = fresh(model).fit(X, Y)
    for ones in (np.ones(len(X)), 1, np.ones(len(X), int).tolist()):
        assert_same(plain, fresh(model).fit(X, Y, sample_weight=ones), X)
    kept = np.random.default_rng(3).random(len(X)) < 0.7
    expected = fresh(model).fit(X[kept], Y[kept])
    assert_same(expected, fresh(model).fit(X, Y, sample_weight=kept), X)
    weights = np.where(kept, np.arange(len(X)) % 4 + 0.5, 0)
    expected = fresh(model).fit(X[kept], Y[kept], sample_weight=weights[kept])
    assert_same(expected, fresh(model).fit(X, Y, sample_weight=weights), X)
    if short in ("neighbours", "blend", "rare-best"):  # equally near rows in another order
        return
    thin = fresh(model).fit(sparse.csr_array(X), sparse.csr_array(Y), sample_weight=weights)
    assert (thin.predict(sparse.csr_array(X)).toarray() == expected.predict(X)).all()


def fresh(model):
    return type(model)(**model.get_params(deep=False))


@pytest.mark.parametrize("short", EVERY)
def test_weights_change_something_and_threads_nothing(short):
    X, Y = problem()
    weights = np.where(Y[:, 0] == 1, 6.0, 0.5)
    model = EVERY[short]
    plain = fresh(model).fit(X, Y)
    weighed = fresh(model).fit(X, Y, sample_weight=weights)
    assert (weighed.predict_proba(X) != plain.predict_proba(X)).any()
    # Thresholds of their own may rise with the scores.
    say = "predict_proba" if short.startswith(("thresholded", "rare")) else "predict"
    assert getattr(weighed, say)(X)[:, 0].sum() >= getattr(plain, say)(X)[:, 0].sum()
    threads = fresh(model).set_params(n_jobs=3).fit(X, Y, sample_weight=weights)
    assert_same(weighed, threads, X)


@pytest.mark.parametrize("short", REPEATABLE)
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_whole_weights_are_rows_that_come_several_times(short, seed):
    X, Y = problem(seed, n=30)
    weights = np.random.default_rng(seed).integers(0, 5, len(X))
    weights[0] = 1
    several = fresh(REPEATABLE[short]).fit(
        np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0)
    )
    weighed = fresh(REPEATABLE[short]).fit(X, Y, sample_weight=weights)
    assert_same(several, weighed, X, exactly=short not in INEXACT)


@pytest.mark.parametrize("container", [None, sparse.csr_array])
@pytest.mark.parametrize("short", ["br", "lp", "ps", "cc", "clr", "homer", "ridge"])
def test_scikit_learns_own_check_of_that(short, container):
    parameters = {"penalty": 1.0} if short == "ridge" else {}
    model = type(EVERY[short])(**parameters)
    _check_sample_weight_equivalence(short, model, container)


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=6), st.sampled_from(["balanced", "sqrt"])
)
def test_rules_keep_the_sum_and_favour_the_rare(counts, rule):
    counts = np.array(counts)
    factors = compute_class_weight_factors(counts, rule)
    np.testing.assert_allclose((counts * factors).sum(), counts.sum())
    assert (np.diff(factors[np.argsort(counts)]) <= 1e-9 * factors.max()).all()
    if rule == "balanced":
        np.testing.assert_allclose(counts * factors, counts.sum() / len(counts))


@given(st.integers(0, 2**32 - 1))
def test_balanced_is_scikit_learns(seed):
    y = np.random.default_rng(seed).integers(0, 3, 30)
    found = apply_class_weight(y, None, 3, "balanced")
    expected = compute_sample_weight("balanced", y)
    np.testing.assert_allclose(np.ones(30) if found is None else found, expected)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_a_regression_with_weights_is_one_on_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    Y = sparse.csr_array(rng.random((60, 2)) < 0.4)
    weights = rng.integers(1, 4, 60)
    for form in (np.asarray, sparse.csr_array):
        one = fit_logistic(form(X), Y, weights=weights.astype(float), ridge=0.0)
        rows = np.repeat(np.arange(60), weights)
        several = fit_logistic(form(X[rows]), Y[rows], ridge=0.0)
        np.testing.assert_allclose(one.weights, several.weights, atol=1e-5)
        np.testing.assert_allclose(one.intercepts, several.intercepts, atol=1e-5)


def test_large_regressions_are_weighed_too(monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 4)), sparse.csr_array(rng.random((80, 2)) < 0.4)
    weights = rng.random(80) + 0.2
    newton = fit_logistic(X, Y, weights=weights)
    monkeypatch.setattr("scumble.learn.neighbours.logistic.MAX_NEWTON", 2)
    np.testing.assert_allclose(
        fit_logistic(X, Y, weights=weights).weights, newton.weights, atol=1e-3
    )


# Other packages' classifiers.


def test_a_foreign_classifier_gets_weights_of_rows():
    X, Y = problem()
    weights = np.random.default_rng(1).random(len(X)) + 0.1
    model = BinaryRelevance(GaussianNB()).fit(X, Y, sample_weight=weights)
    for rule in (None, "balanced", "sqrt"):
        model = BinaryRelevance(GaussianNB(), class_weight=rule).fit(X, Y, sample_weight=weights)
        for at in range(Y.shape[1]):
            each = slow_weights(Y[:, at], weights, rule)
            alone = GaussianNB().fit(X, Y[:, at], sample_weight=each)
            sure = alone.predict_proba(X)[:, 1]
            np.testing.assert_allclose(model.predict_proba(X)[:, at], sure, atol=1e-9)


def test_a_foreign_classifier_gets_its_own_class_weight():
    X, Y = problem()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    for rule in ("balanced", "sqrt", {1: 3.0}):
        model = BinaryRelevance(LogisticRegression(), class_weight=rule).fit(X, Y)
        inside = BinaryRelevance(pipeline, class_weight=rule).fit(X, Y)
        for at in range(Y.shape[1]):
            one = model.models_.models[at]
            if rule == "balanced":
                assert one.class_weight == "balanced"
            else:
                factors = compute_class_weight_factors(np.bincount(Y[:, at]), rule)
                assert one.class_weight == {0: factors[0], 1: factors[1]}
            assert inside.models_.models[at][-1].class_weight == one.class_weight
    # Its own rule would not look at the weights of rows.
    weights = np.where(Y[:, 0] == 1, 3.0, 1.0)
    model = BinaryRelevance(LogisticRegression(), class_weight="balanced")
    given_weights = model.fit(X, Y[:, :1], sample_weight=weights).models_.models[0].class_weight
    n = np.bincount(Y[:, 0], weights)
    assert given_weights == {0: n.sum() / 2 / n[0], 1: n.sum() / 2 / n[1]}


def test_the_class_weight_of_binary_relevance_takes_the_place_of_the_trees():
    X, Y = problem()
    tree = C45Classifier(class_weight="sqrt")
    own = BinaryRelevance(tree).fit(X, Y)
    assert_same(own, BinaryRelevance(class_weight="sqrt").fit(X, Y), X)
    replaced = BinaryRelevance(tree, class_weight="balanced").fit(X, Y)
    assert_same(BinaryRelevance(class_weight="balanced").fit(X, Y), replaced, X)
    assert tree.class_weight == "sqrt"
    homer = HOMER(BinaryRelevance(class_weight="balanced"), hierarchy=[0, 1, 2, 3]).fit(X, Y)
    assert_same(replaced, homer, X)


def test_class_weights_make_rare_labels_predicted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    Y = (X[:, :3] + rng.normal(size=(400, 3)) > 2.6).astype(int)
    found = {
        rule: BinaryRelevance(class_weight=rule).fit(X[:300], Y[:300]).predict(X[300:]).sum()
        for rule in (None, "sqrt", "balanced")
    }
    assert found[None] < found["sqrt"] <= found["balanced"]


# Refusals.


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        (-1.0, "weight of row 2 is -1. Expected a finite number >= 0"),
        (np.nan, "weight of row 2 is nan"),
        (np.inf, "weight of row 2 is inf"),
        ("heavy", "must hold numbers, one per row"),
    ],
)
@pytest.mark.parametrize("short", ["br", "homer", "mlknn"])
def test_bad_weights(short, weights, match):
    X, Y = problem()
    name = type(EVERY[short]).__name__
    given_weights = [1.0, 2.0, weights, *[1.0] * (len(X) - 3)]
    with pytest.raises(DataError, match=f"{name}: .*{match}"):
        fresh(EVERY[short]).fit(X, Y, sample_weight=given_weights)


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        (np.zeros(5), "all sample weights are zero"),
        (np.ones(4), r"sample_weight.shape == \(4,\), expected \(5,\)"),
        (np.ones((5, 1)), "1D array or scalar"),
        (np.full(5, 1e-9), "sum to 5e-09"),
        (np.full(5, 1e308), "sum to inf"),
    ],
)
def test_weights_that_do_not_fit(weights, match):
    with pytest.raises(DataError, match=match):
        check_weights(weights, 5, caller="example")


@pytest.mark.parametrize("kind", [C45Classifier, BinaryRelevance])
@pytest.mark.parametrize(
    ("rule", "match"),
    [
        ("balance", "must be None, 'balanced', 'sqrt' or a mapping .* Got 'balance'"),
        (True, "Got True"),
        (["balanced"], "'class_weight' parameter of"),
        ({1: -1.0}, "finite numbers above 0. Got -1.0 for 1"),
        ({1: 0}, "Got 0 for 1"),
        ({1: np.nan}, "Got nan for 1"),
        ({1: "much"}, "Got 'much' for 1"),
        ({2: 1.0}, "Got .*2"),
    ],
)
def test_unknown_class_weights(kind, rule, match):
    X, Y = problem()
    y = Y[:, 0] if kind is C45Classifier else Y
    with pytest.raises(ParameterError, match=match):
        kind(class_weight=rule).fit(X, y)
    if kind is C45Classifier and rule != {2: 1.0}:
        with pytest.raises(ParameterError, match=match):
            ClassifierChain(kind(class_weight=rule)).fit(X, Y)


def test_classifiers_that_cannot_weigh_are_named():
    X, Y = problem()
    nearest = KNeighborsClassifier()
    weights = np.arange(len(X)) + 1.0
    for model in (
        BinaryRelevance(nearest),
        HOMER(BinaryRelevance(nearest)),
        HOMER(nearest),
        COCOA(nearest, random_state=0),
        ECCRU(nearest, random_state=0),
        RAkEL(nearest, random_state=0),
        StackedBinaryRelevance(nearest, n_folds=2),
        StackedBinaryRelevance(final_estimator=nearest, n_folds=2),
        ResampledEnsemble(nearest, random_state=0),
        ResampledEnsemble(BinaryRelevance(nearest), random_state=0),
    ):
        assert not supports_sample_weight(model)
        match = f"{type(model).__name__}: sample_weight was given, but KNeighborsClassifier cannot"
        with pytest.raises(ParameterError, match=match):
            model.fit(X, Y, sample_weight=weights)
        model.fit(X, Y, sample_weight=np.ones(len(X)))
    with pytest.raises(ParameterError, match="but KNeighborsClassifier has no parameter class_we"):
        BinaryRelevance(nearest, class_weight="balanced").fit(X, Y)


@pytest.mark.parametrize("routing", [False, True])
def test_the_last_step_of_a_pipeline_has_the_weights(routing):
    X, Y = problem()
    weights = np.random.default_rng(0).choice([0.3, 1.0, 5.0], len(X))
    scaled = StandardScaler().fit_transform(X)
    learner = LogisticRegression()
    with config_context(enable_metadata_routing=routing):
        scaler = StandardScaler()
        if routing:
            learner.set_fit_request(sample_weight=True)
            scaler.set_fit_request(sample_weight=False)
        inside = make_pipeline(scaler, make_pipeline("passthrough", learner))
        weighed = BinaryRelevance(inside).fit(X, Y, sample_weight=weights)
    expected = BinaryRelevance(LogisticRegression()).fit(scaled, Y, sample_weight=weights)
    np.testing.assert_allclose(weighed.predict_proba(X), expected.predict_proba(scaled))
    if routing:
        return
    whole = make_pipeline(StandardScaler(), BinaryRelevance(LogisticRegression()))
    for outer in (ThresholdedClassifier(whole, rule="fixed"), HOMER(whole, random_state=0)):
        assert supports_sample_weight(outer)
    fitted = ThresholdedClassifier(whole, rule="fixed").fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(fitted.predict_proba(X), expected.predict_proba(scaled))
    data = MultilabelDataset(X, Y, weights=weights)
    np.testing.assert_allclose(
        fit_dataset(whole, data).predict_proba(X), expected.predict_proba(scaled)
    )
    with pytest.raises(ParameterError, match="but KNeighborsClassifier cannot learn from weights"):
        BinaryRelevance(make_pipeline(StandardScaler(), KNeighborsClassifier())).fit(X, Y, weights)


def test_a_pipeline_that_resamples_inside_takes_no_weights():
    imblearn = pytest.importorskip("imblearn.pipeline", reason="pip install 'scumble[imblearn]'")
    X, Y = problem()
    model = HOMER(imblearn.make_pipeline(MLROS(), BinaryRelevance()), random_state=0)
    with pytest.raises(ParameterError, match="but MLROS cannot learn from weights"):
        model.fit(X, Y, sample_weight=np.arange(len(X)) + 1.0)


class Nameless(BaseEstimator):
    """A resampler that does not tell where its rows come from."""

    def fit_resample(self, X, Y):
        return X[::-1], Y[::-1]


def test_a_resampler_that_does_not_tell_where_rows_come_from_is_refused():
    X, Y = problem()
    model = ResampledEnsemble(resampler=Nameless(), n_estimators=1, random_state=0)
    with pytest.raises(ParameterError, match="but Nameless does not report from which row"):
        model.fit(X, Y, sample_weight=np.arange(len(X)) + 1.0)
    assert_same(BinaryRelevance().fit(X[::-1], Y[::-1]), model.fit(X, Y).members_[0].model, X)


class Unweighted(BaseMultilabelClassifier):
    """A classifier of someone else, who thought of no weights."""

    def __init__(self, categorical_features=None, n_jobs=None):
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def fit(self, X, y):
        return super().fit(X, y)

    def _fit(self, X, Y):
        self.shares_ = np.asarray(Y.mean(axis=0)).ravel()

    def _predict_labels_and_scores(self, X):
        confidences = np.tile(self.shares_, (X.shape[0], 1))
        return confidences >= 0.5, confidences


def test_a_classifier_without_weights_says_so_in_its_signature():
    X, Y = problem()
    np.testing.assert_allclose(Unweighted().fit(X, Y).predict_proba(X)[0], Y.mean(axis=0))
    assert not has_fit_parameter(Unweighted(), "sample_weight")
    assert not supports_sample_weight(Unweighted())
    assert not supports_sample_weight(HOMER(Unweighted()))
    with pytest.raises(TypeError, match="sample_weight"):
        Unweighted().fit(X, Y, sample_weight=np.ones(len(X)))
    assert all(supports_sample_weight(model) for model in EVERY.values())
    assert supports_sample_weight(C45Classifier())
    assert supports_sample_weight(GaussianNB())


def test_cross_validation_gives_weights_to_those_that_take_them():
    X, Y = problem()
    data = MultilabelDataset(X, Y, weights=np.where(Y[:, 0] == 1, 5.0, 1.0))
    plain = MultilabelDataset(X, Y)
    halves = RepeatedKFold(2, 1, random_state=0)
    weighed, unweighed = (
        cross_validate(part, BinaryRelevance(), splitter=halves)["hamming_loss"].mean
        for part in (data, plain)
    )
    assert weighed != unweighed
    for model in (Unweighted(), BinaryRelevance(KNeighborsClassifier())):
        with pytest.warns(ScumbleWarning, match="takes no sample_weight"):
            cross_validate(data, model, splitter=halves)


def test_classes_are_shared_out_by_weight():
    X = np.array([[0.0], [0], [0], [0]])
    model = BinaryRelevance().fit(X, ["a", "a", "b", "c"], sample_weight=[1, 1, 7, 0])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model._class_shares.tolist() == [2 / 9, 7 / 9, 0]
    assert model.predict(X).tolist() == ["b"] * 4


@pytest.mark.parametrize(
    "model",
    [
        BinaryRelevance(class_weight="balanced"),
        BinaryRelevance(C45Classifier(class_weight={0: 1, 1: 2.5})),
        BinaryRelevance(LogisticRegression(), class_weight="sqrt"),
        HOMER(BinaryRelevance(class_weight={1: 2.0}), random_state=0),
        BRkNN(n_neighbors=3),
    ],
    ids=["balanced", "mapping", "lr", "homer", "brknn"],
)
def test_models_with_weights_are_stored(tmp_path, model):
    X, Y = problem()
    model.fit(X, Y, sample_weight=np.arange(len(X)) + 0.5)
    save(model, tmp_path / "a.model")
    again = load(tmp_path / "a.model")
    assert_same(model, again, X)
    assert repr(again.get_params(deep=True)) == repr(model.get_params(deep=True))
