"""The features an estimator learns from and judges, in the manners of scikit-learn."""

from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_array

from scumble._core.arrays import to_dense
from scumble._core.errors import DataError, ParameterTypeError, ScumbleError
from scumble._core.features import FeatureCodes, as_array, encode_features, read_features
from scumble._core.frames import frame_columns, is_frame

#: What is asked of a table before its cells are read.
_ANY_CELLS = {"accept_sparse": "csr", "dtype": None, "ensure_all_finite": False}


def read_training(X: Any, estimator: Any, categorical_features: Any) -> tuple[Any, FeatureCodes]:
    """Read the features an estimator learns from, and remember their names and number."""
    caller = type(estimator).__name__
    if is_frame(X):
        _refuse_repeated(frame_columns(X, caller=caller)[0], caller)
    X = _check_columns(X, estimator, caller, reset=True)
    features = read_features(X, categorical_features, caller=caller)
    return features.values, features.codes


def read_rows(X: Any, estimator: Any, codes: FeatureCodes) -> Any:
    """Read rows to predict; other columns than those learned from are refused in our words."""
    caller = type(estimator).__name__
    if is_frame(X):
        frame_columns(X, caller=caller)  # refuses what only looks like a table
    try:
        X = _check_columns(X, estimator, caller, reset=False)
    except ScumbleError:
        raise
    except ValueError as error:
        raise DataError(
            f"{str(error).rstrip()} Give the columns seen when fitting, in their order."
        ) from None
    return encode_features(X, codes, caller=caller)


def append_columns(X: Any, more: Any) -> Any:
    """Put further columns behind those of a table, sparse where the table is."""
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([X, sparse.csr_array(more)], format="csr"))
    return np.hstack([X, to_dense(more)])


def _check_columns(X: Any, estimator: Any, caller: str, *, reset: bool) -> Any:
    """Compare names and number of the columns with those seen, or remember them."""
    try:
        _check_feature_names(estimator, X, reset=reset)
    except TypeError as error:  # some names are texts and some are not
        raise ParameterTypeError(f"{caller}: {error}") from None
    X = _check_shape(X, estimator, caller)
    _check_n_features(estimator, X, reset=reset)
    return X


def _refuse_repeated(names: tuple[str, ...], caller: str) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise DataError(f"{caller}: {times} columns of X are called {name!r}. Rename them.")


def _check_shape(X: Any, estimator: Any, caller: str) -> Any:
    """Refuse what is no table, or an empty one; what the cells hold is another question."""
    if is_frame(X):
        table = np.broadcast_to(0.0, X.shape)
    else:
        table = as_array(X, caller=caller) if isinstance(X, list | tuple) else X
    try:
        checked = check_array(table, estimator=estimator, input_name="X", **_ANY_CELLS)
    except ValueError as error:
        raise DataError(f"{caller}: {error}") from None
    except TypeError as error:
        raise ParameterTypeError(f"{caller}: {error}") from None
    return X if is_frame(X) else checked
