"""Predictions of any fitted classifier in one format, and inputs in the format it takes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from scumble._core.arrays import Array, to_dense
from scumble._core.errors import DataError, ScumbleError
from scumble._validation.labels import NamedLabels, align_label_lists, check_labels
from scumble.learn.base import BaseMultilabelClassifier
from scumble.learn.labels import one_hot_labels

#: Maximum size in bytes (4 GB) of a dense copy of sparse features, for classifiers that need one:
#: more would not fit into the memory of many machines.
MAX_DENSE_BYTES = 2**32


def predict_with_scores(
    classifier: Any, X: Any, n_labels: int
) -> tuple[sparse.csr_array, Array | None]:
    """Return the labels that a fitted classifier predicts, and its scores of rows and labels.

    Scores are those of ``predict_proba``, else of ``decision_function``; None if the classifier
    has neither. Their shape is (n_rows, n_labels). X is converted to an array that the classifier
    takes. Errors of other packages become `DataError`.
    """
    X = adapt_features(classifier, X)
    with translate_errors(classifier, "predict these rows"):
        if hasattr(classifier, "predict_both"):
            predicted, scores = classifier.predict_both(X)
            if getattr(predicted, "ndim", 2) == 1:  # it was fitted to one class per row
                scores = _positive_probabilities(scores, classifier, n_labels)
            return _as_labels(predicted, n_labels, classifier), scores
        labels = _as_labels(classifier.predict(X), n_labels, classifier)
        if hasattr(classifier, "predict_proba"):
            probabilities = classifier.predict_proba(X)
            scores = _positive_probabilities(probabilities, classifier, n_labels)
        elif hasattr(classifier, "decision_function"):
            margins = classifier.decision_function(X)
            arrays = margins if isinstance(margins, list | tuple) else [margins]
            scores = np.column_stack(
                [to_dense(array).astype(float, copy=False) for array in arrays]
            )
        else:
            return labels, None
        check_scores_shape(scores, labels.shape, classifier)
        return labels, scores


def predict_with_unit_interval_scores(
    classifier: Any, X: Any, n_labels: int
) -> tuple[sparse.csr_array, Array]:
    """Return the labels that a fitted classifier predicts, and scores in [0, 1].

    Results of ``decision_function`` are mapped to [0, 1] in the same order. For a classifier
    without scores, the score of a predicted label is 1, and that of any other 0.
    """
    labels, scores = predict_with_scores(classifier, X, n_labels)
    if scores is None:
        return labels, labels.toarray().astype(np.float64)
    if hasattr(classifier, "predict_proba") or hasattr(classifier, "predict_both"):
        return labels, scores
    return labels, _map_to_unit_interval(scores)


def predict_validated(classifier: BaseMultilabelClassifier, X: Any) -> tuple[Array, Array]:
    """Return the predicted labels (bool, dense) and scores of rows that were validated before.

    An outer estimator has validated them; see `scumble.learn.base.ValidatedData`.
    """
    X = adapt_features(classifier, X)
    with translate_errors(classifier, "predict these rows"):
        labels, scores = classifier._predict_labels_and_scores(X)
        return to_dense(labels), scores


def _map_to_unit_interval(margins: Array) -> Array:
    """Return results of ``decision_function`` as numbers in [0, 1], in the same order.

    Positive margins are mapped above 0.5, all others to at most 0.5.
    """
    # The logistic function rounds to 1 for all margins above 37, which support vector machines
    # easily reach; no threshold could separate them.
    distance_to_limit = 0.5 / (1 + np.abs(margins))
    return np.where(margins > 0, 1 - distance_to_limit, distance_to_limit)


def adapt_features(model: Any, X: Any) -> Any:
    """Return X unchanged, or as an ndarray if it is sparse and the classifier takes no such X.

    A dense copy of more than ``MAX_DENSE_BYTES`` is an error.
    """
    if not sparse.issparse(X) or not hasattr(model, "__sklearn_tags__"):
        return X
    if get_tags(model).input_tags.sparse:
        return X
    if 8 * X.shape[0] * X.shape[1] > MAX_DENSE_BYTES:
        raise DataError(
            f"{type(model).__name__} takes no sparse features, and {X.shape[0]:,} rows of "
            f"{X.shape[1]:,} features are too many for a dense table. Choose a classifier that "
            "takes them."
        )
    return X.toarray()


@contextmanager
def translate_errors(model: Any, action: str) -> Iterator[None]:
    """Turn errors of other packages inside a with block into `DataError`.

    ``action`` completes the sentence "<class of the model> cannot ...". Errors of this package pass
    unchanged.
    """
    try:
        yield
    except ScumbleError:
        raise
    except (TypeError, ValueError) as error:
        first_line = str(error).partition("\n")[0]
        advice = "Choose another classifier, or other parameters."
        if "NaN" in first_line:
            advice = (
                "Values are missing, and the classifier takes none such: leave out the base, take "
                "one such as sklearn.ensemble.HistGradientBoostingClassifier, or fill them in."
            )
        raise DataError(f"{type(model).__name__} cannot {action}: {first_line} {advice}") from error


def adapt_labels(model: Any, Y: sparse.csr_array) -> Any:
    """Return labels in a format that a classifier takes.

    That is Y itself for classifiers of this package, and a dense int64 matrix for others. A single
    label becomes one-dimensional if the classifier declares that it predicts a single output.
    """
    if isinstance(model, BaseMultilabelClassifier):
        return Y
    Y_dense = Y.toarray().astype(np.int64)
    has_one_label = Y_dense.shape[1] == 1 and hasattr(model, "__sklearn_tags__")
    if has_one_label and get_tags(model).target_tags.single_output:
        return Y_dense.ravel()
    return Y_dense


def _as_labels(predicted: Any, n_labels: int, classifier: Any) -> sparse.csr_array:
    """Return predictions of any format as a label indicator matrix of ``n_labels`` columns.

    Other predictions than 0 and 1, or of another number of labels, are an error.
    """
    caller = f"predictions of {type(classifier).__name__}"
    names = getattr(classifier, "label_names_", None)
    if names is not None:
        named_labels = NamedLabels(sparse.csr_array((1, len(names)), dtype=bool), names)
        _, predicted = align_label_lists(named_labels, predicted)
    if getattr(predicted, "ndim", 2) == 1:
        predicted = _one_dimensional_to_matrix(np.asarray(predicted), n_labels, classifier)
    labels = check_labels(predicted, caller=caller)
    if labels.shape[1] != n_labels:
        raise DataError(f"{caller} have {labels.shape[1]} columns; expected {n_labels} labels.")
    return labels


def _one_dimensional_to_matrix(predicted: Array, n_labels: int, classifier: Any) -> Any:
    """Return predictions of a single label, or of one class per row, as a matrix.

    If the number of classes is not ``n_labels``, return them unchanged.
    """
    if n_labels == 1:
        return predicted.reshape(-1, 1)
    classes: Any = getattr(classifier, "classes_", None)
    if np.shape(classes) != (n_labels,):
        return predicted  # `check_labels` raises an error for it
    return one_hot_labels(np.searchsorted(classes, predicted), n_labels)


def _positive_probabilities(probabilities: Any, classifier: Any, n_labels: int) -> Array:
    """Return the probability of each label, shape (n_rows, n_labels).

    ``probabilities`` is a result of ``predict_proba``: a matrix with a column per label, or the
    class probabilities of each label in a list or a three-dimensional array.
    """
    classes = getattr(classifier, "classes_", None)
    if isinstance(probabilities, list | tuple) or getattr(probabilities, "ndim", 2) == 3:
        columns = []
        for label, class_probabilities in enumerate(probabilities):
            label_classes = None if classes is None else classes[label]
            columns.append(_probability_of_one(class_probabilities, label_classes, classifier))
        return np.column_stack(columns)
    matrix = to_dense(probabilities).astype(float, copy=False)
    if n_labels == 1 and matrix.shape[1:] != (1,):
        return _probability_of_one(matrix, classes, classifier).reshape(-1, 1)
    return matrix


def check_scores_shape(scores: Any, shape: tuple[int, int], estimator: Any) -> None:
    """Raise an error if the scores of an estimator do not have the shape (n_rows, n_labels)."""
    if np.shape(scores) != shape:
        raise DataError(
            f"{type(estimator).__name__} gives scores of shape {np.shape(scores)}. Expected "
            f"{shape}: one row per instance and one column per label it was fitted to."
        )


def check_same_shape(
    actual: tuple[int, ...], expected: tuple[int, ...], *, noun: str, caller: str
) -> None:
    """Raise an error if predictions or scores do not have the shape of the label matrix.

    The error names ``caller``, the public function that checks its arguments, and ``noun``, the
    argument with the shape ``actual``.
    """
    if actual != expected:
        raise DataError(
            f"{caller}: {noun} must have the shape of Y, {expected}. Got {actual} instead: "
            "one row per instance and one column per label, in the same order."
        )


def _probability_of_one(probabilities: Any, classes: Any, classifier: Any) -> Array:
    """Return the probability of class 1 for each row; 0 if there was no such class in training.

    ``probabilities`` are class probabilities of one label. ``classes`` names their columns; if it
    is None, there must be two, and the second is class 1.
    """
    matrix = to_dense(probabilities).astype(float, copy=False)
    if isinstance(classes, list) and len(classes) == 1:
        classes = classes[0]
    if classes is None and matrix.shape[1] != 2:
        raise DataError(
            f"{type(classifier).__name__}.predict_proba gives {matrix.shape[1]} columns for a "
            "label, and there is no attribute classes_ that names their classes. Expected one."
        )
    if classes is None:
        return matrix[:, 1]
    positive_columns = np.flatnonzero(np.asarray(classes).ravel() == 1)
    if len(positive_columns) == 0:
        return np.zeros(len(matrix))
    return matrix[:, int(positive_columns[0])]
