"""Validation of features, with the attributes and messages that scikit-learn expects."""

from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_array

from scumble._core.arrays import to_dense
from scumble._core.errors import DataError, ParameterTypeError, ScumbleError
from scumble._validation.features import FeatureCodes, as_array, encode_features, read_features
from scumble._validation.frames import frame_columns, is_frame

#: Arguments of scikit-learn's `check_array` by which it checks the shape of X but not its values.
_SHAPE_CHECK = {"accept_sparse": "csr", "dtype": None, "ensure_all_finite": False}


def validate_training_features(
    X: Any, estimator: Any, categorical_features: Any
) -> tuple[Any, FeatureCodes]:
    """Return validated features of training rows, and the categories of their nominal columns.

    The features are a float64 ndarray or csr_array in which nominal columns hold codes. The
    attributes ``n_features_in_`` and ``feature_names_in_`` of the estimator are set.
    """
    caller = type(estimator).__name__
    if is_frame(X):
        names, _ = frame_columns(X, caller=caller)
        _check_unique_names(names, caller)
    X = _check_columns(X, estimator, caller, reset=True)
    features = read_features(X, categorical_features, caller=caller)
    return features.values, features.codes


def validate_features(X: Any, estimator: Any, codes: FeatureCodes) -> Any:
    """Return validated features of rows to predict, encoded like the training rows.

    ``codes`` is a result of `validate_training_features`. The columns must be those seen in `fit`,
    in the same order.
    """
    caller = type(estimator).__name__
    if is_frame(X):
        frame_columns(X, caller=caller)  # raises errors for objects that only look like a frame
    try:
        X = _check_columns(X, estimator, caller, reset=False)
    except ScumbleError:
        raise
    except ValueError as error:
        raise DataError(
            f"{str(error).rstrip()} Give the columns seen when fitting, in their order."
        ) from None
    return encode_features(X, codes, caller=caller)


def append_columns(X: Any, X_extra: Any) -> Any:
    """Return X with the columns of ``X_extra`` after its own, as a csr_array if X is sparse."""
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([X, sparse.csr_array(X_extra)], format="csr"))
    return np.hstack([X, to_dense(X_extra)])


def _check_columns(X: Any, estimator: Any, caller: str, *, reset: bool) -> Any:
    """Check shape and column names of X, and return it as `_check_shape` does.

    With ``reset``, set ``n_features_in_`` and ``feature_names_in_`` of the estimator; otherwise
    raise an error if X does not match them.
    """
    try:
        _check_feature_names(estimator, X, reset=reset)
    except TypeError as error:  # some names are strings and others are not
        raise ParameterTypeError(f"{caller}: {error}") from None
    X = _check_shape(X, estimator, caller)
    _check_n_features(estimator, X, reset=reset)
    return X


def _check_unique_names(names: tuple[str, ...], caller: str) -> None:
    """Raise an error if several columns have the same name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise DataError(f"{caller}: {count} columns of X are called {name!r}. Rename them.")


def _check_shape(X: Any, estimator: Any, caller: str) -> Any:
    """Return a frame unchanged, and any other X as an ndarray or csr_array.

    Raise an error unless X has two dimensions, and at least one row and one column. Its values are
    not checked.
    """
    if is_frame(X):
        matrix = np.broadcast_to(0.0, X.shape)  # an array of this shape that takes no memory
    elif isinstance(X, list | tuple):
        matrix = as_array(X, caller=caller)
    else:
        matrix = X
    try:
        checked = check_array(matrix, estimator=estimator, input_name="X", **_SHAPE_CHECK)
    except ValueError as error:
        raise DataError(f"{caller}: {error}") from None
    except TypeError as error:
        raise ParameterTypeError(f"{caller}: {error}") from None
    return X if is_frame(X) else checked
