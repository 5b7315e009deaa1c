"""What all resamplers share: the door, the way back, and what can be asked afterwards."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _metadata_requests

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError, ScumbleError
from scumble._core.features import Features, read_features
from scumble._core.parameters import (
    CATEGORICAL_FEATURES,
    Bool,
    NJobsConstraint,
    RandomStateConstraint,
    ValidatedParametersMixin,
    as_generator,
    parameter_constraints,
)
from scumble._core.provenance import (
    mark_resampled,
    remember_sample_weight,
    remembered_sample_weight,
)
from scumble._core.registry import register
from scumble._core.validation import check_consistent_length, check_labels, label_lists
from scumble.data import Feature, MultilabelDataset, write
from scumble.measures.summary import characterize
from scumble.resample.containers import append_rows, as_container, labels_like, take_rows

# scikit-learn routes metadata to the methods it knows. imbalanced-learn adds this one, too, but
# what was defined before has no ``set_fit_resample_request`` then.
for _methods in (_metadata_requests.METHODS, _metadata_requests.SIMPLE_METHODS):
    if "fit_resample" not in _methods:
        _methods.append("fit_resample")

#: Rows, more than any machine holds.
MOST_ROWS = 2**40
#: What resamplers do, in the order in which they are listed.
DISPLAY_GROUPS = ("Decouple", "Add rows", "Remove rows")


@dataclass(frozen=True, eq=False)
class ResampleResult:
    """What an algorithm hands back to the base class.

    Attributes
    ----------
    sample_indices : ndarray of int64
        The input row each output row comes from; synthetic rows name their seed.
    Y : csr_array of bool
        Labels of the output rows.
    synthetic : same type as X, or None
        Features of the rows at the end that no input row has; None where all rows are copies.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from scumble.resample import ResampleResult
    >>> Y = sparse.csr_array(np.array([[True, False], [True, True]]))
    >>> twice = ResampleResult(np.array([0, 1, 1]), Y[[0, 1, 1]])
    >>> twice.Y.shape, twice.synthetic
    ((3, 2), None)
    """

    sample_indices: Array
    Y: sparse.csr_array
    synthetic: Any = None


class BaseResampler(ValidatedParametersMixin, BaseEstimator, ABC):
    """Base of all resamplers: ``(X, Y) -> (X', Y')``.

    A subclass implements `_resample`, which gets canonical labels and returns `ResampleResult`. The
    base class checks the input, gathers the rows, and returns arrays, sparse matrices or frames
    as they were given, with their types, columns and index.

    A class of this package that names the ``family`` it is listed with registers itself under its
    name in lower case: ``class MLROS(BaseResampler, display_group="Add rows")``. Those of other packages
    do so by `scumble.catalogue.register`. Its ``domains`` say what its parameters may be.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.resample import BaseResampler, ResampleResult
    >>> class Twice(BaseResampler):
    ...     def _resample(self, X, Y):
    ...         rows = np.tile(np.arange(Y.shape[0]), 2)
    ...         return ResampleResult(rows, Y[rows])
    >>> X_new, Y_new = Twice().fit_resample([[0.0], [1.0]], [[1, 0], [1, 1]])
    >>> X_new.ravel(), Y_new.tolist()
    (array([0., 1., 0., 1.]), [[1, 0], [1, 1], [1, 0], [1, 1]])
    """

    _parameter_constraints = parameter_constraints(
        categorical_features=CATEGORICAL_FEATURES,
        random_state=RandomStateConstraint(),
        n_jobs=NJobsConstraint(),
    )

    def __init_subclass__(cls, display_group: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if display_group is not None and cls.__module__.startswith("scumble."):
            register("resampler", cls.__name__.lower(), cls, display_group=display_group)

    @abstractmethod
    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        """Do the work on checked input."""

    def _read_features(self, X: Any, features: Sequence[Feature] | None) -> Any:
        """Read X for `_resample`, knowing what a data set, if any, says about its columns.

        Methods that look at features override this; the others leave X alone.
        """
        return X

    def _check_features(self, X: Any) -> None:
        """Refuse features the method cannot use."""
        self._read_features(X, None)

    def fit(self, X: Any, Y: Any) -> Self:
        """Check the input and parameters; there is nothing else to learn.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features.
        Y : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
            Labels, 0/1 or True/False.

        Returns
        -------
        self
            The resampler.
        """
        X, _, _ = self._check_input(X, Y)
        self._check_features(X)
        return self

    def fit_resample(self, X: Any, Y: Any, sample_weight: Any = None) -> Any:
        """Resample a data set.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features. Never changed.
        Y : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
            Labels, 0/1 or True/False. Never changed.
        sample_weight : array of shape (n_samples,), optional
            Weights that travel with the rows: ``sample_weight_`` holds those of the new ones.

        Returns
        -------
        X : same type as X
            Features of the new rows.
        Y : same type as Y
            Labels of the new rows.
        """
        X, like, labels = self._check_input(X, Y)
        weights = self._check_weights(remembered_sample_weight(Y, sample_weight), labels)
        result = self._run(X, labels)
        rows = self.sample_indices_
        # Labels that did not change may be the caller's own: the result must not share them.
        Y_new = result.Y.copy() if result.Y is labels else result.Y
        resampled = self._assemble_features(X, result), labels_like(Y_new, like, rows)
        self._mark(*resampled)
        self.sample_weight_ = None if weights is None else weights[rows]
        if weights is not None:
            remember_sample_weight(resampled[1], sample_weight, self.sample_weight_)
        return resampled

    def resample(self, data: Any, out: str | os.PathLike[str] | None = None) -> Any:
        """Resample a data set object, or one that lives outside of memory.

        Parameters
        ----------
        data : MultilabelDataset, or an object with ``__scumble_resample__``
            The data.
        out : str or Path, optional
            Where to write the result.

        Returns
        -------
        MultilabelDataset, or what the data's own method returns
            The new data.
        """
        out_of_core = getattr(data, "__scumble_resample__", None)
        if out_of_core is None and not isinstance(data, MultilabelDataset):
            raise ScumbleError(
                f"{type(self).__name__}.resample takes a MultilabelDataset. "
                f"Got {type(data).__name__} instead: use fit_resample(X, Y) for arrays."
            )
        self.check_parameters()
        if out_of_core is not None:
            return out_of_core(self, out)
        result = self._run(data.X, data.Y, data.features)
        X = self._assemble_features(data.X, result)
        resampled = data.with_rows(X, result.Y, self.sample_indices_)
        self._mark(resampled)
        if out is not None:
            write(resampled, out)
        return resampled

    def summary(self) -> dict[str, dict[str, float]]:
        """Compare imbalance and concurrence before and after the last resampling.

        Returns
        -------
        dict
            ``{"before": {...}, "after": {...}}`` with the number of instances, MeanIR, MaxIR,
            CVIR and SCUMBLE.
        """
        if not hasattr(self, "_labels"):
            raise ScumbleError(
                f"This {type(self).__name__} has not resampled anything yet: call fit_resample."
            )
        keys = ("n_instances", "mean_ir", "max_ir", "cvir", "scumble")
        measured = zip(("before", "after"), map(characterize, self._labels), strict=True)
        return {when: {key: getattr(found, key) for key in keys} for when, found in measured}

    def _check_input(self, X: Any, Y: Any) -> tuple[Any, Any, sparse.csr_array]:
        caller = type(self).__name__
        self.check_parameters()
        X = as_container(X, caller=caller)
        labels = check_labels(Y, caller=caller)
        check_consistent_length(X, labels, caller=caller)
        self.n_features_in_ = int(X.shape[1])
        self.n_labels_in_ = int(labels.shape[1])
        columns = getattr(X, "columns", None)
        if columns is not None and all(isinstance(column, str) for column in columns):
            self.feature_names_in_ = np.asarray(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if isinstance(Y, list | tuple):
            Y = np.asarray(Y) if label_lists(Y) is None else labels.toarray()
        return X, Y, labels

    def _check_weights(self, sample_weight: Any, Y: sparse.csr_array) -> Array | None:
        if sample_weight is None:
            return None
        weights = np.asarray(sample_weight)
        if weights.shape != (Y.shape[0],):
            raise DataError(
                f"{type(self).__name__}: sample_weight must hold one number per row of X, shape "
                f"({Y.shape[0]},). Got shape {weights.shape} instead."
            )
        return weights

    def _run(
        self, X: Any, Y: sparse.csr_array, features: Sequence[Feature] | None = None
    ) -> ResampleResult:
        result = self._fit_resample(self._read_features(X, features), Y)
        rows = result.sample_indices
        n_rows = Y.shape[0]
        self.sample_indices_ = rows
        self.n_removed_ = n_rows - int(np.count_nonzero(np.bincount(rows, minlength=n_rows)))
        self.n_added_ = len(rows) - (n_rows - self.n_removed_)
        self._labels = (Y, result.Y)
        return result

    def _assemble_features(self, X: Any, result: ResampleResult) -> Any:
        rows = result.sample_indices
        if result.synthetic is None:
            return take_rows(X, rows)
        n_taken = len(rows) - result.synthetic.shape[0]
        return append_rows(take_rows(X, rows[:n_taken]), result.synthetic)

    def _mark(self, *resampled: Any) -> None:
        """Let splitters warn of what was resampled before it is split."""
        if self.n_added_ or self.n_removed_:
            mark_resampled(*resampled)

    def _generator(self) -> np.random.Generator:
        """Make the generator for one run; the same `random_state` always gives the same one."""
        state = getattr(self, "random_state", None)
        return as_generator(state, caller=type(self).__name__)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the data out of a pickle."""
        return {key: value for key, value in super().__getstate__().items() if key != "_labels"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "sampler"
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


class _DistanceResampler(BaseResampler):
    """Base of the resamplers that look at features: `_resample` gets them as `Features`."""

    _parameter_constraints = parameter_constraints(scale=Bool())
    categorical_features: Any
    scale: bool
    n_jobs: int | None

    def _read_features(self, X: Any, features: Sequence[Feature] | None) -> Features:
        self._refuse_texts(features or ())
        categorical = self.categorical_features
        if categorical is None and features is not None:
            categorical = {
                at: len(known.categories)
                for at, known in enumerate(features)
                if known.is_categorical
            }
        read = read_features(X, categorical, caller=type(self).__name__)
        if features is None:
            return read
        is_integer = np.array([known.integer for known in features], bool) & (read.n_values == 0)
        return replace(read, is_integer=is_integer)

    def _refuse_texts(self, features: Sequence[Feature]) -> None:
        texts = [feature.name for feature in features if feature.kind == "text"]
        if texts:
            raise DataError(
                f"{type(self).__name__} takes distances between rows, and the texts of column "
                f"{texts[0]!r} have none. Resample where they are numbers already: "
                "fit_dataset(classifier, data, resamplers), cross-validation, experiments and the "
                f"commands train, evaluate and compare see to that. Or leave out the column: "
                f"ignore={texts[0]!r}."
            )


def n_rows_from_percent(percent: float, n_rows: int) -> int:
    """Count the rows in a percentage of all, rounded down: 33.3 % of 1000 are 333."""
    # The percentage is taken as it is written, although the nearest binary number may lie below.
    exact = percent if isinstance(percent, int) else Fraction(str(percent))
    wanted = n_rows * exact // 100
    if wanted > MOST_ROWS:
        raise ParameterError(
            f"{percent:g} percent of {n_rows} rows are more rows than any machine holds. Choose a "
            "smaller 'percent'."
        )
    return wanted
