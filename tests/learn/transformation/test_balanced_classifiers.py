"""COCOA, ECCRU and what they share: by hand, by slow twins, and on awkward labels."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from scumble.learn import COCOA, ECCRU, C45Classifier, label_thresholds
from scumble.learn.transformation.targets import undersample_rows
from tests.learn import problems

problem = partial(problems.problem, n_labels=5, above=1.5)

WEIGHTS = np.random.default_rng(1).choice([0.5, 1.0, 2.0, 4.0], 60)


def presence(X, y, rows, asked, nominal=0, weights=None):
    """Fit a tree of its own and tell the probability of class 1; the last columns are codes."""
    if len(set(y.tolist())) == 1:
        return np.full(len(asked), float(y[0] == 1))
    width = X.shape[1]
    codes = dict.fromkeys(range(width - nominal, width), 2)
    tree = C45Classifier(categorical_features=codes)
    if weights is None:
        tree.fit(X[rows], y)
    else:  # a row that was drawn twice weighs twice as much
        rows, first, counts = np.unique(rows, return_index=True, return_counts=True)
        tree.fit(X[rows], y[first], sample_weight=counts * weights[rows])
    found = tree.predict_proba(asked)
    if 1 not in tree.classes_:
        return np.zeros(len(asked))
    return found[:, tree.classes_.tolist().index(1)]


def slow_undersample(codes, rows, seed):
    """Draw from each class in turn as many as the smallest has."""
    generator = np.random.default_rng(seed)
    kinds = sorted({int(codes[row]) for row in rows})
    bags = [[row for row in rows if codes[row] == kind] for kind in kinds]
    size = min(len(bag) for bag in bags)
    drawn = []
    for bag in bags:
        if len(bag) > size:
            bag = generator.choice(bag, size, replace=False, shuffle=False).tolist()
        drawn += bag
    return sorted(drawn)


def slow_threshold(scores, truth):
    """Try every cut between two scores, from the highest down; equal scores tell nothing."""
    if truth.all():
        return -np.inf
    levels = sorted(set(scores.tolist()), reverse=True)
    best, threshold = 0.0, np.inf
    for at, level in enumerate(levels if len(levels) > 1 else []):
        predicted = scores >= level
        f = 2 * np.sum(predicted & truth) / (predicted.sum() + truth.sum())
        if f > best:
            below = levels[at + 1] if at + 1 < len(levels) else -np.inf
            best, threshold = f, (level + below) / 2
    return threshold


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 6))
def test_the_threshold_is_that_of_all_cuts(seed, n, n_scores):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, n_scores, (n, 3)) / n_scores
    truth = rng.random((n, 3)) < [0.0, 0.3, 1.0]
    found = label_thresholds(scores, sparse.csr_array(truth), rule="plain")
    expected = [slow_threshold(scores[:, label], truth[:, label]) for label in range(3)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert not (scores[:, 0] >= found[0]).any()
    assert (scores[:, 2] >= found[2]).all()


def test_a_threshold_between_neighbouring_numbers_parts_them():
    low = 0.1
    high = np.nextafter(low, 1)
    Y = sparse.csr_array(np.array([[True], [False], [False], [False]]))
    (threshold,) = label_thresholds([[high], [low], [low], [low]], Y, rule="plain")
    assert threshold == high


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 4))
def test_undersampling_leaves_equally_many_of_each_class(seed, n, n_classes):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n)
    rows = np.sort(rng.integers(0, n, n))
    kept = undersample_rows(codes, rows, np.random.default_rng(seed))
    assert kept.tolist() == slow_undersample(codes, rows.tolist(), seed)
    counts = np.bincount(codes[kept], minlength=n_classes)
    before = np.bincount(codes[rows], minlength=n_classes)
    assert set(counts.tolist()) <= {0, before[before > 0].min()}
    assert (np.bincount(kept, minlength=n) <= np.bincount(rows, minlength=n)).all()


def slow_cocoa(X, Y, asked, seed, n_couples, weights=None):
    generator = np.random.default_rng(seed)
    n, q = Y.shape
    size = min(n_couples, q - 1)
    couples = []
    for label in range(q):
        others = [other for other in range(q) if other != label]
        couples.append([others[at] for at in generator.permutation(q - 1)[:size]])
    seeds = iter(generator.integers(2**63 - 1, size=q * (1 + size)))
    scores = {"train": np.zeros((n, q)), "asked": np.zeros((len(asked), q))}
    for label in range(q):
        for other in [None, *couples[label]]:
            codes = Y[:, label].copy()
            for row in range(n):
                if other is not None and not Y[row, label] and Y[row, other]:
                    codes[row] = 2
            rows = slow_undersample(codes, range(n), next(seeds))
            for part, questions in (("train", X), ("asked", asked)):
                scores[part][:, label] += presence(X, codes[rows], rows, questions, weights=weights)
    means = {part: found / (1 + size) for part, found in scores.items()}
    thresholds = [slow_threshold(means["train"][:, j], Y[:, j] > 0) for j in range(q)]
    return couples, means["asked"], means["asked"] >= thresholds


@pytest.mark.parametrize(("n_couples", "n_labels"), [(0, 4), (2, 4), (10, 3), (10, 1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_cocoa_is_its_slow_twin(n_couples, n_labels, weighted):
    X, Y = problem(n_labels=n_labels)
    asked, _ = problem(seed=9)
    weights = WEIGHTS if weighted else None
    couples, confidences, labels = slow_cocoa(X, Y, asked, 5, n_couples, weights)
    model = COCOA(n_couples=n_couples, random_state=5).fit(X, Y, sample_weight=weights)
    assert model.couples_.tolist() == couples
    np.testing.assert_allclose(model.predict_proba(asked), confidences, atol=1e-12)
    assert (model.predict(asked) == labels).all()


def test_cocoa_by_hand():
    # Rows 0-3 have the first label, 6 and 7 the second. Whichever rows are drawn, two or four of
    # a kind lie apart from those of another kind, and all trees are sure of rows 0 and 7.
    X = np.arange(8.0).reshape(-1, 1)
    Y = np.zeros((8, 2), int)
    Y[:4, 0] = 1
    Y[6:, 1] = 1
    for seed in range(10):
        trees = C45Classifier(prune=False, mdl=False)
        model = COCOA(trees, random_state=seed).fit(X, Y)
        assert model.models_.n_classes.tolist() == [2, 3, 2, 3]
        assert model.predict_proba([[0.0], [7.0]]).tolist() == [[1, 0], [0, 1]]
        assert model.predict([[0.0], [7.0]]).tolist() == [[1, 0], [0, 1]]


def slow_eccru(X, Y, asked, seed, variant, c, theta_min=0.5, theta_max=10.0, weights=None):
    generator = np.random.default_rng(seed)
    n, q = Y.shape
    rarer = [min(int(Y[:, j].sum()), int(n - Y[:, j].sum())) for j in range(q)]
    both = [count for count in rarer if count]
    wanted = [c] * q
    for label in range(q):
        if variant > 1 and rarer[label]:
            models = int(c * (sum(both) / len(both)) / rarer[label])
            fewest = 1 if variant == 2 else max(1, int(c * theta_min))
            wanted[label] = min(max(models, fewest), int(c * theta_max))
    orders, bags = [], []
    for chain in range(max(wanted)):
        bags.append(sorted(generator.integers(n, size=n).tolist()))
        left = [label for label in range(q) if wanted[label] > chain]
        orders.append(generator.permutation(left).tolist())
    seeds = iter(generator.integers(2**63 - 1, size=sum(wanted)))
    sums = {"train": np.zeros((n, q)), "asked": np.zeros((len(asked), q))}
    for order, bag in zip(orders, bags, strict=True):
        known = {"train": np.zeros((n, q)), "asked": np.zeros((len(asked), q))}
        for place, label in enumerate(order):
            before = sorted(order[:place])
            table = np.hstack([X, Y[:, before]])
            rows = slow_undersample(Y[:, label], bag, next(seeds))
            for part, questions in (("train", X), ("asked", asked)):
                wide = np.hstack([questions, known[part][:, before]])
                found = presence(table, Y[rows, label], rows, wide, place, weights)
                known[part][:, label] = found >= 0.5
                sums[part][:, label] += found
    means = {part: found / wanted for part, found in sums.items()}
    thresholds = [slow_threshold(means["train"][:, j], Y[:, j] > 0) for j in range(q)]
    return orders, means["asked"], means["asked"] >= thresholds


@pytest.mark.parametrize("variant", [1, 2, 3])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_eccru_is_its_slow_twin(variant, weights):
    X, Y = problem()
    Y[:, 1] = 0
    Y[7, 1] = 1
    Y[:, 4] = 1
    asked, _ = problem(seed=9)
    orders, confidences, labels = slow_eccru(X, Y, asked, 3, variant, 2, weights=weights)
    model = ECCRU(variant=variant, n_estimators=2, random_state=3)
    model.fit(X, Y, sample_weight=weights)
    assert [order.tolist() for order in model.orders_] == orders
    np.testing.assert_allclose(model.predict_proba(asked), confidences, atol=1e-12)
    assert (model.predict(asked) == labels).all()


def test_how_many_chains_hold_a_label():
    # Rarer values: 2, 4, 6, none, 4 (of the absent one); their mean is 4.
    Y = np.zeros((16, 5), int)
    for label, count in enumerate([2, 4, 6, 0, 12]):
        Y[:count, label] = 1
    X = np.arange(16.0).reshape(-1, 1)

    def chains(**parameters):
        model = ECCRU(n_estimators=4, random_state=0, **parameters).fit(X, Y)
        return np.bincount(np.concatenate(model.orders_), minlength=5).tolist()

    assert chains() == [4, 4, 4, 4, 4]
    assert chains(variant=2) == [8, 4, 2, 4, 4]
    assert chains(variant=3, theta_min=0.75) == [8, 4, 3, 4, 4]
    assert chains(variant=2, theta_max=1.5) == [6, 4, 2, 4, 4]
    assert chains(variant=2, theta_max=0.1) == [1, 1, 1, 4, 1]


@pytest.mark.parametrize(
    "model",
    [
        COCOA(random_state=0),
        *(ECCRU(variant=v, n_estimators=3, random_state=0) for v in (1, 2, 3)),
        COCOA(GaussianNB(), random_state=0),
        ECCRU(GaussianNB(), variant=3, n_estimators=3, random_state=0),
    ],
    ids=["cocoa", "eccru", "eccru2", "eccru3", "cocoa-nb", "eccru3-nb"],
)
def test_awkward_labels(model):
    X, Y = problem(n_labels=6)
    Y[:, 0], Y[:, 1], Y[:, 2], Y[:, 4] = 0, 1, 0, Y[:, 3]
    Y[5, 2] = 1
    labels, confidences = model.fit(X, Y).predict_both(X)
    assert not labels[:, 0].any()
    assert labels[:, 1].all()
    # Where nothing was learnt about a label, all rows are as sure: then it is not predicted.
    assert labels[5, 2] == (np.ptp(confidences[:, 2]) > 0)
    assert np.isinf(model.thresholds_[0])
    assert ((confidences >= model.thresholds_) == labels).all()
    assert 0 <= confidences.min() <= confidences.max() <= 1
