"""Classifiers by their names, fitted on whole data sets."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import clone

from scumble._core.errors import ParameterError, ScumbleWarning
from scumble._core.registry import find_class
from scumble.data import MultilabelDataset
from scumble.learn.inner_classifier import tell_nominal
from scumble.learn.predictions import features_for, labels_for
from scumble.learn.seeds import close_seeds
from scumble.learn.weights import given_weights, takes_weights

#: Every command offers these; a classifier without them is not asked.
SHARED = frozenset({"random_state", "n_jobs"})


def make_classifier(name: str, **parameters: Any) -> Any:
    """Make a classifier by its name.

    Parameters
    ----------
    name : str
        Such as ``"ecc"``; case does not matter. A dotted name, such as
        ``"sklearn.neighbors.KNeighborsClassifier"``, is imported.
    **parameters : object
        Parameters by name. None leaves the default; ``random_state`` and ``n_jobs`` are ignored
        where the classifier has none.

    Returns
    -------
    estimator
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
    model = find_class("classifier", name.strip())()
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


def fit_dataset(
    classifier: Any, data: MultilabelDataset, *, random_state: int | None = None
) -> Any:
    """Fit a copy of a classifier on a data set, nominal features, weights and all.

    Everything that learns from a whole data set does it here: folds, experiments, and models that
    are stored.

    Parameters
    ----------
    classifier : estimator
        One of `scumble.learn`, or any of scikit-learn that learns several labels. Not changed. Its
        ``categorical_features``, where it or an estimator inside has such a parameter and it is
        None, are those of the data.
    data : MultilabelDataset
        The training data. Sparse features stay sparse where the classifier takes them. Weights go
        to classifiers whose ``fit`` takes ``sample_weight``; others learn without them, and a
        warning says so.
    random_state : int, optional
        Seed for every ``random_state`` that was left open, the classifier's own and those inside.

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

    A classifier of scikit-learn gets the labels as the dense table it understands.

    >>> from sklearn.linear_model import RidgeClassifier
    >>> fit_dataset(RidgeClassifier(), data).predict([[8.5]])
    array([[0, 1]])
    """
    model = clone(classifier)
    if data.categorical_features:
        tell_nominal(model, data.categorical_features)
    if random_state is not None:
        close_seeds(model, random_state)
    if hasattr(model, "_know_labels"):  # names decide how it groups labels
        model._know_labels(data.labels)
    X = features_for(model, data.X)
    return model.fit(X, labels_for(model, data.Y), **_weights_for(model, data))


def _weights_for(model: Any, data: MultilabelDataset) -> dict[str, Any]:
    if data.weights is None:
        return {}
    if takes_weights(model):
        return given_weights(model, data.weights)
    warnings.warn(
        f"{type(model).__name__} takes no sample_weight, so the weights of the instances are not "
        "used.",
        ScumbleWarning,
        stacklevel=3,
    )
    return {}
