"""The form in which any classifier takes rows and labels, and what it says of rows in one table."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from scumble._core.arrays import Array, to_dense
from scumble._core.errors import DataError, ScumbleError
from scumble._core.validation import NamedLabels, align_label_lists, check_labels
from scumble.learn.base import BaseMultilabelClassifier
from scumble.learn.labels import one_hot_labels

#: Bytes of a dense table that is made for a classifier which refuses sparse features.
DENSE_AT_MOST = 2**32


def predict_with_scores(
    classifier: Any, X: Any, n_labels: int
) -> tuple[sparse.csr_array, Array | None]:
    """Ask a fitted classifier for labels and for how sure it is of each."""
    X = adapt_features(classifier, X)
    with translate_errors(classifier, "judge these rows"):
        if hasattr(classifier, "predict_both"):
            predicted, scores = classifier.predict_both(X)
            if getattr(predicted, "ndim", 2) == 1:  # it learnt one class per row
                scores = _positive_columns(scores, classifier, n_labels)
            return _as_labels(predicted, n_labels, classifier), scores
        predictions = _as_labels(classifier.predict(X), n_labels, classifier)
        if hasattr(classifier, "predict_proba"):
            scores = _positive_columns(classifier.predict_proba(X), classifier, n_labels)
        elif hasattr(classifier, "decision_function"):
            found = classifier.decision_function(X)
            parts = found if isinstance(found, list | tuple) else [found]
            scores = np.column_stack([to_dense(part).astype(float, copy=False) for part in parts])
        else:
            return predictions, None
        check_scores_shape(scores, predictions.shape, classifier)
        return predictions, scores


def predict_with_unit_interval_scores(
    classifier: Any, X: Any, n_labels: int
) -> tuple[sparse.csr_array, Array]:
    """Ask a fitted classifier for labels, and for numbers in [0, 1] that tell how sure it is."""
    predictions, scores = predict_with_scores(classifier, X, n_labels)
    if scores is None:
        return predictions, predictions.toarray().astype(np.float64)
    is_sure = hasattr(classifier, "predict_proba") or hasattr(classifier, "predict_both")
    return predictions, scores if is_sure else _between(scores)


def predict_validated(classifier: BaseMultilabelClassifier, table: Any) -> tuple[Array, Array]:
    """Return labels (bool) and scores of rows that an outer estimator has validated."""
    table = adapt_features(classifier, table)
    with translate_errors(classifier, "judge these rows"):
        labels, scores = classifier._predict_labels_and_scores(table)
        return to_dense(labels), scores


def _between(scores: Array) -> Array:
    """Draw numbers of any size into the interval from 0 to 1; their order stays."""
    # The logistic function would give 1 for all scores above 37, which a support vector machine
    # easily reaches, and thresholds could not tell them apart.
    outside = 0.5 / (1 + np.abs(scores))
    return np.where(scores > 0, 1 - outside, outside)


def adapt_features(model: Any, X: Any) -> Any:
    """Give features in the form a classifier takes: sparse ones stay so where it can read them."""
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
    """Say what classifiers of other packages refuse as `DataError`."""
    try:
        yield
    except ScumbleError:
        raise
    except (TypeError, ValueError) as error:
        first = str(error).partition("\n")[0]
        way_out = "Choose another classifier, or other parameters."
        if "NaN" in first:
            way_out = (
                "Values are missing, and the classifier takes none such: leave out the base, take "
                "one such as sklearn.ensemble.HistGradientBoostingClassifier, or fill them in."
            )
        raise DataError(f"{type(model).__name__} cannot {act}: {first} {way_out}") from error


def adapt_labels(model: Any, Y: sparse.csr_array) -> Any:
    """Give labels in the form a classifier takes; others than ours mostly refuse sparse ones."""
    if isinstance(model, BaseMultilabelClassifier):
        return Y
    table = Y.toarray().astype(np.int64)
    one_column = table.shape[1] == 1 and hasattr(model, "__sklearn_tags__")
    return table.ravel() if one_column and get_tags(model).target_tags.single_output else table


def _as_labels(predicted: Any, n_labels: int, classifier: Any) -> sparse.csr_array:
    caller = f"predictions of {type(classifier).__name__}"
    if (names := getattr(classifier, "label_names_", None)) is not None:
        known = NamedLabels(sparse.csr_array((1, len(names)), dtype=bool), names)
        predicted = align_label_lists(known, predicted)[1]
    if getattr(predicted, "ndim", 2) == 1:
        predicted = _one_per_row(np.asarray(predicted), n_labels, classifier)
    labels = check_labels(predicted, caller=caller)
    if labels.shape[1] != n_labels:
        raise DataError(f"{caller} have {labels.shape[1]} columns; expected {n_labels} labels.")
    return labels


def _one_per_row(predicted: Array, n_labels: int, classifier: Any) -> Any:
    """Make a table of a single label, or of the one class that each row has."""
    if n_labels == 1:
        return predicted.reshape(-1, 1)
    classes: Any = getattr(classifier, "classes_", None)
    if np.shape(classes) != (n_labels,):
        return predicted  # no table of these labels: refused
    return one_hot_labels(np.searchsorted(classes, predicted), n_labels)


def _positive_columns(probabilities: Any, classifier: Any, n_labels: int) -> Array:
    """Make one table of what may be a list with an array of class probabilities per label."""
    classes = getattr(classifier, "classes_", None)
    if isinstance(probabilities, list | tuple) or getattr(probabilities, "ndim", 2) == 3:
        columns = [
            _of_class_one(part, None if classes is None else classes[at], classifier)
            for at, part in enumerate(probabilities)
        ]
        return np.column_stack(columns)
    table = to_dense(probabilities).astype(float, copy=False)
    if n_labels == 1 and table.shape[1:] != (1,):
        return _of_class_one(table, classes, classifier).reshape(-1, 1)
    return table


def check_scores_shape(scores: Any, shape: tuple[int, int], estimator: Any) -> None:
    """Refuse scores that are not one number per row and label."""
    if np.shape(scores) != shape:
        raise DataError(
            f"{type(estimator).__name__} gives scores of shape {np.shape(scores)}. Expected "
            f"{shape}: one row per instance and one column per label it was fitted to."
        )


def check_same_shape(
    found: tuple[int, ...], shape: tuple[int, ...], *, what: str, caller: str
) -> None:
    """Refuse predictions or scores that do not have the shape of the labels."""
    if found != shape:
        raise DataError(
            f"{caller}: {what} must have the shape of Y, {shape}. Got {found} instead: one row per "
            "instance and one column per label, in the same order."
        )


def _of_class_one(table: Any, classes: Any, classifier: Any) -> Array:
    """Take the probability of class 1; a label that was constant in training has one column."""
    table = to_dense(table).astype(float, copy=False)
    if isinstance(classes, list) and len(classes) == 1:
        classes = classes[0]
    if classes is None and table.shape[1] != 2:
        raise DataError(
            f"{type(classifier).__name__}.predict_proba gives {table.shape[1]} columns for a "
            "label and does not tell its classes. Expected an attribute classes_."
        )
    at = 1 if classes is None else np.flatnonzero(np.asarray(classes).ravel() == 1)
    return np.zeros(len(table)) if np.size(at) == 0 else table[:, int(np.ravel(at)[0])]
