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

#: Arguments of scikit-learn's `check_array`, which checks the shape of X but not its cells.
_SHAPE_CHECK = {"accept_sparse": "csr", "dtype": None, "ensure_all_finite": False}


def read_training(X: Any, estimator: Any, categorical_features: Any) -> tuple[Any, FeatureCodes]:
    """Return the features of training rows and what their columns hold.

    The names and the number of columns are stored in the estimator.
    """
    caller = type(estimator).__name__
    if is_frame(X):
        names, _ = frame_columns(X, caller=caller)
        _check_unique_names(names, caller)
    X = _check_columns(X, estimator, caller, reset=True)
    features = read_features(X, categorical_features, caller=caller)
    return features.values, features.codes


def read_rows(X: Any, estimator: Any, codes: FeatureCodes) -> Any:
    """Return the features of rows to predict; their columns must be those of the training rows."""
    caller = type(estimator).__name__
    if is_frame(X):
        frame_columns(X, caller=caller)  # raises errors for objects that only look like a table
    try:
        X = _check_columns(X, estimator, caller, reset=False)
    except ScumbleError:
        raise
    except ValueError as error:
        raise DataError(
            f"{str(error).rstrip()} Give the columns seen when fitting, in their order."
        ) from None
    return encode_features(X, codes, caller=caller)


def append_columns(X: Any, columns: Any) -> Any:
    """Return a table with further columns after its own, sparse if the table is."""
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([X, sparse.csr_array(columns)], format="csr"))
    return np.hstack([X, to_dense(columns)])


def _check_columns(X: Any, estimator: Any, caller: str, *, reset: bool) -> Any:
    """Compare names and number of the columns with those in `fit`; store them if ``reset``."""
    try:
        _check_feature_names(estimator, X, reset=reset)
    except TypeError as error:  # some names are texts and others are not
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
    """Return X as an array, or as the frame it is; X that is empty or no table is an error."""
    if is_frame(X):
        table = np.broadcast_to(0.0, X.shape)  # a table of this shape that takes no memory
    elif isinstance(X, list | tuple):
        table = as_array(X, caller=caller)
    else:
        table = X
    try:
        checked = check_array(table, estimator=estimator, input_name="X", **_SHAPE_CHECK)
    except ValueError as error:
        raise DataError(f"{caller}: {error}") from None
    except TypeError as error:
        raise ParameterTypeError(f"{caller}: {error}") from None
    return X if is_frame(X) else checked
