"""Predictions of any fitted classifier in one form, and inputs in the form a classifier takes."""

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

#: Largest size in bytes of a dense copy of sparse features, for classifiers that need one (4 GB).
DENSE_AT_MOST = 2**32


def predict_with_scores(
    classifier: Any, X: Any, n_labels: int
) -> tuple[sparse.csr_array, Array | None]:
    """Return the labels that a fitted classifier predicts, and its scores, None if it has none."""
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
            columns = margins if isinstance(margins, list | tuple) else [margins]
            scores = np.column_stack([to_dense(c).astype(float, copy=False) for c in columns])
        else:
            return labels, None
        check_scores_shape(scores, labels.shape, classifier)
        return labels, scores


def predict_with_unit_interval_scores(
    classifier: Any, X: Any, n_labels: int
) -> tuple[sparse.csr_array, Array]:
    """Return the labels that a fitted classifier predicts, and scores in [0, 1].

    Margins are squashed to [0, 1]. A classifier without scores gets scores 0 and 1.
    """
    labels, scores = predict_with_scores(classifier, X, n_labels)
    if scores is None:
        return labels, labels.toarray().astype(np.float64)
    if hasattr(classifier, "predict_proba") or hasattr(classifier, "predict_both"):
        return labels, scores
    return labels, _squash_margins(scores)


def predict_validated(classifier: BaseMultilabelClassifier, table: Any) -> tuple[Array, Array]:
    """Return labels (bool) and scores of rows that an outer estimator has validated."""
    table = adapt_features(classifier, table)
    with translate_errors(classifier, "predict these rows"):
        labels, scores = classifier._predict_labels_and_scores(table)
        return to_dense(labels), scores


def _squash_margins(margins: Array) -> Array:
    """Return margins of any size as numbers in [0, 1], in the same order."""
    # The logistic function rounds to 1 for all margins above 37, which support vector machines
    # easily reach; no threshold could separate them.
    distance_to_limit = 0.5 / (1 + np.abs(margins))
    return np.where(margins > 0, 1 - distance_to_limit, distance_to_limit)


def adapt_features(model: Any, X: Any) -> Any:
    """Return features in a form that a classifier takes: sparse, or else dense."""
    if not sparse.issparse(X) or not hasattr(model, "__sklearn_tags__"):
        return X
    if get_tags(model).input_tags.sparse:
        return X
    if 8 * X.shape[0] * X.shape[1] > DENSE_AT_MOST:
        raise DataError(
            f"{type(model).__name__} takes no sparse features, and {X.shape[0]:,} rows of "
            f"{X.shape[1]:,} features are too many for a dense table. Choose a classifier that "
            "takes them."
        )
    return X.toarray()


@contextmanager
def translate_errors(model: Any, act: str) -> Iterator[None]:
    """Raise errors of other packages' classifiers as `DataError`; ``act`` completes "cannot"."""
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
        raise DataError(f"{type(model).__name__} cannot {act}: {first_line} {advice}") from error


def adapt_labels(model: Any, Y: sparse.csr_array) -> Any:
    """Return labels in a form that a classifier takes: sparse for ours, dense for all others."""
    if isinstance(model, BaseMultilabelClassifier):
        return Y
    table = Y.toarray().astype(np.int64)
    has_one_label = table.shape[1] == 1 and hasattr(model, "__sklearn_tags__")
    if has_one_label and get_tags(model).target_tags.single_output:
        return table.ravel()
    return table


def _as_labels(predicted: Any, n_labels: int, classifier: Any) -> sparse.csr_array:
    """Return predictions of any form as a label indicator matrix."""
    caller = f"predictions of {type(classifier).__name__}"
    names = getattr(classifier, "label_names_", None)
    if names is not None:
        named_labels = NamedLabels(sparse.csr_array((1, len(names)), dtype=bool), names)
        _, predicted = align_label_lists(named_labels, predicted)
    if getattr(predicted, "ndim", 2) == 1:
        predicted = _one_dimensional_to_table(np.asarray(predicted), n_labels, classifier)
    labels = check_labels(predicted, caller=caller)
    if labels.shape[1] != n_labels:
        raise DataError(f"{caller} have {labels.shape[1]} columns; expected {n_labels} labels.")
    return labels


def _one_dimensional_to_table(predicted: Array, n_labels: int, classifier: Any) -> Any:
    """Return a single label, or one class per row, as a table."""
    if n_labels == 1:
        return predicted.reshape(-1, 1)
    classes: Any = getattr(classifier, "classes_", None)
    if np.shape(classes) != (n_labels,):
        return predicted  # refused by the check of labels, with a message
    return one_hot_labels(np.searchsorted(classes, predicted), n_labels)


def _positive_probabilities(probabilities: Any, classifier: Any, n_labels: int) -> Array:
    """Return the probability of each label, from a table or a list of class probabilities."""
    classes = getattr(classifier, "classes_", None)
    if isinstance(probabilities, list | tuple) or getattr(probabilities, "ndim", 2) == 3:
        columns = []
        for label, class_probabilities in enumerate(probabilities):
            label_classes = None if classes is None else classes[label]
            columns.append(_probability_of_one(class_probabilities, label_classes, classifier))
        return np.column_stack(columns)
    table = to_dense(probabilities).astype(float, copy=False)
    if n_labels == 1 and table.shape[1:] != (1,):
        return _probability_of_one(table, classes, classifier).reshape(-1, 1)
    return table


def check_scores_shape(scores: Any, shape: tuple[int, int], estimator: Any) -> None:
    """Raise an error for scores that are not one number per row and label."""
    if np.shape(scores) != shape:
        raise DataError(
            f"{type(estimator).__name__} gives scores of shape {np.shape(scores)}. Expected "
            f"{shape}: one row per instance and one column per label it was fitted to."
        )


def check_same_shape(
    actual: tuple[int, ...], expected: tuple[int, ...], *, noun: str, caller: str
) -> None:
    """Raise an error for predictions or scores that do not have the shape of the labels."""
    if actual != expected:
        raise DataError(
            f"{caller}: {noun} must have the shape of Y, {expected}. Got {actual} instead: one row "
            "per instance and one column per label, in the same order."
        )


def _probability_of_one(table: Any, classes: Any, classifier: Any) -> Array:
    """Return the probability of class 1; it is 0 if the training rows had class 0 alone."""
    table = to_dense(table).astype(float, copy=False)
    if isinstance(classes, list) and len(classes) == 1:
        classes = classes[0]
    if classes is None and table.shape[1] != 2:
        raise DataError(
            f"{type(classifier).__name__}.predict_proba gives {table.shape[1]} columns for a "
            "label, and there is no attribute classes_ that names their classes. Expected one."
        )
    if classes is None:
        return table[:, 1]
    positive = np.flatnonzero(np.asarray(classes).ravel() == 1)
    if len(positive):
        return table[:, int(positive[0])]
    return np.zeros(len(table))
