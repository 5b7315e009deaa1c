"""One way to ask any multilabel classifier: labels, scores and confidences."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from scumble import MultilabelDataset
from scumble._core.errors import ScumbleError
from scumble.evaluate import cross_validate
from scumble.learn import HOMER, BinaryRelevance, ResampledEnsemble
from scumble.learn.inner_classifier import TrainingData
from scumble.learn.predictions import (
    adapt_labels,
    predict_with_scores,
    predict_with_unit_interval_scores,
)


def problem(n_labels=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X @ rng.normal(size=(4, n_labels)) + rng.normal(size=(60, n_labels)) > 0.5).astype(int)
    return X, Y


def between(scores):
    return (1 + scores / (1 + np.abs(scores))) / 2


def fitted(model, X, Y):
    return model.fit(X, adapt_labels(model, sparse.csr_array(Y, dtype=bool)))


@pytest.mark.parametrize("n_labels", [1, 3])
@pytest.mark.parametrize(
    "model",
    [
        BinaryRelevance(),
        BinaryRelevance(GaussianNB()),
        RandomForestClassifier(5, random_state=0),
        KNeighborsClassifier(3),
        MultiOutputClassifier(LogisticRegression()),
        OneVsRestClassifier(LogisticRegression()),
    ],
    ids=["br", "br-nb", "forest", "neighbours", "each", "one-vs-rest"],
)
def test_probabilities_come_as_one_table(model, n_labels):
    X, Y = problem(n_labels)
    labels, scores = predict_with_scores(fitted(model, X, Y), X, n_labels)
    _, confidences = predict_with_unit_interval_scores(model, X, n_labels)
    assert (confidences == scores).all()
    assert scores.shape == Y.shape
    assert ((scores > 0.5) <= labels.toarray()).all()
    assert (labels.toarray() <= (scores >= 0.5)).all()


@pytest.mark.parametrize("n_labels", [1, 3])
@pytest.mark.parametrize("model", [RidgeClassifier(), OneVsRestClassifier(LinearSVC())])
def test_decision_functions_become_confidences(model, n_labels):
    X, Y = problem(n_labels)
    fitted(model, X, Y)
    labels, confidences = predict_with_unit_interval_scores(model, X, n_labels)
    scores = model.decision_function(X).reshape(-1, n_labels)
    np.testing.assert_allclose(confidences, between(scores))
    assert (labels.toarray() == (confidences > 0.5)).all()


class Loud:
    """A classifier with scores of any size."""

    scores = np.array([[-np.inf], [-1e6], [-40.0], [-1.0], [0.0], [1.0], [40.0], [41.0], [1e6]])

    def predict(self, X):
        return (self.scores > 0).astype(int)

    def decision_function(self, X):
        return self.scores


def test_large_scores_keep_their_order():
    _, confidences = predict_with_unit_interval_scores(Loud(), np.zeros((9, 1)), 1)
    assert confidences[[0, 3, 4, 5]].ravel().tolist() == [0, 0.25, 0.5, 0.75]
    assert (np.diff(confidences.ravel()) > 0).all()
    assert confidences.max() < 1


def test_without_scores_predictions_are_sure():
    X, Y = problem()
    model = MultiOutputClassifier(LinearSVC()).fit(X, Y)
    assert predict_with_scores(model, X, 3)[1] is None
    labels, confidences = predict_with_unit_interval_scores(model, X, 3)
    assert (confidences == labels.toarray()).all()
    assert (labels.toarray() == model.predict(X)).all()


class Sparse:
    """A classifier whose every answer is sparse, as those of scikit-multilearn."""

    def predict(self, X):
        return sparse.lil_matrix(np.eye(3, dtype=int)[: len(X)])

    def predict_proba(self, X):
        return sparse.lil_matrix(np.eye(3)[: len(X)] * 0.75)


def test_sparse_answers():
    labels, confidences = predict_with_unit_interval_scores(Sparse(), np.zeros((2, 1)), 3)
    assert labels.toarray().astype(int).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert confidences.tolist() == [[0.75, 0, 0], [0, 0.75, 0]]


class Says(BaseEstimator):
    """A classifier that gives prepared answers, in whatever form other packages have."""

    def __init__(self, method="predict_proba", form=None, classes=None):
        self.method, self.form, self.classes = method, form, classes
        setattr(self, method, self._say)
        if classes is not None:
            self.classes_ = classes

    def fit(self, X, Y):
        return self

    def predict(self, X):
        return (self.sure(X) > 0.5).astype(int)

    def sure(self, X):
        return np.column_stack([np.clip(X[:, 0], 0, 1), np.full(len(X), 0.25), np.zeros(len(X))])

    def _say(self, X):
        return FORMS[self.form](self.sure(X))


def _per_label(sure):
    return [np.column_stack([1 - column, column]) for column in sure.T]


#: The ways in which packages give the scores of three labels; the last label was never seen.
FORMS = {
    "table": lambda sure: sure,
    "csr": sparse.csr_array,
    "lil": sparse.lil_matrix,
    "coo": sparse.coo_matrix,
    "matrix": lambda sure: sparse.csr_matrix(sure).todense(),
    "list": _per_label,
    "tuple": lambda sure: tuple(_per_label(sure)),
    "list of sparse": lambda sure: [sparse.csr_matrix(part) for part in _per_label(sure)],
    "cube": lambda sure: np.array(_per_label(sure)),
    "one column": lambda sure: [*_per_label(sure)[:2], np.ones((len(sure), 1))],
    "columns": lambda sure: list(sure.T),
    "too many": lambda sure: np.hstack([sure, sure]),
}
ONE_COLUMN = [np.array([0, 1]), np.array([0, 1]), np.array([0])]


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("columns", "too many")])
def test_probabilities_of_other_packages_in_any_form(form):
    rng = np.random.default_rng(0)
    X = rng.random((12, 2))
    data = MultilabelDataset(X, np.column_stack([X[:, 0] > 0.4, X[:, 1] > 0.5, X[:, 1] > 0.9]))
    model = Says(form=form, classes=ONE_COLUMN if form == "one column" else None)
    labels, scores = predict_with_scores(model, X, 3)
    np.testing.assert_allclose(scores, model.sure(X))
    assert (labels.toarray() == model.predict(X)).all()
    found = cross_validate(data, model, splitter=2, random_state=0)
    expected = cross_validate(data, Says(form="table"), splitter=2, random_state=0)
    for metric in ("ranking_loss", "macro_auc", "log_loss"):
        np.testing.assert_array_equal(found[metric].values, expected[metric].values)


@pytest.mark.parametrize("form", ["table", "csr", "columns"])
def test_decision_functions_of_other_packages_in_any_form(form):
    X = np.random.default_rng(0).random((12, 2))
    _, scores = predict_with_scores(Says("decision_function", form), X, 3)
    np.testing.assert_allclose(scores, Says().sure(X))


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_scores_of_another_shape_are_refused(method):
    with pytest.raises(
        ScumbleError, match=r"Says gives scores of shape \(4, 6\). Expected \(4, 3\)"
    ):
        predict_with_scores(Says(method, "too many"), np.zeros((4, 2)), 3)


def test_one_class_per_row():
    X, classes = np.arange(6.0).reshape(-1, 1), np.array(list("aabbcc"))
    expected = np.repeat(np.eye(3, dtype=bool), 2, axis=0)
    for model in (KNeighborsClassifier(1), BinaryRelevance(KNeighborsClassifier(1))):
        labels, confidences = predict_with_unit_interval_scores(model.fit(X, classes), X, 3)
        assert (labels.toarray() == expected).all()
        assert (confidences == expected).all()
    with pytest.raises(ScumbleError, match="predictions of KNeighborsClassifier"):
        predict_with_scores(KNeighborsClassifier(1).fit(X, classes), X, 4)


def test_classifiers_inside_others_answer_the_same_way():
    X, Y = problem(4)
    Y[:, 3] = 1  # always there: the classifier inside never hears of it
    ridge = RidgeClassifier().fit(X, Y[:, :3])
    rows = TrainingData(X, sparse.csr_array(Y, dtype=bool), np.zeros(4, int))
    inside = rows.fit(RidgeClassifier())
    labels, confidences = inside.predict_labels_and_scores(X)
    assert (labels[:, :3] == ridge.predict(X)).all()
    np.testing.assert_allclose(confidences[:, :3], between(ridge.decision_function(X)))
    assert labels[:, 3].all()
    assert (confidences[:, 3] == 1).all()
    # A single label that is open is a list of classes to scikit-learn.
    rows = TrainingData(X, sparse.csr_array(Y[:, 2:], dtype=bool), np.zeros(4, int))
    single = rows.fit(RidgeClassifier())
    np.testing.assert_allclose(single.predict_labels_and_scores(X)[1], confidences[:, 2:])
    # One level without groups asks the classifier itself; a mean of copies stays within bounds.
    homer = HOMER(RidgeClassifier(), n_clusters=1).fit(X, Y)
    assert (homer.predict_proba(X) == confidences).all()
    several = ResampledEnsemble(RidgeClassifier(), resampler="mlros", random_state=0).fit(X, Y)
    sure = several.predict_proba(X)
    assert 0 < sure[:, :3].min() < sure[:, :3].max() < 1
    assert len(np.unique(sure[:, 0])) > 10
