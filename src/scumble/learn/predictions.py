"""What a fitted classifier says of rows: labels, and scores in one table."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from scumble._core.errors import DataError
from scumble._core.validation import check_labels

Array = np.ndarray[Any, Any]
#: Bytes of a dense table that is made for a classifier which refuses sparse features.
DENSE_AT_MOST = 2**32


def predict_with_scores(
    classifier: Any, X: Any, n_labels: int
) -> tuple[sparse.csr_array, Array | None]:
    """Ask a fitted classifier for labels and for how sure it is of each.

    Parameters
    ----------
    classifier : estimator
        One of `scumble.learn`, or any of scikit-learn that predicts several labels.
    X : array, sparse matrix or DataFrame
        Rows to judge.
    n_labels : int
        Number of labels.

    Returns
    -------
    predictions : csr_array of bool
        The labels.
    scores : ndarray of shape (n_samples, n_labels) or None
        From ``predict_proba``, else from ``decision_function``; None where there is neither.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from scumble.learn.predictions import predict_with_scores
    >>> X, Y = np.array([[0.0], [1.0], [9.0]]), np.array([[1, 0], [1, 1], [0, 1]])
    >>> labels, scores = predict_with_scores(KNeighborsClassifier(2).fit(X, Y), [[0.4]], 2)
    >>> scores
    array([[1. , 0.5]])
    """
    X = features_for(classifier, X)
    if hasattr(classifier, "predict_both"):
        predicted, scores = classifier.predict_both(X)
        if getattr(predicted, "ndim", 2) == 1:  # it learnt one class per row
            scores = positive_columns(scores, classifier, n_labels)
        return _as_labels(predicted, n_labels, classifier), scores
    predictions = _as_labels(classifier.predict(X), n_labels, classifier)
    if hasattr(classifier, "predict_proba"):
        return predictions, positive_columns(classifier.predict_proba(X), classifier, n_labels)
    if hasattr(classifier, "decision_function"):
        scores = np.asarray(classifier.decision_function(X), dtype=float)
        return predictions, scores.reshape(-1, n_labels)
    return predictions, None


def features_for(model: Any, X: Any) -> Any:
    """Give features in the form a classifier takes: sparse ones stay so where it can read them.

    Parameters
    ----------
    model : estimator
        Its scikit-learn tags tell whether it takes sparse features.
    X : array, sparse matrix or DataFrame
        The features.

    Returns
    -------
    array, sparse matrix or DataFrame
        A dense array where ``X`` is sparse and the classifier would refuse it.

    Raises
    ------
    DataError
        If that array were larger than 4 GiB.
    """
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


def _as_labels(predicted: Any, n_labels: int, classifier: Any) -> sparse.csr_array:
    caller = f"predictions of {type(classifier).__name__}"
    if n_labels == 1 and getattr(predicted, "ndim", 2) == 1:
        predicted = np.asarray(predicted).reshape(-1, 1)
    labels = check_labels(predicted, caller=caller)
    if labels.shape[1] != n_labels:
        raise DataError(f"{caller} have {labels.shape[1]} columns; expected {n_labels} labels.")
    return labels


def positive_columns(probabilities: Any, classifier: Any, n_labels: int) -> Array:
    """Make one table of what may be a list with an array of class probabilities per label.

    Parameters
    ----------
    probabilities : array or list of arrays
        What ``predict_proba`` gave.
    classifier : estimator
        Who gave it; its ``classes_`` tell which column is which.
    n_labels : int
        Number of labels.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        The probability of each label.
    """
    classes = getattr(classifier, "classes_", None)
    if isinstance(probabilities, list):
        columns = [
            _of_class_one(part, None if classes is None else classes[at], classifier)
            for at, part in enumerate(probabilities)
        ]
        return np.column_stack(columns)
    table = np.asarray(probabilities, dtype=float)
    if n_labels == 1 and table.shape[1:] != (1,):
        return _of_class_one(table, classes, classifier).reshape(-1, 1)
    return table


def _of_class_one(table: Any, classes: Any, classifier: Any) -> Array:
    """Take the probability of class 1; a label that was constant in training has one column."""
    table = np.asarray(table, dtype=float)
    if isinstance(classes, list) and len(classes) == 1:
        classes = classes[0]
    if classes is None and table.shape[1] != 2:
        raise DataError(
            f"{type(classifier).__name__}.predict_proba gives {table.shape[1]} columns for a "
            "label and does not tell its classes. Expected an attribute classes_."
        )
    at = 1 if classes is None else np.flatnonzero(np.asarray(classes).ravel() == 1)
    return np.zeros(len(table)) if np.size(at) == 0 else table[:, int(np.ravel(at)[0])]
