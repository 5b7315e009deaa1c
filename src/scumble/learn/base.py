"""What all multilabel classifiers share: the door, the way back, and two answers per row."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from inspect import cleandoc, get_annotations, isabstract, signature
from typing import Any, Self, TypeVar, dataclass_transform

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError, ParameterTypeError
from scumble._core.parallel import row_slices
from scumble._core.parameters import (
    CATEGORICAL_FEATURES,
    NJobsConstraint,
    ParameterConstraint,
    RandomStateConstraint,
    ValidatedParametersMixin,
    as_generator,
    parameter_constraints,
)
from scumble._core.provenance import remembered_sample_weight
from scumble._core.registry import register
from scumble._core.validation import check_consistent_length
from scumble.learn.features import read_rows, read_training
from scumble.learn.labels import read_labels
from scumble.learn.weights import (
    check_weights,
    find_estimator_without_sample_weight,
    resolve_sample_weight,
)

#: What the docstring of a classifier need not say: it is put there where a class is silent.
_SHARED_PARAMETERS = {
    "categorical_features": """None, indices, names, mask or mapping, default=None
    The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.""",
    "random_state": """None, int, Generator or RandomState, default=None
    Seed of the draws.""",
    "n_jobs": """int, default=None
    Number of threads; it changes the time and nothing else.""",
}
#: Where these stand among other parameters: behind them, in this order.
_LAST = {name: at for at, name in enumerate(("ties", *_SHARED_PARAMETERS), 1)}
_SHARED_ATTRIBUTES = """
classes_, n_labels_, label_names_, n_features_in_, feature_names_in_ : various
    See `BaseMultilabelClassifier`."""


#: Features, labels, and weights if rows have any.
Checked = tuple[Any, sparse.csr_array, Array | None]
Kind = TypeVar("Kind", bound=type)


@dataclass_transform()
def parameters(*, kw_only: bool = False) -> Callable[[Kind], Kind]:
    """Make ``__init__`` of the parameters a class lists, and of those its abstract bases list."""

    def make(kind: Any) -> Any:
        own = ({"_": KW_ONLY} if kw_only else {}) | get_annotations(kind)
        listed = getattr(kind, "_listed", {}) | own
        if isabstract(kind):  # what a subclass lists may come before those by keyword
            kind._listed = {name: each for name, each in listed.items() if name != "_"}
            return kind
        if not hasattr(kind, "_listed"):  # all that it has stands in it, in its own order
            return dataclass(eq=False, repr=False)(kind)
        listed.setdefault("_", KW_ONLY)
        kind.__annotations__ = dict(sorted(listed.items(), key=lambda item: _LAST.get(item[0], 0)))
        made = dataclass(eq=False, repr=False)(kind)
        made.__doc__ = _whole_docstring(made)
        return made

    return make


@parameters(kw_only=True)
class BaseMultilabelClassifier(ValidatedParametersMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base of all multilabel classifiers.

    A subclass implements `_fit`, which gets clean features and canonical labels (and
    weights of the rows, where it has a parameter ``weights``: otherwise its `fit` has no
    ``sample_weight``), and `_predict_labels_and_scores`, which tells for clean rows which labels they have and how
    sure that is. These are two answers and not one: many methods decide by another rule than a
    confidence of one half.

    The subclass names itself for the catalogue, and says what it is listed with and what its
    parameters may be: ``class BinaryRelevance(..., name="br", display_group="Single labels")``, and in it
    ``_parameter_constraints = parameter_constraints(class_weight=ClassWeight())``.

    Attributes
    ----------
    n_labels_ : int
        Number of labels, or of classes.
    classes_ : list of ndarray, or ndarray
        The two values of each label; the classes where one class per row was given.
    label_names_ : tuple of str or None
        Names of the labels, where they had any.
    n_features_in_ : int
        Number of columns seen when fitting.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they have any.

    Examples
    --------
    A classifier that predicts the labels half of the training rows have, whatever the features.

    >>> import numpy as np
    >>> from scumble.learn import BaseMultilabelClassifier
    >>> class Frequent(BaseMultilabelClassifier):
    ...     categorical_features = n_jobs = None
    ...     def _fit(self, X, Y):
    ...         self.shares_ = np.asarray(Y.mean(axis=0))
    ...     def _predict_labels_and_scores(self, X):
    ...         shares = np.tile(self.shares_, (X.shape[0], 1))
    ...         return shares >= 0.5, shares
    >>> Frequent().fit([[1.0], [2.0], [3.0]], [[1, 0], [1, 1], [0, 0]]).predict([[4.0]])
    array([[1, 0]])
    """

    _parameter_constraints = parameter_constraints(
        categorical_features=CATEGORICAL_FEATURES,
        random_state=RandomStateConstraint(),
        n_jobs=NJobsConstraint(),
    )
    categorical_features: Any = None
    n_jobs: int | None = None

    def __init_subclass__(
        cls, name: str | None = None, display_group: str = "More", **options: Any
    ) -> None:
        takes_weights = "weights" in signature(cls._fit).parameters
        if cls.fit is BaseMultilabelClassifier.fit and not takes_weights:
            cls.fit = _fit_unweighted  # type: ignore[method-assign, assignment]  # it lacks weights on purpose
        super().__init_subclass__(**options)
        if name is not None:
            cls.__doc__ = _whole_docstring(cls)
            register("classifier", name, cls, display_group=display_group)

    @abstractmethod
    def _fit(self, X: Any, Y: sparse.csr_array, weights: Array | None = None) -> None:
        """Learn from a float table or csr_array and canonical labels.

        ``weights`` are positive, and None where every row weighs 1.
        ``self._codes.n_values`` tells the number of values of each nominal column, 0 where a
        column is numeric.
        """

    # A subclass implements one of the next two.
    def _predict_labels_and_scores(self, X: Any) -> tuple[Any, Array]:
        """Return labels (bool, dense or CSR) and confidences (float) of rows of a clean table."""
        confidences = self._predict_scores(X)
        return confidences >= getattr(self, "thresholds_", 0.5), confidences

    def _predict_scores(self, X: Any) -> Array:
        """Return the confidences alone."""
        if (
            type(self)._predict_labels_and_scores
            is BaseMultilabelClassifier._predict_labels_and_scores
        ):
            raise NotImplementedError(f"{type(self).__name__} has neither _predict_labels_and_scores nor _predict_scores.")
        return self._predict_labels_and_scores(X)[1]

    def _predict_class_scores(self, X: Any) -> Array:
        """Return a number per row and class, the largest for the most probable class.

        Only asked where one class per row was given.
        """
        return self._predict_scores(X)

    def _generator(self) -> np.random.Generator:
        """Make the generator that `random_state` stands for."""
        return as_generator(getattr(self, "random_state", None), caller=type(self).__name__)

    def _inner_estimator(self) -> Any:
        """Return the estimator that is asked, not fitted; None where there is none."""
        return None

    def _declared_categorical_features(self) -> Any:
        """Return what the user said about nominal columns, here or to the classifier inside."""
        inside = self._inner_estimator()
        if self.categorical_features is None and isinstance(inside, BaseMultilabelClassifier):
            return inside._declared_categorical_features()
        return self.categorical_features

    def _passes_raw_features(self) -> bool:
        """Tell whether an estimator inside gets features as they were given."""
        return False

    def _refuses_weights(self) -> str | None:
        """Name what is inside and cannot learn from weights; None where nothing is."""
        return find_estimator_without_sample_weight(self._inner_estimator())

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Learn which rows have which labels.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Numbers and codes. Never changed.
        Y : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
            Labels, 0/1 or True/False; or a list with the labels of each row; or one class per
            row, as any scikit-learn classifier takes it.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; a row of weight 0 is left out.

        Returns
        -------
        self
            The fitted classifier.
        """
        X, labels, weights = self._read(X, Y, sample_weight)
        # One that cannot learn from weights takes no argument for them.
        self._fit(X, labels, *(() if weights is None else (weights,)))
        return self

    def _read(self, X: Any, Y: Any, sample_weight: Any) -> Checked:
        """Check what is given to learn from, and remember what it looks like."""
        self.check_parameters()
        name, X = type(self).__name__, self._read_training(X)
        labels, self._form, classes = read_labels(Y, caller=name)
        check_consistent_length(X, labels, caller=name)
        sample_weight = resolve_sample_weight(Y, sample_weight, labels.shape[0], caller=name)
        X, labels, weights = self._weigh(X, labels, sample_weight)
        self.n_labels_ = int(labels.shape[1])
        self.label_names_ = self._form.names
        if classes is None:
            is_named = self._form.kind in ("frame", "lists")
            kind = "int64" if is_named else self._form.dtypes[0]
            self.classes_: Any = [np.array([0, 1]).astype(kind)] * self.n_labels_
        else:
            self.classes_ = classes
            sums = np.bincount(labels.indices, weights, len(classes))  # one label a row
            self._class_shares = sums / sums.sum()
        return X, labels, weights

    def _weigh(self, X: Any, Y: sparse.csr_array, sample_weight: Any) -> Checked:
        """Read the weights, and leave out the rows without any."""
        name = type(self).__name__
        weights = check_weights(sample_weight, Y.shape[0], caller=name)
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            X, Y = _safe_indexing(X, kept), Y[kept]
            weights = check_weights(weights[kept], len(kept), caller=name)
        if weights is not None and (refuser := self._refuses_weights()) is not None:
            raise ParameterError(
                f"{name}: sample_weight was given, but {refuser} cannot learn from weights: its "
                "fit has no such parameter. Give another estimator, or no weights."
            )
        return X, Y, weights

    def predict(self, X: Any) -> Any:
        """Tell which labels each row has.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        ndarray, csr_array or DataFrame of shape (n_samples, n_labels), or lists
            In the form of the labels seen when fitting: a DataFrame has the same columns, and
            who gave the labels of each row as a list gets such lists. Shape (n_samples,) for
            classes.
        """
        table = self._read_rows(X)
        if self._form.kind not in ("sparse", "lists"):
            return self._form.convert(self._predict_with_scores(table)[0], X)
        blocks = row_slices(_num_samples(table), self.n_labels_)
        parts = [
            sparse.csr_array(self._predict_labels_and_scores(_safe_indexing(table, b))[0])
            for b in blocks
        ]
        return self._form.convert(sparse.vstack(parts, format="csr"), X)

    def predict_proba(self, X: Any) -> Array:
        """Tell how sure it is that each row has each label.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Confidences in [0, 1]. `predict` may follow another rule than "at least one half":
            see the class.
        """
        return self._predict_with_scores(self._read_rows(X))[1]

    def predict_both(self, X: Any) -> tuple[Any, Array]:
        """Give what `predict` and `predict_proba` give, for the price of one.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        predictions : ndarray, csr_array, DataFrame or lists
            See `predict`.
        confidences : ndarray of shape (n_samples, n_labels)
            See `predict_proba`.
        """
        labels, confidences = self._predict_with_scores(self._read_rows(X))
        return self._form.convert(labels, X), confidences

    def _predict_with_scores(self, table: Any) -> tuple[Any, Array]:
        """Judge rows, where classes were learnt by the most probable one of each."""
        if self._form.kind != "classes":
            return self._predict_labels_and_scores(table)
        # The scores of a row add up to one; a row without any gets the training shares.
        scores = self._predict_class_scores(table)
        total = scores.sum(axis=1, keepdims=True)
        shares = np.broadcast_to(self._class_shares, scores.shape).copy()
        probabilities = np.divide(scores, total, out=shares, where=total > 0)
        return self.classes_[probabilities.argmax(axis=1)], probabilities

    def _read_training(self, X: Any) -> Any:
        X, self._codes = read_training(X, self, self._declared_categorical_features())
        return X

    def _read_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return read_rows(X, self, self._codes)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what the classifier can do."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        if hasattr(inside := self._inner_estimator(), "__sklearn_tags__"):
            taken = get_tags(inside).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = taken.sparse, taken.allow_nan
        return tags


# A subclass implements `_fit`; `_fit_out_of_sample`, which learns the same and returns
# scores of the training rows by models that have not seen them; and `_confidences`. For rare labels
# a score of one half is hardly ever reached: put a `ThresholdedClassifier` around it.
class BaseRanker(BaseMultilabelClassifier):
    """Base of classifiers that rank rows well for every label; they predict from one half on."""

    @abstractmethod
    def _fit_out_of_sample(self, X: Any, Y: sparse.csr_array, weights: Array | None) -> Array:
        """Learn, and return scores of the training rows by models that have not seen them."""

    def fit_out_of_sample(self, X: Any, Y: Any, sample_weight: Any = None) -> Array:
        """Learn, and tell what would be said of each training row had it not been there."""
        # This is the whole protocol by which `ThresholdedClassifier` gets scores for nothing: any
        # estimator that has a method of this name and meaning is asked for it.
        sample_weight = remembered_sample_weight(Y, sample_weight)
        table, labels, weights = self._read(X, Y, sample_weight)
        if labels.shape[0] < 2:
            raise DataError(
                f"{type(self).__name__}: found 1 sample (training row). Expected at least 2: what "
                "would be said of a row without it needs another."
            )
        scores = self._fit_out_of_sample(table, labels, weights)
        if len(scores) == _num_samples(X):
            return scores
        kept = np.asarray(sample_weight) > 0  # a row of weight 0 is a new row to the model
        whole = np.empty((len(kept), scores.shape[1]), order="F")
        whole[kept] = scores
        whole[~kept] = self.predict_proba(_safe_indexing(X, np.flatnonzero(~kept)))
        return whole


# Classifiers as parameters of other classifiers --------------------------------------------------


class ClassifierConstraint(ParameterConstraint):
    """A classifier inside another, or None; its own parameters are checked as well."""

    kind = "hidden"
    error = ParameterTypeError
    methods: tuple[str, ...]

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value is one of them, and not their class."""
        can = not isinstance(value, type) and all(hasattr(value, name) for name in self.methods)
        return value is None or can

    def suggestion(self, value: Any) -> str:
        """Say what may have been meant."""
        return f" Did you mean {value.__name__}()?" if isinstance(value, type) else ""

    def check(self, value: Any, *, name: str, caller: str) -> None:
        """Refuse any other value."""
        super().check(value, name=name, caller=caller)
        if isinstance(value, ValidatedParametersMixin):
            value.check_parameters()


class SingleLabelClassifierConstraint(ClassifierConstraint):
    """What learns one label or class."""

    methods = ("fit", "predict", "get_params")
    description = "None or a scikit-learn classifier with fit and predict"

    def is_satisfied_by(self, value: Any) -> bool:
        """Refuse regressors, too: the numbers they predict would be taken for classes."""
        is_tagged = hasattr(value, "__sklearn_tags__")
        return super().is_satisfied_by(value) and not (is_tagged and is_regressor(value))


class MultilabelClassifierConstraint(ClassifierConstraint):
    """What learns several labels."""

    methods = ("fit", "predict")
    description = "None or a multilabel classifier with fit and predict"


# Docstrings and signatures -----------------------------------------------------------------------


def _whole_docstring(cls: type) -> str | None:
    """Add what the docstring of a class leaves out and is the same for all classifiers."""
    own, mark, rest = cleandoc(cls.__doc__ or "").partition("\n\nAttributes\n----------\n")
    if not mark:
        return cls.__doc__
    # A dataclass has annotations now, and gets its signature later.
    names = list(dict.fromkeys([*signature(cls).parameters, *get_annotations(cls)]))
    for name, words in _SHARED_PARAMETERS.items():
        if name in names and f"\n{name} : " not in own:
            later = (f"\n{other} : " for other in names[names.index(name) + 1 :])
            at = next((own.find(other) for other in later if other in own), len(own))
            own = f"{own[:at]}\n{name} : {words}{own[at:]}"
    attributes, gap, end = rest.partition("\n\n")
    shared = "" if "\nclasses_, " in attributes else _SHARED_ATTRIBUTES
    return f"{own}{mark}{attributes}{shared}{gap}{end}"


def _fit_unweighted(self: BaseMultilabelClassifier, X: Any, Y: Any) -> BaseMultilabelClassifier:
    """Learn which rows have which labels."""
    return BaseMultilabelClassifier.fit(self, X, Y)


_fit_unweighted.__name__ = "fit"
