"""The resampled ensemble: by hand, by a slow twin, and on awkward labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from scumble.evaluate import evaluate
from scumble.learn import (
    BinaryRelevance,
    ClassifierChain,
    EnsembleOfClassifierChains,
    ResampledEnsemble,
    label_thresholds,
)
from scumble.resample import LPRUS, MLROS, MLSOL, REMEDIAL
from tests.learn.problems import problem


@pytest.mark.parametrize(
    ("name", "resampler"),
    [("mlsol", MLSOL()), (MLSOL(percent=60), MLSOL(percent=60)), ("mlros", MLROS())],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_ensemble_is_its_slow_twin(name, resampler, weighted):
    X, Y = problem()
    weights = np.arange(len(X)) % 4 + 0.5 if weighted else np.ones(len(X))
    asked, _ = problem(seed=5)
    generator = np.random.default_rng(2)
    members = []
    for _ in range(3):
        resampler.set_params(random_state=int(generator.integers(2**31 - 1)))
        rows, labels = resampler.fit_resample(X, Y)
        share = [weights[source] for source in resampler.sample_indices_]
        members.append(BinaryRelevance().fit(rows, labels, sample_weight=share))
    means = [sum(member.predict_proba(rows) for member in members) / 3 for rows in (X, asked)]
    thresholds = label_thresholds(means[0], Y, rule="plain")

    model = ResampledEnsemble(resampler=name, n_estimators=3, random_state=2)
    model.fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(model.predict_proba(asked), means[1], atol=1e-12)
    assert (model.thresholds_ == thresholds).all()
    assert (model.predict(asked) == (means[1] >= thresholds)).all()


def test_one_copy_that_is_not_changed_is_the_classifier_itself():
    # Every labelset is as frequent as the others, so that nothing is taken away.
    X = np.arange(8.0).reshape(-1, 1)
    Y = np.repeat([[1, 0], [0, 1]], 4, axis=0)
    model = ResampledEnsemble(resampler=LPRUS(), n_estimators=1, random_state=0).fit(X, Y)
    assert (model.predict_proba(X) == BinaryRelevance().fit(X, Y).predict_proba(X)).all()
    assert model.thresholds_.tolist() == [0.5, 0.5]
    assert (model.predict(X) == Y).all()


@pytest.mark.parametrize(
    "estimator",
    [
        None,
        ClassifierChain(),
        EnsembleOfClassifierChains(n_estimators=2),
        RandomForestClassifier(5),
        KNeighborsClassifier(3),
    ],
    ids=["br", "cc", "ecc", "forest", "neighbours"],
)
def test_any_multilabel_classifier_learns_awkward_labels(estimator):
    X, Y = problem(n_labels=6)
    Y[:, 0], Y[:, 1], Y[:, 2], Y[:, 4] = 0, 1, 0, Y[:, 3]
    Y[5, 2] = 1
    for n_labels in (1, 2, 6):
        runs = [
            ResampledEnsemble(estimator, n_estimators=2, random_state=0).fit(X, Y[:, :n_labels])
            for _ in range(2)
        ]
        labels, confidences = runs[0].predict_both(X)
        assert (runs[1].predict_proba(X) == confidences).all()
        assert not labels[:, 0].any()
        assert labels[:, 1:2].all()
        assert 0 <= confidences.min() <= confidences.max() <= 1


def test_sparse_features_stay_sparse_and_members_differ():
    X, Y = problem()
    X[np.abs(X) < 1] = 0
    dense = ResampledEnsemble(n_estimators=3, random_state=0).fit(X, Y)
    thin = ResampledEnsemble(n_estimators=3, random_state=0).fit(sparse.csr_array(X), Y)
    assert (thin.predict_proba(sparse.csr_array(X)) == dense.predict_proba(X)).all()
    answers = [member.predict_labels_and_scores(X)[1] for member in dense.members_]
    assert (answers[0] != answers[1]).any()
    assert (answers[1] != answers[2]).any()


def test_several_resamplers_one_after_another_and_ones_without_draws():
    X, Y = problem()
    both = ResampledEnsemble(resampler="remedial+mlros", n_estimators=2, random_state=0).fit(X, Y)
    assert evaluate(Y, both.predict(X))["macro_f1"] > 0.5
    still = ResampledEnsemble(resampler=REMEDIAL(), n_estimators=2, random_state=0).fit(X, Y)
    answers = [member.predict_labels_and_scores(X)[1] for member in still.members_]
    assert (answers[0] == answers[1]).all()
