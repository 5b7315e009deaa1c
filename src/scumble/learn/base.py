"""Base classes of the multilabel classifiers: validation, fitting and prediction."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from scumble._core.arrays import Array, to_dense
from scumble._core.errors import DataError, ParameterError, ParameterTypeError
from scumble._core.parallel import row_slices
from scumble._core.parameters import (
    CATEGORICAL_FEATURES,
    NJobsConstraint,
    ParameterConstraint,
    RandomStateConstraint,
    ValidatedParametersMixin,
    as_generator,
)
from scumble._core.registry import register
from scumble._validation.features import FeatureCodes
from scumble._validation.labels import check_consistent_length
from scumble._validation.provenance import remembered_sample_weight
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.features import validate_features, validate_training_features
from scumble.learn.labels import LabelFormat, validate_y
from scumble.learn.weights import (
    check_weights,
    find_estimator_without_sample_weight,
    resolve_sample_weight,
)


@dataclass(frozen=True, eq=False)
class ValidatedData:
    """Training rows that have been validated, as `BaseMultilabelClassifier._fit` gets them.

    A csr_array is canonical if the column indices of each row are sorted and distinct.
    """

    #: float64, shape (n_samples, n_features): an ndarray in C order or a canonical csr_array.
    #: Nominal columns hold codes 0, 1, ...; NaN is a missing value.
    X: Any
    Y: sparse.csr_array  # bool, canonical, shape (n_samples, n_labels)
    sample_weight: Array | None  # float64, positive, shape (n_samples,); None if all weights are 1


class BaseMultilabelClassifier(ValidatedParametersMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base class of all multilabel classifiers.

    It validates parameters, features, labels and weights, and returns predictions in the form of
    the training labels. A subclass implements ``_fit`` and at least one of ``_predict_scores`` and
    ``_predict_labels_and_scores``, see Notes.

    Attributes
    ----------
    classes_ : list of ndarray, or ndarray
        The two values of each label; the classes if ``y`` held one class per row.
    n_labels_ : int
        Number of labels, or of classes.
    label_names_ : tuple of str or None
        Names of the labels; None if they have none.
    n_features_in_ : int
        Number of columns of X in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X; only if they have names.

    See Also
    --------
    BaseRanker : Base class of classifiers that also have out-of-sample scores.

    Notes
    -----
    The methods of a subclass get validated input: X is a float64 ndarray or `csr_array`, in which
    nominal columns hold codes 0, 1, ... and NaN is a missing value; Y is a boolean `csr_array`.

    ``_fit(X, Y, sample_weight=None)``
        Learn from the training rows. Weights are positive, and None if every row weighs 1; rows
        of weight 0 have been left out. ``self._codes.n_values`` holds the number of categories of
        each nominal column, and 0 for a numeric column. A subclass that cannot use weights has
        ``_fit(X, Y)``, and a method ``fit(X, y)`` that calls ``super().fit(X, y)``.
    ``_predict_scores(X)``
        Return scores in [0, 1], an ndarray of shape (n_rows, n_labels).
    ``_predict(X)``
        Return labels, a boolean ndarray or `csr_array` of shape (n_rows, n_labels). By default a
        label is predicted if its score is at least ``thresholds_`` (one number per label), or 0.5
        if there is no such attribute.
    ``_predict_labels_and_scores(X)``
        Return both. To be overridden instead of the other two if one computation gives both;
        `predict` and `predict_proba` then use it.
    ``_predict_class_scores(X)``
        Return one nonnegative number per row and class, for a classifier that was fitted to one
        class per row. By default these are the scores.

    ``__init__`` stores its arguments, and ``_parameter_constraints`` holds the allowed values of
    each, besides those of the base class. The arguments of the class statement put the classifier
    into the catalogue: ``class BinaryRelevance(..., name="br", display_group="Single labels")``.
    ``classifier_tags`` says what the common tests may expect of it, see `ClassifierTags`.

    Examples
    --------
    A classifier that ignores the features, and predicts the labels of at least half of the
    training rows.

    >>> import numpy as np
    >>> from scumble.learn import BaseMultilabelClassifier
    >>> class FrequentLabels(BaseMultilabelClassifier):
    ...     def _fit(self, X, Y, sample_weight=None):
    ...         self.shares_ = np.average(Y.toarray(), axis=0, weights=sample_weight)
    ...     def _predict_scores(self, X):
    ...         return np.tile(self.shares_, (X.shape[0], 1))
    >>> model = FrequentLabels().fit([[1.0], [2.0], [3.0]], [[1, 0], [1, 1], [0, 0]])
    >>> model.predict([[4.0]])
    array([[1, 0]])
    >>> model.predict_proba([[4.0]]).round(2)
    array([[0.67, 0.33]])
    """

    _parameter_constraints = {
        "categorical_features": CATEGORICAL_FEATURES,
        "random_state": RandomStateConstraint(),
        "n_jobs": NJobsConstraint(),
    }
    #: What the common tests may expect of the class.
    classifier_tags = ClassifierTags()
    # The values of a subclass whose ``__init__`` has no such arguments.
    categorical_features: Any = None
    n_jobs: int | None = None

    def __init_subclass__(
        cls, name: str | None = None, display_group: str = "More", **options: Any
    ) -> None:
        """Put a subclass into the catalogue under its ``name``; without a name, leave it out.

        ``display_group`` is the heading under which it is listed.
        """
        super().__init_subclass__(**options)
        if name is not None:
            register("classifier", name, cls, display_group=display_group)

    # Methods for subclasses to implement ----------------------------------------------------------

    @abstractmethod
    def _fit(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None = None) -> None:
        """Fit the classifier to validated data and set its fitted attributes.

        The arguments are those of `ValidatedData`.
        """

    def _predict(self, X: Any) -> Any:
        """Return the predicted labels of validated rows.

        They are a boolean ndarray or csr_array of shape (n_rows, n_labels).
        """
        return self._predict_labels_and_scores(X)[0]

    def _predict_scores(self, X: Any) -> Array:
        """Return scores in [0, 1] of validated rows, of shape (n_rows, n_labels)."""
        return self._predict_labels_and_scores(X)[1]

    def _predict_labels_and_scores(self, X: Any) -> tuple[Any, Array]:
        """Return the predicted labels (as `_predict`) and the scores (as `_predict_scores`).

        A subclass overrides either this method or at least one of the other two. If it overrides
        only `_predict`, the scores are 0 and 1.
        """
        if self._overrides("_predict_scores"):
            scores = self._predict_scores(X)
            if self._overrides("_predict"):
                return self._predict(X), scores
            return scores >= getattr(self, "thresholds_", 0.5), scores
        if self._overrides("_predict"):
            labels = self._predict(X)
            return labels, to_dense(labels).astype(np.float64)
        raise NotImplementedError(
            f"{type(self).__name__} must implement _predict_scores or _predict_labels_and_scores."
        )

    def _predict_class_scores(self, X: Any) -> Array:
        """Return nonnegative scores of the classes for validated rows, shape (n_rows, n_classes).

        `predict` returns the class with the largest score if the classifier was fitted to one
        class per row.
        """
        return self._predict_scores(X)

    def _overrides(self, method_name: str) -> bool:
        """Return whether this object's class replaces a method of `BaseMultilabelClassifier`."""
        method = getattr(type(self), method_name)
        return method is not getattr(BaseMultilabelClassifier, method_name)

    # The estimator inside -------------------------------------------------------------------------

    def _inner_estimator(self) -> Any:
        """Return the unfitted estimator that this one fits copies of; None if there is none.

        None may also stand for a default inner estimator of this package.
        """
        return None

    def _declared_categorical_features(self) -> Any:
        """Return the parameter `categorical_features`, not resolved to column indices.

        If it is None and the inner estimator is a classifier of this package, return that one's.
        """
        inner = self._inner_estimator()
        if self.categorical_features is None and isinstance(inner, BaseMultilabelClassifier):
            return inner._declared_categorical_features()
        return self.categorical_features

    def _passes_raw_features(self) -> bool:
        """Return whether the inner estimator gets X exactly as the user passed it.

        Otherwise it gets X of `ValidatedData`.
        """
        return False

    def _find_estimator_without_sample_weight(self) -> str | None:
        """Return the class name of an inner estimator whose `fit` takes no `sample_weight`.

        Return None if all inner estimators take it, or if there are none.
        """
        return find_estimator_without_sample_weight(self._inner_estimator())

    # Fitting --------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Numbers, and codes or categories in nominal columns. X is not changed.
        y : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
            Labels, 0/1 or True/False; or a list with the labels of each row; or one class per
            row, as in any scikit-learn classifier.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row; rows of weight 0 are left out.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._call_fit(self._validate_training_data(X, y, sample_weight))
        return self

    def _fit_validated(
        self, X: Any, Y: sparse.csr_array, sample_weight: Array | None, *, n_categories: Array
    ) -> Self:
        """Fit to data that an outer estimator has validated, and return this classifier.

        X and Y are as in `ValidatedData`; weights may be 0. ``n_categories`` holds the number of
        categories of each nominal column, and 0 for numeric ones.
        """
        self._call_fit(self._accept_validated_data(X, Y, sample_weight, n_categories=n_categories))
        return self

    def _call_fit(self, data: ValidatedData) -> None:
        """Call `_fit`, without weights if all are 1: `_fit` of some subclasses takes none."""
        if data.sample_weight is None:
            self._fit(data.X, data.Y)
        else:
            self._fit(data.X, data.Y, data.sample_weight)

    def _validate_training_data(self, X: Any, y: Any, sample_weight: Any) -> ValidatedData:
        """Validate the arguments of `fit`, set fitted attributes, and return the data to fit to.

        Checks the parameters, too. Sets the attributes that describe features and labels, and the
        format of the labels, which predictions will have. Rows of weight 0 are dropped.
        """
        self.check_parameters()
        caller = type(self).__name__
        X_validated = self._validate_training_features(X)
        labels = validate_y(y, caller=caller)
        check_consistent_length(X_validated, labels.Y, caller=caller)
        weights = resolve_sample_weight(y, sample_weight, labels.Y.shape[0], caller=caller)
        self._y_format = labels.y_format
        data = self._apply_weights(X_validated, labels.Y, weights)
        self._set_label_attributes(data, labels.classes)
        return data

    def _accept_validated_data(
        self, X: Any, Y: sparse.csr_array, sample_weight: Array | None, *, n_categories: Array
    ) -> ValidatedData:
        """Do what `_validate_training_data` does for X and Y that an outer estimator validated.

        Parameters and weights are checked, the same attributes are set, and rows of weight 0 are
        dropped; the values of X and Y are not checked again. For ``n_categories`` see
        `_fit_validated`.
        """
        self.check_parameters()
        self.n_features_in_ = X.shape[1]
        self._codes = FeatureCodes(n_categories, (None,) * X.shape[1])
        self._y_format = LabelFormat("sparse", ("bool",))
        data = self._apply_weights(X, Y, sample_weight)
        self._set_label_attributes(data, classes=None)
        return data

    def _apply_weights(self, X: Any, Y: sparse.csr_array, sample_weight: Any) -> ValidatedData:
        """Check the weights, and return the data without the rows of weight 0.

        Weights that an inner estimator cannot use are an error.
        """
        caller = type(self).__name__
        weights = check_weights(sample_weight, Y.shape[0], caller=caller)
        if weights is not None and not weights.all():
            row_indices = np.flatnonzero(weights)
            X = _safe_indexing(X, row_indices)
            Y = Y[row_indices]
            weights = check_weights(weights[row_indices], len(row_indices), caller=caller)
        if weights is not None:
            unsupported = self._find_estimator_without_sample_weight()
            if unsupported is not None:
                raise ParameterError(
                    f"{caller}: sample_weight was given, but {unsupported} cannot learn from "
                    "weights: its fit has no such parameter. Give another estimator, or no weights."
                )
        return ValidatedData(X, Y, weights)

    def _set_label_attributes(self, data: ValidatedData, classes: Array | None) -> None:
        """Set `n_labels_`, `label_names_` and `classes_`, and `_class_priors` for classes.

        ``classes`` are the classes of ``y`` with one class per row, else None.
        """
        self.n_labels_ = int(data.Y.shape[1])
        self.label_names_ = self._y_format.names
        if classes is None:
            is_named = self._y_format.kind in ("frame", "lists")
            dtype = "int64" if is_named else self._y_format.dtypes[0]
            self.classes_: Any = [np.array([0, 1]).astype(dtype)] * self.n_labels_
        else:
            self.classes_ = classes
            # Every row has one class, so that the i-th column index of Y is the class of row i.
            sums = np.bincount(data.Y.indices, data.sample_weight, len(classes))
            self._class_priors = sums / sums.sum()

    def _validate_training_features(self, X: Any) -> Any:
        """Return the validated features of training rows, as in `ValidatedData`.

        Sets ``n_features_in_``, ``feature_names_in_`` if the columns have names, and ``_codes``,
        the categories of the nominal columns.
        """
        X_validated, self._codes = validate_training_features(
            X, self, self._declared_categorical_features()
        )
        return X_validated

    def _generator(self) -> np.random.Generator:
        """Return a NumPy random generator made from `random_state`, if there is such a parameter.

        Without the parameter, the generator is seeded from the operating system.
        """
        return as_generator(getattr(self, "random_state", None), caller=type(self).__name__)

    # Prediction -----------------------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """Predict the labels of each row.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to predict, with the columns of the training rows.

        Returns
        -------
        ndarray, csr_array or DataFrame of shape (n_samples, n_labels), or lists
            The labels in the form of the training labels: a DataFrame has the same columns, and a
            classifier fitted to label lists returns label lists. Shape (n_samples,) for classes.
        """
        X_validated = self._validate_features(X)
        if self._y_format.kind == "classes":
            return self._predict_classes(X_validated)[0]
        if self._y_format.kind not in ("sparse", "lists"):
            return self._y_format.convert(self._predict(X_validated), X)
        # Rows are predicted in blocks, so that a dense matrix of all labels is never needed.
        blocks = [
            sparse.csr_array(self._predict(_safe_indexing(X_validated, row_slice)))
            for row_slice in row_slices(_num_samples(X_validated), self.n_labels_)
        ]
        return self._y_format.convert(sparse.vstack(blocks, format="csr"), X)

    def predict_proba(self, X: Any) -> Array:
        """Return the score of each row and label.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to predict, with the columns of the training rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Scores in [0, 1]. `predict` may follow another rule than a score of at least 0.5: see
            the class.
        """
        X_validated = self._validate_features(X)
        if self._y_format.kind == "classes":
            return self._predict_classes(X_validated)[1]
        return self._predict_scores(X_validated)

    def predict_both(self, X: Any) -> tuple[Any, Array]:
        """Return the results of `predict` and `predict_proba`, computed once.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to predict, with the columns of the training rows.

        Returns
        -------
        predictions : ndarray, csr_array, DataFrame or lists
            See `predict`.
        scores : ndarray of shape (n_samples, n_labels)
            See `predict_proba`.
        """
        X_validated = self._validate_features(X)
        if self._y_format.kind == "classes":
            return self._predict_classes(X_validated)
        labels, scores = self._predict_labels_and_scores(X_validated)
        return self._y_format.convert(labels, X), scores

    def _predict_classes(self, X: Any) -> tuple[Array, Array]:
        """Return the most probable class of each validated row, and the class probabilities.

        The shapes are (n_rows,) and (n_rows, n_classes).
        """
        # Scores are divided by their sum; a row whose scores are all 0 gets the shares of the
        # classes in the training rows.
        scores = self._predict_class_scores(X)
        total = scores.sum(axis=1, keepdims=True)
        priors = np.broadcast_to(self._class_priors, scores.shape).copy()
        probabilities = np.divide(scores, total, out=priors, where=total > 0)
        return self.classes_[probabilities.argmax(axis=1)], probabilities

    def _validate_features(self, X: Any) -> Any:
        """Return the features of rows to predict, as in `ValidatedData`.

        Raise an error if the classifier is not fitted, or if the columns differ from those in
        `fit`.
        """
        check_is_fitted(self)
        return validate_features(X, self, self._codes)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: what input the classifier takes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        inner = self._inner_estimator()
        if hasattr(inner, "__sklearn_tags__"):
            inner_tags = get_tags(inner).input_tags
            tags.input_tags.sparse = inner_tags.sparse
            tags.input_tags.allow_nan = inner_tags.allow_nan
        return tags


class BaseRanker(BaseMultilabelClassifier):
    """Base class of rankers: classifiers with out-of-sample scores of their training rows.

    A ranker ranks the rows of every label well, but predicts a label only from a score of 0.5 on,
    which rare labels hardly ever reach. `ThresholdedClassifier` chooses a threshold per label from
    the out-of-sample scores.

    Attributes
    ----------
    classes_ : list of ndarray, or ndarray
        The two values of each label; the classes if ``y`` held one class per row.
    n_labels_ : int
        Number of labels, or of classes.
    label_names_ : tuple of str or None
        Names of the labels; None if they have none.
    n_features_in_ : int
        Number of columns of X in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X; only if they have names.

    See Also
    --------
    BaseMultilabelClassifier : The methods that a subclass implements besides.
    ThresholdedClassifier : Chooses a decision threshold per label for any ranker.

    Notes
    -----
    A subclass implements ``_fit`` and ``_predict_scores``, see `BaseMultilabelClassifier`, and
    ``_fit_out_of_sample(X, Y, sample_weight)``, which fits the same model and returns a score of
    every training row and label by a model that was fitted without this row.

    Examples
    --------
    Scores are the shares of the labels in the training rows; out of sample, in the other rows.

    >>> import numpy as np
    >>> from scumble.learn import BaseRanker
    >>> class ShareRanker(BaseRanker):
    ...     def _fit(self, X, Y, sample_weight=None):
    ...         self._weights = np.ones(len(X)) if sample_weight is None else sample_weight
    ...         self._sums = self._weights @ Y
    ...     def _fit_out_of_sample(self, X, Y, sample_weight):
    ...         self._fit(X, Y, sample_weight)
    ...         weights = self._weights[:, np.newaxis]
    ...         return (self._sums - weights * Y.toarray()) / (weights.sum() - weights)
    ...     def _predict_scores(self, X):
    ...         return np.tile(self._sums / self._weights.sum(), (len(X), 1))
    >>> ShareRanker().fit_out_of_sample([[1.0], [2.0], [3.0]], [[1, 0], [1, 1], [0, 0]])
    array([[0.5, 0.5],
           [0.5, 0. ],
           [1. , 0.5]])
    """

    # Weights are not numbers of repetitions: a repeated row is in the training rows of its copy.
    classifier_tags = ClassifierTags(weights_equal_repetitions=False)

    @abstractmethod
    def _fit_out_of_sample(self, X: Any, Y: sparse.csr_array, sample_weight: Array | None) -> Array:
        """Fit to validated data, and return the out-of-sample scores of the training rows.

        The arguments are those of `ValidatedData`; the scores have the shape of Y.
        """

    def fit_out_of_sample(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Fit the ranker, and return out-of-sample scores of the training rows.

        `ThresholdedClassifier` and `BlendedRanker` call this method of any estimator that has it,
        instead of fitting the estimator on inner folds.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            See `fit`.
        y : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
            See `fit`.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row. A row of weight 0 gets the score of a new row.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            The score of each row by a model that was fitted without it.
        """
        sample_weight = remembered_sample_weight(y, sample_weight)
        data = self._validate_training_data(X, y, sample_weight)
        scores = self._call_fit_out_of_sample(data)
        if len(scores) == _num_samples(X):
            return scores
        is_used = np.asarray(sample_weight) > 0
        all_scores = np.empty((len(is_used), scores.shape[1]), order="F")
        all_scores[is_used] = scores
        all_scores[~is_used] = self.predict_proba(_safe_indexing(X, np.flatnonzero(~is_used)))
        return all_scores

    def _fit_out_of_sample_validated(
        self, X: Any, Y: sparse.csr_array, sample_weight: Array | None, *, n_categories: Array
    ) -> Array:
        """Do what `fit_out_of_sample` does with data that an outer estimator has validated.

        The arguments are those of `_fit_validated`. Rows of weight 0 get no scores.
        """
        return self._call_fit_out_of_sample(
            self._accept_validated_data(X, Y, sample_weight, n_categories=n_categories)
        )

    def _call_fit_out_of_sample(self, data: ValidatedData) -> Array:
        """Return the result of `_fit_out_of_sample`; raise an error for fewer than two rows."""
        if data.Y.shape[0] < 2:
            raise DataError(
                f"{type(self).__name__}: found 1 sample (training row). Expected at least 2: the "
                "out-of-sample score of a row needs another row to learn from."
            )
        return self._fit_out_of_sample(data.X, data.Y, data.sample_weight)


# Constraints of parameters that are classifiers ---------------------------------------------------


class ClassifierConstraint(ParameterConstraint):
    """Constraint of a parameter that is a classifier or None.

    If the classifier is one of this package, its own parameters are checked as well.
    """

    kind = "hidden"
    error = ParameterTypeError
    methods: tuple[str, ...]  # names of the methods that the classifier must have

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value is None or an instance with all of ``methods``."""
        has_methods = all(hasattr(value, name) for name in self.methods)
        return value is None or (has_methods and not isinstance(value, type))

    def suggestion(self, value: Any) -> str:
        """Return a hint to add parentheses if the value is a class, else an empty string."""
        if isinstance(value, type):
            return f" Did you mean {value.__name__}()?"
        return ""

    def check(self, value: Any, *, name: str, caller: str) -> None:
        """Raise an error for any other value, or if a parameter of the classifier is invalid."""
        super().check(value, name=name, caller=caller)
        if isinstance(value, ValidatedParametersMixin):
            value.check_parameters()


class SingleLabelClassifierConstraint(ClassifierConstraint):
    """Constraint of a parameter that is a classifier of one label, or None."""

    methods = ("fit", "predict", "get_params")
    description = "None or a scikit-learn classifier with fit and predict"

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value is None or a classifier, but not a regressor."""
        has_tags = hasattr(value, "__sklearn_tags__")
        return super().is_satisfied_by(value) and not (has_tags and is_regressor(value))


class MultilabelClassifierConstraint(ClassifierConstraint):
    """Constraint of a parameter that is a multilabel classifier, or None."""

    methods = ("fit", "predict")
    description = "None or a multilabel classifier with fit and predict"
