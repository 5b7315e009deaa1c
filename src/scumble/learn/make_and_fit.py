"""Classifiers by their names, fitted on whole data sets."""

import warnings
from collections.abc import Sequence
from inspect import signature
from typing import Any

from sklearn.base import clone

from scumble._core.errors import DataError, ParameterError, ScumbleWarning, did_you_mean_parameter
from scumble._core.registry import find_class
from scumble.data import MultilabelDataset
from scumble.learn.c45 import C45Classifier
from scumble.learn.inner_classifier import set_categorical_features, set_random_states
from scumble.learn.predictions import adapt_features, adapt_labels, translate_errors
from scumble.learn.texts import TextColumns
from scumble.learn.weights import sample_weight_fit_params, supports_sample_weight
from scumble.resample import run_chain

#: Every command offers these; a classifier without them is not asked.
SHARED = frozenset({"random_state", "n_jobs"})
#: How users name the classifier inside another, and how these call it.
BASE, BASES = "base", ("estimator", "classifier")


def make_classifier(name: str, **parameters: Any) -> Any:
    """Make a classifier by its name.

    Parameters
    ----------
    name : str
        Such as ``"ecc"``; case does not matter. A dotted name, such as
        ``"sklearn.neighbors.KNeighborsClassifier"``, is imported.
    **parameters : object
        Parameters by name. None leaves the default; ``random_state`` and ``n_jobs`` are ignored
        where the classifier has none. ``base`` names the classifier inside (its ``estimator``), and
        ``**{"base.C": 0.1}`` a parameter of that one.

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

    >>> logistic = "sklearn.linear_model.LogisticRegression"
    >>> make_classifier("br", base=logistic, **{"base.C": 0.1})
    BinaryRelevance(estimator=LogisticRegression(C=0.1))
    """
    kind, (given, base) = find_classifier_class(name.strip()), _take_base(name, parameters)
    model = _construct(kind, name, base)
    known = model.get_params(deep=False)
    for parameter, value in given.items():
        if value is None or (parameter in SHARED and parameter not in known):
            continue
        if parameter not in known:
            raise ParameterError(
                f"The classifier {name!r} has no parameter {parameter!r}."
                f"{did_you_mean_parameter(parameter, known)} Known are: {', '.join(sorted(known))}."
            )
        model.set_params(**{parameter: value})
    _check_foreign(model)
    return model


def find_classifier_class(name: str) -> Any:
    """Find the class of a classifier by its name or its dotted name; also of trees alone."""
    return C45Classifier if name.lower() == "c45" else find_class("classifier", name)


def base_parameter(name: str) -> str | None:
    """Tell what a classifier calls the one inside it; None where it asks no other."""
    known = signature(find_classifier_class(name)).parameters
    return next((parameter for parameter in BASES if parameter in known), None)


def _take_base(name: str, parameters: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make the classifier inside of ``base`` and of what begins with ``base.``."""
    inside = {key: value for key, value in parameters.items() if key.partition(".")[0] == BASE}
    rest = {key: value for key, value in parameters.items() if key not in inside}
    if not any(value is not None for value in inside.values()):
        return rest, {}
    if (parameter := base_parameter(name.strip())) is None:
        raise ParameterError(
            f"The classifier {name!r} has no base: it does not ask another classifier. Leave out "
            f"{next(iter(inside))!r}."
        )
    base = inside.pop(BASE, None)
    if not isinstance(base, str):
        raise ParameterError(
            f"{next(iter(inside), BASE)!r} of the classifier {name!r} needs the name of its base, "
            f"such as base=sklearn.linear_model.LogisticRegression. Got {base!r}."
        )
    own = {key.partition(".")[2]: value for key, value in inside.items()}
    return rest, {parameter: make_classifier(base, **own)}


def _construct(kind: Any, name: str, base: dict[str, Any]) -> Any:
    try:
        return kind(**base)
    except TypeError as error:
        raise ParameterError(
            f"The classifier {name!r} cannot be made without more parameters: {error}. Where it "
            "asks another classifier, name that as its base."
        ) from error


def _check_foreign(model: Any) -> None:
    """Let scikit-learn check parameters now, where it can, and not after data was read."""
    check = getattr(model, "_validate_params", None)
    if check is not None and not hasattr(model, "check_parameters"):
        try:
            check()
        except ValueError as error:
            raise ParameterError(str(error)) from error


def fit_dataset(
    classifier: Any,
    data: MultilabelDataset,
    resamplers: Sequence[Any] = (),
    *,
    random_state: int | None = None,
) -> Any:
    """Fit a copy of a classifier on a data set, nominal features, texts, weights and all.

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
        warning says so. Text features become numbers first; see `TextColumns`.
    resamplers : sequence of resamplers
        Applied in order before the classifier learns, when texts are numbers; their seeds are set.
        See `scumble.resample.make_chain`.
    random_state : int, optional
        Seed for every ``random_state`` that was left open, the classifier's own and those inside.

    Returns
    -------
    estimator
        The fitted copy; a `TextModel` around it where the data has text features.

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
    texts = TextColumns.of(data)
    rows = run_chain(texts.transform(data), resamplers)
    return texts.wrap_model(_fit(classifier, rows, random_state), data)


def _fit(classifier: Any, data: MultilabelDataset, random_state: int | None) -> Any:
    """Fit a copy of a classifier on numbers and codes."""
    if not data.n_features:
        raise DataError(
            f"{data!r} has no column to learn from. Expected at least one: if texts were left out, "
            "text='NAME' learns from their words."
        )
    model = clone(classifier)
    if data.categorical_features:
        set_categorical_features(model, data.categorical_features)
    if random_state is not None:
        set_random_states(model, random_state)
    if hasattr(model, "_know_labels"):  # names decide how it groups labels
        model._know_labels(data.labels)
    X = adapt_features(model, data.X)
    with translate_errors(model, f"learn from {data!r}"):
        return model.fit(X, adapt_labels(model, data.Y), **_weights_for(model, data))


def _weights_for(model: Any, data: MultilabelDataset) -> dict[str, Any]:
    if data.weights is None or supports_sample_weight(model):
        return sample_weight_fit_params(model, data.weights)
    warnings.warn(
        f"{type(model).__name__} takes no sample_weight, so the weights of the instances are not "
        "used.",
        ScumbleWarning,
        stacklevel=4,
    )
    return {}
