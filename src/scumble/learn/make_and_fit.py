"""Creating classifiers by name, and fitting them to data sets."""

import warnings
from collections.abc import Sequence
from inspect import signature
from typing import Any

from sklearn.base import clone

from scumble._core.errors import DataError, ParameterError, ScumbleWarning, did_you_mean_parameter
from scumble._core.registry import find_class
from scumble.data import MultilabelDataset
from scumble.learn.inner_classifier import set_categorical_features, set_random_states
from scumble.learn.predictions import adapt_features, adapt_labels, translate_errors
from scumble.learn.texts import TextColumns
from scumble.learn.trees.c45 import C45Classifier
from scumble.learn.weights import sample_weight_fit_params, supports_sample_weight
from scumble.resample import run_chain

#: Parameters that every command offers; they are ignored for classifiers without them.
SHARED = frozenset({"random_state", "n_jobs"})
#: The name of the base learner for users.
BASE = "base"
#: The names of this parameter in classifiers.
BASES = ("estimator", "classifier")


def make_classifier(name: str, **parameters: Any) -> Any:
    """Create a classifier by its name.

    Parameters
    ----------
    name : str
        A name such as ``"ecc"``; case does not matter. A dotted name, such as
        ``"sklearn.neighbors.KNeighborsClassifier"``, is imported.
    **parameters : object
        Parameters by name. None leaves the default. ``random_state`` and ``n_jobs`` are ignored if
        the classifier has no such parameter. ``base`` is the name of its base learner, and
        ``**{"base.C": 0.1}`` a parameter of the base learner.

    Returns
    -------
    estimator
        The classifier, not fitted.

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
    cls = find_classifier_class(name.strip())
    base_parameters = {
        key: value for key, value in parameters.items() if key.partition(".")[0] == BASE
    }
    model = _construct(cls, name, _make_base(name, base_parameters))
    names = model.get_params(deep=False)
    for parameter, value in parameters.items():
        is_ignored = parameter in SHARED and parameter not in names
        if value is None or is_ignored or parameter in base_parameters:
            continue
        if parameter not in names:
            raise ParameterError(
                f"The classifier {name!r} has no parameter {parameter!r}."
                f"{did_you_mean_parameter(parameter, names)} Known are: {', '.join(sorted(names))}."
            )
        model.set_params(**{parameter: value})
    _check_third_party_parameters(model)
    return model


def find_classifier_class(name: str) -> Any:
    """Return the class of a classifier by its name or dotted name; ``"c45"`` is a single tree."""
    if name.lower() == "c45":
        return C45Classifier
    return find_class("classifier", name)


def base_parameter(name: str) -> str | None:
    """Return the name of the parameter for the base learner of a classifier, None without one."""
    names = signature(find_classifier_class(name)).parameters
    return next((parameter for parameter in BASES if parameter in names), None)


def _make_base(name: str, base_parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the base learner of a classifier by the name of its parameter; empty for none.

    ``base_parameters`` are the value of ``base`` and of parameters that begin with ``base.``.
    """
    if all(value is None for value in base_parameters.values()):
        return {}
    parameter = base_parameter(name.strip())
    if parameter is None:
        raise ParameterError(
            f"The classifier {name!r} has no base: it fits no other classifier. Leave out "
            f"{next(iter(base_parameters))!r}."
        )
    base_name = base_parameters.get(BASE)
    dotted = {key: value for key, value in base_parameters.items() if key != BASE}
    if not isinstance(base_name, str):
        raise ParameterError(
            f"{next(iter(dotted), BASE)!r} of the classifier {name!r} needs the name of its base, "
            f"such as base=sklearn.linear_model.LogisticRegression. Got {base_name!r}."
        )
    arguments = {key.partition(".")[2]: value for key, value in dotted.items()}
    return {parameter: make_classifier(base_name, **arguments)}


def _construct(cls: Any, name: str, base: dict[str, Any]) -> Any:
    """Return an instance of a class; missing arguments are an error that names the classifier."""
    try:
        return cls(**base)
    except TypeError as error:
        raise ParameterError(
            f"The classifier {name!r} cannot be created without more parameters: {error}. If it "
            "fits another classifier, pass the name of that one as its base."
        ) from error


def _check_third_party_parameters(model: Any) -> None:
    """Let scikit-learn check the parameters of its estimators now, not only in `fit`."""
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
    """Fit a copy of a classifier to a data set with nominal features, texts and weights.

    Cross-validation, experiments and the training of stored models all use this function.

    Parameters
    ----------
    classifier : estimator
        A classifier of `scumble.learn`, or a multilabel classifier of scikit-learn. It is not
        changed. Its parameter ``categorical_features``, or that of an estimator inside it, is set
        to the nominal columns of the data if it is None.
    data : MultilabelDataset
        The training data. Sparse features stay sparse if the classifier takes them. Weights are
        passed to classifiers whose ``fit`` has ``sample_weight``; others are fitted without them,
        with a warning. Text features become numbers first; see `TextColumns`.
    resamplers : sequence of resamplers
        Applied in order before the classifier is fitted, after texts became numbers; their seeds
        are set already. See `scumble.resample.make_chain`.
    random_state : int, optional
        Seed for every ``random_state`` that is None, of the classifier and of estimators inside it.

    Returns
    -------
    estimator
        The fitted copy; a `TextModel` around it if the data has text features.

    Examples
    --------
    >>> from scumble import MultilabelDataset
    >>> from scumble.learn import MLkNN, fit_dataset
    >>> data = MultilabelDataset([[0.0], [1.0], [8.0], [9.0]], [[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> fit_dataset(MLkNN(n_neighbors=1), data).predict([[8.5]]).toarray()
    array([[False,  True]])

    A classifier of scikit-learn gets the labels as a dense table.

    >>> from sklearn.linear_model import RidgeClassifier
    >>> fit_dataset(RidgeClassifier(), data).predict([[8.5]])
    array([[0, 1]])
    """
    texts = TextColumns.of(data)
    rows = run_chain(texts.transform(data), resamplers)
    return texts.wrap_model(_fit(classifier, rows, random_state), data)


def _fit(classifier: Any, data: MultilabelDataset, random_state: int | None) -> Any:
    """Return a copy of a classifier, fitted to a data set without texts."""
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
    if hasattr(model, "_know_labels"):  # HOMER groups labels by their names
        model._know_labels(data.labels)
    X = adapt_features(model, data.X)
    with translate_errors(model, f"learn from {data!r}"):
        return model.fit(X, adapt_labels(model, data.Y), **_weights_for(model, data))


def _weights_for(model: Any, data: MultilabelDataset) -> dict[str, Any]:
    """Return the weights of a data set as arguments of ``fit``; none for models without weights."""
    if data.weights is None or supports_sample_weight(model):
        return sample_weight_fit_params(model, data.weights)
    warnings.warn(
        f"{type(model).__name__} takes no sample_weight, so the weights of the instances are not "
        "used.",
        ScumbleWarning,
        stacklevel=4,
    )
    return {}
