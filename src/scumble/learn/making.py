"""Classifiers by their names, fitted on whole data sets."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from sklearn.base import clone

from scumble._core.errors import ParameterError
from scumble._core.registry import registered
from scumble.data import MultilabelDataset

#: Every command offers these; a classifier without them is not asked.
SHARED = frozenset({"random_state", "n_jobs"})


def make_classifier(name: str, **parameters: Any) -> Any:
    """Make a classifier by its name.

    Parameters
    ----------
    name : str
        Such as ``"ecc"``; case does not matter.
    **parameters : object
        Parameters by name. None leaves the default; ``random_state`` and ``n_jobs`` are ignored
        where the classifier has none.

    Returns
    -------
    BaseMultilabelClassifier
        Not fitted.

    Raises
    ------
    ParameterError
        If there is no such classifier or parameter.

    Examples
    --------
    >>> from scumble.learn import make_classifier
    >>> make_classifier("ecc", n_estimators=5, random_state=1)
    EnsembleOfClassifierChains(n_estimators=5, random_state=1)
    """
    kinds = registered("classifier")
    kind = kinds.get(name.lower().strip())
    if kind is None:
        close = get_close_matches(name.lower(), kinds) or sorted(kinds)
        raise ParameterError(f"There is no classifier {name!r}. Expected {', '.join(close)}.")
    model = kind()
    known = model.get_params(deep=False)
    for parameter, value in parameters.items():
        if value is None or (parameter in SHARED and parameter not in known):
            continue
        if parameter not in known:
            raise ParameterError(
                f"The classifier {name!r} has no parameter {parameter!r}. "
                f"Known are: {', '.join(sorted(known))}."
            )
        model.set_params(**{parameter: value})
    return model


def fit_dataset(classifier: Any, data: MultilabelDataset) -> Any:
    """Fit a copy of a classifier on a data set, nominal features and all.

    Parameters
    ----------
    classifier : estimator
        Not changed. Its ``categorical_features``, where it has such a parameter and it is None,
        are those of the data.
    data : MultilabelDataset
        The training data.

    Returns
    -------
    estimator
        The fitted copy.

    Examples
    --------
    >>> from scumble import MultilabelDataset
    >>> from scumble.learn import MLkNN, fit_dataset
    >>> data = MultilabelDataset([[0.0], [1.0], [8.0], [9.0]], [[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> fit_dataset(MLkNN(n_neighbors=1), data).predict([[8.5]]).toarray()
    array([[False,  True]])
    """
    model = clone(classifier)
    if model.get_params(deep=False).get("categorical_features", 0) is None:
        model.set_params(categorical_features=data.categorical_features or None)
    return model.fit(data.X, data.Y)
